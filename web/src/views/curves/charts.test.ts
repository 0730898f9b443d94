import { expect, test } from "vitest";
import { inventRun } from "../../testing/run";
import { chartsOf, differences, throughput } from "./charts";

test("splits share a chart, parts of a whole share one, and each has its place", () => {
  const norms = { steps: [1], values: [2] };
  const run = inventRun({
    curves: { ...inventRun().curves, "norm.encoder.0": norms, "norm.encoder.1": norms, dev_bleu: norms },
  });
  const charts = chartsOf([run, run]);
  expect(charts.map(({ name }) => name)).toEqual(["loss", "bleu", "rate", "norm", "throughput"]);
  expect(charts[0]!.series.map(({ run, split }) => `${run} ${split}`)).toEqual([
    "0 train",
    "0 dev",
    "1 train",
    "1 dev",
  ]);
  expect(charts[3]!.series.map(({ part }) => part)).toEqual([
    "encoder.0",
    "encoder.1",
    "encoder.0",
    "encoder.1",
  ]);
});

test("tokens per second come from what was read and when; a clock that goes back gives none", () => {
  const { tokens, time } = inventRun().curves;
  expect(throughput({ tokens: tokens!, time: time! })!.values.at(-1)).toBeCloseTo(200, 9); // 100 every half second
  const back = { ...time!, values: time!.values.map((value) => -value!) };
  expect(throughput({ tokens: tokens!, time: back })!.values.every((value) => value === null)).toBe(true);
  expect(throughput({ tokens: tokens! })).toBeNull();
});

test("recipes differ where a setting is another one, or is missing", () => {
  const other = "[model]\nheads = 8\n[train]\nrate = 1e-4 # lower\nsteps = 50\n";
  expect(differences([inventRun().recipe, other])).toEqual([
    { name: "train.rate", values: ["1e-3", "1e-4 # lower"] },
    { name: "model.heads", values: [null, "8"] },
  ]);
});
