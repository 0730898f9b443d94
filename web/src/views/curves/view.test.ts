import { expect, test, vi } from "vitest";
import { restyle } from "../../testing/recording";
import { inventRun, setRunStage } from "../../testing/run";
import { view } from "./view";

function mount(runs = [inventRun()], selection = {}) {
  const set = setRunStage(runs, selection);
  const mounted = view.mount(set.stage);
  set.selection.subscribe((now, before) => mounted.update(now, before));
  const charts = () =>
    [...set.element.querySelectorAll<HTMLElement>("[data-chart]")].map((each) => each.dataset.chart);
  return { ...set, mounted, charts };
}

test("one chart for each quantity, an alarm as a mark and in the list", () => {
  const { element, charts, mounted } = mount();
  expect(charts()).toEqual(["loss", "rate", "throughput"]);
  expect(element.querySelectorAll("[data-chart=loss] [data-curve]").length).toBe(2);
  expect(element.querySelector("[data-chart=loss] title")!.textContent).toContain(
    "Head 1 looks everywhere evenly.",
  );
  expect(element.querySelector(".events li")!.textContent).toContain("Head 1 looks everywhere evenly.");
  mounted.unmount();
  expect(element.childElementCount).toBe(0);
});

test("an alarm opens its step, and the heads of its map", () => {
  const { element, selection } = mount();
  const [step, heads] = element.querySelectorAll<HTMLButtonElement>(".events button");
  step!.click();
  expect(selection.get().step).toBe(30);
  heads!.click();
  expect(selection.get()).toMatchObject({
    view: "learning",
    step: 30,
    place: { stack: "decoder", layer: 1 },
  });
});

test("a run that goes on is drawn again when there is news", async () => {
  const { element, news } = mount([inventRun({ curves: {}, events: [], state: "running", last_step: 0 })]);
  expect(element.querySelector(".note")!.textContent).toContain("Nothing was logged yet");
  news(inventRun({ state: "running" }));
  await vi.waitFor(() => expect(element.querySelector("[data-chart=loss]")).not.toBeNull());
  expect(element.querySelector(".note")!.textContent).toBe("");
});

test("keys zoom about the focus, move it, and show all steps", () => {
  const { element, selection } = mount([inventRun()], { step: 10 });
  const press = (key: string) =>
    element.querySelector(".charts")!.dispatchEvent(new KeyboardEvent("keydown", { key }));
  press("+");
  expect(selection.get().options["curves.at"]).toBe("5-30");
  press("ArrowRight");
  expect(selection.get().step).toBe(11);
  press("0");
  expect(selection.get().options["curves.at"]).toBeUndefined();
});

test("smoothing draws the measured curve behind, and leaves dev alone", () => {
  const { element, selection } = mount();
  selection.option("curves.smoothing", "0.9");
  const curves = [...element.querySelectorAll("[data-chart=loss] [data-curve]")];
  expect(curves.map((each) => each.getAttribute("stroke-opacity"))).toEqual(["0.3", null, null]);
});

test("several runs: colours by run, and what their recipes differ in", async () => {
  const second = inventRun({ id: "second", recipe: "[train]\nrate = 1e-4\nsteps = 50\n" });
  const { element, mounted } = mount([inventRun(), second]);
  const inks = [...element.querySelectorAll("[data-chart=rate] [data-curve]")].map((each) =>
    each.getAttribute("stroke"),
  );
  expect(new Set(inks).size).toBe(2);
  expect(element.querySelector(".facts tbody")!.textContent).toBe("train.rate1e-31e-4");
  const { columns, rows } = await mounted.table();
  expect(columns.length).toBe(rows[0]!.length);
  expect(new Set(rows.map(([run]) => run))).toEqual(new Set(["first", "second"]));
});

test("another language redraws it; a picture stands by itself", async () => {
  const { element, stage, mounted } = mount();
  restyle(mounted, stage);
  expect(element.querySelector(".events h2")!.textContent).toBe("警报与事件");
  const svg = await mounted.picture();
  expect(svg).not.toContain("var(--");
  expect(svg.match(/data-curve/g)!.length).toBe(4);
});
