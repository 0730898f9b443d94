import { expect, test, vi } from "vitest";
import type { RunDescription, SampledStep } from "../../api/types";
import { restyle } from "../../testing/recording";
import { exactSeries, inventNumbers, inventRun, type RunNumbers, setRunStage } from "../../testing/run";
import { view } from "./view";

async function mount(
  runs: readonly RunDescription[] = [inventRun()],
  selection = {},
  numbers?: () => RunNumbers,
  samples: readonly SampledStep[] = [],
) {
  const set = setRunStage(runs, selection, numbers, samples);
  const mounted = view.mount(set.stage);
  set.selection.subscribe((now, before) => mounted.update(now, before));
  const charts = () =>
    [...set.element.querySelectorAll<HTMLElement>("[data-chart]")].map((each) => each.dataset.chart);
  if (runs.some(({ names }) => names.length > 0)) await vi.waitFor(() => expect(charts()).not.toEqual([]));
  return { ...set, mounted, charts };
}

test("one chart for each quantity, an alarm as a mark and in the list", async () => {
  const { element, charts, mounted } = await mount();
  expect(charts()).toEqual(["loss", "rate", "throughput"]);
  expect(element.querySelector("[data-chart=loss] title")!.textContent).toContain(
    "Head 1 looks everywhere evenly.",
  );
  const alarm = element.querySelector(".alarms li")!.textContent;
  expect(alarm).toContain("Head 1 looks everywhere evenly.");
  expect(alarm).toContain("Steps 30–40");
  expect(alarm).toContain("passed at step 50");
  mounted.unmount();
  expect(element.childElementCount).toBe(0);
});

test("every curve is named, below a chart with many; a mean of several steps is marked as one", async () => {
  const { curves, heads } = inventNumbers();
  const layers = ["embeddings", "encoder.0", "encoder.1", "encoder", "decoder.0", "decoder"];
  const parts = layers.map((layer, at) => [`norm.${layer}`, exactSeries([25, 50], () => at)] as const);
  const steps = Array.from({ length: 5000 }, (_, at) => at + 1);
  const loss = exactSeries(steps, (step) => 1 + (step % 2)); // more rows than pixels: the server answers with means
  const numbers = () => ({ heads, curves: { ...curves, ...Object.fromEntries(parts), loss } });
  const { element } = await mount([inventRun({ last_step: 5000 })], {}, numbers);
  const names = (chart: string) =>
    [...element.querySelectorAll(`[data-chart=${chart}] figcaption > span`)].map((each) => each.textContent);
  expect(names("norm_by_layer")).toEqual(layers.map((layer, at) => `${layer} ${at}`));
  expect(names("loss")).toEqual([]); // two fit beside the title
  expect(element.querySelector("[data-chart=loss] svg")!.textContent).toMatch(/train ≈ 1\.5.*dev 1/);
});

test("an alarm opens its step, and the head that it names", async () => {
  const { element, selection } = await mount();
  const [step, heads] = element.querySelectorAll<HTMLButtonElement>(".alarms button");
  step!.click();
  expect(selection.get().step).toBe(30);
  await vi.waitFor(() => expect(element.querySelector(".alarms [data-chosen]")).not.toBeNull());
  heads!.click();
  expect(selection.get()).toMatchObject({
    view: "learning",
    step: 30,
    head: 1,
    place: { stack: "decoder", layer: 1 },
  });
});

test("an alarm of another run opens that run; the order of runs stays", async () => {
  const second = inventRun({ id: "second" });
  const first = inventRun({ alarm_list: [] });
  const { element, selection } = await mount([first, second], { run: "first,second" });
  element.querySelectorAll<HTMLButtonElement>(".alarms button")[1]!.click();
  expect(selection.get()).toMatchObject({
    run: "first,second",
    view: "learning",
    options: { "learning.run": "1" },
  });
  const other = await mount([second, first], { run: "second,first", options: { "learning.run": "1" } });
  other.element.querySelectorAll<HTMLButtonElement>(".alarms button")[1]!.click();
  expect(other.selection.get().options).toEqual({});
});

test("news leaves the focus and what was opened", async () => {
  const { element, news } = await mount([inventRun({ state: "running", updated: 1 })]);
  document.body.append(element);
  try {
    const button = element.querySelector<HTMLButtonElement>(".alarms button")!;
    const recipe = element.querySelector<HTMLDetailsElement>('[data-key="recipe first"]')!;
    recipe.open = true;
    button.focus();
    news(inventRun({ state: "running", updated: 2, last_step: 60 }));
    const run = () => element.querySelector("[data-run=first]")!.textContent;
    await vi.waitFor(() => expect(run()).toContain("60 steps"));
    expect(document.activeElement).toBe(button);
    const [alarm] = inventRun().alarm_list;
    const later = { ...alarm!, first_step: 70, last_step: 80 };
    news(inventRun({ state: "running", updated: 3, last_step: 90, alarm_list: [alarm!, later] }));
    await vi.waitFor(() => expect(element.querySelectorAll(".alarms li").length).toBe(2));
    expect((document.activeElement as HTMLElement).dataset.key).toBe(button.dataset.key);
    expect(element.querySelector<HTMLDetailsElement>('[data-key="recipe first"]')!.open).toBe(true);
  } finally {
    element.remove();
  }
});

test("a run that goes on is drawn again when there is news", async () => {
  let numbers: RunNumbers = { curves: {}, heads: {} };
  const young = inventRun({ names: [], alarm_list: [], state: "running", last_step: 0, updated: 0 });
  const { element, news, charts } = await mount([young], {}, () => numbers);
  expect(element.querySelector(".note[role=status]")!.textContent).toContain("Nothing was logged yet");
  numbers = inventNumbers();
  news(inventRun({ state: "running", updated: 1 }));
  await vi.waitFor(() => expect(charts()).toContain("loss"));
  expect(element.querySelector(".note[role=status]")!.textContent).toBe("");
  expect(element.querySelector("[data-run=first]")!.textContent).toContain("50 steps");
});

