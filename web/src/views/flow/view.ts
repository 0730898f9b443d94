/**
 * Flow: rollout across layers. Choose a token at the top and see where its information came from.
 *
 * In:   the head-averaged weights of every layer of a stack.
 * Out:  a column of tokens for each layer, heat for the share at each token, bands between them.
 */

import type { MapDescription, TokenSlice } from "../../api/types";
import { stackNames } from "../../core/focus";
import { chooseMap, selectedRows } from "../../core/maps";
import { findStreams, mix } from "../../core/maths/rollout";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import { Refusal } from "../../core/source";
import type { TableData } from "../../core/view";
import { readAxis, readMatrix } from "../../data/weights";
import type { Grid } from "../../marks/bands";
import { Columns, type Place } from "../../marks/columns";
import { choiceOfSeveral } from "../../marks/controls";
import { pointIn } from "../../marks/gestures";
import { make, relabel, write } from "../../marks/make";
import { layGrid, nameLayers, nodeAt, paintFlow } from "./drawing";
import { writePicture } from "./picture";
import { canFlow, stacksOf, whyNot } from "./stacks";
import { type LayerToken, LEAST, percent, type Traced, tellTrace, traceToken } from "./trace";
import { type Words, words } from "./words";
import "./style.css";

const EXACT_UP_TO = 200; // tokens whose weights come in single precision
const WHOLE = 80; // tokens: a picture of more shows the window only

export const view = recordingView({
  name: "flow",
  order: 70,
  words,
  options: {},
  fits: ({ now: { description } }) => canFlow(description.maps),
  mount: (setting) => new FlowView(setting),
});

class FlowView extends MountedView<Words, object> {
  private readonly opening = this.tasks.asker();
  private readonly stacks;
  private readonly columns: Columns;
  private readonly canvas = make("canvas", { "aria-hidden": "true" });
  private readonly readout = make("p", { class: "flow-readout", dir: "auto" });
  private readonly note = make("p", { class: "flow-note" });
  private readonly heads = make("div", { class: "flow-heads", "aria-hidden": "true" });
  private readonly choice;
  private stack = "";
  private layers: readonly MapDescription[] = [];
  private mixes: Float32Array[] | null = null;
  private tokens: TokenSlice | null = null;
  private pointed: Place | null = null;
  private node: LayerToken | null = null;
  private shown: Traced | null = null;

  constructor(setting: Setting<Words, object>) {
    super(setting);
    const { stage, say } = this;
    this.stacks = new Map(
      [...stacksOf(stage.source.description.maps)].filter(([, layers]) => whyNot(layers) === null),
    );
    this.columns = new Columns({
      labels: { query: () => say.tops, key: () => say.inputs },
      left: "key",
      point: (place) => this.point(place),
      choose: (place) => this.choose(place),
      leave: () => stage.selection.set({ key: null }),
      scroll: () => this.changed(),
      resized: () => this.resize(),
    });
    this.columns.element.addEventListener("pointermove", (event) => this.pointNode(event));
    this.columns.window.append(this.canvas);
    const stacks = [...this.stacks.keys()];
    this.choice = choiceOfSeveral(stackNames(stage, stacks), this.wantedStack(), (stack) =>
      this.setStack(stack),
    );
    const chooser = this.choice && make("div", { class: "flow-stacks" }, this.choice.element);
    stage.element.replaceChildren(
      make(
        "div",
        { class: "flow drawn" },
        make("div", { class: "flow-bar drawn-bar" }, chooser, this.readout),
        this.heads,
        this.columns.element,
        this.note,
      ),
    );
    this.open();
  }

  private setStack(stack: string): void {
    const layers = this.stacks.get(stack)!;
    const now = chooseMap(this.stage.source.description, this.stage.selection.get());
    const map = layers[Math.min(layers.length - 1, now?.place.layer ?? 0)]!;
    this.stage.selection.set({ place: map.place });
  }

  /** The stack of the selection, if it can be followed. */
  private wantedStack(): string {
    const stack = chooseMap(this.stage.source.description, this.stage.selection.get())?.place.stack ?? "";
    return this.stacks.has(stack) ? stack : [...this.stacks.keys()][0]!;
  }

