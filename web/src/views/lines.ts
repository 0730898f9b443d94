/**
 * Lines: who looks at whom, as lines between two columns of tokens, a colour for each head.
 *
 * In:   the weights of a map, all heads, as bytes; exact weights of the token in focus.
 * Out:  a canvas between two lists. Pointing at a token shows its lines alone, choosing it keeps them.
 */

import { words } from "../i18n/lines";
import {
  type Brush,
  fan,
  fillBoxes,
  firstByte,
  gather,
  type Lane,
  type Lines,
  strokeLines,
} from "../marks/arcs";
import { headColour } from "../marks/colours";
import { type Axis, Columns, type Place } from "../marks/columns";
import { HeadRow } from "../marks/headrow";
import { writePicture } from "../marks/lines_picture";
import { make, write } from "../marks/make";
import { inks } from "../marks/paper";
import type { Selection } from "../selection";
import type { RecordingSource } from "../source";
import type { MapDescription, TokenSlice } from "../types";
import type { Mounted, Stage, TableData, View } from "../view";
import { Blocks, chooseMap, readAxis, readHeads } from "../weights";

const LONGEST = 8192; // tokens on an axis
const MOST = 6000; // lines at once
const MOST_MOVING = 1500; // while scrolling
const AT_REST = 120; // milliseconds after the last scroll
const THRESHOLD = 0.02;
const EXACT_AFTER = 60; // milliseconds of rest before exact weights are fetched
const HEADS_OPTION = "lines.heads"; // "3:0,3,5": the heads shown while 3 is the selection's head
const THRESHOLD_OPTION = "lines.threshold";
const SCALE_OPTION = "lines.scale";

export const view: View = {
  name: "lines",
  order: 30,
  title: { en: words("en").title, zh: words("zh").title },
  about: { en: words("en").about, zh: words("zh").about },
  fits,
  mount: (stage) => new LinesView(stage),
};

function fits({ description }: RecordingSource): true | { en: string; zh: string } {
  const both = (say: (word: ReturnType<typeof words>) => string) => ({
    en: say(words("en")),
    zh: say(words("zh")),
  });
  const { maps } = description;
  if (maps.length === 0) return both((word) => word.noMaps);
  const longest = Math.max(...maps.map((map) => Math.max(map.queries, map.keys)));
  if (longest > LONGEST)
    return both((word) => word.tooLong(longest.toLocaleString("en"), LONGEST.toLocaleString("en")));
  return maps.some((map) => map.has_weights) ? true : both((word) => word.noWeights);
}

/** The heads to draw: those of the option while it belongs to the selection's head, else that head, else all. */
export function chosenHeads(selection: Selection, count: number): number[] {
  const every = Array.from({ length: count }, (_, head) => head);
  if (selection.head === "model") return [0];
  const [base, list] = (selection.options[HEADS_OPTION] ?? "").split(":");
  if (list !== undefined && base === String(selection.head)) {
    const wanted = new Set(list.split(",").filter(Boolean).map(Number));
    return every.filter((head) => wanted.has(head));
  }
  return typeof selection.head === "number" ? every.filter((head) => head === selection.head) : every;
}

class LinesView implements Mounted {
  private readonly word;
  private readonly columns: Columns;
  private readonly headRow: HeadRow;
  private readonly base: HTMLCanvasElement;
  private readonly front: HTMLCanvasElement;
  private readonly slider: HTMLInputElement;
  private readonly parts: Readonly<
    Record<"hidden" | "threshold" | "readout" | "average" | "query" | "key", HTMLElement>
  >;
  private readonly scale: HTMLInputElement;
  private gone = false;
  private drawing = 0;
  private resting: ReturnType<typeof setTimeout> | undefined;
  private moving: ReturnType<typeof setTimeout> | undefined;
  private map: MapDescription;
  private blocks: Blocks;
  private tokens: Readonly<Record<Axis, TokenSlice>> | null = null;
  private pointed: Place | null = null;
  private exact: { place: Place; map: number; weights: Float32Array } | null = null;
  private heads: readonly number[] = [];
  private colours: readonly string[] = [];
  private drawn: Lines | null = null;

