/**
 * Lines: who looks at whom, as lines between two columns of tokens, a colour for each head.
 *
 * In:   the weights of a map, all heads, as bytes; exact weights of the token in focus.
 * Out:  a canvas between two lists. Pointing at a token shows its lines alone, choosing it keeps them.
 */

import { inBoth, introduce } from "../i18n/core";
import { words } from "../i18n/lines";
import { Bar } from "../lines/bar";
import { Looking, otherAxis } from "../lines/looking";
import { writePicture } from "../lines/picture";
import { chosenHeads, isRelative, thresholdOf } from "../lines/settings";
import { type Brush, fan, fillBoxes, gather, type Lane, type Lines, strokeLines } from "../marks/arcs";
import { headColour } from "../marks/colours";
import { type Axis, Columns, type Place } from "../marks/columns";
import { make, write } from "../marks/make";
import { inks } from "../marks/paper";
import type { Selection } from "../selection";
import type { RecordingSource } from "../source";
import type { Phrase, TokenSlice } from "../types";
import type { Mounted, Stage, TableData, View } from "../view";
import { chooseMap, readAxis } from "../weights";

const LONGEST = 8192; // tokens on an axis
const MOST = 6000; // lines at once
const MOST_MOVING = 1500; // while scrolling
const AT_REST = 120; // milliseconds after the last scroll
const EXACT_AFTER = 60; // milliseconds of rest before exact weights are fetched
const MOST_ROWS = 2000; // of a table
const WHOLE = 80; // tokens: a picture of more shows the window only

export const view: View = {
  name: "lines",
  order: 30,
  ...introduce(words),
  fits,
  mount: (stage) => new LinesView(stage),
};

function fits({ description: { maps } }: RecordingSource): true | Phrase {
  if (maps.length === 0) return inBoth(words, (word) => word.noMaps);
  const longest = Math.max(...maps.map((map) => Math.max(map.queries, map.keys)));
  if (longest > LONGEST)
    return inBoth(words, (word) => word.tooLong(longest.toLocaleString("en"), LONGEST.toLocaleString("en")));
  return maps.some((map) => map.has_weights) || inBoth(words, (word) => word.noWeights);
}

class LinesView implements Mounted {
  private readonly word;
  private readonly bar: Bar;
  private readonly columns: Columns;
  private readonly base = make("canvas", { class: "lines-base", "aria-hidden": "true" });
  private readonly front = make("canvas", { class: "lines-front", "aria-hidden": "true" });
  private readonly readout = make("p", { class: "lines-readout", dir: "auto" });
  private readonly axes = {
    query: make("span", { class: "lines-axis" }),
    key: make("span", { class: "lines-axis" }),
  };
  private looking: Looking;
  private tokens: Readonly<Record<Axis, TokenSlice>> | null = null;
  private ready: Promise<void> = Promise.resolve(); // tokens are there
  private colours: readonly string[] = [];
  private pointed: Place | null = null;
  private drawn: Lines | null = null;
  private drawing = 0;
  private resting: ReturnType<typeof setTimeout> | undefined;
  private moving: ReturnType<typeof setTimeout> | undefined;
  private gone = false;

  constructor(private readonly stage: Stage) {
    const { selection } = stage;
    this.word = words(stage.language);
    this.bar = new Bar(this.word, selection);
    this.columns = new Columns({
      labels: { query: this.word.queries, key: this.word.keys },
      point: (place) => this.point(place),
      choose: (place) => this.choose(place),
      leave: () => selection.set({ query: null, key: null }),
      scroll: () => this.scroll(),
    });
    this.columns.window.append(this.base, this.front);
    const axes = make("div", { class: "lines-axes" }, this.axes.query, this.readout, this.axes.key);
    stage.element.replaceChildren(
      make("div", { class: "lines" }, this.bar.element, axes, this.columns.element),
    );
    this.looking = this.look(selection.get());
    this.open();
  }

  private look(selection: Selection): Looking {
    const { source } = this.stage;
    return new Looking(source, chooseMap(source.description, selection)!, selection.head === "model");
  }

  /** A new map: its tokens, heads and weights. */
  private open(): void {
    const { source, theme } = this.stage;
    const { looking } = this;
    const { map, model, blocks } = looking;
    this.tokens = null;
    this.pointed = null;
    const heads = Array.from({ length: blocks.heads }, (_, head) => head);
    this.colours = model ? [inks(theme).accent] : heads.map((head) => headColour(head, theme));
    this.bar.setHeads(this.colours, model);
    this.nameAxes();
    this.ready = Promise.all([readAxis(source, map, "query"), readAxis(source, map, "key")]).then(
      ([query, key]) => {
        if (this.gone || this.looking !== looking) return;
        this.tokens = { query, key };
        this.columns.setTokens(query, key);
        const focus = this.focus();
        if (focus !== null) this.columns.reveal(focus);
        this.follow();
      },
    );
    this.ready.catch(this.failed);
  }

