import { expect, test } from "vitest";
import type { StepDescription } from "../types";
import { layOut, ROW, STEP, Tree } from "./tree";

function node(index: number, parent: number | null, beam = 0): StepDescription {
  return {
    index,
    token: index,
    text: `word ${index}`,
    log_probability: -0.5,
    alternatives: [],
    beam,
    parent,
    score: -1.25,
  };
}

const nodes = [
  node(0, null),
  node(0, null, 1),
  node(1, 0),
  node(1, 0, 1),
  node(1, 1, 2),
  node(2, 3),
  node(2, 3, 1),
];

test("steps go across, ranks go down, and no two nodes share a place", () => {
  const spots = layOut(nodes);
  expect(spots.map((spot) => spot.x)).toEqual([0, 0, 1, 1, 1, 2, 2].map((step) => step * STEP));
  expect(spots.map((spot) => spot.y)).toEqual([0, 1, 0, 1, 2, 0, 1].map((rank) => rank * ROW));
});

function stand() {
  const chosen: number[] = [];
  const tree = new Tree({ tree: "Beams", node: (text, step, score) => `${text} ${step} ${score}` }, (place) =>
    chosen.push(place),
  );
  document.body.replaceChildren(tree.element);
  tree.show(nodes, [0, 3, 6]);
  const press = (key: string) =>
    tree.element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  return { tree, chosen, press };
}

test("nodes say what they are, and the kept path stands out", () => {
  const { tree } = stand();
  const groups = [...tree.element.querySelectorAll("[data-node]")];
  expect(groups[5]!.getAttribute("aria-label")).toBe("word 2 3 −1.25");
  expect(
    groups.filter((group) => group.hasAttribute("data-kept")).map((group) => group.getAttribute("data-node")),
  ).toEqual(["0", "3", "6"]);
  tree.mark(4);
  expect(
    groups.filter((group) => group.hasAttribute("data-path")).map((group) => group.getAttribute("data-node")),
  ).toEqual(["1", "4"]);
  expect(groups[4]!.getAttribute("aria-selected")).toBe("true");
});

test("arrow keys walk the tree: child, sibling, parent; Enter chooses", () => {
  const { tree, chosen, press } = stand();
  tree.mark(0);
  press("ArrowRight");
  press("Enter");
  press("ArrowDown");
  press("Enter");
  press("ArrowLeft");
  press("Enter");
  expect(chosen).toEqual([2, 3, 0]);
});

test("plus, minus and nought zoom", () => {
  const { tree, press } = stand();
  const scale = () => tree.element.querySelector("g")!.getAttribute("transform");
  const first = scale();
  press("+");
  expect(scale()).toContain("scale(1.25)");
  press("-");
  press("-");
  expect(scale()).toContain("scale(0.8)");
  press("0");
  expect(scale()).toBe(first);
});

test("on paper a long tree is folded: lines of so many steps, and edges that go on below", () => {
  const { tree } = stand();
  const wide = tree.picture("light");
  const folded = tree.picture("light", 2);
  const places = (body: string) =>
    [...body.matchAll(/<rect x="(\d+)" y="(-?\d+)"/g)].map(([, x, y]) => [Number(x), Number(y)]);
  expect(wide.width).toBeGreaterThan(2 * STEP);
  expect(folded.width).toBeLessThan(wide.width);
  expect(folded.height).toBeGreaterThan(1.5 * wide.height);
  const [flat, bent] = [places(wide.body), places(folded.body)];
  expect(bent.slice(0, 5)).toEqual(flat.slice(0, 5));
  expect(bent.slice(5).map(([x]) => x)).toEqual([0, 0]); // the third step begins a line
  expect(bent[5]![1]! - flat[5]![1]!).toBeGreaterThan(wide.height);
  const strokes = (body: string) =>
    [...body.matchAll(/<path d="([^"]*)"/g)].map(([, d]) => d!.split("M").length - 1);
  expect(strokes(wide.body)).toEqual([1, 1, 1, 1, 1]);
  expect(strokes(folded.body)).toEqual([1, 1, 1, 2, 2]);
  for (const end of folded.body.matchAll(/ (-?[\d.]+) -?[\d.]+"/g))
    expect(Number(end[1])).toBeLessThanOrEqual(folded.width);
});
