import { describe, expect, test } from "vitest";
import type { PlayLines, PlayMatrix, PlayNumbers, PlayTable } from "../../api/types";
import { formatMessage, type Message } from "../../core/messages";
import { inks } from "../../marks/paper";
import { figures, word } from "../../testing/playground";
import { drawLegend, sameDecimals } from "./drawing";
import { drawForSaving, FigureElement, figureRows, lookOf, mostSideBySide, takesWholeRow } from "./figure";
import { drawLines } from "./lines";
import { makeNumbers, makeTable } from "./listing";
import { brief, drawMatrix, labelDirection } from "./matrix";

const english = { language: "en", theme: "light", text: (said: Message) => formatMessage(said, {}) } as const;
const look = { ...lookOf(english, inks("light"), 480), none: "masked" };
const { text } = look;

describe("every kind of figure", () => {
  test.each(figures.map((figure) => [figure.kind, figure] as const))(
    "%s is drawn and listed",
    (_, figure) => {
      const drawn = drawForSaving(figure, look);
      expect(drawn.height).toBeGreaterThan(20);
      expect(drawn.element.outerHTML).not.toMatch(/NaN|undefined|null/);
      const rows = figureRows(figure, (said) => `中${text(said)}`);
      expect(rows.every((row) => row.length === 4 && row[0] === `中${text(figure.title)}`)).toBe(true);
    },
  );

  test("rows of a table are its numbers", () => {
    expect(figureRows(figures[0]!, text)).toContainEqual(["Weights", "b", "1", 0.125]);
    expect(figureRows(figures[1]!, text)).toContainEqual(["Shares", "y", "scaled", null]);
    expect(figureRows(figures[4]!, text)[0]).toEqual(["Table", "段誉的生父", "weight", 0.75]);
  });
});

test("figures share rows by their size; a curve alone takes a whole one", () => {
  const [matrix, bars, lines, , , numbers] = figures as unknown as [never, never, never, never, never, never];
  expect(takesWholeRow([matrix, bars, numbers, lines], 2)).toEqual([false, false, true, true]);
  expect(takesWholeRow([matrix, bars, lines], 2)).toEqual([false, false, true]);
  expect(takesWholeRow([lines, matrix], 1)).toEqual([false, false]);
  expect(mostSideBySide([matrix, bars, numbers, lines])).toBe(2);
  expect(mostSideBySide([matrix, matrix, matrix, matrix])).toBe(2);
});

describe("a matrix", () => {
  const drawn = drawMatrix(figures[0] as PlayMatrix, look);
  test("writes its numbers, and a stroke where there is none", () => {
    const texts = [...drawn.element.querySelectorAll("text")].map((each) => each.textContent);
    for (const text of ["0.25", "0.75", "0.50", "a", "query ↓  key →"]) expect(texts).toContain(text);
    expect(drawn.element.querySelector(".nothing")?.getAttribute("d")?.match(/M/g)).toHaveLength(1);
    expect(drawn.element.querySelector('[data-mark="0 1"]')).not.toBeNull();
  });
  test("knows what is under the pointer", () => {
    const spot = drawn.spot(0, 1)!;
    expect(drawn.at(spot.x + spot.width / 2, spot.y + spot.height / 2)).toEqual([0, 1]);
    expect(spot.text).toBe("a · key 1: 0.7500");
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
    expect(brief(-0.04, 34)).toBe("0.0"); // no minus before nothing
    expect(brief(-0.06, 34)).toBe("−0.1");
  });
});

describe("names of columns", () => {
  test("lie where they fit, stand in Chinese, are turned else: each by itself", () => {
    expect(labelDirection("I", 20)).toBe("horizontal");
    expect(labelDirection("because", 20)).toBe("rotated");
    expect(labelDirection("爱", 20)).toBe("horizontal");
    expect(labelDirection("我爱你", 20)).toBe("stacked");
  });

  test("letters that stand are never on their side", () => {
    const labels = ["I", "我爱你", "because"];
    const values = [[1, 0, 0.5]];
    const narrow = { ...(figures[0] as PlayMatrix), rows: { title: null, labels: ["I"] } };
    const drawn = drawMatrix(
      { ...narrow, columns: { title: null, labels }, values, mark: [] },
      { ...look, width: 90 },
    );
    const turned = [...drawn.element.querySelectorAll("text[transform]")].map((each) => each.textContent);
    expect(turned).toEqual(["because"]);
    const letters = [...drawn.element.querySelectorAll("text")].filter(({ textContent }) =>
      "我爱你".includes(textContent || "-"),
    );
    expect(letters.map((each) => each.textContent)).toEqual(["我", "爱", "你"]);
    const heights = letters.map((each) => Number(each.getAttribute("y")));
    expect(heights).toEqual([...heights].sort((one, other) => one - other));
    expect(Math.min(...heights)).toBeGreaterThan(8); // inside the picture
  });
});