  constructor(private readonly stage: Stage) {
    this.word = words(stage.language);
    const word = this.word;
    this.columns = new Columns({
      labels: { query: word.queries, key: word.keys },
      point: (place) => this.point(place),
      choose: (place) => this.choose(place),
      leave: () => this.stage.selection.set({ query: null, key: null }),
      scroll: () => this.scroll(),
    });
    this.base = make("canvas", { class: "lines-base", "aria-hidden": "true" });
    this.front = make("canvas", { class: "lines-front", "aria-hidden": "true" });
    this.columns.window.append(this.base, this.front);
    this.headRow = new HeadRow(word, (heads) => this.setHeads(heads));
    this.slider = make("input", { type: "range", min: 0, max: 100, step: 1, "aria-label": word.threshold });
    this.slider.addEventListener("input", () => this.slide());
    this.scale = make("input", { type: "checkbox" });
    this.scale.addEventListener("change", () =>
      stage.selection.option(SCALE_OPTION, this.scale.checked ? "relative" : null),
    );
    this.parts = {
      hidden: make("span", { class: "lines-hidden" }),
      threshold: make("output", { class: "lines-threshold" }),
      readout: make("p", { class: "lines-readout", dir: "auto" }),
      average: make("span", { class: "lines-average" }, word.modelAverage),
      query: make("span", { class: "lines-axis" }),
      key: make("span", { class: "lines-axis" }),
    };
    this.build();
    const selection = stage.selection.get();
    this.map = chooseMap(stage.source.description, selection)!;
    this.blocks = new Blocks(stage.source, this.map, selection.head === "model");
    this.open();
  }

  private build(): void {
    const { word, parts } = this;
    this.stage.element.replaceChildren(
      make(
        "div",
        { class: "lines" },
        make(
          "div",
          { class: "lines-bar" },
          this.headRow.element,
          parts.average,
          make(
            "label",
            { class: "lines-slider" },
            make("span", {}, word.threshold),
            this.slider,
            parts.threshold,
          ),
          make("label", { class: "lines-scale", title: word.relativeHint }, this.scale, word.relative),
          parts.hidden,
        ),
        make("div", { class: "lines-axes" }, parts.query, parts.readout, parts.key),
        this.columns.element,
      ),
    );
  }

  /** A new map: its tokens, heads and weights. */
  private open(): void {
    const { source, theme } = this.stage;
    const { map, word } = this;
    const model = this.stage.selection.get().head === "model";
    this.exact = null;
    this.tokens = null;
    this.colours = model
      ? [inks(theme).accent]
      : Array.from({ length: map.heads }, (_, head) => headColour(head, theme));
    this.headRow.element.hidden = model;
    this.parts.average.hidden = !model;
    this.headRow.setHeads(this.colours);
    const side = (name: string) =>
      map.kind === "cross" ? ` · ${name === "source" ? word.source : word.target}` : "";
    this.parts.query.replaceChildren(make("b", {}, word.query), ` ${word.queryHint}${side(map.query_side)}`);
    this.parts.key.replaceChildren(make("b", {}, word.key), ` ${word.keyHint}${side(map.key_side)}`);
    Promise.all([readAxis(source, map, "query"), readAxis(source, map, "key")]).then(([query, key]) => {
      if (this.gone || this.map !== map) return;
      this.tokens = { query, key };
      this.columns.setTokens(query, key);
      const kept = this.kept();
      const place =
        kept.query !== null
          ? { axis: "query" as const, row: kept.query }
          : kept.key !== null
            ? { axis: "key" as const, row: kept.key }
            : null;
      if (place !== null) this.columns.reveal(place);
      this.follow();
    }, this.failed);
  }

  private readonly failed = (error: unknown): void => {
    if (!this.gone) this.stage.fail(error);
  };

