import { expect, it } from "vitest";
import { drawSparkline, drawStrip, reach } from "./sparkline";

const LOOK = { width: 40, height: 13, ink: "black", domain: [0, 2] as const };

it("draws a line through every value and lifts the pen over gaps", () => {
  const path = drawSparkline([0, 2, Number.NaN, 1, 1], LOOK).querySelector("path")?.getAttribute("d");
  expect(path).toBe("M1 11.5L10.5 1.5M29.5 6.5L39 6.5");
});

it("draws a band when there are more values than pixels, and marks one", () => {
  const values = Float32Array.from({ length: 400 }, (_, at) => at % 2);
  const svg = drawSparkline(values, { ...LOOK, mark: 399 });
  expect(svg.querySelector("path")?.getAttribute("d")?.match(/M/g)?.length).toBe(40);
  expect(svg.querySelector("circle")?.getAttribute("cx")).toBe("39");
});

it("ticks every defined value of a strip", () => {
  const svg = drawStrip([0, null, 2, 1], {
    width: 42,
    height: 8,
    ink: "black",
    markInk: "red",
    domain: [0, 2],
    mark: 1,
  });
  expect(svg.querySelector("path")?.getAttribute("d")).toBe("M1 1V7M41 1V7M21 1V7");
  expect(svg.querySelectorAll("path")[1]?.getAttribute("d")).toBe("M21 0V8");
});

it("finds the reach of what is defined", () => {
  expect(reach([null, 3, Number.NaN, -1])).toEqual([-1, 3]);
  expect(reach([null])).toBeNull();
});
