import { expect, test, vi } from "vitest";
import type { Distribution, JobRequest } from "../../api/types";
import type { Mounted, Rerunner } from "../../core/view";
import { matches, multiplyPair } from "../../data/pair";
import { frame, invent, makeMap, restyle, setStage, settle } from "../../testing/recording";
import { view } from "./view";

const SCORES = [0.5, 2, -1];
const DISTRIBUTION: Distribution = {
  edges: [-1, 0.5, 2],
  counts: [1, 2],
  count: 3,
  minimum: -1,
  maximum: 2,
  mean: 0.5,
  deviation: 1.2,
  left_out: 0,
};

const softmax = (scores: readonly number[]) => {
  const parts = scores.map(Math.exp);
  const total = parts.reduce((sum, part) => sum + part);
  return Float32Array.from(parts, (part) => part / total);
};

/** One map whose every row has the same scores, times a factor. */
function prepare(factor = 1) {
  const maps = [makeMap(0, { layer: 0, queries: 3, has_scores: true, heads: 1 })];
  const { source } = invent({ heads: 1, change: { maps } });
  const scores = SCORES.map((score) => factor * score);
  return Object.assign(source, {
    scores: async () => frame({ scores: { shape: [1, 3], data: Float32Array.from(scores) } }),
    weights: async () => frame({ weights: { shape: [1, 3], data: softmax(scores) } }),
    distribution: async () => DISTRIBUTION,
    score: async () => ({
      metric: "entropy",
      over: "head",
      unit: "nats",
      range: [0, null] as const,
      parts: [{ place: maps[0]!.place, undefined: [], values: [factor] }],
    }),
  });
}

function makeBench(request: JobRequest | null) {
  const run = vi.fn<Rerunner["run"]>(async () => "again");
  const again = vi.fn<Rerunner["again"]>((change) =>
    request === null ? null : { ...request, edits: change.edits ?? [] },
  );
  const bench: Rerunner = { run, again, open: async () => prepare(2), go: vi.fn() };
  return { bench, run };
}

const REQUEST: JobRequest = { kind: "record", model: "tiny", sequence: "text", text: "a b c" };

test("letting go of the slider runs the model again with the scores of this layer scaled", async () => {
  const { bench, run } = makeBench(REQUEST);
  const { stage, element } = setStage(
    prepare(),
    { query: 1, options: { "inside.part": "multiplier" } },
    bench,
  );
  view.mount(stage);
  await settle();
  const slider = element.querySelector<HTMLInputElement>("input[type=range]")!;
  slider.value = "2";
  slider.dispatchEvent(new Event("input"));
  slider.dispatchEvent(new Event("change"));
  await settle();
  expect(run.mock.calls[0]?.[0]).toMatchObject({
    model: "tiny",
    edits: [{ kind: "scale", factor: 2, stack: "decoder", attention: "self", layer: 0 }],
    want: expect.arrayContaining(["scores", "weights"]),
  });
  const state = element.querySelector<HTMLElement>(".again .note")!;
  expect(state.textContent).toContain("confirms");
  expect(Number(state.dataset.difference)).toBeLessThan(1e-6);
  const table = await view.mount(stage).table();
  expect(table.rows.map((row) => row.length)).toEqual([4, 4, 4]);
});

test("every layer is one edit without a place", async () => {
  const { bench, run } = makeBench(REQUEST);
  const options = { "inside.part": "multiplier", "inside.factor": "0.5", "inside.scope": "all" };
  const { stage, element } = setStage(prepare(), { query: 1, options }, bench);
  view.mount(stage);
  await settle();
  element.querySelector<HTMLButtonElement>(".again button")?.click();
  await settle();
  expect(run.mock.calls[0]?.[0].edits).toEqual([{ kind: "scale", factor: 0.5 }]);
});

test("without a model, or without the request, the page says why and still shows the row", async () => {
  for (const [bench, words] of [
    [null, "no model to run here"],
    [makeBench(null).bench, "not made on this page"],
  ] as const) {
    const { stage, element } = setStage(
      prepare(),
      { query: 1, options: { "inside.part": "multiplier" } },
      bench,
    );
    view.mount(stage);
    await settle();
    expect(element.querySelector(".again")?.textContent).toContain(words);
    expect(element.querySelectorAll(".pairs rect[data-key]").length).toBe(6);
  }
});

test("what was not kept says so", async () => {
  const { source } = invent();
  const { stage, element } = setStage(Object.assign(source, { distribution: async () => DISTRIBUTION }));
  view.mount(stage);
  await settle();
  expect(element.querySelector('figure[data-of="queries"]')?.textContent).toContain("not kept");
  expect(element.querySelector('figure[data-of="attention"] .bars')?.getAttribute("d")).toContain("M");
});

test("unmounting while something is on its way is quiet", async () => {
  for (const part of ["distributions", "values", "products", "multiplier"]) {
    const { stage, element, failures } = setStage(prepare(), { options: { "inside.part": part } });
    view.mount(stage).unmount();
    await settle();
    expect(failures).toEqual([]);
    expect(element.childElementCount).toBe(0);
  }
});

