/**
 * Encoder: every token after every layer, coloured by activation.
 *
 * In:   hidden states, as norms, changes or one neuron (layer, token).
 * Out:  a field of tokens and layers that scrolls through texts of any length, and the way of the token
 *       in focus along the layers.
 */

import type { HiddenDescription } from "../../api/types";
import {
  captionOf,
  encoderHidden,
  focusToken,
  hasHidden,
  layerInFocus,
  movesTokens,
  planeName,
  stackNames,
  tokenInFocus,
} from "../../core/focus";
import { count, digits, exact } from "../../core/formats";
import { LinkedCamera, scaleOption } from "../../core/linked_camera";
import { flag, integer, oneOf, optional, readOptions, type Schema, text } from "../../core/options";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import type { TableData } from "../../core/view";
import { SideTokens } from "../../data/side_tokens";
import { readActivations } from "../../data/states";
import { words as nameWords } from "../../i18n/focus";
import { type ColourScale, drawColourBar, showColourBar, spell } from "../../marks/cells";
import { type Control, choiceOfSeveral, whole } from "../../marks/controls";
import { type Cell, Field, LABELS, layerScales, type Shown } from "../../marks/field";
import { draw, make, relabel, write } from "../../marks/make";
import { OptionControls } from "../../marks/option_controls";
import { figure, inks, label, SCREEN, sheet } from "../../marks/paper";
import { drawProfile, type Level, summarise } from "../../marks/profile";
import { clip } from "../../marks/text";
import { type Words, words } from "./words";
import "./style.css";

const MOST_IN_PICTURE = 160;
const MOST_IN_TABLE = 2000;

interface EncoderOptions {
  readonly stack: string | null; // null: the encoder, or what the model has instead
  readonly by: "norm" | "change" | "neuron" | null; // what colours the cells; null: change, where there are layers
  readonly range: "layer" | "all"; // colours from the least to the most of each layer, or of all
  readonly neuron: number;
  readonly layer: number | null; // in focus: the number of layers passed, 0 for embeddings; null: that of the map
  readonly scale: boolean; // logarithmic
  readonly rows: string | null; // how much taller rows are than usual
}

const options: Schema<EncoderOptions> = {
  stack: optional(text()),
  by: optional(oneOf(["norm", "change", "neuron"], "change")),
  range: oneOf(["layer", "all"], "layer"),
  neuron: integer(0),
  layer: optional(integer(0)),
  scale: flag(false, "log", "linear"),
  rows: scaleOption(),
};

export const view = recordingView({
  name: "encoder",
  order: 50,
  words,
  options,
  fits: hasHidden,
  named: ({ now: { description } }, selection) => {
    const { stack } = readOptions("encoder", options, selection.options);
    const stacks = description.hidden.map((each) => each.stack);
    const shown = [stack, "encoder", ...stacks].find((each) => each !== null && stacks.includes(each));
    return (language) => nameWords(language).stackName(shown ?? "encoder");
  },
  mount: (setting) => new EncoderView(setting),
});

class EncoderView extends MountedView<Words, EncoderOptions> {
  private readonly loading = this.tasks.asker();
  private readonly controls = new OptionControls(this.options);
  private readonly field: Field;
  private readonly camera: LinkedCamera;
  private readonly readout = make("p", { class: "readout" });
  private readonly bar = draw("svg", { class: "legend", role: "img", width: 230, height: 28 });
  private readonly barName = make("span", { class: "bar-name", "aria-hidden": "true" });
  private readonly meaning = make("p", { class: "meaning" });
  private readonly profile = make("div", { class: "profile" });
  private readonly neuronControl: ReturnType<typeof whole>;
  private readonly stackControl: Control<string> | null;
  private hidden: HiddenDescription;
  private tokens: SideTokens;
  private values: Float32Array | null = null; // (layer, token)
  private levels: readonly Level[] = [];
  private scales: readonly ColourScale[] = [];

  constructor(setting: Setting<Words, EncoderOptions>) {
    super(setting);
    const { stage, say, options } = this;
    this.hidden = encoderHidden(stage, options.now.stack);
    this.tokens = this.line();
    const stacks = stage.source.description.hidden.map(({ stack }) => stack);
    this.stackControl = choiceOfSeveral(stackNames(stage, stacks), this.hidden.stack, (stack) =>
      options.set({ stack }),
    );
    this.neuronControl = whole(
      () => say.neuronNumber,
      { minimum: 0, maximum: this.hidden.width - 1, value: this.neuron },
      (neuron) => options.set({ neuron }),
    );
    this.field = new Field(say, {
      shown: () => this.shown(),
      hover: () => this.tell(),
      choose: (cell) => this.choose(cell),
      walk: (cell) => {
        this.choose(cell);
        stage.announce(this.sentence(cell));
      },
      zoomed: () => this.camera.moved(),
    });
    const rows = { get: () => options.now.rows, set: (rows: string | null) => options.set({ rows }) };
    this.camera = new LinkedCamera("rows", this.field, rows, this.tasks);
    this.build();
    this.update();
  }

