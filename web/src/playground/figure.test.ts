import { describe, expect, test } from "vitest";
import { inks } from "../marks/paper";
import { figures } from "../testing/playground";
import type { PlayLines, PlayMatrix } from "../types";
import { drawForPicture, FigureElement, figureRows, neighbours, wideOnes } from "./figure";
import { drawLines } from "./lines";
import { brief, drawMatrix } from "./matrix";

const look = { width: 480, inks: inks("light"), theme: "light", language: "en" } as const;

describe("every kind of figure", () => {
  test.each(figures.map((figure) => [figure.kind, figure] as const))(
    "%s is drawn and listed",
    (_, figure) => {
      const drawn = drawForPicture(figure, look);
      expect(drawn.height).toBeGreaterThan(20);
      const text = drawn.element.outerHTML;
      expect(text).not.toMatch(/NaN|undefined|null/);
      expect(figureRows(figure, "zh").every((row) => row.length === 4 && row[0] === figure.title.zh)).toBe(
        true,
      );
    },
  );

  test("rows of a table are its numbers", () => {
    expect(figureRows(figures[0]!, "en")).toContainEqual(["Weights", "b", "1", 0.125]);
    expect(figureRows(figures[1]!, "en")).toContainEqual(["Shares", "y", "scaled", null]);
    expect(figureRows(figures[4]!, "en")[0]).toEqual(["Table", "段誉的生父", "weight", 0.75]);
  });
});

test("figures share rows by their size; a curve alone takes a whole one", () => {
  const [matrix, bars, lines, , , numbers] = figures as unknown as [never, never, never, never, never, never];
  expect(wideOnes([matrix, bars, numbers, lines], 2)).toEqual([false, false, true, true]);
  expect(wideOnes([matrix, bars, lines], 2)).toEqual([false, false, true]);
  expect(wideOnes([lines, matrix], 1)).toEqual([false, false]);
  expect(neighbours([matrix, bars, numbers, lines])).toBe(2);
  expect(neighbours([matrix, matrix, matrix, matrix])).toBe(2);
});

describe("a matrix", () => {
  const drawn = drawMatrix(figures[0] as PlayMatrix, look, "masked");
  test("writes its numbers, and a stroke where there is none", () => {
    const texts = [...drawn.element.querySelectorAll("text")].map((each) => each.textContent);
    for (const text of ["0.25", "0.75", "0.50", "a", "query ↓  key →"]) expect(texts).toContain(text);
    expect(drawn.element.querySelector(".nothing")?.getAttribute("d")?.match(/M/g)).toHaveLength(1);
    expect(drawn.element.querySelector('[data-mark="0 1"]')).not.toBeNull();
  });
  test("knows what is under the pointer", () => {
    const spot = drawn.spot(0, 1)!;
    expect(drawn.at(spot.x + spot.width / 2, spot.y + spot.height / 2)).toEqual([0, 1]);
    expect(spot.text).toBe("a · key 1: 0.750");
    expect(drawn.spot(0, 2)!.text).toContain("masked");
    expect(drawn.at(0, 0)).toBeNull();
  });
  test("numbers are as long as cells allow", () => {
    expect(brief(0.123, 50)).toBe("0.12");
    expect(brief(-1.26, 34)).toBe("−1.3");
    expect(brief(0.001, 50)).toBe("0.00");
    expect(brief(0, 50)).toBe("0");
    expect(brief(123.4, 50)).toBe("123");
    expect(brief(9.97, 34)).toBe("10");
  });
});

describe("lines", () => {
  const figure = figures[2] as PlayLines;
  test("higher values lie higher, and the nearest point is found", () => {
    const drawn = drawLines(figure, look, "nothing");
    const [first, last] = [drawn.spot(0, 0)!, drawn.spot(0, 2)!];
    expect(first.y).toBeLessThan(last.y);
    expect(first.x).toBeLessThan(last.x);
    expect(drawn.at(last.x, last.y)).toEqual([0, 2]);
  });
  test("logarithmic axes keep equal factors equally far apart", () => {
    const drawn = drawLines(
      {
        ...figure,
        x: [1, 10, 100],
        x_scale: "log",
        y_scale: "log",
        series: [{ ...figure.series[0]!, values: [1, 100, 10000] }],
      },
      look,
      "",
    );
    const [a, b, c] = [0, 1, 2].map((at) => drawn.spot(0, at)!);
    expect(b!.x - a!.x).toBeCloseTo(c!.x - b!.x, 6);
    expect(b!.y - a!.y).toBeCloseTo(c!.y - b!.y, 6);
  });
  test("a gap is a gap", () => {
    const series = [{ ...figure.series[0]!, values: [2, null, 0.5] }];
    const drawn = drawLines({ ...figure, series }, look, "none");
    const path = drawn.element.querySelector("[data-series]")!.getAttribute("d")!;
    expect(path.match(/M/g)).toHaveLength(2);
    expect(drawn.spot(0, 1)!.text).toContain("none");
  });
});

test("arrow keys move from number to number and say them", () => {
  const figure = new FigureElement(figures[0]!, "en", "light");
  document.body.replaceChildren(figure.element);
  figure.show(figures[0]!, 480);
  const svg = figure.element.querySelector("svg")!;
  const readout = figure.element.querySelector(".play-readout")!;
  const press = (key: string) => svg.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  press("ArrowRight");
  expect(readout.textContent).toBe("a · key 0: 0.250");
  press("ArrowRight");
  press("ArrowDown");
  expect(readout.textContent).toBe("b · key 1: 0.125");
  figure.show(
    {
      ...figures[0]!,
      values: [
        [0, 0, 0],
        [0, 0.5, 0],
      ],
    } as PlayMatrix,
    480,
  );
  expect(readout.textContent).toBe("b · key 1: 0.500"); // other numbers, the same place
});
