import { expect, test, vi } from "vitest";
import type { JobRequest, RunDescription, SearchDescription, SearchTrial } from "../../api/types";
import type { RunList } from "../../core/source";
import type { Rerunner } from "../../core/view";
import { restyle, said } from "../../testing/recording";
import { inventRun, setRunStage } from "../../testing/run";
import { axesOf, bestSoFar, isBrush, passes, readBrush, sortTrials, writeBrush } from "./shapes";
import { view } from "./view";

function trial(number: number, loss: number | null, change: Partial<SearchTrial> = {}): SearchTrial {
  const values = loss === null ? {} : { loss: { mean: loss, low: null, high: null, count: 1 } };
  return {
    number,
    state: "complete",
    parameters: { "model.heads": 2, "train.rate": 0.001 },
    values,
    runs: loss === null ? [] : [{ run: `s-00${number}`, seed: 1, step: 10, values: { loss } }],
    reason: null,
    baseline: false,
    started: null,
    ended: null,
    steps: [],
    scores: [],
    ...change,
  };
}

const PARAMETER = { low: null, high: null, log: false, values: [] };
const estimate = (mean: number, half: number) => ({ mean, low: mean - half, high: mean + half, count: 5 });
const SEARCH: SearchDescription = {
  id: "s",
  state: "finished",
  shipped: false,
  trained: 4,
  wanted: 4,
  objective: "loss",
  best: 1,
  updated: 0,
  objectives: [{ name: "loss", direction: "minimize" }],
  parameters: [
    {
      ...PARAMETER,
      name: "model.heads",
      kind: "choice",
      values: [2, 4, 8],
      own: 2,
      importance: { loss: 0.75 },
    },
    {
      ...PARAMETER,
      name: "train.rate",
      kind: "float",
      low: 0.0001,
      high: 0.01,
      log: true,
      own: 0.001,
      importance: { loss: 0.25 },
    },
  ],
  trials: [
    trial(0, 2, { baseline: true }),
    trial(1, 3, { parameters: { "model.heads": 8, "train.rate": 0.01 } }),
    trial(2, 1, { parameters: { "model.heads": 4, "train.rate": 0.001 } }),
    trial(3, 2.5, {
      state: "pruned",
      reason: { code: "text.literal", parameters: { text: "it is behind <b>" }, default: "{text}" },
    }),
    trial(4, null, { state: "infeasible", parameters: { "model.heads": 8, "train.rate": 0.005 } }),
  ],
  best_trial: 2,
  baseline_trial: 0,
  pareto: [2],
  confirmed: [
    { trial: 2, runs: [], values: { loss: estimate(1, 0.1), test_loss: estimate(1.1, 0.1) }, diverged: 0 },
    { trial: 0, runs: [], values: { loss: estimate(2, 0.1), test_loss: estimate(2.1, 0.1) }, diverged: 0 },
  ],
  gains: { loss: estimate(-1, 0.15), test_loss: estimate(-1, 0.15) },
  seconds: 90,
  recipe: "",
  best_recipe: "[model]\nheads = 4\n",
};

interface Host {
  readonly open?: RunList["open"];
  readonly rerunner?: Rerunner | null;
}

async function mount(search: SearchDescription | null = SEARCH, options = {}, host: Host = {}) {
  const set = setRunStage([], { view: "search", options });
  const { subject: _, source: __, ...rest } = set.stage;
  const searches = vi.fn(async () => (search ? [search] : []));
  const stage = {
    ...rest,
    subject: { kind: "none" as const },
    source: null,
    rerunner: host.rerunner ?? null,
    runs: {
      list: async () => [],
      open: host.open ?? (() => Promise.reject(new Error("gone"))),
      searches,
      search: async (_id: string): Promise<SearchDescription> => search!,
    },
  };
  const mounted = view.mount(stage);
  set.selection.subscribe((now, before) => mounted.update(now, before));
  if (search) await vi.waitFor(() => expect(set.element.querySelector(".trials")).not.toBeNull());
  else await vi.waitFor(() => expect(set.element.querySelector("pre")).not.toBeNull());
  const numbers = () =>
    [...set.element.querySelectorAll(".trials tbody tr")].map((row) => row.querySelector("td")!.textContent);
  return { ...set, stage, mounted, numbers };
}

test("places on axes: choices evenly, numbers by their scale, the best at the top of the objective", () => {
  const [heads, rate, loss] = axesOf(SEARCH);
  const places = (axis: typeof heads) => SEARCH.trials.map((each) => axis!.place(each));
  expect(places(heads)).toEqual([0, 1, 0.5, 0, 1]);
  expect(places(rate)[0]).toBeCloseTo(0.5);
  expect(places(rate)[1]).toBeCloseTo(1);
  expect(places(loss)).toEqual([0.5, 0, 1, 0.25, null]);
});

