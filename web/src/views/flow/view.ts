/**
 * Flow: rollout across layers. Choose a token at the top and see where its information came from.
 *
 * In:   the head-averaged weights of every layer of a stack.
 * Out:  a column of tokens for each layer, heat for the share at each token, bands between them (src/flow/).
 */

import type { MapDescription, TokenSlice } from "../../api/types";
import { chooseMap } from "../../core/maps";
import { findStreams, mix } from "../../core/maths/rollout";
import { placeOf } from "../../core/place";
import type { Mounted, Stage, TableData, View } from "../../core/view";
import { readAxis, readMatrix } from "../../data/weights";
import { introduce, liveWords } from "../../i18n/core";
import type { Grid } from "../../marks/bands";
import { Columns, type Place } from "../../marks/columns";
import { make, relabel, write } from "../../marks/make";
import { layGrid, nameLayers, nodeAt, paintFlow } from "./drawing";
import { writePicture } from "./picture";
import { canFlow, stacksOf, whyNot } from "./stacks";
import { LEAST, percent, type Spot, type Traced, tellTrace, traceToken } from "./trace";
import { words } from "./words";

const EXACT_UP_TO = 200; // tokens whose weights come in single precision
const WHOLE = 80; // tokens: a picture of more shows the window only

export const view: View = {
  name: "flow",
  order: 70,
  ...introduce(words),
  needs: "recording",
  panel: true,
  transport: true,
  options: {},
  fits: ({ now: { description } }) => canFlow(description.maps),
  mount: (stage) => new FlowView(stage),
};

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
  private node: Spot | null = null;
  private shown: Traced | null = null;
  private drawing = 0;
  private gone = false;

  constructor(private readonly stage: Stage) {
    this.word = liveWords(words, () => stage.language);
    const { word } = this;
    this.stacks = new Map(
      [...stacksOf(stage.source.description.maps)].filter(([, layers]) => whyNot(layers) === null),
    );
    this.columns = new Columns({
      labels: { query: () => word.tops, key: () => word.inputs },
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
      return make("label", {}, input, () => name(stack));
    });
    return make(
      "div",
      { class: "flow-stacks", role: "radiogroup", "aria-label": () => this.word.stack },
      ...labels,
    );
  }

  private setStack(stack: string): void {
    const layers = this.stacks.get(stack)!;
    const now = chooseMap(this.stage.source.description, this.stage.selection.get());
    const map = layers[Math.min(layers.length - 1, now?.layer ?? 0)]!;
    this.stage.selection.set({ place: placeOf(map) });
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

  restyle(): void {
    relabel(this.stage.element);
    write(this.readout, this.summary());
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
    const box = this.columns.window.getBoundingClientRect();
    const node = nodeAt(this.grid(), event.clientX - box.left, event.clientY - box.top, this.count);
    if (node?.plane === this.node?.plane && node?.row === this.node?.row) return;
    this.node = node;
    this.changed();
  }

  private choose({ axis, row }: Place): void {
    const token = row + this.start;
    const { selection } = this.stage;
    const map = chooseMap(this.stage.source.description, selection.get());
    const home = this.layers.includes(map!) ? {} : { place: placeOf(this.layers[0]!) };
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

  private compute(): Traced | null {
    const { mixes, count } = this;
    if (mixes === null) return null;
    this.shown = traceToken(mixes, count, this.token(), this.input(), this.shown);
    return this.shown;
  }

  private grid(): Grid {
    return layGrid(this.columns, this.layers.length + 1);
  }

  private paint(): void {
    const shown = this.compute();
    if (shown === null || this.tokens === null) return;
    const { columns, stage } = this;
    const grid = this.grid();
    const map = chooseMap(stage.source.description, stage.selection.get());
    const here = map?.stack === this.stack ? map.layer : -1;
    this.heads.replaceChildren(...nameLayers(grid, here, this.word));
    const context = columns.clear(this.canvas);
    if (context !== null) paintFlow(context, shown, grid, columns.view("query").rows, this.node, stage.theme);
    columns.mark({ query: shown.token, key: shown.input }, this.pointed);
    columns.write({ axis: "key", text: (row) => percent(shown.down[0]![row]!, true) });
    write(this.readout, this.summary());
    const { hidden } = findStreams(this.mixes!, this.count, shown.down, null, LEAST);
    write(this.note, this.word.note(percent(Math.max(...hidden)), percent(LEAST)));
  }

  private tokenName(row: number): string {
    return this.tokens?.shown[row] ?? "";
  }

  private summary(): string {
    const { shown, word, node } = this;
    if (shown === null) return word.loading;
    return tellTrace(shown, node, this.start, (row) => this.tokenName(row), word);
  }

  async picture(): Promise<string> {
    const { word, stage, stack, tokens, start } = this;
    const traced = this.compute();
    if (traced === null || tokens === null) return "";
    const rows = this.count <= WHOLE ? ([0, this.count] as const) : this.columns.view("query").rows;
    const note = this.note.textContent ?? "";
    return writePicture({ word, stage, stack, traced, tokens: tokens.shown, start, rows, note });
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