test("a sum matches its score up to rounding, and not beyond", () => {
  const query = Float32Array.of(1.5, -2, 0.25);
  const key = Float32Array.of(2, 0.5, 8);
  const { products, sum } = multiplyPair(query, key);
  expect([...products]).toEqual([3, -1, 2]);
  expect(sum).toBe(4);
  expect(matches(2, 2.00001, products, 0.5)).toBe(true);
  expect(matches(2, 2.1, products, 0.5)).toBe(false);
});

test.each(["distributions", "values", "products", "multiplier"])(
  "%s speaks another language in the same elements, as if it had been opened in it",
  async (part) => {
    const open = async () => {
      const query = { has_queries: true, has_keys: true, has_scores: true, heads: 1, queries: 3 };
      const vectors = async (_: unknown, what: string) =>
        frame({ [what]: { shape: [3, 8], data: new Float32Array(24).fill(0.5) } });
      const source = Object.assign(prepare(), { vectors });
      Object.assign(source.description, { maps: [makeMap(0, { layer: 0, ...query })] });
      const options = { "inside.part": part, "inside.array": "scores" };
      const { bench } = makeBench(REQUEST);
      return setStage(source, { query: 1, key: 0, options }, bench);
    };
    const html = (element: Element) => element.innerHTML.replace(/choice-\d+/g, "");
    const [one, other] = [await open(), await open()];
    document.body.append(one.element);
    const mounted = view.mount(one.stage);
    await settle();
    const controls = [...one.element.querySelectorAll("button, input, select")];
    restyle(mounted, one.stage, "zh", "dark");
    await settle();
    Object.assign(other.stage, { language: "zh", theme: "dark" });
    const fresh = view.mount(other.stage);
    await settle();
    expect(html(one.element)).toBe(html(other.element));
    for (const each of controls) expect(one.element.contains(each)).toBe(true);
    expect([one.failures, other.failures]).toEqual([[], []]);
    mounted.unmount();
    fresh.unmount();
  },
);

test("a run with other scores goes on in another language, and its result stays", async () => {
  const { bench, run } = makeBench(REQUEST);
  let finish: (id: string) => void = () => {};
  let signal: AbortSignal | null = null;
  run.mockImplementation((_, __, stop) => {
    signal = stop;
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  const options = { "inside.part": "multiplier", "inside.factor": "2" };
  const { stage, element } = setStage(prepare(), { query: 1, options }, bench);
  const mounted = view.mount(stage);
  await settle();
  element.querySelector<HTMLButtonElement>(".again button")?.click();
  const state = () => element.querySelector<HTMLElement>(".again .note")!;
  restyle(mounted, stage);
  await settle();
  expect(state().textContent).toContain("正在重新运行模型");
  finish("again");
  await settle();
  expect(Number(state().dataset.difference)).toBeLessThan(1e-6);
  restyle(mounted, stage, "en");
  await settle();
  expect(Number(state().dataset.difference)).toBeLessThan(1e-6);
  expect([run.mock.calls.length, signal!.aborted]).toEqual([1, false]);
  mounted.unmount();
});

test("a run with other scores ends when another part is looked at", async () => {
  const { bench, run } = makeBench(REQUEST);
  run.mockImplementation(() => new Promise(() => {}));
  const options = { "inside.part": "multiplier", "inside.factor": "2" };
  const { stage, element, selection } = setStage(prepare(), { query: 1, options }, bench);
  const mounted = view.mount(stage);
  await settle();
  element.querySelector<HTMLButtonElement>(".again button")?.click();
  selection.option("inside.part", "values");
  mounted.update(selection.get(), selection.get());
  expect(run.mock.calls[0]![2].aborted).toBe(true);
});

test("behind another tab nobody looks at its result, and another part ends it", async () => {
  const { bench, run } = makeBench(REQUEST);
  let finish: (id: string) => void = () => {};
  run.mockImplementation(
    () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  );
  const open = vi.spyOn(bench, "open");
  const options = { "inside.part": "multiplier", "inside.factor": "2" };
  const { stage, element, selection } = setStage(prepare(), { query: 1, options }, bench);
  const begin = async (): Promise<Mounted> => {
    const mounted = view.mount(stage);
    await settle();
    element.querySelector<HTMLButtonElement>(".again button")?.click();
    return mounted;
  };
  const first = await begin();
  first.keep!();
  first.unmount();
  finish("again");
  await settle();
  expect(open).not.toHaveBeenCalled();
  const second = await begin();
  const kept = second.keep!()!;
  second.unmount();
  expect(run.mock.calls[1]![2].aborted).toBe(false);
  selection.option("inside.part", "values"); // a link leads there
  view.mount({ ...stage, kept }).unmount();
  expect(run.mock.calls[1]![2].aborted).toBe(true);
});

test("cancelled in another window, it no longer says that it runs", async () => {
  const { bench, run } = makeBench(REQUEST);
  run.mockRejectedValue(new DOMException("Cancelled.", "AbortError"));
  const { stage, element } = setStage(prepare(), { options: { "inside.part": "multiplier" } }, bench);
  const mounted = view.mount(stage);
  await settle();
  element.querySelector<HTMLButtonElement>(".again button")?.click();
  await settle();
  expect(element.querySelector(".again .note")?.textContent).toContain("Let go of the slider");
  mounted.unmount();
});
