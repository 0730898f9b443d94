/**
 * A beam search as a tree: steps from left to right, the best hypothesis of each step on top.
 *
 * In:   nodes with a parent each, the kept path, the chosen node.
 * Out:  an SVG in a box that scrolls: nodes can be clicked, and walked with arrow keys.
 */

import type { StepDescription } from "../api/types";
import { scoreText } from "../core/generation";
import { groupBy } from "../core/maths/group";
import type { Theme } from "../core/view";
import { consume, moveInList } from "./keys";
import { draw, make, uniqueId } from "./make";
import { inks, label } from "./paper";
import { clip } from "./text";
import "./tree.css";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export const STEP = 132; // pixels from word to word
export const ROW = 36; // from hypothesis to hypothesis
const WIDE = 92;
const TALL = 28;
const EDGE = 24; // around all nodes
const LETTERS = 11; // of a word

/** A place for each node: its step across, its rank among the hypotheses of that step down. */
export function layOut(nodes: readonly StepDescription[]): Point[] {
  const points: Point[] = new Array(nodes.length);
  for (const [index, level] of groupBy(nodes.keys(), (place) => nodes[place]!.index)) {
    level.sort((one, other) => nodes[one]!.beam - nodes[other]!.beam);
    level.forEach((place, rank) => {
      points[place] = { x: index * STEP, y: rank * ROW };
    });
  }
  return points;
}

export interface TreeWords {
  readonly tree: string;
  node(text: string, step: number, score: string): string;
}

export interface TreePicture {
  readonly body: string;
  readonly width: number;
  readonly height: number;
}

export class Tree {
  readonly element: HTMLElement;
  private readonly world = draw("svg", { role: "presentation" });
  private readonly name = uniqueId("tree");
  private readonly groups: SVGGElement[] = [];
  private edges: readonly (SVGPathElement | null)[] = [];
  private nodes: readonly StepDescription[] = [];
  private points: readonly Point[] = [];
  private kept: readonly number[] = [];
  private active = 0;
  private marked: number | null = null;

  constructor(
    private readonly words: TreeWords,
    private readonly choose: (node: number) => void,
  ) {
    const look = { class: "tree", role: "tree", tabindex: 0, "aria-label": () => words.tree };
    this.element = make("div", look, this.world);
    this.listen();
  }

  show(nodes: readonly StepDescription[], kept: readonly number[]): void {
    this.nodes = nodes;
    this.kept = kept;
    this.points = layOut(nodes);
    this.groups.length = 0;
    const keeps = new Set(kept);
    this.edges = nodes.map((node, place) => {
      if (node.parent === null) return null;
      return draw("path", {
        class: "tree-edge",
        d: edge(this.points[node.parent]!, this.points[place]!),
        "data-kept": keeps.has(place) && keeps.has(node.parent),
        "aria-hidden": "true",
      });
    });
    nodes.forEach((node, place) => {
      this.groups.push(this.makeNode(node, place, keeps.has(place)));
    });
    this.world.replaceChildren(...this.edges.filter((each) => each !== null), ...this.groups);
    const [right, bottom] = [
      Math.max(...this.points.map(({ x }) => x), 0),
      Math.max(...this.points.map(({ y }) => y), 0),
    ];
    const [width, height] = [right + WIDE + 2 * EDGE, bottom + 2 * EDGE];
    for (const [name, value] of Object.entries({
      width,
      height,
      viewBox: `${-EDGE} ${-EDGE} ${width} ${height}`,
    }))
      this.world.setAttribute(name, String(value));
    this.active = Math.min(this.active, Math.max(0, nodes.length - 1));
  }

  mark(node: number | null): void {
    if (node !== null && node !== this.active) {
      this.groups[this.active]?.removeAttribute("data-focus");
      this.active = node;
    }
    const path = new Set<number>();
    for (let at = node; at !== null && this.nodes[at] !== undefined; at = this.nodes[at]!.parent)
      path.add(at);
    this.groups.forEach((group, place) => {
      group.setAttribute("aria-selected", String(place === node));
      group.toggleAttribute("data-path", path.has(place));
      this.edges[place]?.toggleAttribute("data-path", path.has(place));
    });
    if (node !== null && node !== this.marked) this.reveal(node);
    this.marked = node;
  }

  /** The whole tree as SVG, with its size; `across` steps to a line. */
  picture(theme: Theme, across = Number.POSITIVE_INFINITY): TreePicture {
    const lines = this.pictures(theme, across);
    let height = -ROW;
    const bodies = lines.map((line) => {
      const top = height + ROW;
      height = top + line.height;
      return top === 0 ? line.body : `<g transform="translate(0 ${top})">${line.body}</g>`;
    });
    return {
      body: bodies.join(""),
      width: Math.max(...lines.map((line) => line.width)),
      height: Math.max(TALL, height),
    };
  }

  /** The tree line by line, of `across` steps each; edges that leave a line come back on the next. */
  pictures(theme: Theme, across = Number.POSITIVE_INFINITY): TreePicture[] {
    const steps = Math.max(...this.nodes.map(({ index }) => index), 0) + 1;
    const margin = steps > across ? STEP - WIDE : 0; // for what leaves and comes back
    return Array.from({ length: Math.ceil(steps / across) || 1 }, (_, line) => {
      const first = line === 0 ? 0 : line * across;
      const here = ({ index }: StepDescription) => index >= first && index < first + across;
      const points = this.points.map(({ x, y }) => ({ x: x - first * STEP, y }));
      const shown = this.nodes.flatMap((node, place) => (here(node) ? [points[place]!] : []));
      return {
        body: `<g transform="translate(${margin} ${TALL / 2})">${this.write(theme, points, here)}</g>`,
        width: Math.min(steps, across) * STEP + 2 * margin - (STEP - WIDE),
        height: Math.max(...shown.map((point) => point.y), 0) + TALL,
      };
    });
  }

