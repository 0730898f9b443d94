/**
 * The true diagram of the model: blocks from below to above, the stream, what goes round it, what the encoder hands over.
 *
 * In:   the plan's blocks and arrows, and which layer is opened.
 * Out:  an SVG whose blocks go to their steps; other layers are bars that open.
 */

import type { WalkBlock, WalkPlan } from "../../api/types";
import { draw } from "../../marks/make";
import { type Box, drawArrows, EDGE } from "./cell_arrows";
import { depths, layerIn } from "./script";
import type { WalkWords } from "./words";

const WIDE = 112; // a block
const HIGH = 28;
const FLAT = 20; // add and norm
const BAR = 10; // a layer that is not opened
const GAP = 12;
const SIDE = 15; // for the arrows beside a column
const COLUMN = WIDE + 2 * SIDE;

export class Diagram {
  readonly element: SVGSVGElement;
  private readonly nodes = new Map<string, SVGGElement>();

  constructor(
    private readonly plan: WalkPlan,
    private readonly layer: number,
    private readonly say: WalkWords,
    private readonly go: (step: string, block: WalkBlock) => void,
    private readonly openLayer: (stack: string, layer: number) => void,
  ) {
    this.element = draw("svg", { class: "walk-diagram", role: "group", "aria-label": () => say.diagram });
    if (plan.recurrent) this.buildCells();
    else this.build();
  }

  /** Light a block. */
  mark(block: string): void {
    for (const [id, node] of this.nodes) {
      const now = id === block;
      node.toggleAttribute("data-now", now);
      if (now) node.setAttribute("aria-current", "step");
      else node.removeAttribute("aria-current");
    }
  }

  private build(): void {
    const { plan } = this;
    const stacks = [...new Set(plan.diagram.blocks.map((block) => block.stack ?? ""))];
    const boxes = new Map<string, Box>();
    const lines = draw("g", { class: "walk-lines", "aria-hidden": "true" });
    const front = draw("g");
    const tops = new Map<string, number>();
    let tallest = 0;
    const places = stacks.map((stack, column) => {
      const rows = this.rowsOf(stack);
      const height = rows.reduce((sum, row) => sum + row.high + GAP, GAP) + 20;
      tallest = Math.max(tallest, height);
      return { stack, column, rows };
    });
    for (const { stack, column, rows } of places) {
      const x = column * COLUMN + SIDE;
      let y = tallest - 22;
      front.append(
        draw("text", { class: "walk-stack", x: x + WIDE / 2, y: tallest - 4, "text-anchor": "middle" }, () =>
          this.stackName(stack),
        ),
      );
      const inside: number[] = [];
      for (const row of rows) {
        y -= row.high;
        const middle = y + row.high / 2;
        if (row.block !== null) {
          boxes.set(row.block.id, { x, y: middle, high: row.high, wide: WIDE });
          if (row.block.layer !== null) inside.push(y, y + row.high);
          front.append(this.block(row.block, x, y, row.high));
        } else front.append(this.bar(stack, row.layer, x, y));
        y -= GAP;
      }
      if (inside.length > 0) {
        const [top, bottom] = [Math.min(...inside) - 6, Math.max(...inside) + 6];
        lines.append(
          draw("rect", {
            class: "walk-layer",
            x: x - SIDE + 3,
            y: top,
            width: COLUMN - 6,
            height: bottom - top,
            rx: 6,
          }),
        );
      }
      tops.set(stack, y + GAP);
      lines.append(draw("path", { class: "walk-arrow", d: `M${x + WIDE / 2} ${tallest - 22}V${y + GAP}` }));
    }
    for (const arrow of plan.diagram.arrows) {
      const to = boxes.get(arrow.end);
      if (to === undefined || arrow.kind === "stream") continue;
      if (arrow.kind === "residual") {
        const chapter = plan.diagram.blocks.find((block) => block.id === arrow.end)?.chapter;
        const inside = plan.diagram.blocks.filter((block) => block.chapter === chapter);
        const bottoms = inside.flatMap((block) => {
          const box = boxes.get(block.id);
          return box === undefined ? [] : [box.y + box.high / 2];
        });
        lines.append(this.residual(Math.max(...bottoms) + GAP / 2, to));
      } else
        lines.append(this.memory(stacks.indexOf("encoder") * COLUMN + SIDE, tops.get("encoder") ?? to.y, to));
    }
    const width = stacks.length * COLUMN;
    this.element.setAttribute("viewBox", `0 0 ${width} ${tallest}`);
    this.element.setAttribute("width", String(width));
    this.element.setAttribute("height", String(tallest));
    this.element.append(lines, front);
  }

