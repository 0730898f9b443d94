/**
 * Lines: who looks at whom, as lines between two columns of tokens, a colour for each head.
 *
 * In:   the weights of a map, all heads, as bytes; exact weights of the token in focus.
 * Out:  a canvas between two lists. Pointing at a token shows its lines alone, choosing it keeps them.
 */

import { hasMaps } from "../../core/focus";
import { count } from "../../core/formats";
import type { Crop } from "../../core/heat";
import { chooseMap, selectedRows } from "../../core/maps";
import type { Text } from "../../core/messages";
import { writePlace } from "../../core/place";
import { readingOf } from "../../core/reading";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import type { SubjectOf, TableData } from "../../core/view";
import { readCrops } from "../../data/media";
import { readAxis } from "../../data/weights";
import { type Brush, fan, gather, type Lines } from "../../marks/arcs";
import { diverging, headColour, pick } from "../../marks/colours";
import { type Axis, Columns, type Place } from "../../marks/columns";
import { make, relabel, write } from "../../marks/make";
import { inks } from "../../marks/paper";
import { Bar } from "./bar";
import { paintFocus, paintLines } from "./drawing";
import { HeadWeights, otherAxis } from "./head_weights";
import { writePicture } from "./picture";
import { describeHidden, describeToken, nameAxis, short } from "./readout";
import { chosenHeads, type LinesOptions, options } from "./settings";
import { type Tokens, tabulateLines, tabulateToken } from "./table";
import { type Words, words } from "./words";
import "./style.css";

const MOST = 6000; // lines at once
const MOST_MOVING = 1500; // while scrolling
const LONGEST = 8192; // tokens on an axis
const AT_REST = 120; // milliseconds after the last scroll
const EXACT_AFTER = 60; // milliseconds of rest before exact weights are fetched
const WHOLE = 80; // tokens: a picture of more shows the window only

export const view = recordingView({
  name: "lines",
  order: 30,
  words,
  options,
  fits,
  mount: (setting) => new LinesView(setting),
});

function fits({ now }: SubjectOf<"recording">): true | Text {
  const { maps } = now.description;
  if (maps.length === 0) return hasMaps({ kind: "recording", now });
  const longest = Math.max(...maps.map((map) => Math.max(map.queries, map.keys)));
  if (longest > LONGEST) return (language) => words(language).tooLong(count(longest), count(LONGEST));
  return maps.some((map) => map.has_weights) || ((language) => words(language).noWeights);
}

class LinesView extends MountedView<Words, LinesOptions> {
  private readonly opening = this.tasks.asker();
  private readonly bar: Bar;
  private readonly columns: Columns;
  private readonly base = make("canvas", { class: "lines-base", "aria-hidden": "true" });
  private readonly front = make("canvas", { class: "lines-front", "aria-hidden": "true" });
  private readonly readout = make("p", { class: "lines-readout", dir: "auto" });
  private readonly axes = {
    query: make("span", { class: "lines-axis" }),
    key: make("span", { class: "lines-axis" }),
  };
  private attention!: HeadWeights;
  private tokens: Tokens | null = null;
  private crops: Readonly<Record<Axis, (row: number) => Crop | null>> = {
    query: () => null,
    key: () => null,
  };
  private colours: readonly string[] = [];
  private pointed: Place | null = null;
  private drawn: Lines | null = null;

  constructor(setting: Setting<Words, LinesOptions>) {
    super(setting);
    const { stage, say, options } = this;
    const { selection } = stage;
    this.bar = new Bar(say, options, selection);
    this.columns = new Columns({
      labels: { query: () => say.queries, key: () => say.keys },
      point: (place) => this.point(place),
      choose: (place) => this.choose(place),
      leave: () => selection.set({ query: null, key: null }),
      scroll: () => this.scroll(),
      resized: () => this.resize(),
    });
    this.columns.window.append(this.base, this.front);
    this.columns.element.addEventListener("contextmenu", (event) => {
      if (stage.rerunner?.again({})) event.preventDefault(); // the shell shows what can be done with the edge in focus
    });
    const axes = make("div", { class: "lines-axes" }, this.axes.query, this.readout, this.axes.key);
    stage.element.replaceChildren(
      make("div", { class: "lines drawn" }, this.bar.element, axes, this.columns.element),
    );
    this.open();
  }