  update(now: Selection, before: Selection): void {
    const map = chooseMap(this.stage.source.description, now)!;
    const model = now.head === "model";
    if (map !== this.map || model !== (before.head === "model")) {
      this.map = map;
      this.blocks = new Blocks(this.stage.source, map, model);
      this.pointed = null;
      this.open();
    } else this.follow();
  }

  resize(): void {
    this.columns.resize();
    this.changed();
  }

  /** What the selection says about heads, threshold and pinned tokens. */
  private follow(): void {
    const selection = this.stage.selection.get();
    this.heads = chosenHeads(selection, this.blocks.heads);
    this.headRow.setOn(this.heads);
    this.slider.value = String(Math.round(100 * Math.sqrt(this.threshold())));
    this.scale.checked = selection.options[SCALE_OPTION] === "relative";
    write(this.parts.threshold, this.threshold().toFixed(this.threshold() < 0.1 ? 3 : 2));
    this.changed();
    this.refine();
  }

  private threshold(): number {
    const value = Number(this.stage.selection.get().options[THRESHOLD_OPTION] ?? THRESHOLD);
    return value >= 0 && value <= 1 ? value : THRESHOLD;
  }

  private slide(): void {
    const threshold = (Number(this.slider.value) / 100) ** 2;
    this.stage.selection.option(
      THRESHOLD_OPTION,
      Math.abs(threshold - THRESHOLD) < 5e-4 ? null : threshold.toFixed(4),
    );
  }

  private setHeads(heads: readonly number[]): void {
    const { selection } = this.stage;
    if (heads.length === 1) this.setSelection({ head: heads[0]! }, null);
    else if (heads.length === this.map.heads) this.setSelection({ head: "mean" }, null);
    else this.setSelection({}, `${selection.get().head}:${heads.join(",")}`);
  }

  private setSelection(change: Partial<Selection>, heads: string | null): void {
    const { selection } = this.stage;
    const { [HEADS_OPTION]: _, ...options } = selection.get().options;
    selection.set({ ...change, options: heads === null ? options : { ...options, [HEADS_OPTION]: heads } });
  }

  /** Pinned rows of the map. */
  private kept(): Record<Axis, number | null> {
    const { query, key } = this.stage.selection.get();
    const row = (token: number | null, start: number, count: number) =>
      token !== null && token >= start && token < start + count ? token - start : null;
    const { map } = this;
    return {
      query: row(query, map.query_start, map.queries),
      key: row(key, map.key_start, map.keys),
    };
  }

  /** The token whose lines are shown alone: pointed at, else pinned. */
  private focus(): Place | null {
    if (this.pointed !== null) return this.pointed;
    const { query, key } = this.kept();
    if (query !== null) return { axis: "query", row: query };
    return key !== null ? { axis: "key", row: key } : null;
  }

  private point(place: Place | null): void {
    if (place?.axis === this.pointed?.axis && place?.row === this.pointed?.row) return;
    this.pointed = place;
    this.changed(false);
    this.refine();
  }

  private choose({ axis, row }: Place): void {
    const { map } = this;
    const token = row + (axis === "query" ? map.query_start : map.key_start);
    const { selection } = this.stage;
    const same = selection.get()[axis] === token;
    selection.set(axis === "query" ? { query: same ? null : token } : { key: same ? null : token });
    if (!same) this.stage.announce(this.describe({ axis, row }));
  }

  /** Ask for exact weights of the token in focus once the pointer rests. */
  private refine(): void {
    clearTimeout(this.resting);
    const focus = this.focus();
    if (focus === null || this.blocks.heads !== this.map.heads || !this.map.has_weights) return;
    const wanted = { place: focus, map: this.map.index };
    this.resting = setTimeout(() => {
      const place = focus.axis === "query" ? { query: focus.row } : { key: focus.row };
      readHeads(this.stage.source, this.map, place).then((weights) => {
        if (this.gone || wanted.map !== this.map.index) return;
        this.exact = { ...wanted, weights };
        this.changed(false);
      }, this.failed);
    }, EXACT_AFTER);
  }

