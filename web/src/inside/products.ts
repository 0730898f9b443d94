/**
 * Query · key: how one score comes about, dimension by dimension.
 *
 * In:   the query and key vectors of one head, the recorded scores and weights of the pair.
 * Out:  bars of the products, their running sum, and the way on: × scale = score → weight; checked against the recording.
 */

import { asFloats, tensor } from "../bundle";
import { spell } from "../marks/cells";
import { button, choice, whole } from "../marks/controls";
import { digits, exact, round } from "../marks/digits";
import { captionOf, mapName, SCREEN } from "../marks/focus";
import { draw, make, write } from "../marks/make";
import { type Inks, inks, label } from "../marks/paper";
import { linear } from "../marks/scale";
import { reach } from "../marks/sparkline";
import { ValueGrid } from "../marks/table";
import { TokenLine } from "../marks/tokens";
import type { MapDescription } from "../types";
import type { Stage, TableData } from "../view";
import { type Drawing, type Focus, focusOf, isAbort, type Part, type Words } from "./part";

const HEIGHT = 240;
const CLOSE = 2e-5; // of the larger: what rounding of float32 may leave

export interface Pair {
  readonly query: Float32Array; // of one token, (width)
  readonly key: Float32Array;
  readonly products: Float64Array;
  readonly sum: number;
  readonly score: number | null; // as recorded; minus infinity where masked
  readonly weight: number | null;
}

/** Products of two vectors and their sum, in double precision. */
export function multiplyPair(
  query: Float32Array,
  key: Float32Array,
): { products: Float64Array; sum: number } {
  const products = Float64Array.from(query, (value, at) => value * key[at]!);
  return { products, sum: products.reduce((total, each) => total + each, 0) };
}

/** Whether the scaled sum is the recorded score, up to rounding of float32. */
export function matches(scaled: number, score: number, products: Float64Array, scale: number): boolean {
  const size = products.reduce((total, each) => total + Math.abs(each), 0) * Math.abs(scale);
  return Math.abs(scaled - score) <= CLOSE * Math.max(size, 1e-3);
}

export class Products implements Part {
  readonly element = make("div", { class: "products" });
  private readonly note = make("p", { class: "note" });
  private readonly names = { query: make("bdi"), key: make("bdi") };
  private readonly chart = draw("svg", { role: "img", height: HEIGHT });
  private readonly equation = make("div", { class: "equation" });
  private readonly verdict = make("p", { class: "verdict", role: "status" });
  private readonly grid: ValueGrid;
  private readonly inputs: { query: ReturnType<typeof whole>; key: ReturnType<typeof whole> };
  private readonly tokens: { query: TokenLine; key: TokenLine };
  private readonly map: MapDescription;
  private pair: Pair | null = null;
  private shown = "";
  private coming: Promise<void> = Promise.resolve();
  private ended = false;

  constructor(
    private readonly stage: Stage,
    private readonly say: Words,
  ) {
    this.map = focusOf(stage).map;
    const { map } = this;
    const fail = (error: unknown) => this.fail(error);
    this.tokens = {
      query: new TokenLine(stage.source, map.query_side, () => this.draw(), fail),
      key: new TokenLine(stage.source, map.key_side, () => this.draw(), fail),
    };
    const bounds = (start: number, count: number) => ({
      minimum: start,
      maximum: start + count - 1,
      value: start,
    });
    this.inputs = {
      query: whole(say.query, bounds(map.query_start, map.queries), (query) =>
        stage.selection.set({ query }),
      ),
      key: whole(say.key, bounds(map.key_start, map.keys), (key) => stage.selection.set({ key })),
    };
    const order = choice(
      say.order,
      [
        { value: "order", text: say.inOrder },
        { value: "size", text: say.bySize },
      ],
      this.bySize() ? "size" : "order",
      (value) => stage.selection.option("inside.order", value === "size" ? "size" : null),
    );
    this.grid = new ValueGrid(this.gridLook());
    this.element.append(
      make(
        "div",
        { class: "controls" },
        this.inputs.query.element,
        this.names.query,
        this.inputs.key.element,
        this.names.key,
        button(say.strongest, () => void this.goStrongest()),
        order.element,
      ),
      this.note,
      this.chart,
      this.equation,
      this.verdict,
      this.grid.element,
    );
    this.update();
  }

  update(): void {
    const focus = focusOf(this.stage);
    if (!focus.map.has_queries || !focus.map.has_keys) {
      write(this.note, this.say.needVectors);
      for (const part of [this.chart, this.equation, this.grid.element]) part.toggleAttribute("hidden", true);
      return;
    }
    const key = `${focus.oneHead} ${focus.query} ${focus.key}`;
    if (key === this.shown) {
      this.draw();
      return;
    }
    this.shown = key;
    this.coming = this.load(focus, key);
  }

  resize(): void {
    this.draw();
  }

