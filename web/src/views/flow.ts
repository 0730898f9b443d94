/**
 * Flow: rollout across layers. Choose a token at the top and see where its information came from.
 *
 * In:   the head-averaged weights of every layer of a stack.
 * Out:  a column of tokens for each layer, heat for the share at each token, bands between them.
 */

import { inBoth, introduce } from "../i18n/core";
import { words } from "../i18n/flow";
import { type Grid, paintBands, paintStrips, writeBands } from "../marks/bands";
import { sequential } from "../marks/colours";
import { Columns, type Place } from "../marks/columns";
import { make, write } from "../marks/make";
import { inks, label, sheet } from "../marks/paper";
import { findStreams, mix, type Stream, traceDown, traceUp } from "../rollout";
import type { RecordingSource } from "../source";
import type { MapDescription, Phrase, TokenSlice } from "../types";
import type { Mounted, Stage, TableData, View } from "../view";
import { chooseMap, readAxis, readMatrix } from "../weights";

const LONGEST = 400; // tokens
const EXACT_UP_TO = 200; // tokens whose weights come in single precision
const LEAST = 0.001; // the thinnest band
const STRIP = 10;

export const view: View = {
  name: "flow",
  order: 70,
  ...introduce(words),
  fits,
  mount: (stage) => new FlowView(stage),
};

/** The self-attention maps of each stack, layer by layer. */
export function stacksOf(maps: readonly MapDescription[]): Map<string, MapDescription[]> {
  const stacks = new Map<string, MapDescription[]>();
  for (const map of maps) {
    if (map.kind !== "self" || map.step !== null) continue;
    const layers = stacks.get(map.stack) ?? [];
    layers.push(map);
    stacks.set(map.stack, layers);
  }
  for (const layers of stacks.values()) layers.sort((one, other) => one.layer - other.layer);
  return stacks;
}

function fits({ description }: RecordingSource): true | Phrase {
  const stacks = [...stacksOf(description.maps).values()];
  if (stacks.length === 0) return inBoth(words, (word) => word.noMaps);
  const reasons = stacks.map(whyNot);
  return reasons.includes(null) || reasons[0]!;
}

/** Why a stack cannot be followed; null where it can. */
function whyNot(layers: readonly MapDescription[]): Phrase | null {
  if (layers.some((map, place) => map.layer !== place)) return inBoth(words, (word) => word.gaps);
  const count = layers[0]!.queries;
  if (layers.some((map) => map.queries !== count || map.keys !== count))
    return inBoth(words, (word) => word.noMaps);
  if (count > LONGEST)
    return inBoth(words, (word) => word.tooLong(count.toLocaleString("en"), String(LONGEST)));
  return layers.every((map) => map.has_weights) ? null : inBoth(words, (word) => word.noWeights);
}

class FlowView implements Mounted {
  private readonly word;
  private readonly stacks;
  private readonly columns: Columns;
  private readonly canvas = make("canvas", { "aria-hidden": "true" });
  private readonly readout = make("p", { class: "flow-readout", dir: "auto" });
  private readonly note = make("p", { class: "flow-note" });
  private readonly heads = make("div", { class: "flow-heads", "aria-hidden": "true" });
  private readonly choices = new Map<string, HTMLInputElement>();
  private stack = "";
  private layers: readonly MapDescription[] = [];
  private mixes: Float32Array[] | null = null;
  private tokens: TokenSlice | null = null;
  private pointed: Place | null = null;
  private node: { plane: number; row: number } | null = null;
  private shown: { token: number; input: number | null; down: Float32Array[]; streams: Stream[] } | null =
    null;
  private drawing = 0;
  private gone = false;

  constructor(private readonly stage: Stage) {
    this.word = words(stage.language);
    const { word } = this;
    this.stacks = new Map(
      [...stacksOf(stage.source.description.maps)].filter(([, layers]) => whyNot(layers) === null),
    );
    this.columns = new Columns({
      labels: { query: word.tops, key: word.inputs },
      left: "key",
      point: (place) => this.point(place),
      choose: (place) => this.choose(place),
      leave: () => stage.selection.set({ key: null }),
      scroll: () => this.changed(),
    });
    this.columns.element.addEventListener("pointermove", (event) => this.pointNode(event));
    this.columns.window.append(this.canvas);
    stage.element.replaceChildren(
      make(
        "div",
        { class: "flow" },
        make("div", { class: "flow-bar" }, this.stacks.size > 1 ? this.makeChoices() : null, this.readout),
        this.heads,
        this.columns.element,
        this.note,
      ),
    );
    this.open();
  }

