// @vitest-environment happy-dom
import { describe, expect, test } from "vitest";
import type { CellArithmetic, CellTerm } from "../../api/types";
import { Arithmetic, bars } from "./arithmetic";
import { words } from "./words";

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

function cell(
  operation: CellArithmetic["operation"],
  terms: readonly CellTerm[],
  change: Partial<CellArithmetic>,
): CellArithmetic {
  const nothing = { left_out: 0, rest: 0, bias: null, numbers: {}, sum: null, value: null, shown: null };
  const where = { step: "a", head: null, row: 0, column: 0, difference: null, reads: [] };
  return { ...where, ...nothing, operation, terms, ...change };
}

function write(given: CellArithmetic, drawn: number, letter?: (name: string) => string): string[] {
  const panel = new Arithmetic(words("en"));
  panel.show(given, document.createElement("span"), drawn, letter);
  return panel.lines();
}

describe("the arithmetic of a cell", () => {
  test("exponentials are those that are added up and divided by", () => {
    const scores = [1.77, 7.58, null];
    const terms = scores.map((left, index) => {
      const right = left === null ? 0 : Math.exp(left - 7.58);
      return { index, label: `key ${index}`, left, right, product: right / 1.003, large: false };
    });
    const sum = terms.reduce((total, { right }) => total + right, 0);
    const numbers = { score: 7.58, highest: 7.58, power: 1 };
    const panel = new Arithmetic(words("en"));
    panel.show(cell("softmax", terms, { sum, numbers }), document.createElement("span"), 1 / sum);
    const [title, added, result] = panel.lines();
    expect(title).toBe(" = 0.99701");
    const chips = [...panel.element.querySelectorAll(".walk-terms:not(.walk-result) b")];
    expect(chips.map((chip) => chip.textContent)).toEqual([
      "e^(1.77 − 7.58) = 0.00300",
      "e^(7.58 − 7.58) = 1",
      "e^(−∞) = 0",
    ]);
    expect(added).toBe("e^(1.77 − 7.58) + e^(7.58 − 7.58) + e^(−∞)"); // on paper
    expect(result).toContain("÷ 1.003");
  });

  test("on paper a sum is no chain of equations, and what is left out has a name", () => {
    const terms = [1, -2, 3, 4, 5, 0.5].map((left, index) => ({ ...term(index, 2 * left), left, right: 2 }));
    const [, added] = write(cell("product", terms, { sum: 23 }), 23);
    expect(added).toBe("1 × 2 + (−2) × 2 + 3 × 2 + 4 × 2 + 5 × 2 + (1 more: 1)");
  });

  test("what is added has no factor and is called as on the page", () => {
    const terms = [3.5, -1].map((left, index) => ({
      ...term(index, left),
      label: `encoder/0/self/${index}`,
    }));
    const panel = new Arithmetic(words("en"));
    panel.show(
      cell("add", terms, { sum: 2.5 }),
      document.createElement("span"),
      2.5,
      (name) => `X${name.at(-1)}`,
    );
    expect(panel.lines()[1]).toBe("3.50 + (−1)");
    const names = [...panel.element.querySelectorAll(".walk-terms small")].map((name) => name.textContent);
    expect(names.slice(0, 2)).toEqual(["X0", "X1"]);
  });

  test("a masked score is minus infinity, what is not known is not", () => {
    const numbers = { scale: 0.125, allowed: 0 };
    const masked = write(
      cell("dot", [term(0, 8), term(1, 8)], { sum: 16, numbers }),
      Number.NEGATIVE_INFINITY,
    );
    expect(masked.join()).toContain("× 0.125");
    expect(masked.join()).toContain("→ −∞");
    expect(masked.join()).not.toContain("allowed");
    expect(masked[0]).toBe(" = −∞");
    const capped = write(
      cell("dot", [term(0, 8), term(1, 8)], { sum: 16, numbers: { scale: 0.125, cap: 50, allowed: 1 } }),
      2,
    );
    expect(capped.join()).toContain("× 0.1250 50 · tanh(… ÷ 50) → = 2");
    const unknown = write(cell("activate", [], { numbers: { input: null } }), Number.NaN);
    expect(unknown.join()).not.toContain("∞");
  });
});