test("the head counts what was trained to the end, stopped early and not possible", async () => {
  const { element } = await mount();
  expect(element.querySelector(".head")!.textContent).toContain(
    "4 of 4 configurations trained in 1.5 minutes. Pruned, that is stopped early: 1. " +
      "Not possible, so not trained and not among these: 1.",
  );
});

test("ranges are written and read, and keep the trials that pass", () => {
  const ranges = new Map([["model.heads", [0.4, 0.6] as const]]);
  expect(readBrush(writeBrush(ranges))).toEqual(ranges);
  expect(isBrush(writeBrush(ranges))).toBe(true);
  expect(["", "x", "a:b-c", "a:0.1-0.2,"].map(isBrush)).toEqual([false, false, false, false]);
  const axes = axesOf(SEARCH);
  expect(SEARCH.trials.filter((each) => passes(each, axes, ranges)).map(({ number }) => number)).toEqual([2]);
});

test("the best so far falls; orders put what has no value last", () => {
  expect(bestSoFar(SEARCH).map(({ value }) => value)).toEqual([2, 2, 1]);
  const order = (column: string, up: boolean) =>
    sortTrials(SEARCH.trials, column, up).map(({ number }) => number);
  expect(order("loss", true)).toEqual([2, 0, 3, 1, 4]);
  expect(order("loss", false)).toEqual([1, 3, 0, 2, 4]);
  expect(order("trial", false)).toEqual([4, 3, 2, 1, 0]);
});

test("the best configuration stands beside the recipe's own, with its evidence; its run opens", async () => {
  const { element, selection } = await mount();
  const best = element.querySelector(".best")!;
  expect(best.textContent).toContain("Trial 2, loss 1");
  const changed = [...best.querySelectorAll("[data-changed] th")].map((each) => each.textContent);
  expect(changed).toEqual(["model.heads"]);
  expect(best.textContent).toContain("loss on test");
  expect(best.textContent).toMatch(/-1.* ± 0\.15|−1.* ± 0\.15/);
  expect(best.querySelector("details pre")!.textContent).toBe("[model]\nheads = 4\n");
  const open = [...best.querySelectorAll("button")].find((each) => each.textContent === "Open its run")!;
  open.click();
  expect(selection.get()).toMatchObject({ run: "s-002", view: "curves" });
});

test("trials are sorted by any column; reasons are text, never markup", async () => {
  const { element, numbers } = await mount();
  expect(numbers()).toEqual(["2", "0 (recipe)", "1", "3", "4"]);
  const heading = [...element.querySelectorAll<HTMLElement>(".trials th button")].find((each) =>
    each.textContent!.startsWith("Trial"),
  )!;
  heading.click();
  expect(numbers()).toEqual(["0 (recipe)", "1", "2", "3", "4"]);
  expect(element.querySelector(".reason b")).toBeNull();
  expect(element.querySelector(".trials")!.textContent).toContain("it is behind <b>");
});

test("keys on an axis keep some trials; Escape keeps all", async () => {
  const { element, numbers, selection } = await mount();
  const axis = () => element.querySelector<SVGElement>('[data-axis="loss"]')!;
  const press = (key: string) => axis().dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  expect(axis().getAttribute("aria-valuetext")).toBe("the whole axis");
  press("ArrowDown");
  expect(axis().getAttribute("aria-valuetext")).toMatch(/^from 70.%? to 100.%? of the axis$/);
  expect(selection.get().options).toMatchObject({ "search.brush": "loss:0.7-1" });
  expect(numbers()).toEqual(["2"]);
  press("Escape");
  expect(numbers()).toHaveLength(5);
});

test("a late answer does not take the place of the search that was chosen meanwhile", async () => {
  const { stage, element, selection } = await mount();
  const answers = new Map<string, (search: SearchDescription) => void>();
  stage.runs.searches.mockResolvedValue([SEARCH, { ...SEARCH, id: "slow" }, { ...SEARCH, id: "quick" }]);
  stage.runs.search = (id: string) => new Promise((resolve) => answers.set(id, resolve));
  selection.option("search.id", "slow");
  await vi.waitFor(() => expect(answers.has("slow")).toBe(true));
  selection.option("search.id", "quick");
  await vi.waitFor(() => expect(answers.has("quick")).toBe(true));
  answers.get("quick")!({ ...SEARCH, id: "quick", trained: 7 });
  const head = () => element.querySelector(".head")!.textContent;
  await vi.waitFor(() => expect(head()).toContain("7 of 4"));
  answers.get("slow")!({ ...SEARCH, id: "slow", trained: 8 });
  await new Promise((done) => setTimeout(done));
  expect(head()).toContain("7 of 4");
});

