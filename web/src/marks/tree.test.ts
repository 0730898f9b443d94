import { expect, test } from "vitest";
import type { StepDescription } from "../api/types";
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
  const points = layOut(nodes);
  expect(points.map((point) => point.x)).toEqual([0, 0, 1, 1, 1, 2, 2].map((step) => step * STEP));
  expect(points.map((point) => point.y)).toEqual([0, 1, 0, 1, 2, 0, 1].map((rank) => rank * ROW));
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

test("it is as large as all its nodes, and leaves zooming to the view", () => {
  const { tree, press } = stand();
  const [, , width, height] = tree.element
    .querySelector("svg")!
    .getAttribute("viewBox")!
    .split(" ")
    .map(Number);
  expect(width).toBeGreaterThan(2 * STEP);
  expect(height).toBeGreaterThan(2 * ROW);
  expect(press("+")).toBe(true); // not taken
});

test("on paper a long tree is folded: lines of so many steps, and edges that leave one come back on the next", () => {
  const { tree } = stand();
  const wide = tree.picture("light");
  const folded = tree.picture("light", 2);
  const lines = tree.pictures("light", 2);
  const places = (body: string) =>
    [...body.matchAll(/<rect x="(\d+)" y="(-?\d+)"/g)].map(([, x, y]) => [Number(x), Number(y)]);
  const texts = (body: string) => [...body.matchAll(/>(word \d)</g)].map(([, text]) => text);
  const edges = (body: string) => body.split("<path").length - 1;
  expect(folded.width).toBeLessThan(wide.width);
  expect(folded.height).toBeGreaterThan(lines[0]!.height + lines[1]!.height);
  expect(lines.map(({ body }) => texts(body).length)).toEqual([5, 2]);
  expect(places(lines[0]!.body)).toEqual(places(wide.body).slice(0, 5));
  expect(places(lines[1]!.body).map(([x]) => x)).toEqual([0, 0]); // the third step begins a line
  expect(edges(wide.body)).toBe(5);
  expect(lines.map(({ body }) => edges(body))).toEqual([5, 2]); // two that leave are in both
  expect(texts(folded.body)).toEqual(texts(wide.body));
  expect(tree.pictures("light")).toEqual([wide]);
});