  /** While rows move, fewer lines are drawn; all of them when they rest. */
  private scroll(): void {
    clearTimeout(this.moving);
    this.moving = setTimeout(() => {
      this.moving = undefined;
      this.changed();
    }, AT_REST);
    this.changed();
  }

  /** Draw in the next frame. */
  private changed(all = true): void {
    if (all) this.drawn = null;
    if (this.drawing !== 0 || this.gone) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      if (!this.gone && this.tokens !== null) this.paint();
    });
  }

  /** From column to column; with boxes for the heads beside one of them, up to the boxes. */
  private lane(boxes: Axis | null): Lane & { box: number } {
    const { left, right } = this.columns.lane();
    const box = Math.max(3, Math.min(10, Math.floor((right - left) / 4 / Math.max(1, this.heads.length))));
    const gutter = box * this.heads.length + 6;
    return {
      left: left + (boxes === "query" ? gutter : 4),
      right: right - (boxes === "key" ? gutter : 4),
      top: this.columns.view("query").top,
      row: this.columns.row,
      box,
    };
  }

  private paint(): void {
    this.fetchRows();
    const focus = this.focus();
    if (this.drawn === null) {
      this.drawn = this.gatherAll();
      const context = this.clear(this.base);
      if (context) strokeLines(context, this.drawn, this.lane(null), this.brush(this.drawn, 1.5));
      if (this.moving === undefined) this.sayHidden();
    }
    const kept = this.kept();
    this.columns.mark(kept, focus);
    this.base.toggleAttribute("data-behind", focus !== null);
    const context = this.clear(this.front);
    const weights = focus === null ? null : this.weightsOf(focus);
    if (focus === null || weights === null) {
      this.columns.write(null);
    } else {
      if (context) this.paintFocus(context, focus, weights);
      const other = focus.axis === "query" ? "key" : "query";
      this.columns.write({ axis: other, text: (row) => this.number(this.meanOf(weights, other, row)) });
    }
    write(
      this.parts.readout,
      focus === null ? (this.heads.length === 0 ? this.word.noHeads : this.word.idle) : this.describe(focus),
    );
  }

  private paintFocus(context: CanvasRenderingContext2D, focus: Place, weights: Float32Array): void {
    const { heads, colours, map } = this;
    const other = focus.axis === "query" ? "key" : "query";
    const lane = this.lane(other);
    const count = other === "key" ? map.keys : map.queries;
    const place = focus.axis === "query" ? { query: focus.row } : { key: focus.row };
    const lines = fan(weights, place, { heads, threshold: this.threshold() }, count);
    const brush = this.brush(lines, 2);
    strokeLines(context, lines, lane, brush);
    const x = other === "key" ? lane.right + 4 : lane.left - 4 - lane.box * heads.length;
    const box = { x, box: lane.box, lane, rows: this.columns.view(other).rows, count };
    fillBoxes(context, weights, box, { heads, colours, full: brush.full });
  }

  private brush(lines: Lines, width: number): Brush {
    const relative = this.stage.selection.get().options[SCALE_OPTION] === "relative";
    const full = relative && lines.count > 0 ? lines.weight[lines.count - 1]! : 1; // the strongest comes last
    return { colours: this.colours, width, full };
  }

  private gatherAll(): Lines {
    const { rows } = this.columns.view("query");
    return gather(this.blocks.all(), {
      heads: this.heads,
      threshold: this.threshold(),
      queries: rows,
      most: this.moving === undefined ? MOST : MOST_MOVING,
    });
  }

  /** Fetch the blocks of the rows in view. */
  private fetchRows(): void {
    const { blocks, map } = this;
    if (!map.has_weights && blocks.heads === map.heads) {
      write(this.parts.hidden, this.word.notHere);
      return;
    }
    const [first, last] = this.columns.view("query").rows;
    for (let row = first; row < last; row += blocks.size) this.fetchBlock(row);
    if (last > first) this.fetchBlock(last - 1);
  }

  private fetchBlock(row: number): void {
    const { blocks } = this;
    if (blocks.at(row) !== undefined) return;
    write(this.parts.hidden, this.word.loading);
    blocks.load(row).then(() => {
      if (!this.gone && blocks === this.blocks) this.changed();
    }, this.failed);
  }

  /** Weights (head, token) of a row or column, exact if they are here. */
  private weightsOf({ axis, row }: Place): Float32Array | null {
    const { exact, map, blocks } = this;
    if (exact !== null && exact.map === map.index && exact.place.axis === axis && exact.place.row === row)
      return exact.weights;
    if (axis === "query") {
      const block = blocks.at(row);
      if (block === undefined) return null;
      const tall = block.stop - block.start;
      return Float32Array.from({ length: block.heads * map.keys }, (_, at) => {
        const head = Math.floor(at / map.keys);
        return block.values[block.bytes[(head * tall + row - block.start) * map.keys + (at % map.keys)]!]!;
      });
    }
    const block = blocks.whole ? blocks.at(0) : undefined;
    if (block === undefined) return null;
    return Float32Array.from(
      { length: block.heads * map.queries },
      (_, at) => block.values[block.bytes[at * map.keys + row]!]!,
    );
  }

  /** The mean over the heads that are on. */
  private meanOf(weights: Float32Array, axis: Axis, row: number): number {
    const count = axis === "key" ? this.map.keys : this.map.queries;
    let sum = 0;
    for (const head of this.heads) sum += weights[head * count + row]!;
    return this.heads.length === 0 ? 0 : sum / this.heads.length;
  }

  private number(weight: number): string {
    return weight < 0.0005 ? "" : weight.toFixed(weight < 0.1 ? 3 : 2);
  }

  /** A token and where it looks, in words. */
  private describe(place: Place): string {
    const { word } = this;
    const weights = this.weightsOf(place);
    const other: Axis = place.axis === "query" ? "key" : "query";
    const index = place.row + (this.tokens?.[place.axis].start ?? 0);
    const name = this.columns.token(place);
    const start = place.axis === "query" ? word.looksAt(name, index) : word.seenBy(name, index);
    if (weights === null) return word.loading;
    const count = other === "key" ? this.map.keys : this.map.queries;
    const best: { row: number; mean: number }[] = [];
    for (let row = 0; row < count; row++) {
      const mean = this.meanOf(weights, other, row);
      if (mean < 0.0005 || (best.length === 5 && mean <= best[4]!.mean)) continue;
      best.push({ row, mean });
      best.sort((one, another) => another.mean - one.mean);
      best.length = Math.min(5, best.length);
    }
    const list = best.map(
      ({ row, mean }) => `${this.columns.token({ axis: other, row })} ${this.number(mean)}`,
    );
    return `${start} ${list.length === 0 ? word.nothing : list.join(" · ")}`;
  }

  private hiddenShare(): number {
    let hidden = 0;
    let all = 0;
    for (const block of this.blocks.all()) {
      const first = firstByte(block.values, this.threshold());
      for (const head of this.heads) {
        for (let byte = 0; byte < 256; byte++) {
          const weight = block.weightOf[head * 256 + byte]!;
          all += weight;
          if (byte < first) hidden += weight;
        }
      }
    }
    return all === 0 ? 0 : hidden / all;
  }

  private sayHidden(): void {
    const share = `${(100 * this.hiddenShare()).toFixed(1)} %`;
    const text = this.blocks.whole ? this.word.hidden(share) : this.word.hiddenOfRows(share);
    const capped =
      this.drawn !== null && this.drawn.left_out > 0
        ? this.word.capped(this.drawn.count.toLocaleString("en"))
        : "";
    write(this.parts.hidden, text + capped);
  }

  private clear(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
    const { clientWidth, clientHeight } = this.columns.window;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)];
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    const context = canvas.getContext("2d");
    context?.setTransform(ratio, 0, 0, ratio, 0, 0);
    context?.clearRect(0, 0, clientWidth, clientHeight);
    return context;
  }

  async picture(): Promise<string> {
    const { map, tokens } = this;
    if (tokens === null) await Promise.all([readAxis(this.stage.source, map, "query"), this.blocks.load(0)]);
    const all = Math.max(map.queries, map.keys) <= 80;
    const rows = (axis: Axis, count: number) => (all ? ([0, count] as const) : this.columns.view(axis).rows);
    const query = rows("query", map.queries);
    if (all) await this.blocks.load(0);
    const focus = this.focus();
    const weights = focus === null ? null : this.weightsOf(focus);
    const place = focus?.axis === "query" ? { query: focus.row } : { key: focus?.row ?? 0 };
    const lines =
      focus !== null && weights !== null
        ? fan(
            weights,
            place,
            { heads: this.heads, threshold: this.threshold() },
            focus.axis === "query" ? map.keys : map.queries,
          )
        : gather(this.blocks.all(), {
            heads: this.heads,
            threshold: this.threshold(),
            queries: query,
            most: 4000,
          });
    return writePicture({
      word: this.word,
      description: this.stage.source.description,
      theme: this.stage.theme,
      map,
      model: this.stage.selection.get().head === "model",
      heads: this.heads,
      lines,
      brush: this.brush(lines, 1.5),
      tokens: this.tokens!,
      rows: { query, key: rows("key", map.keys) },
      focus:
        focus !== null && weights !== null
          ? { ...focus, value: (axis, row) => this.number(this.meanOf(weights, axis, row)) }
          : null,
      threshold: this.threshold(),
      hidden: this.hiddenShare(),
    });
  }

  async table(): Promise<TableData> {
    const { word, map, tokens } = this;
    const focus = this.focus();
    const weights = focus === null ? null : this.weightsOf(focus);
    if (focus === null || weights === null || tokens === null) return this.tableOfLines();
    const other: Axis = focus.axis === "query" ? "key" : "query";
    const count = other === "key" ? map.keys : map.queries;
    const heads = this.heads;
    return {
      caption: this.describe(focus),
      columns: [word.columnPosition, word.columnToken, ...heads.map((head) => word.head(head))],
      rows: Array.from({ length: Math.min(count, 2000) }, (_, row) => [
        row + tokens[other].start,
        tokens[other].shown[row] ?? "",
        ...heads.map((head) => weights[head * count + row] ?? null),
      ]),
      ...(count > 2000 ? { more: count - 2000 } : {}),
    };
  }

  private async tableOfLines(): Promise<TableData> {
    const { word, map, tokens } = this;
    await this.blocks.load(this.columns.view("query").rows[0]);
    const { rows } = this.columns.view("query");
    const queries: readonly [number, number] = this.blocks.whole ? [0, map.queries] : rows;
    const lines = gather(this.blocks.all(), {
      heads: this.heads,
      threshold: this.threshold(),
      queries,
      most: 1000,
    });
    return {
      caption: word.tableStrongest,
      columns: [
        word.columnQuery,
        word.columnToken,
        word.columnKey,
        word.columnToken,
        word.columnHead,
        word.columnWeight,
      ],
      rows: Array.from({ length: lines.count }, (_, at) => {
        const back = lines.count - 1 - at;
        const [query, key] = [lines.query[back]!, lines.key[back]!];
        const names = [tokens?.query.shown[query] ?? "", tokens?.key.shown[key] ?? ""] as const;
        return [
          query + map.query_start,
          names[0],
          key + map.key_start,
          names[1],
          lines.head[back]!,
          lines.weight[back]!,
        ];
      }),
    };
  }

  unmount(): void {
    this.gone = true;
    clearTimeout(this.resting);
    clearTimeout(this.moving);
    cancelAnimationFrame(this.drawing);
    this.stage.element.replaceChildren();
  }
}
