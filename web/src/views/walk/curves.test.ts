// @vitest-environment happy-dom

import { describe, expect, test } from "vitest";
import { countValues, FUNCTIONS, makeCurves } from "./curves";
import { words } from "./words";

describe("activation curves", () => {
  test.each([
    ["relu", -1, 0],
    ["relu", 2.5, 2.5],
    ["gelu", 1, 0.8413447460685429],
    ["gelu", -0.5, -0.15426876936299344],
    ["gelu-tanh", 1, 0.8411919906082768],
    ["silu", 1, 0.7310585786300049],
    ["silu", -3, -0.14227761953270035],
    ["tanh", 0.5, 0.4621171572600098],
    ["sigmoid", -2, 0.11920292202211755],
  ] as const)("%s(%d) is %d, as torch computes it", (name, x, y) => {
    expect(FUNCTIONS[name]!(x)).toBeCloseTo(y, 6);
  });

  test("the one that the model uses is marked; the bars are counts of real numbers", () => {
    const values = new Float32Array([-9, -0.5, 0.01, 0.02, 9]);
    const counts = countValues(values);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5);
    expect([counts[0], counts[32], counts.at(-1)]).toEqual([1, 2, 1]);
    for (const used of ["relu", "gelu-tanh"]) {
      const drawn = makeCurves(used, values, words("en"));
      expect(drawn.querySelectorAll(".walk-curve")).toHaveLength(5);
      expect(drawn.querySelectorAll(".walk-curve[data-used]")).toHaveLength(1);
      expect(drawn.querySelector("text[data-used]")!.textContent).toBe(
        used === "relu" ? "ReLU" : "GELU (tanh)",
      );
    }
  });
});