  private makeChoices(): HTMLElement {
    const name = (stack: string) =>
      stack === "encoder" ? this.word.encoder : stack === "decoder" ? this.word.decoder : stack;
    const labels = [...this.stacks.keys()].map((stack) => {
      const input = make("input", {
        type: "radio",
        name: "flow-stack",
        value: stack,
        onchange: () => this.setStack(stack),
      });
      this.choices.set(stack, input);
      return make("label", {}, input, name(stack));
    });
    return make(
      "div",
      { class: "flow-stacks", role: "radiogroup", "aria-label": this.word.stack },
      ...labels,
    );
  }

  private setStack(stack: string): void {
    const layers = this.stacks.get(stack)!;
    const now = chooseMap(this.stage.source.description, this.stage.selection.get());
    const map = layers[Math.min(layers.length - 1, now?.layer ?? 0)]!;
    this.stage.selection.set({ map: map.index });
  }

  /** The stack of the selection, if it can be followed. */
  private wantedStack(): string {
    const stack = chooseMap(this.stage.source.description, this.stage.selection.get())?.stack ?? "";
    return this.stacks.has(stack) ? stack : [...this.stacks.keys()][0]!;
  }

  private open(): void {
    const stack = this.wantedStack();
    const layers = this.stacks.get(stack)!;
    this.stack = stack;
    this.layers = layers;
    this.mixes = null;
    this.shown = null;
    const choice = this.choices.get(stack);
    if (choice) choice.checked = true;
    write(this.readout, this.word.loading);
    const { source } = this.stage;
    const count = layers[0]!.queries;
    const precision = count <= EXACT_UP_TO ? "float32" : "float16";
    Promise.all([
      readAxis(source, layers[0]!, "query"),
      ...layers.map((map) => readMatrix(source, map, "mean", precision)),
    ]).then(([tokens, ...means]) => {
      if (this.gone || this.stack !== stack) return;
      this.tokens = tokens;
      this.mixes = means.map((mean) => mix(mean, count));
      this.columns.setTokens(tokens, tokens);
      this.columns.reveal({ axis: "query", row: this.token() });
      this.changed();
    }, this.failed);
  }

  private readonly failed = (error: unknown): void => {
    if (!this.gone) this.stage.fail(error);
  };

  update(): void {
    if (this.wantedStack() !== this.stack) this.open();
    else this.changed();
  }

  resize(): void {
    this.columns.resize();
    this.changed();
  }

  private get count(): number {
    return this.layers[0]?.queries ?? 0;
  }

  private get start(): number {
    return this.layers[0]?.query_start ?? 0;
  }

  private row(token: number | null): number | null {
    const row = token === null ? -1 : token - this.start;
    return row >= 0 && row < this.count ? row : null;
  }

  /** The selection's tokens belong to the stack only if its map is one of the stack's. */
  private selected(): { query: number | null; key: number | null } {
    const selection = this.stage.selection.get();
    const map = chooseMap(this.stage.source.description, selection);
    const side = this.layers[0]?.query_side;
    return {
      query: map?.query_side === side ? this.row(selection.query) : null,
      key: map?.key_side === side ? this.row(selection.key) : null,
    };
  }

  /** The row of the token at the top: pointed at, chosen, or the last. */
  private token(): number {
    if (this.pointed?.axis === "query") return this.pointed.row;
    return this.selected().query ?? this.count - 1;
  }

  private input(): number | null {
    return this.pointed?.axis === "key" ? this.pointed.row : this.selected().key;
  }

  private point(place: Place | null): void {
    if (place?.axis === this.pointed?.axis && place?.row === this.pointed?.row) return;
    this.pointed = place;
    if (place !== null) this.node = null;
    this.changed();
  }

