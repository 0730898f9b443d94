import { expect, test } from "vitest";
import { exactSeries, inventNumbers, inventRun } from "../../testing/run";
import { chartsOf, differences, type Series, smoothed, throughput, titleOf } from "./charts";
import { words } from "./words";

test("splits share a chart, parts of a whole share one, and each has its place", () => {
  const norms = exactSeries([1], () => 2);
  const { curves } = inventNumbers();
  const run = { ...curves, norm: norms, "norm.encoder.0": norms, "norm.encoder.1": norms, dev_bleu: norms };
  const charts = chartsOf([run, run]);
  expect(charts.map(({ name }) => name)).toEqual([
    "loss",
    "bleu",
    "rate",
    "norm",
    "norm_by_layer",
    "throughput",
  ]);
  expect(charts[0]!.series.map(({ run, split }) => `${run} ${split}`)).toEqual([
    "0 train",
    "0 dev",
    "1 train",
    "1 dev",
  ]);
  expect(charts[4]!.series.map(({ part }) => part)).toEqual([
    "encoder.0",
    "encoder.1",
    "encoder.0",
    "encoder.1",
  ]);
});

test("tokens per second come from what was read and when; a clock that goes back gives none", () => {
  const { tokens, time } = inventNumbers().curves;
  expect(throughput({ tokens: tokens!, time: time! })!.values.at(-1)).toBeCloseTo(200, 9); // 100 every half second
  const back = { ...time!, mean: time!.mean.map(([value]) => [-value!]) };
  expect(throughput({ tokens: tokens!, time: back })!.values.every(Number.isNaN)).toBe(true);
  expect(throughput({ tokens: tokens! })).toBeNull();
});

test("a smoothed curve is the same where points are of many rows", () => {
  const steps = Float64Array.from({ length: 4000 }, (_, at) => at);
  const exact: Series = {
    run: 0,
    split: "train",
    part: "",
    steps,
    values: steps.map((step) => 5 - step / 1000),
  };
  const rows = 10;
  const part = (all: Float64Array): Float64Array =>
    Float64Array.from({ length: all.length / rows }, (_, at) => all[at * rows + rows / 2]!);
  const coarse = { ...exact, steps: part(steps), values: part(exact.values), rows: Array(400).fill(rows) };
  const [fine, thick] = [smoothed(exact, 0.99), smoothed(coarse, 0.99)];
  expect(Math.abs(fine.at(-1)! - thick.at(-1)!)).toBeLessThan(0.02); // the slope is 0.001 a step, a point is 10 steps
  expect(fine[0]).toBe(5);
});

test("recipes differ where a setting is another one, or is missing", () => {
  const other = "[model]\nheads = 8\n[train]\nrate = 1e-4 # lower\nsteps = 50\n";
  expect(differences([inventRun().recipe, other])).toEqual([
    { name: "train.rate", values: ["1e-3", "1e-4 # lower"] },
    { name: "model.heads", values: [null, "8"] },
  ]);
});

test("scores have names that people read, those of a pair of languages and of labels, too", () => {
  const named = ["bits_per_byte", "bleu_en-fr", "f1_by_layer", "mine"].map((name) =>
    titleOf(name, words("en")),
  );
  expect(named).toEqual(["Bits per byte", "BLEU en-fr", "F1 by label", "mine"]);
});