  unmount(): void {
    this.ended = true;
  }

  async picture(): Promise<Drawing> {
    await this.coming;
    const ink = inks(this.stage.theme);
    const focus = focusOf(this.stage);
    const width = 640;
    let body = this.pair === null ? "" : spell(this.bars(this.pair, width, ink));
    body += label(this.sentence(), 0, HEIGHT + 20, { fill: ink.ink, size: 12 });
    const names = `${this.tokens.query.shown(focus.map.query_start + focus.query)} → ${this.keyName(focus)}`;
    return {
      width,
      height: HEIGHT + 32,
      body,
      title: `${this.say.products} · ${names} · ${mapName(focus.map, this.stage.language)}`,
      lines: captionOf(this.stage, this.say.productsAbout, this.verdict.textContent ?? ""),
    };
  }

  async table(): Promise<TableData> {
    await this.coming;
    const { pair } = this;
    return {
      caption: this.sentence(),
      columns: [this.say.dimension, this.say.query, this.say.key, "×"],
      rows:
        pair === null
          ? []
          : Array.from(pair.products, (product, at) => [at, pair.query[at]!, pair.key[at]!, product]),
    };
  }

  private async load(focus: Focus, name: string): Promise<void> {
    const { source } = this.stage;
    const { map, oneHead, query } = focus;
    try {
      const row = [query, query + 1] as const;
      const [queries, keys, weights, scores] = await Promise.all([
        source.vectors(map.index, "queries", oneHead),
        source.vectors(map.index, "keys", oneHead),
        map.has_weights ? source.weights(map.index, { head: oneHead, queries: row }, "float32") : null,
        map.has_scores ? source.scores(map.index, { head: oneHead, queries: row }) : null,
      ]);
      if (this.ended || this.shown !== name) return;
      const weightRow = weights === null ? null : asFloats(tensor(weights, "weights"));
      const key = focus.key ?? (weightRow === null ? 0 : peakOf(weightRow));
      const vector = (frame: typeof queries, of: string, at: number) => {
        const { shape, ...rest } = tensor(frame, of);
        const width = shape.at(-1)!;
        return asFloats({ shape, ...rest }).subarray(at * width, (at + 1) * width);
      };
      const [q, k] = [vector(queries, "queries", query), vector(keys, "keys", key)];
      const score = scores === null ? null : asFloats(tensor(scores, "scores"))[key]!;
      this.pair = { query: q, key: k, ...multiplyPair(q, k), score, weight: weightRow?.[key] ?? null };
      this.key = key;
      this.draw();
    } catch (error) {
      this.fail(error);
    }
  }

  private key = 0;

  private draw(): void {
    if (this.ended) return;
    const focus = focusOf(this.stage);
    const { map } = focus;
    write(this.note, focus.head === null ? this.say.oneHead(focus.oneHead) : this.say.productsAbout);
    this.inputs.query.set(map.query_start + focus.query);
    write(this.names.query, this.tokens.query.shown(map.query_start + focus.query));
    if (this.pair === null) return;
    this.inputs.key.set(map.key_start + this.key);
    write(this.names.key, this.keyName(focus));
    const width = Math.max(280, this.element.clientWidth || 720);
    this.chart.setAttribute("width", String(width));
    this.chart.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.chart.setAttribute("aria-label", this.sentence());
    this.chart.replaceChildren(this.bars(this.pair, width, SCREEN));
    this.grid.show(this.gridLook());
    this.showEquation(this.pair);
  }

  private showEquation(pair: Pair): void {
    const scale = this.scale();
    const term = (name: string, value: string, title: string, data: string) =>
      make(
        "span",
        { class: "term", "data-term": data, title },
        make("b", {}, value),
        make("small", {}, name),
      );
    const scaled = pair.sum * scale;
    const parts: (HTMLElement | string)[] = [
      term(`Σ ${this.say.query} × ${this.say.key}`, digits(pair.sum), exact(pair.sum), "sum"),
      term(this.scaleName(), `× ${digits(scale)}`, exact(scale), "scale"),
      term(this.say.score, `= ${digits(scaled)}`, exact(scaled), "scaled"),
    ];
    if (pair.score !== null)
      parts.push(term(this.say.recorded, digits(pair.score), exact(pair.score), "score"));
    if (pair.weight !== null)
      parts.push(term(this.say.weight, `→ ${digits(pair.weight)}`, exact(pair.weight), "weight"));
    this.equation.replaceChildren(...parts);
    write(this.verdict, this.judge(pair, scaled, scale));
  }

  private judge(pair: Pair, scaled: number, scale: number): string {
    if (pair.score === null) return "";
    if (pair.score === -Infinity) return this.say.maskedPair;
    const difference = digits(Math.abs(scaled - pair.score), 3);
    return matches(scaled, pair.score, pair.products, scale)
      ? this.say.agrees(difference)
      : this.say.differs(difference);
  }