test("what was opened and focused stays while a search goes on", async () => {
  vi.useFakeTimers();
  const running = { ...SEARCH, state: "running" as const };
  const { stage, element, mounted } = await mount(running);
  document.body.append(element);
  try {
    const recipe = () => element.querySelector<HTMLDetailsElement>(".best details")!;
    recipe().open = true;
    element.querySelector<HTMLElement>(".trials .run-name")!.focus();
    const more = [...SEARCH.trials, trial(5, 0.5)];
    stage.runs.search = async () => ({ ...running, trials: more, best_trial: 5, trained: 5 });
    await vi.advanceTimersByTimeAsync(3500);
    expect(element.querySelector(".best")!.textContent).toContain("Trial 5");
    expect(recipe().open).toBe(true);
    expect(document.activeElement!.textContent).toBe("2");
  } finally {
    mounted.unmount();
    element.remove();
    vi.useRealTimers();
  }
});

test("the example offers no runs; without any search there is a command", async () => {
  const { element } = await mount({ ...SEARCH, shipped: true });
  expect(element.querySelector(".run-name")).toBeNull();
  expect(element.textContent).toContain("not on this machine");
  const empty = await mount(null);
  expect(empty.element.querySelector("pre")!.textContent).toContain("glassformer search");
});

test("several objectives have a front; picture, table and other languages work", async () => {
  const second = { name: "parameters", direction: "minimize" as const };
  const trials = SEARCH.trials.map((each) =>
    each.values.loss
      ? { ...each, values: { ...each.values, parameters: estimate(100 + each.number, 0) } }
      : each,
  );
  const search = { ...SEARCH, objectives: [...SEARCH.objectives, second], trials, pareto: [2, 0] };
  const { element, mounted, stage } = await mount(search);
  expect(element.textContent).toContain("loss against parameters");
  expect(await mounted.picture()).toContain("<svg");
  const table = await mounted.table();
  expect(table.columns.at(-1)).toBe("Runs");
  expect(table.rows).toHaveLength(5);
  expect(table.rows[0]!.slice(0, 4)).toEqual([2, "complete", 1, 102]);
  restyle(mounted, stage, "zh");
  expect(element.textContent).toContain("最佳注意力配置");
});

test("its attention: the recording nearest to the best step, its checkpoint on one of its texts, or why there is none", async () => {
  const recording = (step: number) => ({ step, id: `s-002:${step}:0` });
  const best = { step: 20, kind: "best", message: said(""), topic: "loss", value: 1, time: null };
  const shown = async (run: Partial<RunDescription>, rerunner: Rerunner | null = null) => {
    const set = await mount(
      SEARCH,
      {},
      { open: async () => setRunStage([inventRun(run)]).stage.source[0]!, rerunner },
    );
    await vi.waitFor(() => expect(set.element.textContent).toContain("Its attention"));
    const button = [...set.element.querySelectorAll<HTMLButtonElement>(".best button")].find(
      (each) => each.textContent === "Its attention",
    )!;
    return { ...set, button };
  };
  const probed = await shown({ probes: [0, 10, 18, 50].map(recording), events: [best] });
  probed.button.click();
  expect(probed.selection.get()).toMatchObject({ recording: "s-002:18:0", run: "", view: "heatmap" });

  const kept = await shown({ checkpoint: true });
  expect(kept.button.disabled).toBe(true);
  expect(kept.element.querySelector(".actions")!.textContent).toContain("--no-models");
  const run = vi.fn(async (_request: JobRequest) => "new");
  const running = await shown({ checkpoint: true }, { run } as unknown as Rerunner);
  running.button.click();
  await vi.waitFor(() => expect(running.selection.get().recording).toBe("new"));
  expect(run.mock.calls[0]![0]).toMatchObject({ kind: "record", model: "run:s-002" });

  const bare = await shown({});
  expect(bare.button.disabled).toBe(true);
  expect(bare.element.querySelector(".actions")!.textContent).toContain("no checkpoint");
});

test("runs that diverged are told, and no mean is shown without them", async () => {
  const [best, own] = SEARCH.confirmed;
  const lost = { ...SEARCH, confirmed: [{ ...best!, diverged: 1 }, own!], gains: {} };
  const { element } = await mount(lost);
  expect(element.textContent).toContain("1 of 0 confirming runs diverged");
  expect(element.textContent).not.toContain("new seeds each");
});