  /** The map of the selection: its tokens, heads and weights. */
  private open(): void {
    const { source, selection } = this.stage;
    const now = selection.get();
    const map = chooseMap(source.description, now)!;
    const model = now.head === "model";
    this.opening.ask(
      `${writePlace(map.place)} ${model} ${readingOf(now)}`,
      (round) => {
        this.attention = new HeadWeights(round, map, model);
        this.tokens = null;
        this.pointed = null;
        this.dress();
        return Promise.all([
          readAxis(round, map, "query", now),
          readAxis(round, map, "key", now),
          readCrops(round, map.query_side),
          readCrops(round, map.key_side),
        ]);
      },
      ([query, key, ofQuery, ofKey]) => {
        this.tokens = { query, key };
        this.crops = {
          query: (row) => ofQuery(row + map.query_start),
          key: (row) => ofKey(row + map.key_start),
        };
        this.columns.setTokens(query, key, this.crops);
        const focus = this.focus();
        if (focus !== null) this.columns.reveal(focus);
        this.follow();
      },
    );
  }

  /** Colours of heads and names of axes. */
  private dress(): void {
    const { theme } = this.stage;
    const { map, model, blocks } = this.attention;
    const heads = Array.from({ length: blocks.heads }, (_, head) => head);
    this.colours = model ? [inks(theme).accent] : heads.map((head) => headColour(head, theme));
    this.bar.setHeads(this.colours, model);
    for (const axis of ["query", "key"] as const)
      this.axes[axis].replaceChildren(...nameAxis(axis, map, this.stage, this.say));
  }

  update(): void {
    this.open();
    this.follow();
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
    const { attention } = this;
    attention.heads = chosenHeads(this.options.now, this.stage.selection.get(), attention.blocks.heads);
    this.bar.follow(attention.heads);
    this.changed();
    this.refine();
  }

  private threshold(): number {
    return this.options.now.threshold * this.attention.largest;
  }

  /** Pinned rows of the map. */
  private kept(): Readonly<Record<Axis, number | null>> {
    return selectedRows(this.attention.map, this.stage.selection.get());
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
    const { map } = this.attention;
    const token = row + (axis === "query" ? map.query_start : map.key_start);
    const { selection } = this.stage;
    const same = selection.get()[axis] === token;
    selection.set({ [axis]: same ? null : token });
    if (!same) this.stage.announce(this.describe({ axis, row }));
  }

  /** Ask for exact weights of the token in focus once the pointer rests. */
  private refine(): void {
    this.tasks.cancel("exact");
    const focus = this.focus();
    const { attention } = this;
    if (focus === null) return;
    this.tasks.later("exact", EXACT_AFTER, () => {
      attention.refine(focus).then((better) => {
        if (better && attention === this.attention) this.changed(false);
      }, this.tasks.fail);
    });
  }

  /** While rows move, fewer lines are drawn; all of them when they rest. */
  private scroll(): void {
    this.tasks.later("moving", AT_REST, () => this.changed());
    this.changed();
  }

  /** Draw in the next frame. */
  private changed(all = true): void {
    if (all) this.drawn = null;
    this.tasks.frame(() => this.tokens !== null && this.paint());
  }

  private paint(): void {
    this.fetchRows();
    if (this.drawn === null) this.paintAll();
    const { say: word, attention } = this;
    const focus = this.focus();
    this.columns.mark(this.kept(), focus);
    this.base.toggleAttribute("data-behind", focus !== null);
    const context = this.columns.clear(this.front);
    const weights = focus === null ? null : attention.weightsOf(focus);
    if (focus === null || weights === null) this.columns.write(null);
    else {
      const axis = otherAxis(focus.axis);
      const lines = this.fan(focus, weights);
      if (context !== null)
        paintFocus(context, axis, weights, lines, attention, this.columns, this.brush(lines, 2));
      this.columns.write({ axis, text: (row) => short(attention.mean(weights, axis, row)) });
    }
    const idle = attention.heads.length === 0 ? word.noHeads : word.idle;
    write(this.readout, focus === null ? idle : this.describe(focus));
  }

