import { describe, expect, test } from "vitest";
import { linear } from "../core/maths/scale";
import { lowerBound } from "../core/maths/search";
import { drawCurves, planCurves, thin, valueNear } from "./curves";
import { SCREEN } from "./paper";

const look = {
  width: 300,
  height: 200,
  inks: SCREEN,
  title: "Loss",
  span: [0, 100] as const,
  logX: false,
  logY: false,
  marks: [],
  focus: null,
};

describe("thinned curves", () => {
  const steps = Array.from({ length: 100_000 }, (_, at) => at);

  test("keep the least and the largest value of every pixel", () => {
    const values = steps.map((step) => Math.sin(step / 50));
    values[70_001] = 99; // one spike
    const points = thin({ steps, values }, linear([0, 99_999], [0, 200]), false);
    expect(points.steps.length).toBeLessThanOrEqual(2 * 201);
    expect(points.values[points.steps.indexOf(70_001)]).toBe(99);
    for (let at = 1; at < points.steps.length; at++)
      expect(points.steps[at]!).toBeGreaterThan(points.steps[at - 1]!);
  });

  test("have gaps where there is no value, and where there is no logarithm", () => {
    const across = linear([0, 4], [0, 400]);
    const values = [1, null, 2, 0, 3];
    const points = (positive: boolean) => thin({ steps: [0, 1, 2, 3, 4], values }, across, positive);
    expect(points(false).values).toEqual([1, Number.NaN, 2, 0, 3]);
    expect(points(true).values).toEqual([1, Number.NaN, 2, Number.NaN, 3]);
  });

  test("come in from outside of what is shown", () => {
    const points = thin({ steps: [0, 10, 20, 30], values: [1, 2, 3, 4] }, linear([12, 18], [0, 100]), false);
    expect(points).toEqual({ steps: [10, 20], values: [2, 3] });
  });
});

test("steps are found by halving, values by the nearest step", () => {
  expect([0, 5, 6, 99].map((step) => lowerBound([2, 5, 9], step))).toEqual([0, 1, 2, 3]);
  const curve = { steps: [2, 5, 9], values: [20, null, 90] };
  expect([0, 4, 8, 50].map((step) => valueNear(curve, step))).toEqual([
    [2, 20],
    [5, null],
    [9, 90],
    [9, 90],
  ]);
  expect(valueNear({ steps: [], values: [] }, 3)).toBeNull();
});

test("a picture has a path for each curve, a triangle for each mark in sight, a line at the focus", () => {
  const curve = { name: "train", ink: "red", steps: [0, 50, 100], values: [4, 2, 1] };
  const marks = [20, 200].map((step) => ({ step, text: `at ${step}`, ink: "blue" }));
  const { element, across } = drawCurves([curve, { ...curve, name: "dev", dashed: true }], {
    ...look,
    marks,
    focus: 50,
  });
  expect(element.querySelectorAll("[data-curve]").length).toBe(2);
  expect([...element.querySelectorAll("title")].map((each) => each.textContent)).toEqual(["at 20"]);
  expect(across.back(across(50))).toBeCloseTo(50, 9);
  const line = element.querySelector('line[stroke="var(--accent)"]')!;
  expect(Number(line.getAttribute("x1"))).toBeCloseTo(across(50), 9);
});

test("a logarithmic axis places equal factors equally far apart", () => {
  const curve = { name: "train", ink: "red", steps: [1, 10, 100], values: [1, 10, 100] };
  const { element, across } = drawCurves([curve], { ...look, span: [1, 100], logX: true, logY: true });
  expect(across(10) - across(1)).toBeCloseTo(across(100) - across(10), 9);
  const places = [
    ...element
      .querySelector("[data-curve]")!
      .getAttribute("d")!
      .matchAll(/[ML]([\d.]+) ([\d.]+)/g),
  ];
  const [low, middle, high] = places.map((each) => Number(each[2]));
  expect(low! - middle!).toBeCloseTo(middle! - high!, 0);
});

test("what a point covers is a band behind its line, and decides how high the picture reaches", () => {
  const curve = { name: "train", ink: "red", steps: [0, 50, 100], values: [4, 2, 1] };
  const banded = { ...curve, low: [3, 1, 0], high: [5, 9, 2] };
  const { up } = planCurves([banded], look);
  expect(up.domain[1]).toBeGreaterThan(9);
  const { element } = drawCurves([banded], look);
  const [band, line] = element.querySelectorAll<SVGPathElement>("path[fill=red], path[stroke=red]");
  expect([...band!.getAttribute("d")!.matchAll(/[ML]/g)].length).toBe(6);
  expect(line!.dataset.curve).toBe("train");
});

test("an alarm that lasted is a bar, also where it began before what is shown", () => {
  const marks = [{ step: 10, until: 60, text: "spike", ink: "blue" }];
  const paths = (span: readonly [number, number]) =>
    [...drawCurves([], { ...look, span, marks }).element.querySelectorAll("[data-marks] path")].map(
      (each) => each.getAttribute("d")!.match(/[lH]/g)!.length,
    );
  expect(paths([0, 100])).toEqual([2 + 1]); // the triangle has one l, the bar two H
  expect(paths([20, 100])).toEqual([2]);
  expect(paths([70, 100])).toEqual([]);
});