  update(): void {
    const hidden = encoderHidden(this.stage, this.options.now.stack);
    if (hidden.stack !== this.hidden.stack) {
      this.hidden = hidden;
      this.tokens = this.line();
    }
    this.controls.follow();
    this.stackControl?.set(hidden.stack);
    this.load();
    this.camera.follow();
    this.field.reveal();
    this.redraw();
  }

  resize(): void {
    this.redraw();
  }

  zoom(direction: -1 | 0 | 1): void {
    this.field.zoom(direction);
  }

  get moves(): boolean {
    return movesTokens(this.stage, encoderHidden(this.stage, this.options.now.stack).side);
  }

  restyle(): void {
    relabel(this.stage.element);
    this.update();
  }

  unmount(): void {
    this.field.unmount();
  }

  async picture(): Promise<string> {
    const { theme } = this.stage;
    const { tokens } = this.hidden;
    const ink = inks(theme);
    const first = Math.max(0, Math.min(this.field.first(), tokens - MOST_IN_PICTURE));
    const last = Math.min(tokens, first + MOST_IN_PICTURE);
    await this.tokens.load(first, last);
    const drawn = this.field.write(first, last, 34, ink);
    const [left, middle] = [LABELS, LABELS + (drawn.width - LABELS) / 2];
    let { body } = drawn;
    body += label(this.say.layers, middle, drawn.height + 15, { fill: ink.soft, anchor: "middle", size: 11 });
    const bar = spell(drawColourBar(this.legendScale(), 200, ink, this.legendName()));
    body += `<g transform="translate(${left} ${figure(drawn.height + 30)})">${bar}</g>`;
    return sheet({
      width: drawn.width,
      height: drawn.height + 58,
      body,
      title: `${this.names.stackName(this.hidden.stack)} · ${this.byWords()}`,
      caption: captionOf(
        this.stage,
        this.means(),
        this.names.tokensOf(count(first), count(last - 1), count(tokens)),
      ),
      theme,
    });
  }

  async table(): Promise<TableData> {
    const most = Math.min(this.hidden.tokens, MOST_IN_TABLE);
    await this.tokens.load(0, most);
    const layers = Array.from({ length: this.hidden.layers }, (_, layer) => layer);
    const rows = Array.from({ length: most }, (_, token) => [
      token,
      this.tokens.shown(token),
      ...layers.map((layer) => this.value(layer, token)),
    ]);
    const names = layers.map((layer) => this.say.columnLayer(layer));
    const columns = [this.names.position, this.names.token, ...names];
    const caption = `${this.names.stackName(this.hidden.stack)}: ${this.byWords()}`;
    return { caption, columns, rows, more: this.hidden.tokens - most };
  }

  private build(): void {
    const { stage, say } = this;
    const controls = make(
      "div",
      { class: "drawn-bar" },
      this.stackControl?.element,
      this.controls.choice(
        "by",
        () => say.by,
        { change: () => say.change, norm: () => say.norm, neuron: () => say.neuron },
        () => this.usualBy,
      ),
      this.neuronControl.element,
      this.controls.choice("range", () => say.range, {
        layer: () => say.eachLayer,
        all: () => say.allLayers,
      }),
      this.controls.choice("scale", () => say.scale, {
        linear: () => say.linear,
        log: () => say.logarithmic,
      }),
    );
    const name = make("p", { class: "axis-name" }, () => say.layers);
    const left = make("div", { class: "left" }, this.field.axis, this.field.element, name);
    const beside = make(
      "aside",
      {},
      make("h2", {}, () => say.profile),
      this.profile,
    );
    stage.element.replaceChildren(
      make(
        "div",
        { class: "encoder-view drawn" },
        controls,
        make("div", { class: "line drawn-bar" }, this.bar, this.barName, this.meaning),
        this.readout,
        make("div", { class: "body" }, left, beside),
      ),
    );
  }

  private choose({ token, layer }: Cell): void {
    if (layer >= 0) this.options.set({ layer });
    focusToken(this.stage, this.hidden, token);
  }

  /** The layer in focus. */
  private get layer(): number {
    const last = this.hidden.layers - 1;
    return Math.min(this.options.now.layer ?? layerInFocus(this.stage, this.hidden) ?? last, last);
  }

  private get usualBy(): "change" | "norm" {
    return this.hidden.layers > 1 ? "change" : "norm"; // a single plane has not changed
  }

  private get by(): "norm" | "change" | "neuron" {
    return this.options.now.by ?? this.usualBy;
  }

  private get neuron(): number {
    return Math.min(this.options.now.neuron, this.hidden.width - 1);
  }

