/**
 * Embeddings: tokens as points on a plane, layer by layer, and as distributions.
 *
 * In:   hidden states; layer 0 are the input embeddings, the last layer the output embeddings.
 * Out:  a scatter that glides between layers, neighbours in all dimensions, histograms and ridges.
 */

import type { HiddenDescription } from "../../api/types";
import { captionOf, hasHidden, movesTokens, stackNames } from "../../core/focus";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import type { TableData } from "../../core/view";
import { button, type Control, choiceOfSeveral, slider, whole } from "../../marks/controls";
import { make, relabel, write } from "../../marks/make";
import { OptionControls } from "../../marks/option_controls";
import { inks, sheet } from "../../marks/paper";
import { type Choices, choicesOf, type EmbeddingsOptions, MOST, options } from "./choices";
import { makePlayer } from "./player";
import { Points } from "./points";
import { Spread } from "./spread";
import { type Words, words } from "./words";
import "./style.css";

export const view = recordingView({
  name: "embeddings",
  order: 60,
  words,
  options,
  fits: hasHidden,
  mount: (setting) => new EmbeddingsView(setting),
});

class EmbeddingsView extends MountedView<Words, EmbeddingsOptions> {
  private readonly controls = new OptionControls(this.options);
  private readonly spreading = this.tasks.asker();
  private readonly points: Points;
  private readonly layerControl: ReturnType<typeof slider>;
  private readonly player: HTMLElement;
  private readonly note = make("p", { class: "note" });
  private readonly from: ReturnType<typeof whole>;
  private readonly projection: HTMLElement; // for points only
  private readonly stackControl: Control<string> | null;
  private layers!: HTMLElement; // what chooses among them
  private hidden: HiddenDescription;
  private spread: Spread;

  constructor(setting: Setting<Words, EmbeddingsOptions>) {
    super(setting);
    const { stage, say, options } = this;
    const { hidden, layer, start } = this.choices;
    this.hidden = hidden;
    const stacks = stage.source.description.hidden.map(({ stack }) => stack);
    this.stackControl = choiceOfSeveral(stackNames(stage, stacks), hidden.stack, (stack) =>
      options.set({ stack }),
    );
    this.points = new Points(setting);
    this.spread = this.openSpread();
    this.layerControl = slider(
      {
        label: () => say.layer,
        minimum: 0,
        maximum: hidden.layers - 1,
        step: 1,
        value: layer,
        text: (number) => `${number} · ${this.layerName(number)}`,
      },
      (number) => this.goLayer(number),
    );
    this.player = makePlayer(
      this.tasks,
      {
        start: () => this.isLast() && this.goLayer(0),
        step: () => {
          if (this.isLast()) return false;
          this.goLayer(this.choices.layer + 1);
          return true;
        },
        drawn: () => this.coming,
      },
      say,
    );
    this.from = whole(
      () => say.from,
      { minimum: 0, maximum: Math.max(0, hidden.tokens - 1), value: start },
      (from) => options.set({ from }),
    );
    this.projection = this.controls.choice("by", () => say.by, { pca: () => say.pca, umap: () => say.umap });
    this.build();
    this.update();
  }

  get moves(): boolean {
    return movesTokens(this.stage, this.choices.hidden.side);
  }

  private build(): void {
    const { say, stage } = this;
    const controls = make(
      "div",
      { class: "drawn-bar" },
      this.stackControl?.element,
      this.controls.choice("as", () => say.as, {
        points: () => say.points,
        distributions: () => say.distributions,
      }),
      this.projection,
      this.from.element,
    );
    this.layers = make(
      "div",
      { class: "drawn-bar" },
      button(
        () => say.input,
        () => this.goLayer(0),
      ),
      button(
        () => say.output,
        () => this.goLayer(this.hidden.layers - 1),
      ),
      this.layerControl.element,
      this.player,
    );
    const { element, side } = this.points;
    const body = make("div", { class: "body" }, element, this.spread.element, side);
    stage.element.replaceChildren(
      make("div", { class: "embeddings-view drawn" }, controls, this.layers, this.note, body),
    );
  }

  update(): void {
    const { choices, points } = this;
    const { hidden } = choices;
    this.controls.follow();
    this.stackControl?.set(hidden.stack);
    const other = hidden.stack !== this.hidden.stack;
    this.hidden = hidden;
    if (other || choices.start !== points.start) points.open();
    if (other) {
      const spread = this.openSpread();
      this.spread.element.replaceWith(spread.element);
      this.spread = spread;
      this.layerControl.input.max = String(hidden.layers - 1);
      this.from.input.max = String(hidden.tokens - 1);
    }
    this.layerControl.set(choices.layer);
    this.layers.hidden = hidden.layers === 1; // of a recurrent network: states of its cells, no embeddings
    this.from.set(choices.start);
    this.from.element.hidden = hidden.tokens <= MOST;
    const asPoints = this.asPoints();
    points.element.hidden = points.side.hidden = this.projection.hidden = !asPoints;
    this.spread.element.hidden = asPoints;
    write(this.note, asPoints ? (choices.by === "pca" ? this.say.pcaNote : this.say.umapNote) : "");
    if (asPoints) points.show();
    else this.spread.show();
  }

  resize(): void {
    this.points.redraw();
    if (!this.asPoints()) this.spread.paint();
  }

  restyle(): void {
    relabel(this.stage.element);
    this.points.restyle();
    this.update();
    this.resize();
  }

  /** The cloud has a camera; distributions are magnified. */
  get zoom() {
    return this.asPoints() ? (direction: -1 | 0 | 1) => this.points.zoom(direction) : undefined;
  }

  unmount(): void {
    this.points.unmount();
  }

  async picture(): Promise<string> {
    const { theme } = this.stage;
    const drawn = await (this.asPoints() ? this.points : this.spread).writeSvg(inks(theme));
    const title = `${this.say.title} · ${this.names.stackName(this.hidden.stack)} · ${this.layerName(this.choices.layer)}`;
    const caption = captionOf(this.stage, this.note.textContent ?? "", this.points.range());
    return sheet({ ...drawn, title, caption, theme });
  }

  async table(): Promise<TableData> {
    const { say, choices, hidden } = this;
    if (!this.asPoints())
      return { caption: say.distributions, columns: ["", "≥", "<", "n"], rows: this.spread.rows() };
    const rows = await this.points.rows();
    return {
      caption: `${say.title}: ${this.layerName(choices.layer)}, ${say[choices.by]}`,
      columns: [this.names.position, this.names.token, say.columnX, say.columnY],
      rows,
      more: hidden.tokens - rows.length,
    };
  }

  private get choices(): Choices {
    return choicesOf(this.stage, this.options);
  }

  /** Resolves when what is chosen is drawn. */
  private get coming(): Promise<unknown> {
    return this.asPoints() ? this.points.coming : this.spreading.coming;
  }

  private asPoints(): boolean {
    return this.choices.as === "points";
  }

  private isLast(): boolean {
    return this.choices.layer >= this.hidden.layers - 1;
  }

  private goLayer(layer: number): void {
    this.options.set({ layer: Math.max(0, Math.min(this.hidden.layers - 1, layer)) });
  }

  private openSpread(): Spread {
    return new Spread(this.spreading, this.hidden, this.say, {
      layer: () => this.choices.layer,
      name: (layer) => this.layerName(layer),
      choose: (layer) => this.goLayer(layer),
    });
  }

  private layerName(layer: number): string {
    if (this.hidden.layers === 1) return this.names.states;
    if (layer === 0) return this.say.input;
    return layer === this.hidden.layers - 1 ? this.say.output : this.names.afterLayers(layer);
  }
}