  private nameAxes(): void {
    const { word } = this;
    const { map } = this.looking;
    for (const axis of ["query", "key"] as const) {
      const side = axis === "query" ? map.query_side : map.key_side;
      const where = map.kind === "cross" ? ` · ${side === "source" ? word.source : word.target}` : "";
      const hint = axis === "query" ? word.queryHint : word.keyHint;
      this.axes[axis].replaceChildren(make("b", {}, word[axis]), ` ${hint}${where}`);
    }
  }

  private readonly failed = (error: unknown): void => {
    if (!this.gone) this.stage.fail(error);
  };

  update(now: Selection): void {
    const looking = this.look(now);
    if (looking.map !== this.looking.map || looking.model !== this.looking.model) {
      this.looking = looking;
      this.open();
    } else this.follow();
  }

  resize(): void {
    this.columns.resize();
    this.changed();
  }

  /** What the selection says about heads, threshold and pinned tokens. */
  private follow(): void {
    const { looking } = this;
    looking.heads = chosenHeads(this.stage.selection.get(), looking.blocks.heads);
    this.bar.follow(looking.heads);
    this.changed();
    this.refine();
  }

  private threshold(): number {
    return thresholdOf(this.stage.selection.get());
  }

  /** Pinned rows of the map. */
  private kept(): Record<Axis, number | null> {
    const { query, key } = this.stage.selection.get();
    const { map } = this.looking;
    const row = (token: number | null, start: number, count: number) =>
      token !== null && token >= start && token < start + count ? token - start : null;
    return { query: row(query, map.query_start, map.queries), key: row(key, map.key_start, map.keys) };
  }

  /** The token whose lines are shown alone: pointed at, else pinned. */
  private focus(): Place | null {
    if (this.pointed !== null) return this.pointed;
    const { query, key } = this.kept();
    if (query !== null) return { axis: "query", row: query };
    return key === null ? null : { axis: "key", row: key };
  }

  private point(place: Place | null): void {
    if (place?.axis === this.pointed?.axis && place?.row === this.pointed?.row) return;
    this.pointed = place;
    this.changed(false);
    this.refine();
  }

  private choose({ axis, row }: Place): void {
    const { map } = this.looking;
    const token = row + (axis === "query" ? map.query_start : map.key_start);
    const { selection } = this.stage;
    const same = selection.get()[axis] === token;
    selection.set({ [axis]: same ? null : token });
    if (!same) this.stage.announce(this.describe({ axis, row }));
  }