test("keys zoom about the focus, move it, show all steps, and go from alarm to alarm", async () => {
  const { element, selection } = await mount([inventRun()], { step: 10 });
  const press = (key: string) =>
    element.querySelector(".charts")!.dispatchEvent(new KeyboardEvent("keydown", { key }));
  press("+");
  expect(selection.get().options["curves.at"]).toBe("5-30");
  press("ArrowRight");
  expect(selection.get().step).toBe(11);
  press("0");
  expect(selection.get().options["curves.at"]).toBeUndefined();
  press("n");
  expect(selection.get().step).toBe(30);
  press("n"); // no other one
  expect(selection.get().step).toBe(30);
  selection.set({ step: 45 });
  press("p");
  expect(selection.get().step).toBe(30);
});

test("zooming asks for what is shown, until it is exact", async () => {
  const steps = Array.from({ length: 20_000 }, (_, at) => at + 1);
  const spiked = exactSeries(steps, (step) => (step === 7777 ? 99 : 1));
  const long = (): RunNumbers => ({ curves: { loss: spiked }, heads: {} });
  const run = inventRun({ last_step: 20_000, alarm_list: [] });
  const { selection, asked, mounted } = await mount([run], {}, long);
  expect(asked).toEqual([null]);
  const coarse = await mounted.table();
  expect(coarse.columns).toContain("highest");
  expect(Math.max(...coarse.rows.map((row) => Number(row.at(-1))))).toBe(99); // no peak is lost
  selection.option("curves.at", "7700-7800");
  await vi.waitFor(() => expect(asked).toEqual([null, [7650, 7850]]));
  await vi.waitFor(async () => expect((await mounted.table()).columns).not.toContain("highest"));
  const { rows } = await mounted.table();
  expect(rows.map((row) => row[2])).toEqual(steps.slice(7699, 7800));
  expect(rows.find((row) => row[2] === 7777)?.[3]).toBe(99);
  selection.option("curves.at", "7710-7810"); // is there already
  await new Promise((done) => setTimeout(done, 150));
  expect(asked.length).toBe(2);
});

test("smoothing draws the measured curve behind, and leaves dev alone", async () => {
  const { selection, mounted } = await mount();
  selection.option("curves.smoothing", "0.9");
  const svg = await mounted.picture();
  const loss = svg.slice(0, svg.indexOf("translate(0 222)"));
  const curves = [...loss.matchAll(/<path[^>]*data-curve[^>]*>/g)].map(([path]) => path.includes('"0.3"'));
  expect(curves).toEqual([true, false, false]);
});

test("several runs: colours by run, what their recipes differ in, and one can be left out", async () => {
  const second = inventRun({ id: "second", recipe: "[train]\nrate = 1e-4\nsteps = 50\n" });
  const { element, mounted, selection } = await mount([inventRun(), second]);
  const svg = await mounted.picture();
  expect(new Set([...svg.matchAll(/stroke="(rgb[^"]*)"[^>]*data-curve/g)].map(([, ink]) => ink)).size).toBe(
    2,
  );
  expect(element.querySelector(".facts tbody")!.textContent).toBe("train.rate1e-31e-4");
  const { columns, rows } = await mounted.table();
  expect(columns.length).toBe(rows[0]!.length);
  expect(new Set(rows.map(([run]) => run))).toEqual(new Set(["first", "second"]));
  element.querySelector<HTMLButtonElement>("[data-run=second] button")!.click();
  expect(selection.get().run).toBe("first");
});

test("another language redraws it; a picture stands by itself", async () => {
  const { element, stage, mounted } = await mount();
  restyle(mounted, stage);
  expect(element.querySelector(".alarms h2")!.textContent).toBe("警报");
  const svg = await mounted.picture();
  expect(svg).not.toContain("var(--");
  expect(svg.match(/data-curve/g)!.length).toBe(4);
});

test("samples follow the step in focus, and their slider moves it", async () => {
  const samples = [10, 20].map((step) => ({
    step,
    samples: [{ input: "the", output: ` cat at ${step}`, wanted: " cat sat" }],
  }));
  const { element, selection } = await mount([inventRun()], {}, undefined, samples);
  const text = () => element.querySelector(".samples tbody")!.textContent;
  await vi.waitFor(() => expect(text()).toContain("cat at 20"));
  selection.set({ step: 15 });
  await vi.waitFor(() => expect(text()).toContain("cat at 10"));
  const slider = element.querySelector<HTMLInputElement>(".samples input")!;
  slider.value = "1";
  slider.dispatchEvent(new Event("input"));
  expect(selection.get().step).toBe(20);
});

test("what a run learns from is told; a summary of another form is passed over", async () => {
  const data = {
    splits: {
      train: {
        examples: 1200,
        tokens: 34_000,
        lengths: { least: 1, median: 20, most: 64 },
        classes: { good: 7 },
      },
    },
    overlap: [{ split: "dev", other: "train", texts: 200, same: 3 }],
    epochs: 2.5,
    vocabulary: null,
  };
  const { element } = await mount([inventRun({ data }), inventRun({ id: "odd", data: { splits: 3 } })]);
  const part = element.querySelector('[data-key="data first"]')!.textContent;
  expect(part).toContain("1,20034,0001 / 20 / 64good 7");
  expect(part).toMatch(/3 rows of dev \(1\.5\s%\) are also in train\./);
  expect(element.querySelector('[data-key="data odd"]')).toBeNull();
});