  private paintAll(): void {
    const still = !this.tasks.waits("moving");
    const drawn = this.gather(this.columns.view("query").rows, still ? MOST : MOST_MOVING);
    this.drawn = drawn;
    const context = this.columns.clear(this.base);
    if (context !== null) paintLines(context, drawn, this.columns, this.brush(drawn, 1.5));
    if (still && this.attention.possible)
      write(this.bar.hidden, describeHidden(drawn, this.attention, this.threshold(), this.say));
  }

  private gather(queries: readonly [number, number], most: number): Lines {
    const { blocks, heads } = this.attention;
    return gather(blocks.all(), { heads, threshold: this.threshold(), queries, most });
  }

  private fan({ axis, row }: Place, weights: Float32Array): Lines {
    const { heads } = this.attention;
    const place = axis === "query" ? { query: row } : { key: row };
    return fan(weights, place, { heads, threshold: this.threshold() }, this.attention.count(otherAxis(axis)));
  }

  private brush(lines: Lines, width: number): Brush {
    const { signed, largest } = this.attention;
    const strongest = Math.abs(lines.weight[lines.count - 1] ?? 0); // it comes last
    const full = (signed || this.options.now.scale) && strongest > 0 ? strongest : largest || 1;
    const table = diverging(this.stage.theme);
    const signs = signed ? ([pick(table, 0), pick(table, 255)] as const) : undefined;
    return { colours: this.colours, width, full, signs };
  }

  /** Fetch the blocks of the rows in view. */
  private fetchRows(): void {
    const { attention, columns } = this;
    if (!attention.possible) {
      write(this.bar.hidden, this.say.notHere);
      return;
    }
    const { blocks } = attention;
    const [first, last] = columns.view("query").rows;
    for (let row = first; row < last; row = (Math.floor(row / blocks.size) + 1) * blocks.size) {
      if (blocks.at(row) !== undefined) continue;
      write(this.bar.hidden, this.say.loading);
      blocks.load(row).then(() => {
        if (attention === this.attention) this.changed();
      }, this.tasks.fail);
    }
  }

  private describe(place: Place): string {
    const start = this.tokens?.[place.axis].start ?? 0;
    return describeToken(place, start, this.attention, this.columns, this.say);
  }

  async picture(): Promise<string> {
    const { attention, stage } = this;
    const { map } = attention;
    const all = Math.max(map.queries, map.keys) <= WHOLE;
    const rows = (axis: Axis) => (all ? ([0, attention.count(axis)] as const) : this.columns.view(axis).rows);
    await attention.blocks.load(rows("query")[0]);
    const focus = this.focus();
    if (focus !== null) await attention.refine(focus); // on paper, exact weights
    const weights = focus === null ? null : attention.weightsOf(focus);
    const single = focus !== null && weights !== null;
    const lines = single ? this.fan(focus, weights) : this.gather(rows("query"), 4000);
    const value = (axis: Axis, row: number) =>
      weights === null ? "" : short(attention.mean(weights, axis, row));
    return writePicture({
      word: this.say,
      stage,
      attention,
      lines,
      brush: this.brush(lines, 1.5),
      tokens: this.tokens!,
      crops: this.crops,
      rows: { query: rows("query"), key: rows("key") },
      focus: single ? { ...focus, value } : null,
      threshold: this.threshold(),
    });
  }

  async table(): Promise<TableData> {
    const { say: word, attention } = this;
    const tokens = this.tokens!;
    const focus = this.focus();
    if (focus !== null) await attention.refine(focus);
    const weights = focus === null ? null : attention.weightsOf(focus);
    if (focus !== null && weights !== null) {
      const axis = otherAxis(focus.axis);
      return tabulateToken(weights, tokens[axis], attention, this.describe(focus), word, this.names);
    }
    const { blocks, map } = attention;
    const { rows } = this.columns.view("query");
    await blocks.load(rows[0]);
    return tabulateLines(this.gather(blocks.whole ? [0, map.queries] : rows, 1000), tokens, word, this.names);
  }
}