  private open(): void {
    const stack = this.wantedStack();
    this.opening.ask(
      stack,
      (source) => {
        const layers = this.stacks.get(stack)!;
        this.stack = stack;
        this.layers = layers;
        this.mixes = null;
        this.shown = null;
        this.choice?.set(stack);
        write(this.readout, this.say.loading);
        const precision = this.count <= EXACT_UP_TO ? "float32" : "float16";
        return Promise.all([
          readAxis(source, layers[0]!, "query", this.stage.selection.get()),
          ...layers.map((map) => readMatrix(source, map, "mean", precision)),
        ]);
      },
      ([tokens, ...means]) => {
        this.tokens = tokens;
        this.mixes = means.map((mean) => mix(mean, this.count));
        this.columns.setTokens(tokens, tokens);
        this.columns.reveal({ axis: "query", row: this.token() });
        this.changed();
      },
    );
  }

  update(): void {
    this.open();
    this.changed();
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

  /** The selection's tokens belong to the stack only if its map is one of the stack's. */
  private selected(): { query: number | null; key: number | null } {
    const selection = this.stage.selection.get();
    const map = chooseMap(this.stage.source.description, selection);
    const layer = this.layers[0]!;
    const { query, key } = selectedRows(layer, selection);
    const side = layer.query_side;
    return { query: map?.query_side === side ? query : null, key: map?.key_side === side ? key : null };
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
    const { x, y } = pointIn(this.columns.window, event);
    const node = nodeAt(this.grid(), x, y, this.count);
    if (node?.plane === this.node?.plane && node?.row === this.node?.row) return;
    this.node = node;
    this.changed();
  }

  private choose({ axis, row }: Place): void {
    const token = row + this.start;
    const { selection } = this.stage;
    const map = chooseMap(this.stage.source.description, selection.get());
    const home = this.layers.includes(map!) ? {} : { place: this.layers[0]!.place };
    if (axis === "query") selection.set({ ...home, query: token });
    else selection.set({ ...home, key: this.selected().key === row ? null : token });
    this.stage.announce(this.summary());
  }

  private changed(): void {
    this.tasks.frame(() => this.paint());
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
    const here = map?.place.stack === this.stack ? map.place.layer : -1;
    this.heads.replaceChildren(...nameLayers(grid, here, this.say));
    const context = columns.clear(this.canvas);
    if (context !== null) paintFlow(context, shown, grid, columns.view("query").rows, this.node, stage.theme);
    columns.mark({ query: shown.token, key: shown.input }, this.pointed);
    columns.write({ axis: "key", text: (row) => percent(shown.down[0]![row]!, true) });
    write(this.readout, this.summary());
    const { hidden } = findStreams(this.mixes!, this.count, shown.down, null, LEAST);
    write(this.note, this.say.note(percent(Math.max(...hidden)), percent(LEAST)));
  }

  private tokenName(row: number): string {
    return this.tokens?.shown[row] ?? "";
  }

  private summary(): string {
    const { shown, say: word, node } = this;
    if (shown === null) return word.loading;
    return tellTrace(shown, node, this.start, (row) => this.tokenName(row), word);
  }

  async picture(): Promise<string> {
    const { say: word, stage, stack, tokens, start } = this;
    const traced = this.compute();
    if (traced === null || tokens === null) throw new Refusal(word.loading, "loading", 0);
    const rows = this.count <= WHOLE ? ([0, this.count] as const) : this.columns.view("query").rows;
    const note = this.note.textContent ?? "";
    return writePicture({ word, stage, stack, traced, tokens: tokens.shown, start, rows, note });
  }

  async table(): Promise<TableData> {
    const { say: word } = this;
    const shown = this.compute();
    const planes = shown?.down ?? [];
    return {
      caption:
        shown === null ? word.loading : word.caption(this.tokenName(shown.token), shown.token + this.start),
      columns: [
        this.names.position,
        this.names.token,
        ...planes.map((_, plane) => (plane === 0 ? word.columnInput : word.columnPlane(plane - 1))),
      ],
      rows: Array.from({ length: this.count }, (_, row) => [
        row + this.start,
        this.tokenName(row),
        ...planes.map((plane) => plane[row]!),
      ]),
    };
  }
}
