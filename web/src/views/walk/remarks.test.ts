// @vitest-environment happy-dom

import { expect, test } from "vitest";
import { make } from "../../marks/make";
import { paintRamp } from "./remarks";
import { grid, paint } from "./values";

test("the ramp of the legend has the colours of the cells, in both themes", () => {
  const values = new Float32Array([-2, 0, 2]);
  for (const theme of ["light", "dark"] as const)
    for (const share of [false, true]) {
      const cells = { ...grid({ rows: 1, columns: 3, values }, { share }), limit: 2 };
      const ramp = make("span");
      paintRamp(ramp, cells, theme);
      const stops = [...ramp.style.background.matchAll(/rgb\((\d+), (\d+), (\d+)\)/g)].map((each) =>
        each.slice(1).map(Number),
      );
      const pixels = paint(cells, theme);
      expect(stops).toHaveLength(9);
      expect(stops[0]).toEqual([...pixels.slice(0, 3)]);
      expect(stops[8]).toEqual([...pixels.slice(8, 11)]);
    }
});
