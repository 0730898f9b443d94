/**
 * Query · key: how one score comes about, dimension by dimension.
 *
 * In:   the query and key vectors of one head, the recorded scores and weights of the pair.
 * Out:  bars of the products, their running sum, and the way on: × scale = score → weight; checked against the recording.
 */

import type { MapDescription } from "../../api/types";
import { captionOf, type Focus, focusOf, mapName } from "../../core/focus";
import { digits, exact } from "../../core/formats";
import type { TableData } from "../../core/view";
import { matches, type Pair, peakOf, readPair } from "../../data/pair";
import { RecordingTokens } from "../../data/side_tokens";
import { readRow } from "../../data/weights";
import { spell } from "../../marks/cells";
import { button, whole } from "../../marks/controls";
import { drawChart, make, write } from "../../marks/make";
import { inks, label, SCREEN } from "../../marks/paper";
import { ValueGrid } from "../../marks/table";
import { type Drawing, InsidePanel, type InsideSetting } from "./panel";
import { drawProducts, HEIGHT } from "./product_bars";

export class Products extends InsidePanel {
  readonly element = make("div", { class: "products" });
  private readonly note = make("p", { class: "note" });
  private readonly tokenNames = { query: make("bdi"), key: make("bdi") };
  private chart = drawChart(0, HEIGHT, "");
  private readonly equation = make("div", { class: "equation" });
  private readonly verdict = make("p", { class: "verdict", role: "status" });
  private readonly grid: ValueGrid;
  private readonly inputs: { query: ReturnType<typeof whole>; key: ReturnType<typeof whole> };
  private readonly tokens = new RecordingTokens(this.stage.source, () => this.draw(), this.tasks.fail);
  private readonly map: MapDescription;
  private pair: Pair | null = null;
  private readonly loading = this.tasks.asker();
  private readonly searching = this.tasks.asker();

  constructor(setting: InsideSetting) {
    super(setting);
    const { stage, say } = this;
    this.map = focusOf(stage).map;
    const { map } = this;
    const bounds = (start: number, count: number) => ({
      minimum: start,
      maximum: start + count - 1,
      value: start,
    });
    this.inputs = {
      query: whole(
        () => say.query,
        bounds(map.query_start, map.queries),
        (query) => stage.selection.set({ query }),
      ),
      key: whole(
        () => say.key,
        bounds(map.key_start, map.keys),
        (key) => stage.selection.set({ key }),
      ),
    };
    const order = this.controls.choice("order", () => say.order, {
      order: () => say.inOrder,
      size: () => say.bySize,
    });
    this.grid = new ValueGrid(this.gridLook());
    this.element.append(
      make(
        "div",
        { class: "drawn-bar" },
        this.inputs.query.element,
        this.tokenNames.query,
        this.inputs.key.element,
        this.tokenNames.key,
        button(
          () => say.strongest,
          () => this.goStrongest(),
        ),
        order,
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
    this.loading.ask(
      `${focus.oneHead} ${focus.query} ${focus.key}`,
      (source) => readPair(source, focus),
      (pair) => {
        this.pair = pair;
        this.draw();
      },
    );
    this.draw();
  }

  resize(): void {
    this.draw();
  }

  async picture(): Promise<Drawing> {
    await this.loading.coming;
    const ink = inks(this.stage.theme);
    const focus = focusOf(this.stage);
    const width = 640;
    let body = this.pair === null ? "" : spell(drawProducts(this.pair, this.options.now.order, width, ink));
    body += label(this.sentence(), 0, HEIGHT + 20, { fill: ink.ink, size: 12 });
    const names = `${this.tokens.of(focus.rowSide).shown(focus.map.query_start + focus.query)} → ${this.keyName(focus)}`;
    return {
      width,
      height: HEIGHT + 32,
      body,
      title: `${this.say.products} · ${names} · ${mapName(focus.map, this.stage.language)}`,
      lines: captionOf(this.stage, this.say.productsAbout, this.verdict.textContent ?? ""),
    };
  }

  async table(): Promise<TableData> {
    await this.loading.coming;
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

  private draw(): void {
    if (this.tasks.over) return;
    const focus = focusOf(this.stage);
    const { map } = focus;
    write(this.note, focus.head === null ? this.say.oneHead(focus.oneHead) : this.say.productsAbout);
    this.inputs.query.set(map.query_start + focus.query);
    write(this.tokenNames.query, this.tokens.of(focus.rowSide).shown(map.query_start + focus.query));
    this.grid.show(this.gridLook());
    if (this.pair === null) return;
    this.inputs.key.set(map.key_start + (this.pair?.at ?? 0));
    write(this.tokenNames.key, this.keyName(focus));
    const width = Math.max(280, this.element.clientWidth || 720);
    const bars = drawProducts(this.pair, this.options.now.order, width, SCREEN);
    const chart = drawChart(width, HEIGHT, this.sentence(), bars);
    this.chart.replaceWith(chart);
    this.chart = chart;
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
      cellWidth: 80,
      row: (at: number) => names[at] ?? "",
      column: String,
      cell: (row: number, column: number) => {
        const value = rows[row]?.[column];
        return value === undefined ? null : { text: digits(value), title: exact(value) };
      },
    };
  }

  private goStrongest(): void {
    const { map, oneHead, query } = focusOf(this.stage);
    this.searching.ask(
      null,
      (source) => readRow(source, map, oneHead, query),
      (weights) => this.stage.selection.set({ key: map.key_start + peakOf(weights) }),
    );
  }

  private keyName({ map }: Focus): string {
    return this.tokens.of(map.key_side).shown(map.key_start + (this.pair?.at ?? 0));
  }

  private scale(): number {
    return focusOf(this.stage).map.scale ?? 1;
  }

  private scaleName(): string {
    const { scale, head_width } = focusOf(this.stage).map;
    const root = head_width !== null && scale !== null && Math.abs(scale - head_width ** -0.5) < 1e-6;
    return root ? this.say.rootNote(head_width) : this.say.multiplier;
  }
}
