/**
 * Embeddings: tokens as points on a plane, layer by layer, and as distributions.
 *
 * In:   hidden states; layer 0 are the input embeddings, the last layer the output embeddings.
 * Out:  a scatter that glides between layers (src/embeddings/), neighbours in all dimensions, histograms and ridges.
 */

import type { HiddenDescription } from "../../api/types";
import { captionOf } from "../../core/focus";
import type { Mounted, Stage, TableData, View } from "../../core/view";
import { inBoth, introduce, liveWords } from "../../i18n/core";
import { words as focusWords } from "../../i18n/focus";
import { button, type Control, choice, slider, whole } from "../../marks/controls";
import { make, relabel, write } from "../../marks/make";
import { inks, sheet } from "../../marks/paper";
import { stackChoice } from "../../marks/stacks";
import { Choices } from "./choices";
import { Player } from "./player";
import { Points } from "./points";
import { type By, MOST } from "./projections";
import { Spread } from "./spread";
import { words } from "./words";

export const view: View = {
  name: "embeddings",
  order: 60,
  ...introduce(words),
  needs: "recording",
  panel: true,
  transport: true,
  options: {},
  fits: ({ now: { description } }) => description.hidden.length > 0 || inBoth(words, (word) => word.noHidden),
  mount: (stage) => new EmbeddingsView(stage),
};

class EmbeddingsView implements Mounted {
  private readonly say;
  private readonly sayFocus;
  private readonly choices: Choices;
  private readonly points: Points;
  private readonly layerControl: ReturnType<typeof slider>;
  private readonly player: Player;
  private readonly note = make("p", { class: "note" });
  private readonly from: Control<number>;
  private readonly projection: HTMLElement; // for points only
  private readonly ended = new AbortController();
  private hidden: HiddenDescription;
  private spread: Spread;
  private coming: Promise<void> = Promise.resolve();

  constructor(private readonly stage: Stage) {
    this.say = liveWords(words, () => stage.language);
    this.sayFocus = liveWords(focusWords, () => stage.language);
    const { say } = this;
    const choices = new Choices(stage);
    this.choices = choices;
    this.hidden = choices.hidden;
    this.points = new Points(stage, choices, say);
    this.spread = this.openSpread();
    this.layerControl = slider(
      {
        label: () => say.layer,
        minimum: 0,
        maximum: this.hidden.layers - 1,
        step: 1,
        value: choices.layer,
        text: (layer) => `${layer} · ${this.layerName(layer)}`,
      },
      (layer) => this.goLayer(layer),
    );
    this.player = new Player(
      {
        start: () => this.isLast() && this.goLayer(0),
        step: () => {
          if (this.isLast()) return false;
          this.goLayer(choices.layer + 1);
          return true;
        },
        drawn: () => this.coming,
      },
      say,
    );
    this.from = whole(
      () => say.from,
      { minimum: 0, maximum: Math.max(0, this.hidden.tokens - 1), value: choices.start },
      (start) => choices.set("from", String(start), "0"),
    );
    const ways = (["pca", "umap"] as const).map((value) => ({ value, text: () => say[value] }));
    this.projection = choice<By>(
      () => say.by,
      ways,
      choices.by,
      (by) => choices.set("by", by, "pca"),
    ).element;
    this.build();
    this.update();
  }

  private build(): void {
    const { say, stage, choices } = this;
    const kinds = (["points", "distributions"] as const).map((value) => ({ value, text: () => say[value] }));
    const controls = make(
      "div",
      { class: "controls" },
      stackChoice(stage, this.hidden, (stack) => choices.set("stack", stack)),
      choice(
        () => say.as,
        kinds,
        choices.as,
        (as) => choices.set("as", as, "points"),
      ).element,
      this.projection,
      this.from.element,
    );
    const layers = make(
      "div",
      { class: "controls" },
      button(
        () => say.input,
        () => this.goLayer(0),
      ),
      button(
        () => say.output,
        () => this.goLayer(this.hidden.layers - 1),
      ),
      this.layerControl.element,
      this.player.element,
    );
    const { element, side } = this.points;
    const body = make("div", { class: "body" }, element, this.spread.element, side);
    stage.element.replaceChildren(
      make("div", { class: "embeddings-view" }, controls, layers, this.note, body),
    );
  }

  update(): void {
    const { choices, points } = this;
    const { hidden } = choices;
    if (hidden !== this.hidden || choices.start !== points.start) {
      this.hidden = hidden;
      points.open();
      const spread = this.openSpread();
      this.spread.element.replaceWith(spread.element);
      this.spread = spread;
      this.layerControl.input.max = String(hidden.layers - 1);
    }
    this.layerControl.set(choices.layer);
    this.from.set(choices.start);
    this.from.element.hidden = hidden.tokens <= MOST;
    const asPoints = this.asPoints();
    points.element.hidden = points.side.hidden = this.projection.hidden = !asPoints;
    this.spread.element.hidden = asPoints;
    write(this.note, asPoints ? (choices.by === "pca" ? this.say.pcaNote : this.say.umapNote) : "");
    this.coming = asPoints ? points.show() : this.showSpread();
  }

  resize(): void {
    this.points.redraw();
    if (!this.asPoints()) this.spread.paint();
  }

  restyle(): void {
    relabel(this.stage.element);
    this.update();
    this.resize();
  }

  zoom(direction: -1 | 0 | 1): void {
    this.points.zoom(direction);
  }

  unmount(): void {
    this.ended.abort();
    this.player.play(false);
    this.points.unmount();
    this.stage.element.replaceChildren();
  }

  async picture(): Promise<string> {
    await this.coming;
    const { theme } = this.stage;
    const drawn = await (this.asPoints() ? this.points : this.spread).spell(inks(theme));
    const title = `${this.say.title} · ${this.sayFocus.stackName(this.hidden.stack)} · ${this.layerName(this.choices.layer)}`;
    const caption = captionOf(this.stage, this.note.textContent ?? "", this.points.range());
    return sheet({ ...drawn, title, caption, theme });
  }

  async table(): Promise<TableData> {
    await this.coming;
    const { say, choices, hidden } = this;
    if (!this.asPoints())
      return { caption: say.distributions, columns: ["", "≥", "<", "n"], rows: this.spread.rows() };
    const rows = await this.points.rows();
    return {
      caption: `${say.title}: ${this.layerName(choices.layer)}, ${say[choices.by]}`,
      columns: [say.columnPosition, say.columnToken, say.columnX, say.columnY],
      rows,
      ...(rows.length < hidden.tokens ? { more: hidden.tokens - rows.length } : {}),
    };
  }

  private asPoints(): boolean {
    return this.choices.as === "points";
  }

  private isLast(): boolean {
    return this.choices.layer >= this.hidden.layers - 1;
  }

  private goLayer(layer: number): void {
    this.choices.set("layer", String(Math.max(0, Math.min(this.hidden.layers - 1, layer))));
  }

  private async showSpread(): Promise<void> {
    try {
      await this.spread.show(this.ended.signal);
    } catch (error) {
      if (!this.ended.signal.aborted) this.stage.fail(error);
    }
  }

  private openSpread(): Spread {
    return new Spread(this.stage.source, this.hidden, this.say, {
      layer: () => this.choices.layer,
      name: (layer) => this.layerName(layer),
      choose: (layer) => this.goLayer(layer),
    });
  }

  private layerName(layer: number): string {
    if (layer === 0) return this.say.input;
    return layer === this.hidden.layers - 1 ? this.say.output : this.sayFocus.afterLayers(layer);
  }
}