  /** A recurrent network: its cells in a row, one for each direction, and arrows for all that they read. */
  private buildCells(): void {
    const { blocks, arrows } = this.plan.diagram;
    const stacks = [...new Set(blocks.map((block) => block.stack ?? ""))];
    const columns = stacks.map((stack) => {
      const rows = new Map<string, WalkBlock[]>(); // both directions of a layer stand side by side
      for (const block of blocks.filter((each) => (each.stack ?? "") === stack)) {
        const row = block.kind === "cells" ? `cells ${block.layer}` : block.id;
        rows.set(row, [...(rows.get(row) ?? []), block]);
      }
      return [...rows.values()];
    });
    const step = HIGH + 2 * GAP;
    const height = Math.max(...columns.map((rows) => rows.length)) * step + 20;
    const boxes = new Map<string, Box>();
    const front = draw("g");
    columns.forEach((rows, column) => {
      const x = EDGE + column * (WIDE + 2 * EDGE);
      const named = { class: "walk-stack", x: x + WIDE / 2, y: height - 4, "text-anchor": "middle" };
      front.append(draw("text", named, () => this.stackName(stacks[column]!)));
      rows.forEach((row, at) => {
        const y = height - 22 - at * step - HIGH;
        const wide = row.length === 1 ? WIDE : (WIDE - 6) / row.length;
        row.forEach((block, place) => {
          const left = x + place * (wide + 6);
          boxes.set(block.id, { x: left, y: y + HIGH / 2, high: HIGH, wide });
          front.append(this.block(block, left, y, HIGH, wide));
        });
      });
    });
    const width = stacks.length * (WIDE + 2 * EDGE);
    this.element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.element.setAttribute("width", String(width));
    this.element.setAttribute("height", String(height));
    this.element.append(drawArrows(arrows, boxes), front);
  }

  /** Rows of a column from below: blocks, and bars for layers that are not opened. */
  private rowsOf(stack: string): { block: WalkBlock | null; layer: number; high: number }[] {
    const open = layerIn(this.plan, stack, this.layer);
    const rows: { block: WalkBlock | null; layer: number; high: number }[] = [];
    const barred = new Set<number>();
    for (const block of this.plan.diagram.blocks) {
      if ((block.stack ?? "") !== stack) continue;
      if (block.layer === null || block.layer === open) {
        const flat = block.kind === "add" || block.kind === "norm";
        rows.push({ block, layer: -1, high: flat ? FLAT : HIGH });
      } else if (!barred.has(block.layer)) {
        barred.add(block.layer);
        rows.push({ block: null, layer: block.layer, high: BAR });
      }
    }
    return rows;
  }

  private stackName(stack: string): string {
    const { say, plan } = this;
    const name = stack === "encoder" ? say.encoder : say.decoder;
    const depth = depths(plan).get(stack) ?? 0;
    return depth === 0 ? name : `${name} · ${say.layers(depth)}`;
  }

  private block(block: WalkBlock, x: number, y: number, high: number, wide = WIDE): SVGGElement {
    const name = () => this.nameOf(block);
    const full = () => (block.layer === null ? "" : `${this.say.layerNumber(block.layer)}, `) + name();
    const node = this.button("walk-block", full, x, y, () => this.go(block.step, block));
    node.dataset.kind = block.kind;
    node.dataset.block = block.id;
    node.append(
      draw("rect", { width: wide, height: high, rx: block.kind === "add" ? high / 2 : 4 }),
      draw("text", { x: wide / 2, y: high / 2 + 4, "text-anchor": "middle" }, name),
    );
    this.nodes.set(block.id, node);
    return node;
  }

  private bar(stack: string, layer: number, x: number, y: number): SVGGElement {
    const name = () => this.say.layerNumber(layer);
    const node = this.button("walk-bar", name, x, y, () => this.openLayer(stack, layer));
    node.append(draw("rect", { x: 12, width: WIDE - 24, height: BAR, rx: 3 }), draw("title", {}, name));
    return node;
  }

  private button(kind: string, name: () => string, x: number, y: number, press: () => void): SVGGElement {
    return draw("g", {
      class: kind,
      role: "button",
      tabindex: 0,
      transform: `translate(${x} ${y})`,
      "aria-label": () => this.say.jump(name()),
      onclick: press,
      onkeydown: (event: KeyboardEvent) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        press();
      },
    });
  }

  private nameOf({ kind, causal, chapter, stack }: WalkBlock): string {
    const { say, plan } = this;
    if (kind === "cells" && stack === "encoder")
      return chapter.endsWith("backward") ? say.cellsBackward : say.cellsForward;
    const names: Readonly<Record<string, string>> = {
      tokens: say.tokens,
      embedding: say.embedding,
      attention: causal ? say.maskedShort : say.attention,
      cross: plan.recurrent ? say.lookBack : say.cross,
      cells: say.cells,
      bridge: say.bridge,
      context: say.context,
      feed_forward: say.feedForward,
      add: "+",
      norm: say.norm,
      output: say.output,
    };
    return names[kind] ?? (plan.recurrent ? say.both : say.states);
  }

  /** From below a sub-layer round it to where it is added. */
  private residual(start: number, to: Box): SVGPathElement {
    const left = to.x - 9;
    return draw("path", {
      class: "walk-arrow walk-residual",
      d: `M${to.x + WIDE / 2} ${start}H${left + 4}Q${left} ${start} ${left} ${start - 4}V${to.y + 4}Q${left} ${to.y} ${left + 4} ${to.y}H${to.x}`,
    });
  }

  /** From the top of the encoder to a cross-attention. */
  private memory(x: number, top: number, to: Box): SVGPathElement {
    const between = to.x - SIDE + 1;
    return draw("path", {
      class: "walk-arrow walk-memory",
      d: `M${x + WIDE / 2} ${top}v-8H${between}V${to.y}H${to.x}`,
    });
  }
}