test("numbers that stand below one another have the same places", () => {
  const spell = sameDecimals([0.4643, 0.0085, 0, null]);
  expect([0.4643, 0.0085, 0, null].map(spell)).toEqual(["0.4643", "0.0085", "0", "–"]);
  expect([33.16, 8.13, 11].map(sameDecimals([33.16, 8.13, 11]))).toEqual(["33.2", "8.1", "11.0"]);
  expect([50.4, 11.6].map(sameDecimals([50.4, 11.6]))).toEqual(["50.4", "11.6"]);
  expect([7, 12345].map(sameDecimals([7, 12345]))).toEqual(["7", "12,345"]);
  expect([0.2, -1.6e-7].map(sameDecimals([0.2, -1.6e-7]))).toEqual(["0.2000", "−1.6e−7"]);
  const table = figures[4] as PlayTable;
  const rows = [
    ["a", 33.16],
    ["b", 4.91],
  ];
  const cells = makeTable({ ...table, rows }, text).querySelectorAll("td");
  expect([...cells].map((each) => each.textContent)).toEqual(["33.2", "4.9"]);
});

test("degrees belong to the number, other units stand beside it", () => {
  const numbers = figures[5] as PlayNumbers;
  const items = [{ ...numbers.items[0]!, value: 54.36, unit: "°" }, numbers.items[0]!];
  const shown = makeNumbers({ ...numbers, items }, text);
  expect([...shown.querySelectorAll("dd")].map((each) => each.textContent)).toEqual(["54.36°", "1.500nats"]);
  expect(shown.querySelectorAll("dd span")).toHaveLength(1);
});

describe("lines", () => {
  const figure = figures[2] as PlayLines;
  test("higher values lie higher, and the nearest point is found", () => {
    const drawn = drawLines(figure, look);
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
    );
    const [a, b, c] = [0, 1, 2].map((at) => drawn.spot(0, at)!);
    expect(b!.x - a!.x).toBeCloseTo(c!.x - b!.x, 6);
    expect(b!.y - a!.y).toBeCloseTo(c!.y - b!.y, 6);
  });
  test("curves that lie on one another can all be seen", () => {
    const [first] = figure.series;
    const other = { ...first!, values: [0.5, 1, 2] };
    const drawn = drawLines({ ...figure, series: [first!, first!, other] }, look);
    const widths = [...drawn.element.querySelectorAll("[data-series]")].map((each) =>
      Number(each.getAttribute("stroke-width")),
    );
    expect(widths).toEqual([6, 2, 2]);
  });
  test("the number of a mark stays inside, above the curves", () => {
    const place = (mark: number) => {
      const drawn = drawLines({ ...figure, x: [0, 500, 1024], mark }, look);
      return [...drawn.element.querySelectorAll("text")]
        .findLast((each) => each.textContent === String(mark))!
        .getAttribute("text-anchor");
    };
    expect([place(0), place(500), place(1024)]).toEqual(["start", "middle", "end"]);
  });
  test("a gap is a gap", () => {
    const series = [{ ...figure.series[0]!, values: [2, null, 0.5] }];
    const drawn = drawLines({ ...figure, series }, look);
    const path = drawn.element.querySelector("[data-series]")!.getAttribute("d")!;
    expect(path.match(/M/g)).toHaveLength(2);
    expect(drawn.spot(0, 1)!.text).toContain("masked");
  });
});

test("arrow keys move from number to number and say them", () => {
  const figure = new FigureElement(figures[0]!, english);
  document.body.replaceChildren(figure.element);
  figure.show(figures[0]!, 480);
  const svg = figure.element.querySelector("svg")!;
  const readout = figure.element.querySelector(".play-readout")!;
  const press = (key: string) => svg.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  press("ArrowRight");
  expect(readout.textContent).toBe("a · key 0: 0.2500");
  press("ArrowRight");
  press("ArrowDown");
  expect(readout.textContent).toBe("b · key 1: 0.1250");
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
  expect(readout.textContent).toBe("b · key 1: 0.5000"); // other numbers, the same place
  const { rows } = figures[0] as PlayMatrix;
  const smaller = {
    ...figures[0]!,
    rows: { ...rows, labels: ["a"] },
    values: [[1, 0, 0]],
    mark: [],
  } as PlayMatrix;
  figure.show(smaller, 480);
  expect(readout.textContent).toBe(""); // there is no such place any more
  expect(figure.element.querySelector(".play-ring")?.getAttribute("visibility")).toBe("hidden");
});

test("a legend says names in full, however narrow the figure is", () => {
  const names = ["recurrent with a fixed C (0.9 M weights)", "Transformer (10 M weights)"];
  const series = names.map((name) => ({ name: word(name) }));
  const at = (width: number) => {
    const { element, height } = drawLegend(series, { ...look, width });
    const lines = [...element.querySelectorAll("text")];
    const places = lines.map((line) => Number(line.getAttribute("y")));
    expect(lines.map((line) => line.textContent).join(" ")).toBe(names.join(" "));
    expect(new Set(places).size).toBe(lines.length); // none upon another
    expect(height).toBeGreaterThan(Math.max(...places) + 4);
    return lines.length;
  };
  expect(at(320)).toBe(2);
  expect(at(160)).toBeGreaterThan(3);
});
