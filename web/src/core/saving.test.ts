import { describe, expect, test } from "vitest";
import { csv, fileName, markTable, sizeOf, tabSeparated, withCaption } from "./saving";

const table = {
  caption: "c",
  columns: ["token", "weight"],
  rows: [
    ['a,"b"\n', 0.5],
    ["=SUM(A1)", -1],
    [null, null],
  ],
} as const;

describe("files", () => {
  test("CSV keeps commas, quotes and lines, and runs no formulas", () => {
    expect(csv(table)).toBe('\uFEFFtoken,weight\r\n"a,""b""\n",0.5\r\n\'=SUM(A1),-1\r\n,\r\n');
  });

  test("CSV keeps numbers exact, and has no mark where it is copied", () => {
    expect(csv({ columns: ["a"], rows: [[1 / 3], [Math.fround(0.1)]] }, "")).toBe(
      "a\r\n0.3333333333333333\r\n0.1\r\n",
    );
  });

  test("what is pasted has one line a row, and runs no formulas", () => {
    expect(tabSeparated(table)).toBe('token\tweight\na,"b" \t0.5\n\'=SUM(A1)\t-1\n\t');
  });

  test.each(["@x", "+1", "-1", " =1", "\t=1", "\r\n=1", "＝1", "\n"])("%j is no formula", (text) => {
    for (const write of [csv, tabSeparated]) {
      const [, row = ""] = write({ caption: "", columns: ["a"], rows: [[text]] }).split(/a\r?\n/u);
      expect(row.replace(/^"/, "")).toMatch(/^'/);
    }
  });

  test("names fit every system, in any script", () => {
    expect(fileName(["我爱你/..", "heat map", "head-2"], "svg")).toBe("我爱你-..-heat-map-head-2.svg");
    expect(fileName(["///"], "png")).toBe("picture.png");
    expect(fileName(["x".repeat(300)], "csv").length).toBeLessThan(110);
  });

  test("the size of an SVG is its own, or its box's", () => {
    expect(sizeOf('<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480px"/>')).toEqual({
      width: 640,
      height: 480,
    });
    expect(sizeOf('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 20"/>')).toEqual({
      width: 30,
      height: 20,
    });
  });
});

test("a table of an edited model says so in every row", () => {
  expect(markTable(table, "")).toBe(table);
  const marked = markTable(table, "Edited model: head 1 silenced");
  expect(marked.columns).toEqual(["token", "weight", "edited"]);
  expect(
    csv(marked, "")
      .split("\r\n")
      .filter((row) => row.endsWith("silenced")),
  ).toHaveLength(table.rows.length);
});

test("a picture of an edited model says so below it", () => {
  const svg = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="300" height="100"/>';
  expect(withCaption(svg, "", "red")).toBe(svg);
  const text = "Edited model: head 2 of decoder layer 1, self: silenced & scores < 1";
  const root = new DOMParser().parseFromString(
    withCaption(svg, text, "red"),
    "image/svg+xml",
  ).documentElement;
  const lines = [...root.querySelectorAll("tspan")].map((line) => line.textContent);
  expect(lines.join("")).toBe(text);
  expect(lines.length).toBeGreaterThan(1);
  expect(Number(root.getAttribute("height"))).toBeGreaterThan(100);
  expect(root.querySelector("svg")?.getAttribute("height")).toBe("100");
});