  private load(): void {
    const { neuron, by } = this;
    const { stack, layers, tokens } = this.hidden;
    const wanted = by === "neuron" ? neuron : undefined;
    this.neuronControl.element.hidden = by !== "neuron";
    this.neuronControl.input.max = String(this.hidden.width - 1);
    this.neuronControl.set(neuron);
    write(this.meaning, this.means());
    const asked = this.loading.ask(
      `${stack} ${by} ${wanted}`,
      (source) => readActivations(source, stack, by, wanted),
      (values) => {
        this.values = values;
        this.levels = summarise(values, layers, tokens);
        this.rescale();
        this.redraw();
      },
    );
    if (!asked) this.rescale();
  }

  private rescale(): void {
    const { range, scale: log } = this.options.now;
    this.scales = layerScales(this.values, this.hidden.layers, {
      each: range === "layer",
      from: this.first,
      kind: this.by === "neuron" ? "diverging" : "sequential",
      log,
      theme: this.stage.theme,
    });
  }

  /** The first layer with a value: embeddings have not changed yet. */
  private get first(): number {
    return this.by === "change" ? 1 : 0;
  }

  /** The colours of the layer in focus, or of all. */
  private legendScale(): ColourScale {
    return this.scales[Math.max(this.first, this.pointed)] ?? this.scales[0]!;
  }

  private legendName(): string {
    const layer = Math.max(this.first, this.pointed);
    return this.options.now.range === "all"
      ? this.byWords()
      : `${this.byWords()}, ${planeName(this.hidden, layer, this.stage.language)}`;
  }

  /** The layer that is pointed at, or in focus. */
  private get pointed(): number {
    const { hovered } = this.field;
    return hovered === null ? this.layer : Math.max(0, hovered.layer);
  }

  private redraw(): void {
    this.field.redraw();
    this.tell();
  }

  private shown(): Shown {
    const { values, scales, tokens } = this;
    return {
      tokens: this.hidden.tokens,
      layers: this.hidden.layers,
      focus: this.focus(),
      layer: this.layer,
      colour: (layer, token) => scales[layer]?.css(this.value(layer, token)) ?? null,
      mean: (layer, from, to) => {
        let sum = 0;
        for (let token = from; token < to; token++)
          sum += values?.[layer * this.hidden.tokens + token] ?? Number.NaN;
        return scales[layer]?.css(sum / (to - from)) ?? null;
      },
      label: (token) => tokens.shown(token),
      special: (token) => tokens.isSpecial(token),
    };
  }

  /** The cell in focus in words, and its token along the layers. */
  private tell(): void {
    const { hovered } = this.field;
    const focus = hovered?.token ?? this.focus();
    const layer = this.pointed;
    const value = focus === null ? null : this.value(layer, focus);
    this.readout.title = value === null ? "" : exact(value);
    if (this.values === null) {
      write(this.readout, this.say.loading);
      return;
    }
    showColourBar(this.bar, this.legendScale(), this.legendName());
    write(this.barName, this.legendName());
    write(this.readout, focus === null ? this.say.idle : this.sentence({ token: focus, layer }));
    const way = focus === null ? null : this.levels.map((_, at) => this.value(at, focus));
    const { median, band } = this.say;
    this.profile.replaceChildren(
      drawProfile(this.levels, way, {
        width: Math.max(220, this.profile.clientWidth || 280),
        height: 220,
        inks: SCREEN,
        mark: layer,
        from: this.first,
        names: { median, band, way: focus === null ? "" : clip(this.tokens.shown(focus), 16) },
      }),
    );
  }

  private sentence({ token, layer }: Cell): string {
    const value = this.value(layer, token);
    const words = value === null ? this.say.undefined : digits(value);
    return this.say.readout(
      this.tokens.shown(token),
      String(token),
      planeName(this.hidden, layer, this.stage.language),
      words,
    );
  }

  private value(layer: number, token: number): number | null {
    if (this.values === null || layer < this.first) return null;
    return this.values[layer * this.hidden.tokens + token] ?? null;
  }

  private line(): SideTokens {
    return new SideTokens(
      this.stage.source,
      this.hidden.side,
      () => !this.tasks.over && this.redraw(),
      this.tasks.fail,
    );
  }

  private focus(): number | null {
    const token = tokenInFocus(this.stage, this.hidden.side);
    return token === null || token >= this.hidden.tokens ? null : token;
  }

  private byWords(): string {
    const { by } = this;
    return by === "neuron" ? `${this.say.neuron} ${this.neuron}` : this.say[by];
  }

  private means(): string {
    const { by, say } = this;
    const number =
      by === "neuron" ? say.neuronMeans(this.neuron) : by === "norm" ? say.normMeans : say.changeMeans;
    const each = this.options.now.range === "layer";
    return `${number}${this.names.betweenSentences}${each ? say.eachMeans : say.allMeans}`;
  }
}
