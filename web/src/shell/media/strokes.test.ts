import { describe, expect, it } from "vitest";
import { fitStrokes, LINE, type Point, type Stroke } from "./strokes";

const near = (stroke: Stroke, wanted: readonly Point[]): void => {
  for (const [at, [x, y]] of stroke.points.entries()) {
    expect(x).toBeCloseTo(wanted[at]![0]);
    expect(y).toBeCloseTo(wanted[at]![1]);
  }
};

describe("strokes", () => {
  it("stay as they are where a model does not say how it sees drawings", () => {
    const strokes: Stroke[] = [{ points: [[0.1, 0.2]], ink: "red" }];
    expect(fitStrokes(strokes, null)).toBe(strokes);
    expect(fitStrokes([], 0.7)).toEqual([]);
  });

  it("take their share of the side, with the middle of their mass in the middle", () => {
    const [line] = fitStrokes(
      [
        {
          points: [
            [0.1, 0.1],
            [0.1, 0.3],
          ],
        },
      ],
      0.7 + LINE,
    );
    near(line!, [
      [0.5, 0.15],
      [0.5, 0.85],
    ]);
    const [first, second] = fitStrokes(
      [
        {
          points: [
            [0, 0],
            [0.2, 0],
          ],
        },
        {
          points: [
            [0, 0.2],
            [0.2, 0.2],
          ],
          filled: true,
        },
      ],
      0.5 + LINE,
    );
    near(first!, [
      [0.25, 0.25],
      [0.75, 0.25],
    ]);
    near(second!, [
      [0.25, 0.75],
      [0.75, 0.75],
    ]);
    expect(second!.filled).toBe(true);
  });

  it("put a dot into the middle, as large as it is", () => {
    near(fitStrokes([{ points: [[0.9, 0.1]] }], 0.7)[0]!, [[0.5, 0.5]]);
  });
});