  private pointNode(event: PointerEvent): void {
    const grid = this.grid();
    const box = this.columns.window.getBoundingClientRect();
    const x = event.clientX - box.left;
    const row = Math.round((event.clientY - box.top - grid.top) / this.columns.row);
    const plane = grid.columns.findIndex((at) => Math.abs(at - x) <= Math.max(STRIP, 8));
    const node = plane < 0 || row < 0 || row >= this.count ? null : { plane, row };
    if (node?.plane === this.node?.plane && node?.row === this.node?.row) return;
    this.node = node;
    this.changed();
  }

  private choose({ axis, row }: Place): void {
    const token = row + this.start;
    const { selection } = this.stage;
    const map = chooseMap(this.stage.source.description, selection.get());
    const home = this.layers.includes(map!) ? {} : { map: this.layers[0]!.index };
    if (axis === "query") selection.set({ ...home, query: token });
    else selection.set({ ...home, key: this.selected().key === row ? null : token });
    this.stage.announce(this.summary());
  }

  private changed(): void {
    if (this.drawing !== 0 || this.gone) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      if (!this.gone) this.paint();
    });
  }

  private compute(): NonNullable<FlowView["shown"]> | null {
    const { mixes, count } = this;
    if (mixes === null) return null;
    const [token, input] = [this.token(), this.input()];
    if (this.shown?.token === token && this.shown.input === input) return this.shown;
    const down = this.shown?.token === token ? this.shown.down : traceDown(mixes, count, token);
    const up = input === null ? null : traceUp(mixes, count, input);
    const { streams } = findStreams(mixes, count, down, up, LEAST);
    this.shown = { token, input, down, streams };
    return this.shown;
  }

  private grid(): Grid {
    const { left, right } = this.columns.lane();
    const planes = this.layers.length + 1;
    const [first, last] = [left + STRIP, right - STRIP];
    const columns = Array.from(
      { length: planes },
      (_, plane) => first + ((last - first) * plane) / (planes - 1),
    );
    return {
      columns,
      top: this.columns.view("query").top,
      row: this.columns.row,
      strip: STRIP,
      thick: this.columns.row - 3,
    };
  }

  private paint(): void {
    const shown = this.compute();
    if (shown === null || this.tokens === null) return;
    const { theme } = this.stage;
    const grid = this.grid();
    this.nameColumns(grid);
    const { rows } = this.columns.view("query");
    const context = this.columns.clear(this.canvas);
    const ink = inks(theme);
    if (context !== null) {
      const chosen = shown.input === null ? ink.soft : ink.accent;
      const inView = (row: number) => row >= rows[0] - 1 && row <= rows[1];
      paintBands(
        context,
        shown.streams,
        shown.down,
        grid,
        { fill: shown.input === null ? ink.accent : ink.soft, chosen, table: sequential(theme) },
        inView,
      );
      paintStrips(context, shown.down, grid, rows, { table: sequential(theme), line: ink.line });
      this.paintNode(context, grid, ink.ink);
    }
    this.columns.mark({ query: shown.token, key: shown.input }, this.pointed);
    this.columns.write({ axis: "key", text: (row) => percent(shown.down[0]![row]!, true) });
    write(this.readout, this.summary());
    const { hidden } = findStreams(this.mixes!, this.count, shown.down, null, LEAST);
    write(this.note, this.word.note(percent(Math.max(...hidden)), percent(LEAST)));
  }

  private paintNode(context: CanvasRenderingContext2D, grid: Grid, ink: string): void {
    if (this.node === null) return;
    context.strokeStyle = ink;
    context.lineWidth = 1.5;
    context.strokeRect(
      grid.columns[this.node.plane]! - STRIP / 2 - 1,
      grid.top + this.node.row * this.columns.row - this.columns.row / 2,
      STRIP + 2,
      this.columns.row,
    );
  }

  private nameColumns(grid: Grid): void {
    const selected = chooseMap(this.stage.source.description, this.stage.selection.get());
    const every = Math.ceil(28 / Math.max(1, (grid.columns[1] ?? 0) - (grid.columns[0] ?? 0)));
    const names = grid.columns.map((x, plane) => {
      const here = plane > 0 && selected?.stack === this.stack && selected.layer === plane - 1;
      const text =
        plane === 0 ? this.word.input : (plane - 1) % every === 0 || here ? this.word.layer(plane - 1) : "";
      const name = make("span", { class: "flow-layer", "data-here": here }, text);
      name.style.setProperty("left", `${x}px`);
      return name;
    });
    this.heads.replaceChildren(...names);
  }

  private tokenName(row: number): string {
    return this.tokens?.shown[row] ?? "";
  }

  private summary(): string {
    const { shown, word, node } = this;
    if (shown === null) return word.loading;
    if (node !== null) {
      const where = node.plane === 0 ? word.atInput : word.afterLayer(node.plane - 1);
      return word.share(
        this.tokenName(node.row),
        node.row + this.start,
        where,
        percent(shown.down[node.plane]![node.row]!),
      );
    }
    if (shown.input !== null) {
      return word.through(
        this.tokenName(shown.input),
        shown.input + this.start,
        percent(shown.down[0]![shown.input]!),
      );
    }
    const order = [...shown.down[0]!.keys()].sort(
      (one, other) => shown.down[0]![other]! - shown.down[0]![one]!,
    );
    const best = order.slice(0, 5).map((row) => `${this.tokenName(row)} ${percent(shown.down[0]![row]!)}`);
    return `${word.idle(this.tokenName(shown.token), shown.token + this.start)} ${best.join(" · ")}`;
  }

  async picture(): Promise<string> {
    const { word, stage, tokens } = this;
    const shown = this.compute();
    if (shown === null || tokens === null) return "";
    const ink = inks(stage.theme);
    const rows: readonly [number, number] =
      this.count <= 80 ? [0, this.count] : this.columns.view("query").rows;
    const planes = this.layers.length + 1;
    const [left, wide, top, row] = [150, Math.max(360, 56 * planes), 24, 18];
    const columns = Array.from({ length: planes }, (_, plane) => left + (wide * plane) / (planes - 1));
    const grid = { columns, top: top + row / 2 - rows[0] * row, row, strip: STRIP, thick: row - 3 };
    const look = {
      fill: shown.input === null ? ink.accent : ink.soft,
      chosen: ink.accent,
      table: sequential(stage.theme),
      line: ink.line,
    };
    const names = columns.map((x, plane) =>
      label(plane === 0 ? word.input : word.layer(plane - 1), x, 12, {
        fill: ink.soft,
        size: 11,
        anchor: "middle",
      }),
    );
    const labels = Array.from({ length: rows[1] - rows[0] }, (_, index) => {
      const here = rows[0] + index;
      const y = grid.top + here * row + 4;
      const top = here === shown.token;
      return (
        label(`${this.tokenName(here)}  ${percent(shown.down[0]![here]!, true)}`, left - 12, y, {
          fill: ink.ink,
          anchor: "end",
        }) +
        label(this.tokenName(here), left + wide + 12, y, {
          fill: top ? ink.ink : ink.faint,
          ...(top ? { weight: 700 } : {}),
        })
      );
    });
    const { description } = stage.source;
    return sheet({
      width: left + wide + 150,
      height: top + (rows[1] - rows[0]) * row,
      body: writeBands(shown.streams, shown.down, grid, rows, look) + names.join("") + labels.join(""),
      title: `${word.title} · ${description.model}`,
      caption: [
        `${description.model}, ${this.stack === "encoder" ? word.encoder : word.decoder}. ${word.caption(this.tokenName(shown.token), shown.token + this.start)}`,
        this.note.textContent ?? "",
        description.evidence.line,
      ],
      theme: stage.theme,
    });
  }

  async table(): Promise<TableData> {
    const { word } = this;
    const shown = this.compute();
    const planes = shown?.down ?? [];
    return {
      caption:
        shown === null ? word.loading : word.caption(this.tokenName(shown.token), shown.token + this.start),
      columns: [
        word.columnPosition,
        word.columnToken,
        ...planes.map((_, plane) => (plane === 0 ? word.columnInput : word.columnPlane(plane - 1))),
      ],
      rows: Array.from({ length: this.count }, (_, row) => [
        row + this.start,
        this.tokenName(row),
        ...planes.map((plane) => plane[row]!),
      ]),
    };
  }

  unmount(): void {
    this.gone = true;
    cancelAnimationFrame(this.drawing);
    this.stage.element.replaceChildren();
  }
}

function percent(share: number, short = false): string {
  const value = 100 * share;
  if (short && value < 0.05) return "";
  return `${value.toFixed(value < 9.95 ? 1 : 0)} %`;
}
