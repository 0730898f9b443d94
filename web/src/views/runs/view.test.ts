import { expect, test, vi } from "vitest";
import type { RunEntry } from "../../api/types";
import { restyle } from "../../testing/recording";
import { inventRun, setRunStage } from "../../testing/run";
import { chooseRuns } from "./rows";
import { view } from "./view";

function entry(id: string, change: Partial<RunEntry> = {}): RunEntry {
  const { names, maps, alarm_list, events, recipe, environment, data, damaged, revision, ...rest } =
    inventRun();
  return { ...rest, id, started: 1000, updated: 1090, loss: [4, 2, 1], ...change };
}

const RUNS = [
  entry("run 10", { score_name: "loss", score: 0.5, last_step: 100 }),
  entry("run 9", { state: "running", loss: [], alarms: 3, last_step: 300 }),
  entry("other <b>", { state: "killed", started: null, last_step: 200 }),
];

async function mount(runs: readonly RunEntry[] | null = RUNS, options = {}) {
  const set = setRunStage([], { view: "runs", options });
  const list = vi.fn(async () => runs ?? []);
  const { subject: _, source: __, ...rest } = set.stage;
  const stage = {
    ...rest,
    subject: { kind: "none" as const },
    source: null,
    ...(runs ? { runs: { list, open: () => Promise.reject(new Error("not asked")) } } : {}),
  };
  const mounted = view.mount(stage);
  set.selection.subscribe((now, before) => mounted.update(now, before));
  await vi.waitFor(() => expect(set.element.textContent).not.toBe(""));
  const names = () => [...set.element.querySelectorAll(".run-name")].map((each) => each.textContent);
  if (runs?.length) await vi.waitFor(() => expect(names().length).toBeGreaterThan(0));
  return { ...set, stage, mounted, names, list };
}

test("runs are found by words and state, and sorted by any column; those without a value come last", () => {
  const asked = { search: "", state: "", sort: "name", up: true } as const;
  const ids = (change: object) => chooseRuns(RUNS, { ...asked, ...change }).map(({ id }) => id);
  expect(ids({})).toEqual(["other <b>", "run 9", "run 10"]); // numbers by their value
  expect(ids({ search: "1 RUN" })).toEqual(["run 10"]);
  expect(ids({ state: "killed" })).toEqual(["other <b>"]);
  expect(ids({ sort: "loss", up: true }).at(-1)).toBe("run 9");
  expect(ids({ sort: "loss", up: false }).at(-1)).toBe("run 9");
  expect(ids({ sort: "steps", up: false })).toEqual(["run 9", "other <b>", "run 10"]);
});

test("one run is not called runs", async () => {
  const found = async (runs: readonly RunEntry[]) =>
    (await mount(runs)).element.querySelector("[role=status]")!.textContent;
  expect(await found(RUNS.slice(0, 1))).toBe("1 run");
  expect(await found(RUNS)).toBe("3 runs");
});

test("an example is called so", async () => {
  const { names, selection, element } = await mount([...RUNS, entry("words", { shipped: true, started: 1 })]);
  expect(names()).toContain("words (example)");
  element.querySelector<HTMLElement>('[data-run="words"] .run-name')!.click();
  expect(selection.get().run).toBe("words");
});

test("a row says how a run stands; its name opens it", async () => {
  const { element, selection, mounted } = await mount();
  const row = element.querySelector<HTMLElement>('[data-run="run 10"]')!;
  const cell = (name: string) => row.querySelector(`[data-column=${name}]`)!.textContent;
  expect([cell("state"), cell("loss"), cell("score"), cell("steps"), cell("time"), cell("alarms")]).toEqual([
    "finished",
    "1",
    "loss 0.5000",
    "100",
    "1 min",
    "1",
  ]);
  expect(row.querySelector("svg")!.getAttribute("aria-label")).toContain("Loss of run 10");
  row.querySelector<HTMLElement>(".run-name")!.click();
  expect(selection.get()).toMatchObject({ run: "run 10", recording: "", view: "curves" });
  mounted.unmount();
  expect(element.childElementCount).toBe(0);
});

