/**
 * Lines: who looks at whom, as lines between two columns of tokens, a colour for each head.
 *
 * In:   the weights of a map, all heads, as bytes; exact weights of the token in focus.
 * Out:  a canvas between two lists (src/lines/). Pointing at a token shows its lines alone, choosing it keeps them.
 */

import { chooseMap, selectedRows } from "../../core/maps";
import type { Selection } from "../../core/selection";
import type { Mounted, Stage, TableData, View } from "../../core/view";
import { readAxis } from "../../data/weights";
import { introduce, liveWords } from "../../i18n/core";
import { type Brush, fan, gather, type Lines } from "../../marks/arcs";
import { headColour } from "../../marks/colours";
import { type Axis, Columns, type Place } from "../../marks/columns";
import { make, relabel, write } from "../../marks/make";
import { inks } from "../../marks/paper";
import { Bar } from "./bar";
import { paintFocus, paintLines } from "./drawing";
import { fits } from "./fitting";
import { Looking, otherAxis } from "./looking";
import { writePicture } from "./picture";
import { describeHidden, describeToken, nameAxis, short } from "./readout";
import { chosenHeads, isRelative, thresholdOf } from "./settings";
import { type Tokens, tabulateLines, tabulateToken } from "./table";
import { words } from "./words";

const MOST = 6000; // lines at once
const MOST_MOVING = 1500; // while scrolling
const AT_REST = 120; // milliseconds after the last scroll
const EXACT_AFTER = 60; // milliseconds of rest before exact weights are fetched
const WHOLE = 80; // tokens: a picture of more shows the window only

export const view: View = {
  name: "lines",
  order: 30,
  ...introduce(words),
  needs: "recording",
  panel: true,
  transport: true,
  options: {},
  fits,
  mount: (stage) => new LinesView(stage),
};

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
  private tokens: Tokens | null = null;
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
    this.word = liveWords(words, () => stage.language);
    this.bar = new Bar(this.word, selection);
    this.columns = new Columns({
      labels: { query: () => this.word.queries, key: () => this.word.keys },
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
    const { source } = this.stage;
    const { looking } = this;
    const { map } = looking;
    this.tokens = null;
    this.pointed = null;
    this.dress();
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

  /** Colours of heads and names of axes. */
  private dress(): void {
    const { theme } = this.stage;
    const { map, model, blocks } = this.looking;
    const heads = Array.from({ length: blocks.heads }, (_, head) => head);
    this.colours = model ? [inks(theme).accent] : heads.map((head) => headColour(head, theme));
    this.bar.setHeads(this.colours, model);
    for (const axis of ["query", "key"] as const)
      this.axes[axis].replaceChildren(...nameAxis(axis, map, this.word));
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

  restyle(): void {
    relabel(this.stage.element);
    this.dress();
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
  private kept(): Readonly<Record<Axis, number | null>> {
    return selectedRows(this.looking.map, this.stage.selection.get());
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
      const axis = otherAxis(focus.axis);
      const lines = this.fan(focus, weights);
      if (context !== null)
        paintFocus(context, axis, weights, lines, looking, this.columns, this.brush(lines, 2));
      this.columns.write({ axis, text: (row) => short(looking.mean(weights, axis, row)) });
    }
    const idle = looking.heads.length === 0 ? word.noHeads : word.idle;
    write(this.readout, focus === null ? idle : this.describe(focus));
  }

  private paintAll(): void {
    const still = this.moving === undefined;
    const drawn = this.gather(this.columns.view("query").rows, still ? MOST : MOST_MOVING);
    this.drawn = drawn;
    const context = this.columns.clear(this.base);
    if (context !== null) paintLines(context, drawn, this.columns, this.brush(drawn, 1.5));
    if (still && this.looking.possible)
      write(this.bar.hidden, describeHidden(drawn, this.looking, this.threshold(), this.word));
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

  private describe(place: Place): string {
    const start = this.tokens?.[place.axis].start ?? 0;
    return describeToken(place, start, this.looking, this.columns, this.word);
  }

  async picture(): Promise<string> {
    await this.ready;
    const { looking, stage } = this;
    const { map, heads, model } = looking;
    const all = Math.max(map.queries, map.keys) <= WHOLE;
    const rows = (axis: Axis) => (all ? ([0, looking.count(axis)] as const) : this.columns.view(axis).rows);
    await looking.blocks.load(rows("query")[0]);
    const focus = this.focus();
    if (focus !== null) await looking.refine(focus); // on paper, exact weights
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
    if (focus !== null) await looking.refine(focus);
    const weights = focus === null ? null : looking.weightsOf(focus);
    if (focus !== null && weights !== null) {
      const axis = otherAxis(focus.axis);
      const caption = this.describe(focus);
      return tabulateToken(weights, tokens[axis], looking.count(axis), looking.heads, caption, word);
    }
    const { blocks, map } = looking;
    const { rows } = this.columns.view("query");
    await blocks.load(rows[0]);
    return tabulateLines(this.gather(blocks.whole ? [0, map.queries] : rows, 1000), tokens, word);
  }

  unmount(): void {
    this.gone = true;
    clearTimeout(this.resting);
    clearTimeout(this.moving);
    cancelAnimationFrame(this.drawing);
    this.stage.element.replaceChildren();
  }
}
