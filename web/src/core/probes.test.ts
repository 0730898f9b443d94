import { describe, expect, it } from "vitest";
import { areOneSeries, nearestStep, seriesOf } from "./probes";

describe("probes", () => {
  it("belong together where run and text are the same", () => {
    expect(seriesOf("first:100:0")).toBe("first:0");
    expect(seriesOf("a run: 2:7:1")).toBe("a run: 2:1");
    for (const other of ["gpt2-0a1b2c", "first:1", ":1:0", "first:x:0"]) expect(seriesOf(other)).toBeNull();
    expect(areOneSeries("first:0:1", "first:100:1")).toBe(true);
    expect(areOneSeries("first:0:1", "first:0:0")).toBe(false);
    expect(areOneSeries("gpt2-0a1b2c", "gpt2-0a1b2c")).toBe(false);
  });

  it("are found by the nearest step", () => {
    const steps = [0, 1, 5, 100].map((step) => ({ step }));
    expect([0, 2, 4, 52, 53, 900].map((step) => nearestStep(steps, step))).toEqual([0, 1, 2, 2, 3, 3]);
    expect(nearestStep([], 5)).toBe(-1);
  });
});
