// @vitest-environment happy-dom
import { describe, expect, test } from "vitest";
import type { CellTerm } from "../types";
import { bars } from "./arithmetic";

function term(index: number, product: number): CellTerm {
  return { index, label: `word ${index}`, left: product, right: 1, product, large: false };
}

describe("the bars of a sum", () => {
  test("stand where their terms are in the whole, of which the highest were sent", () => {
    const sent = [term(0, 1), term(3, 4), term(1999, -2), term(2047, 0.5)];
    const svg = bars(sent, 2048); // eight words a bar
    const found = [...svg.querySelectorAll("rect")].map((bar) => [
      Number(bar.getAttribute("x")),
      bar.getAttribute("class"),
      bar.textContent?.split(":")[0],
    ]);
    expect(svg.getAttribute("viewBox")).toBe("0 0 256 56");
    expect(found).toEqual([
      [0.1, "walk-more", "word 3"],
      [249.1, "walk-less", "word 1999"],
      [255.1, "walk-more", "word 2047"],
    ]);
  });
});