  private sentence(): string {
    if (this.pair === null) return "";
    const { sum, score, weight } = this.pair;
    const scale = this.scale();
    const end = weight === null ? "" : ` → ${this.say.weight} ${digits(weight)}`;
    const kept = score === null ? "" : ` (${this.say.recorded} ${digits(score)})`;
    return `${this.say.sum} ${digits(sum)} × ${digits(scale)} = ${digits(sum * scale)}${kept}${end}`;
  }

  private bars(pair: Pair, width: number, ink: Inks): SVGGElement {
    const group = draw("g");
    const order = Array.from(pair.products.keys());
    if (this.bySize())
      order.sort((one, other) => Math.abs(pair.products[other]!) - Math.abs(pair.products[one]!));
    let total = 0;
    const running = order.map((at) => (total += pair.products[at]!));
    const span = reach([0, ...pair.products, ...running]) ?? [0, 1];
    const [left, right, top, bottom] = [48, width - 8, 10, HEIGHT - 26];
    const y = linear(span[0] === span[1] ? [-1, 1] : span, [bottom, top]);
    const step = (right - left) / order.length;
    for (const value of y.ticks(5)) {
      group.append(
        draw("line", {
          x1: left,
          x2: right,
          y1: y(value),
          y2: y(value),
          stroke: value === 0 ? ink.faint : ink.line,
        }),
        draw(
          "text",
          { x: left - 6, y: y(value) + 4, "text-anchor": "end", "font-size": 11, fill: ink.soft },
          round(value),
        ),
      );
    }
    const every = Math.max(1, Math.ceil(28 / step));
    order.forEach((dimension, at) => {
      const product = pair.products[dimension]!;
      const bar = draw("rect", {
        x: left + at * step + step * 0.1,
        y: Math.min(y(0), y(product)),
        width: Math.max(0.8, step * 0.8),
        height: Math.abs(y(product) - y(0)),
        fill: product < 0 ? "#c4622d" : ink.accent,
        "data-dimension": dimension,
      });
      bar.append(
        draw(
          "title",
          {},
          `${dimension}: ${exact(pair.query[dimension])} × ${exact(pair.key[dimension])} = ${digits(product)}`,
        ),
      );
      group.append(bar);
      if (at % every === 0) {
        group.append(
          draw(
            "text",
            {
              x: left + (at + 0.5) * step,
              y: HEIGHT - 10,
              "text-anchor": "middle",
              "font-size": 10,
              fill: ink.soft,
            },
            dimension,
          ),
        );
      }
    });
    const line = running
      .map((value, at) => `${(left + (at + 0.5) * step).toFixed(1)} ${y(value).toFixed(1)}`)
      .join("L");
    group.append(
      draw("path", { d: `M${line}`, fill: "none", stroke: ink.ink, "stroke-width": 1.5, class: "running" }),
    );
    return group;
  }

  private gridLook() {
    const { pair } = this;
    const rows = pair === null ? [] : [pair.query, pair.key, pair.products];
    const names = [this.say.query, this.say.key, `${this.say.query} × ${this.say.key}`];
    return {
      label: this.say.products,
      corner: this.say.dimension,
      rows: 3,
      columns: Math.max(1, pair?.products.length ?? 1),
      rowWidth: 120,
      cellWidth: 68,
      row: (at: number) => names[at] ?? "",
      column: String,
      cell: (row: number, column: number) => {
        const value = rows[row]?.[column];
        return value === undefined ? null : { text: digits(value), title: exact(value) };
      },
    };
  }

  private async goStrongest(): Promise<void> {
    const { map, oneHead, query } = focusOf(this.stage);
    try {
      const frame = await this.stage.source.weights(
        map.index,
        { head: oneHead, queries: [query, query + 1] },
        "float32",
      );
      this.stage.selection.set({ key: map.key_start + peakOf(asFloats(tensor(frame, "weights"))) });
    } catch (error) {
      this.fail(error);
    }
  }

  private keyName({ map }: Focus): string {
    return this.tokens.key.shown(map.key_start + this.key);
  }

  private scale(): number {
    return focusOf(this.stage).map.scale ?? 1;
  }

  private scaleName(): string {
    const { scale, head_width } = focusOf(this.stage).map;
    const root = head_width !== null && scale !== null && Math.abs(scale - head_width ** -0.5) < 1e-6;
    return root ? this.say.rootNote(head_width) : this.say.multiplier;
  }

  private bySize(): boolean {
    return this.stage.selection.get().options["inside.order"] === "size";
  }

  private fail(error: unknown): void {
    if (!this.ended && !isAbort(error)) this.stage.fail(error);
  }
}

export function peakOf(row: Float32Array): number {
  let peak = 0;
  for (let at = 1; at < row.length; at++) if (row[at]! > row[peak]!) peak = at;
  return peak;
}