  /** Boxes of the nodes that are `here`, and the edges that lead there or away. */
  private write(theme: Theme, points: readonly Point[], here: (node: StepDescription) => boolean): string {
    const ink = inks(theme);
    const keeps = new Set(this.kept);
    const edges = this.nodes.map((node, place) => {
      const parent = node.parent === null ? undefined : this.nodes[node.parent];
      if (parent === undefined || !(here(node) || here(parent))) return "";
      const on = keeps.has(place) && keeps.has(node.parent!);
      const to = points[place]!;
      const from = here(parent) ? points[node.parent!]! : { x: to.x - STEP, y: to.y };
      return `<path d="${edge(from, to)}" fill="none" stroke="${on ? ink.accent : ink.faint}" stroke-opacity="${on ? 1 : 0.4}" stroke-width="${on ? 2 : 1}"/>`;
    });
    const boxes = this.nodes.map((node, place) => {
      if (!here(node)) return "";
      const { x, y } = points[place]!;
      const on = keeps.has(place);
      return (
        `<rect x="${x}" y="${y - TALL / 2}" width="${WIDE}" height="${TALL}" rx="4" fill="${ink.ground}" stroke="${on ? ink.accent : ink.line}"/>` +
        label(clip(node.text, LETTERS), x + 6, y - 1, {
          fill: ink.ink,
          size: 12,
          ...(on ? { weight: 600 } : {}),
        }) +
        label(scoreText(node, 2), x + 6, y + 10, { fill: ink.faint, size: 9 })
      );
    });
    return edges.join("") + boxes.join("");
  }

  private makeNode(node: StepDescription, place: number, kept: boolean): SVGGElement {
    const { x, y } = this.points[place]!;
    return draw(
      "g",
      {
        class: "tree-node",
        role: "treeitem",
        id: `${this.name}-${place}`,
        transform: `translate(${x} ${y})`,
        "data-node": place,
        "data-kept": kept,
        "aria-level": node.index + 1,
        "aria-selected": "false",
        "aria-label": () => this.words.node(node.text, node.index + 1, scoreText(node, 2)),
      },
      draw("rect", { x: 0, y: -TALL / 2, width: WIDE, height: TALL, rx: 4 }),
      draw("text", { class: "tree-text", x: 6, y: -2 }, clip(node.text, LETTERS)),
      draw("text", { class: "tree-score", x: 6, y: 11 }, scoreText(node, 2)),
    );
  }

  private reveal(node: number): void {
    const point = this.points[node];
    const { clientWidth, clientHeight } = this.element;
    if (point === undefined || clientWidth === 0) return;
    const { element } = this;
    const show = (at: number, side: number, scrolled: number, room: number): number =>
      at < scrolled || at + side > scrolled + room ? at + side / 2 - room / 2 : scrolled;
    element.scrollLeft = show(point.x + EDGE, WIDE, element.scrollLeft, clientWidth);
    element.scrollTop = show(point.y + EDGE - TALL / 2, TALL, element.scrollTop, clientHeight);
  }

  private listen(): void {
    const { element } = this;
    element.addEventListener("click", (event) => {
      const group = (event.target as Element).closest("[data-node]");
      if (group !== null) this.choose(Number(group.getAttribute("data-node")));
    });
    element.addEventListener("pointerdown", (event) => {
      const group = (event.target as Element).closest("[data-node]");
      if (group !== null) this.active = Number(group.getAttribute("data-node")); // before the focus goes there
    });
    element.addEventListener("keydown", (event) => this.press(event));
    element.addEventListener("focus", () => this.point(this.active));
    element.addEventListener("blur", () => this.groups[this.active]?.removeAttribute("data-focus"));
  }

  private press(event: KeyboardEvent): void {
    const to = this.neighbour(event.key);
    if (to !== null) this.point(to);
    else if (event.key === "Enter" || event.key === " ") this.choose(this.active);
    else return;
    consume(event);
  }

  private neighbour(key: string): number | null {
    const here = this.nodes[this.active];
    if (here === undefined) return null;
    if (key === "ArrowLeft") return here.parent ?? this.active;
    if (key === "ArrowRight") {
      return this.fromTop(({ parent }) => parent === this.active)[0] ?? this.active;
    }
    if (key !== "ArrowUp" && key !== "ArrowDown") return null;
    const level = this.fromTop(({ index }) => index === here.index);
    return level[moveInList(key, level.indexOf(this.active), level.length, "down")!]!;
  }

  private fromTop(wanted: (node: StepDescription) => boolean): number[] {
    const found = this.nodes.flatMap((node, place) => (wanted(node) ? [place] : []));
    return found.sort((one, other) => this.points[one]!.y - this.points[other]!.y);
  }

  private point(node: number): void {
    for (const group of this.groups) group.removeAttribute("data-focus");
    this.active = node;
    this.groups[node]?.setAttribute("data-focus", "");
    this.element.setAttribute("aria-activedescendant", `${this.name}-${node}`);
    this.reveal(node);
  }
}

function edge(from: Point, to: Point): string {
  const [left, right] = [from.x + WIDE, to.x];
  const middle = (left + right) / 2;
  return `M${left} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${right} ${to.y}`;
}
