import { expect, test, vi } from "vitest";
import type { MetricDescription, ScoreDescription } from "../../api/types";
import { Refusal } from "../../core/source";
import { invent, makeMap, restyle, said, setStage, settle } from "../../testing/recording";
import { emptyRows, fillRows } from "./measures";
import { view } from "./view";

const word = said;

function describeMetric(name: string, change: Partial<MetricDescription> = {}): MetricDescription {
  return {
    name,
    family: "entropy",
    label: word(name),
    caption: word(`What ${name} is.`),
    lower: word("Lower means less."),
    higher: null,
    unit: "nats",
    range: [0, null],
    over: "head",
    levels: ["query", "head", "layer", "model"],
    needs: "statistics",
    parameters: [],
    panel: true,
    ...change,
  };
}

const parameter = (name: string) => ({
  name,
  label: word(name),
  kind: "number" as const,
  default: 0.01,
  minimum: null,
  maximum: null,
  choices: null,
});
const METRICS = [
  describeMetric("average_nonzero", { parameters: [parameter("threshold"), parameter("relative")] }),
  describeMetric("entropy"),
];

/** A source whose scores answer when they are let go. */
function holdScores(maps = 2, heads = 2) {
  const { source } = invent({ layers: maps, heads });
  const held: { name: string; signal: AbortSignal | undefined; go: () => void }[] = [];
  const score = (
    metric: string,
    over: string,
    parameters: Record<string, string> = {},
    signal?: AbortSignal,
  ) =>
    new Promise<ScoreDescription>((resolve, reject) => {
      const tau = Number(parameters.threshold ?? 0);
      const part = (map: number | null) => ({
        place: map === null ? null : source.description.maps[map]!.place,
        undefined: [],
        axes: [],
        shape: [],
        labels: null,
        values:
          over === "head" ? Array.from({ length: heads }, (_, head) => 10 * map! + head + tau) : [tau + 0.5],
      });
      const parts = over === "model" ? [part(null)] : Array.from({ length: maps }, (_, map) => part(map));
      signal?.addEventListener("abort", () => reject(new DOMException("gone", "AbortError")));
      const go = () => resolve({ metric, over, unit: "", range: [0, null], parameters: {}, parts });
      held.push({ name: `${metric} ${over} ${tau}`, signal, go });
    });
  const statistics = () => Promise.reject(new Refusal("none", "none", 404));
  const within = (scope: AbortSignal) => ({
    ...source,
    score: (metric: string, over: string, parameters?: Record<string, string>) =>
      score(metric, over, parameters, scope),
  });
  return { source: Object.assign(source, { score, statistics, within }), held };
}

test("an older question is given up when the threshold moves, and its answer never shown", async () => {
  const { source, held } = holdScores();
  const { stage, selection, element } = setStage(source);
  const mounted = view.mount({ ...stage, metrics: METRICS });
  selection.subscribe((now, before) => mounted.update(now, before));
  const first = held.splice(0);
  expect(first.map(({ name }) => name)).toContain("average_nonzero head 0.01");
  selection.option("numbers.tau", "0.2");
  expect(first.every(({ signal }) => signal?.aborted)).toBe(true);
  for (const { go } of held) go();
  await settle();
  const card = element.querySelector<HTMLElement>('[data-metric="average_nonzero"]');
  expect(Number(card?.title)).toBeCloseTo(0.7, 12);
  for (const { go } of first) go();
  await settle();
  expect(Number(card?.title)).toBeCloseTo(0.7, 12);
});

test("nothing is drawn or said after unmounting", async () => {
  const { source, held } = holdScores();
  const { stage, element, failures } = setStage(source);
  const mounted = view.mount({ ...stage, metrics: METRICS });
  mounted.unmount();
  for (const { go } of held) go();
  await settle();
  expect(element.childElementCount).toBe(0);
  expect(failures).toEqual([]);
});

test("the table is what the source measured, in the order of the rows", async () => {
  const { source, held } = holdScores();
  const { stage } = setStage(source, { options: { "numbers.sort": "-entropy" } });
  const mounted = view.mount({ ...stage, metrics: METRICS });
  for (const { go } of held) go();
  const { rows, columns } = await mounted.table();
  expect(columns.slice(0, 4)).toEqual(["stack", "attention", "layer", "head"]);
  expect(rows.map((row) => row.slice(2, 4))).toEqual([
    [1, 1],
    [1, 0],
    [0, 1],
    [0, 0],
  ]);
  expect(await mounted.picture()).toContain("What entropy is.");
});

test("the file of an edited model says so in every row", async () => {
  const { source, held } = holdScores();
  const { evidence } = source.description;
  const messages = { ...evidence.messages, mark: said("Edited model: head 1 silenced") };
  Object.assign(source.description, { evidence: { ...evidence, messages } });
  const { stage, element } = setStage(source);
  view.mount({ ...stage, metrics: METRICS });
  for (const { go } of held) go();
  await settle();
  const saved = vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:saved");
  [...element.querySelectorAll<HTMLElement>(".tools button")].at(-1)!.click();
  const rows = (await (saved.mock.lastCall![0] as Blob).text()).trim().split("\r\n");
  expect(rows.slice(1).every((row) => row.endsWith("Edited model: head 1 silenced"))).toBe(true);
  expect(rows.length).toBeGreaterThan(2);
  saved.mockRestore();
});

test("of generation steps only the chosen one has rows, and a refusal is the reason", () => {
  const maps = [makeMap(0, { layer: 0, step: 0 }), makeMap(1, { layer: 0, step: 1 })];
  const rows = emptyRows(maps, "head", 1);
  expect(rows.map(({ place, head }) => [place!.step, head])).toEqual([
    [1, 0],
    [1, 1],
  ]);
  fillRows(rows, "entropy", ["too long"]);
  expect(rows[0]?.readings.get("entropy")).toEqual({ value: null, why: ["too long"] });
});

test("texts too long to count again keep the recorded threshold", () => {
  const { source, held } = holdScores();
  Object.assign(source.description.maps[0]!, { queries: 100_000, keys: 100_000 });
  const { stage, element } = setStage(source, { options: { "numbers.tau": "0.2" } });
  view.mount({ ...stage, metrics: METRICS });
  expect(held.map(({ name }) => name)).toContain("average_nonzero head 0.01");
  expect(element.textContent).toContain("too long");
});

test("another language or theme measures nothing again, and says the state anew", async () => {
  const { source, held } = holdScores();
  const { stage, element } = setStage(source);
  const own = { ...stage, metrics: METRICS };
  const mounted = view.mount(own);
  const asked = held.length;
  const state = element.querySelector("span.state")!;
  const english = state.textContent;
  restyle(mounted, own, "zh", "dark");
  expect(state.textContent).toMatch(/\p{Script=Han}/u);
  expect(state.textContent).not.toBe(english);
  for (const { go } of held) go();
  await settle();
  expect(state.textContent).toBe("");
  restyle(mounted, own, "en", "light");
  expect(held).toHaveLength(asked);
  expect(Number(element.querySelector<HTMLElement>('[data-metric="entropy"]')?.title)).toBeCloseTo(0.5, 12);
});