  /** Ask for exact weights of the token in focus once the pointer rests. */
  private refine(): void {
    clearTimeout(this.resting);
    const focus = this.focus();
    const { looking } = this;
    if (focus === null) return;
    this.resting = setTimeout(() => {
      looking.refine(focus).then((better) => {
        if (better && looking === this.looking) this.changed(false);
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
    const count = this.looking.heads.length;
    const box = Math.max(3, Math.min(10, Math.floor((right - left) / 4 / Math.max(1, count))));
    const gutter = box * count + 6;
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
    if (this.drawn === null) this.paintAll();
    const { word, looking } = this;
    const focus = this.focus();
    this.columns.mark(this.kept(), focus);
    this.base.toggleAttribute("data-behind", focus !== null);
    const context = this.columns.clear(this.front);
    const weights = focus === null ? null : looking.weightsOf(focus);
    if (focus === null || weights === null) this.columns.write(null);
    else {
      if (context !== null) this.paintFocus(context, focus, weights);
      const axis = otherAxis(focus.axis);
      this.columns.write({ axis, text: (row) => short(looking.mean(weights, axis, row)) });
    }
    const idle = looking.heads.length === 0 ? word.noHeads : word.idle;
    write(this.readout, focus === null ? idle : this.describe(focus));
  }

  private paintAll(): void {
    const still = this.moving === undefined;
    this.drawn = this.gather(this.columns.view("query").rows, still ? MOST : MOST_MOVING);
    const context = this.columns.clear(this.base);
    if (context !== null) strokeLines(context, this.drawn, this.lane(null), this.brush(this.drawn, 1.5));
    if (still && this.looking.possible) this.sayHidden(this.drawn);
  }

  private paintFocus(context: CanvasRenderingContext2D, focus: Place, weights: Float32Array): void {
    const { heads } = this.looking;
    const axis = otherAxis(focus.axis);
    const lane = this.lane(axis);
    const lines = this.fan(focus, weights);
    const brush = this.brush(lines, 2);
    strokeLines(context, lines, lane, brush);
    const x = axis === "key" ? lane.right + 4 : lane.left - 4 - lane.box * heads.length;
    const box = {
      x,
      box: lane.box,
      lane,
      rows: this.columns.view(axis).rows,
      count: this.looking.count(axis),
    };
    fillBoxes(context, weights, box, { heads, colours: this.colours, full: brush.full });
  }

  private gather(queries: readonly [number, number], most: number): Lines {
    const { blocks, heads } = this.looking;
    return gather(blocks.all(), { heads, threshold: this.threshold(), queries, most });
  }

  private fan({ axis, row }: Place, weights: Float32Array): Lines {
    const { heads } = this.looking;
    const place = axis === "query" ? { query: row } : { key: row };
    return fan(weights, place, { heads, threshold: this.threshold() }, this.looking.count(otherAxis(axis)));
  }

  private brush(lines: Lines, width: number): Brush {
    const relative = isRelative(this.stage.selection.get()) && lines.count > 0;
    return { colours: this.colours, width, full: relative ? lines.weight[lines.count - 1]! : 1 }; // the strongest comes last
  }

  /** Fetch the blocks of the rows in view. */
  private fetchRows(): void {
    const { looking, columns } = this;
    if (!looking.possible) {
      write(this.bar.hidden, this.word.notHere);
      return;
    }
    const { blocks } = looking;
    const [first, last] = columns.view("query").rows;
    for (let row = first; row < last; row = (Math.floor(row / blocks.size) + 1) * blocks.size) {
      if (blocks.at(row) !== undefined) continue;
      write(this.bar.hidden, this.word.loading);
      blocks.load(row).then(() => {
        if (!this.gone && looking === this.looking) this.changed();
      }, this.failed);
    }
  }

  /** A token and where it looks, in words. */
  private describe(place: Place): string {
    const { word, looking, columns } = this;
    const weights = looking.weightsOf(place);
    if (weights === null) return word.loading;
    const axis = otherAxis(place.axis);
    const index = place.row + (this.tokens?.[place.axis].start ?? 0);
    const name = columns.token(place);
    const start = place.axis === "query" ? word.looksAt(name, index) : word.seenBy(name, index);
    const list = looking
      .best(weights, axis, 5)
      .map(({ row, mean }) => `${columns.token({ axis, row })} ${short(mean)}`);
    return `${start} ${list.length === 0 ? word.nothing : list.join(" · ")}`;
  }

  private sayHidden(drawn: Lines): void {
    const { word, looking } = this;
    const share = `${(100 * looking.hidden(this.threshold())).toFixed(1)} %`;
    const text = looking.blocks.whole ? word.hidden(share) : word.hiddenOfRows(share);
    write(this.bar.hidden, text + (drawn.left_out > 0 ? word.capped(drawn.count.toLocaleString("en")) : ""));
  }

  async picture(): Promise<string> {
    await this.ready;
    const { looking, stage } = this;
    const { map, heads, model } = looking;
    const all = Math.max(map.queries, map.keys) <= WHOLE;
    const rows = (axis: Axis) => (all ? ([0, looking.count(axis)] as const) : this.columns.view(axis).rows);
    await looking.blocks.load(rows("query")[0]);
    const focus = this.focus();
    const weights = focus === null ? null : looking.weightsOf(focus);
    const single = focus !== null && weights !== null;
    const lines = single ? this.fan(focus, weights) : this.gather(rows("query"), 4000);
    const value = (axis: Axis, row: number) =>
      weights === null ? "" : short(looking.mean(weights, axis, row));
    return writePicture({
      word: this.word,
      description: stage.source.description,
      theme: stage.theme,
      map,
      model,
      heads,
      lines,
      brush: this.brush(lines, 1.5),
      tokens: this.tokens!,
      rows: { query: rows("query"), key: rows("key") },
      focus: single ? { ...focus, value } : null,
      threshold: this.threshold(),
      hidden: looking.hidden(this.threshold()),
    });
  }

  async table(): Promise<TableData> {
    await this.ready;
    const { word, looking } = this;
    const tokens = this.tokens!;
    const focus = this.focus();
    const weights = focus === null ? null : looking.weightsOf(focus);
    if (focus === null || weights === null) return this.tableOfLines(tokens);
    const axis = otherAxis(focus.axis);
    const count = looking.count(axis);
    return {
      caption: this.describe(focus),
      columns: [word.columnPosition, word.columnToken, ...looking.heads.map((head) => word.head(head))],
      rows: Array.from({ length: Math.min(count, MOST_ROWS) }, (_, row) => [
        row + tokens[axis].start,
        tokens[axis].shown[row] ?? "",
        ...looking.heads.map((head) => weights[head * count + row] ?? null),
      ]),
      ...(count > MOST_ROWS ? { more: count - MOST_ROWS } : {}),
    };
  }

  private async tableOfLines(tokens: Readonly<Record<Axis, TokenSlice>>): Promise<TableData> {
    const { word } = this;
    const { blocks, map } = this.looking;
    const { rows } = this.columns.view("query");
    await blocks.load(rows[0]);
    const lines = this.gather(blocks.whole ? [0, map.queries] : rows, 1000);
    const { columnToken } = word;
    return {
      caption: word.tableStrongest,
      columns: [
        word.columnQuery,
        columnToken,
        word.columnKey,
        columnToken,
        word.columnHead,
        word.columnWeight,
      ],
      rows: Array.from({ length: lines.count }, (_, at) => {
        const back = lines.count - 1 - at;
        const [query, key] = [lines.query[back]!, lines.key[back]!];
        const names = [tokens.query.shown[query] ?? "", tokens.key.shown[key] ?? ""] as const;
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

/** A weight in a few digits; nothing for next to nothing. */
function short(weight: number): string {
  return weight < 0.0005 ? "" : weight.toFixed(weight < 0.1 ? 3 : 2);
}