test("several are chosen to overlay; a search keeps them", async () => {
  const { element, selection, names } = await mount();
  const tick = (id: string) => element.querySelector<HTMLElement>(`[data-run="${id}"] input`)!.click();
  tick("run 9");
  tick("run 10");
  const search = element.querySelector<HTMLInputElement>("input[type=search]")!;
  search.value = "other";
  search.dispatchEvent(new Event("input"));
  expect(names()).toEqual(["other <b>"]);
  const overlay = element.querySelector<HTMLElement>(".primary")!;
  expect(overlay.textContent).toBe("Overlay 2 runs");
  overlay.click();
  expect(selection.get().run).toBe("run 9,run 10");
});

test("of many runs a hundred are drawn, more on request; headings sort", async () => {
  const many = Array.from({ length: 230 }, (_, at) => entry(`run ${at}`, { last_step: at }));
  const { element, names, selection } = await mount(many);
  expect(names().length).toBe(100);
  const more = [...element.querySelectorAll("button")].find((each) => each.textContent === "Show 100 more")!;
  more.click();
  expect(names().length).toBe(200);
  element.querySelector<HTMLElement>("th[data-column=steps] button")!.click();
  expect(names()[0]).toBe("run 229");
  expect(element.querySelector("th[data-column=steps]")!.getAttribute("aria-sort")).toBe("descending");
  expect(selection.get().options["runs.sort"]).toBe("steps");
});

test("the list is fetched again while a run goes on, and not afterwards", async () => {
  vi.useFakeTimers();
  try {
    const set = await mount();
    await vi.advanceTimersByTimeAsync(3500);
    expect(set.list.mock.calls.length).toBe(2);
    set.list.mockResolvedValue(RUNS.map((run) => ({ ...run, state: "finished" as const })));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(set.list.mock.calls.length).toBe(3);
    set.mounted.unmount();
  } finally {
    vi.useRealTimers();
  }
});

test("the list that is fetched again leaves the focus where it is", async () => {
  vi.useFakeTimers();
  const set = await mount();
  document.body.append(set.element);
  try {
    const name = set.element.querySelector<HTMLElement>('[data-run="run 9"] .run-name')!;
    const heading = set.element.querySelector<HTMLElement>("th[data-column=steps] button")!;
    name.focus();
    set.list.mockResolvedValue(RUNS.map((run) => ({ ...run, last_step: run.last_step + 50, alarms: 0 })));
    await vi.advanceTimersByTimeAsync(3500);
    const row = set.element.querySelector<HTMLElement>('[data-run="run 9"]')!;
    expect(row.querySelector("[data-column=steps]")!.textContent).toBe("350");
    expect(row.hasAttribute("data-alarmed")).toBe(false);
    expect(document.activeElement).toBe(name);
    heading.focus();
    await vi.advanceTimersByTimeAsync(3500);
    expect(document.activeElement).toBe(heading);
    heading.click(); // it is drawn anew, with its order
    expect((document.activeElement as HTMLElement).closest("th")!.getAttribute("aria-sort")).toBe(
      "descending",
    );
  } finally {
    set.mounted.unmount();
    set.element.remove();
    vi.useRealTimers();
  }
});

test("without runs it says how to start one; pictures and tables have what is shown", async () => {
  expect((await mount([])).element.textContent).toContain("glassformer train");
  expect((await mount(null)).element.textContent).toContain("glassformer serve");
  const { mounted, stage, element } = await mount();
  restyle(mounted, stage as never);
  expect(element.querySelector("th button")!.textContent).toBe("运行");
  const { columns, rows } = await mounted.table();
  expect([columns.length, rows.length]).toEqual([rows[0]!.length, 3]);
  const svg = await mounted.picture();
  expect(svg).toContain("other &lt;b&gt;");
  expect(svg).not.toContain("var(--");
});
