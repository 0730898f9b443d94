/**
 * Embeddings: tokens as points on a plane, layer by layer, and as distributions.
 *
 * In:   hidden states; layer 0 are the input embeddings, the last layer the output embeddings.
 * Out:  a scatter that glides between layers (src/embeddings/), neighbours in all dimensions, histograms and ridges.
 */

import { Choices } from "../embeddings/choices";
import { Cloud, type CloudLook } from "../embeddings/cloud";
import { makeContext, makeNeighbourhood } from "../embeddings/neighbourhood";
import { type By, MOST, Planes } from "../embeddings/planes";
import { Spread } from "../embeddings/spread";
import { inBoth, introduce } from "../i18n/core";
import { words } from "../i18n/embeddings";
import { words as focusWords } from "../i18n/focus";
import { spell } from "../marks/cells";
import { pick, sequential } from "../marks/colours";
import { button, type Control, choice, slider, whole } from "../marks/controls";
import { count, percent } from "../marks/digits";
import { captionOf, focusToken, SCREEN, tokenInFocus } from "../marks/focus";
import { draw, make, write } from "../marks/make";
import { type Inks, inks, sheet } from "../marks/paper";
import { type Plane, procrustes, type Turn, turnPoints, UNTURNED } from "../marks/projection";
import { spellScatter, unit } from "../marks/scatter";
import { TokenLine } from "../marks/tokens";
import { Tooltip } from "../marks/tooltip";
import type { HiddenDescription } from "../types";
import type { Mounted, Stage, TableData, View } from "../view";

const PACE = 1100; // milliseconds for a layer when playing

export const view: View = {
  name: "embeddings",
  order: 60,
  ...introduce(words),
  fits: ({ description }) => description.hidden.length > 0 || inBoth(words, (word) => word.noHidden),
  mount: (stage) => new EmbeddingsView(stage),
};

class EmbeddingsView implements Mounted {
  private readonly say;
  private readonly sayFocus;
  private readonly choices: Choices;
  private readonly cloud: Cloud;
  private readonly tip: Tooltip;
  private readonly layerControl: ReturnType<typeof slider>;
  private readonly player: HTMLButtonElement;
  private readonly note = make("p", { class: "note" });
  private readonly state = make("p", { class: "note", role: "status" });
  private readonly side = make("aside");
  private readonly scatter = make("div", { class: "scatter" });
  private readonly from: Control<number>;
  private plan: HTMLElement | null = null; // which projection: for points only
  private readonly ended = new AbortController();
  private hidden: HiddenDescription;
  private tokens: TokenLine;
  private planes: Planes;
  private spread: Spread;
  private shown = ""; // which plane is on the paper
  private plane: Plane | null = null;
  private turn: Turn = UNTURNED;
  private turned: Float64Array | null = null;
  private coming: Promise<void> = Promise.resolve();
  private playing = 0;

  constructor(private readonly stage: Stage) {
    this.say = words(stage.language);
    this.sayFocus = focusWords(stage.language);
    this.choices = new Choices(stage);
    this.hidden = this.choices.hidden;
    this.tokens = this.line();
    this.planes = this.openPlanes();
    this.spread = this.openSpread();
    this.cloud = new Cloud(this.say.plot, {
      hover: (point, x, y) => this.hover(point, x, y),
      choose: (point) => this.choose(point),
      key: (event) => this.key(event),
    });
    this.tip = new Tooltip(this.scatter);
    this.layerControl = slider(
      {
        label: this.say.layer,
        minimum: 0,
        maximum: this.hidden.layers - 1,
        step: 1,
        value: this.choices.layer,
        text: (layer) => `${layer} · ${this.layerName(layer)}`,
      },
      (layer) => this.goLayer(layer),
    );
    this.player = button(this.say.play, () => this.play(this.playing === 0));
    this.from = whole(
      this.say.from,
      { minimum: 0, maximum: Math.max(0, this.hidden.tokens - 1), value: this.choices.start },
      (start) => this.choices.set("from", String(start), "0"),
    );
    this.build();
    this.update();
  }

  update(): void {
    const hidden = this.choices.hidden;
    if (hidden !== this.hidden || this.choices.start !== this.planes.start) {
      this.hidden = hidden;
      this.tokens = this.line();
      this.planes = this.openPlanes();
      this.shown = "";
      const spread = this.openSpread();
      this.spread.element.replaceWith(spread.element);
      this.spread = spread;
      this.layerControl.input.max = String(hidden.layers - 1);
    }
    this.layerControl.set(this.choices.layer);
    this.from.set(this.choices.start);
    this.from.element.hidden = hidden.tokens <= MOST;
    const points = this.choices.as === "points";
    this.scatter.hidden = !points;
    this.spread.element.hidden = points;
    this.side.hidden = !points;
    if (this.plan !== null) this.plan.hidden = !points;
    if (points) this.coming = this.showPlane();
    else this.coming = this.showSpread();
  }

  resize(): void {
    this.cloud.redraw();
    if (this.choices.as !== "points") this.spread.paint();
  }

  zoom(direction: -1 | 0 | 1): void {
    if (direction === 0) {
      this.straighten();
      this.cloud.reset();
    } else {
      this.cloud.zoomBy(direction > 0 ? 1.5 : 1 / 1.5);
    }
  }

  unmount(): void {
    this.ended.abort();
    clearTimeout(this.playing);
    this.cloud.unmount();
    this.stage.element.replaceChildren();
  }

  async picture(): Promise<string> {
    await this.coming;
    const { theme } = this.stage;
    const ink = inks(theme);
    const title = `${this.say.title} · ${this.sayFocus.stackName(this.hidden.stack)} · ${this.layerName(this.choices.layer)}`;
    const caption = captionOf(this.stage, this.note.textContent ?? "", this.shownTokens());
    if (this.choices.as !== "points") return sheet({ ...this.spread.spell(ink), title, caption, theme });
    const [width, height] = [720, 560];
    await this.tokens.load(this.choices.start, this.choices.start + this.planes.count);
    const look = { ...this.look(), width, height, inks: ink, camera: this.cloud.camera, hovered: null };
    let body = `<rect width="${width}" height="${height}" fill="none" stroke="${ink.line}"/>`;
    const cloud = spellScatter(unit(this.turned ?? new Float64Array()), look);
    body += `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${cloud}</svg>`; // clips the axes
    body += `<g transform="translate(0 ${height + 12})">${this.positionBar(ink)}</g>`;
    return sheet({ width, height: height + 40, body, title, caption, theme });
  }

  async table(): Promise<TableData> {
    await this.coming;
    if (this.choices.as !== "points") {
      return { caption: this.say.distributions, columns: ["", "≥", "<", "n"], rows: this.spread.rows() };
    }
    const { count: shown } = this.planes;
    await this.tokens.load(this.choices.start, this.choices.start + shown);
    return {
      caption: `${this.say.title}: ${this.layerName(this.choices.layer)}, ${this.say[this.choices.by]}`,
      columns: [this.say.columnPosition, this.say.columnToken, this.say.columnX, this.say.columnY],
      rows: Array.from({ length: shown }, (_, at) => [
        this.choices.start + at,
        this.tokens.shown(this.choices.start + at),
        this.plane?.points[2 * at] ?? null,
        this.plane?.points[2 * at + 1] ?? null,
      ]),
      ...(shown < this.hidden.tokens ? { more: this.hidden.tokens - shown } : {}),
    };
  }

  private build(): void {
    const { say, stage } = this;
    const controls = make("div", { class: "controls" });
    const { hidden } = stage.source.description;
    if (hidden.length > 1) {
      const stacks = hidden.map(({ stack }) => ({ value: stack, text: this.sayFocus.stackName(stack) }));
      controls.append(
        choice(this.sayFocus.stack, stacks, this.hidden.stack, (stack) =>
          this.choices.set("stack", stack, ""),
        ).element,
      );
    }
    const kinds = [
      { value: "points", text: say.points },
      { value: "distributions", text: say.distributions },
    ] as const;
    const ways = [
      { value: "pca", text: say.pca },
      { value: "umap", text: say.umap },
    ] as const;
    this.plan = choice<By>(say.by, ways, this.choices.by, (value) =>
      this.choices.set("by", value, "pca"),
    ).element;
    controls.append(
      choice(say.as, kinds, this.choices.as, (value) => this.choices.set("as", value, "points")).element,
      this.plan,
      this.from.element,
    );
    const layers = make(
      "div",
      { class: "controls" },
      button(say.input, () => this.goLayer(0)),
      button(say.output, () => this.goLayer(this.hidden.layers - 1)),
      this.layerControl.element,
      this.player,
    );
    this.scatter.prepend(this.cloud.element);
    const legend = draw("svg", { width: 260, height: 16, "aria-hidden": "true" });
    this.scatter.append(make("div", { class: "line" }, legend, this.state));
    legend.append(this.drawPositionBar(SCREEN));
    stage.element.replaceChildren(
      make(
        "div",
        { class: "embeddings-view" },
        controls,
        layers,
        this.note,
        make("div", { class: "body" }, this.scatter, this.spread.element, this.side),
      ),
    );
  }

  private goLayer(layer: number): void {
    this.choices.set("layer", String(Math.max(0, Math.min(this.hidden.layers - 1, layer))));
  }

  private play(on: boolean): void {
    clearTimeout(this.playing);
    this.playing = 0;
    write(this.player, on ? this.say.stop : this.say.play);
    if (!on) return;
    const last = this.hidden.layers - 1;
    if (this.choices.layer >= last) this.goLayer(0);
    const next = () => {
      void this.coming.then(() => {
        if (this.ended.signal.aborted || this.playing === 0) return;
        if (this.choices.layer >= last) {
          this.play(false);
          return;
        }
        this.goLayer(this.choices.layer + 1);
        this.playing = window.setTimeout(next, PACE);
      });
    };
    this.playing = window.setTimeout(next, PACE);
  }

  /** Bring the chosen layer's plane on the paper, turned towards the one that is there. */
  private async showPlane(): Promise<void> {
    const { planes } = this;
    const [layer, by] = [this.choices.layer, this.choices.by];
    const name = `${by} ${layer}`;
    write(this.note, by === "pca" ? this.say.pcaNote : this.say.umapNote);
    if (name === this.shown) {
      this.cloud.redraw(this.look());
      await this.showSide();
      return;
    }
    this.shown = name;
    const late = setTimeout(() => write(this.state, this.say.working), 120);
    try {
      const plane = await planes.plane(layer, by);
      if (this.shown !== name || planes !== this.planes || this.ended.signal.aborted) return;
      const before = this.turned?.length === plane.points.length ? this.turned : null;
      this.plane = plane;
      this.turn = before === null ? UNTURNED : procrustes(plane.points, before);
      this.turned = turnPoints(plane.points, this.turn);
      this.cloud.show(this.turned, this.look(), before !== null && !this.stage.reducedMotion);
      clearTimeout(late);
      write(this.state, this.shownTokens());
      await this.showSide();
      const next = layer + 1; // made ready while someone looks at this one
      if (next < this.hidden.layers && by === "pca") planes.plane(next, by).catch(() => {});
    } catch (error) {
      if (!this.ended.signal.aborted) this.stage.fail(error);
    } finally {
      clearTimeout(late);
    }
  }

  private straighten(): void {
    if (this.plane === null) return;
    this.turn = UNTURNED;
    this.turned = this.plane.points;
    this.cloud.show(this.turned, this.look(), !this.stage.reducedMotion);
  }

  private look(): CloudLook {
    const focus = this.focus();
    const shares = this.plane?.shares ?? null;
    return {
      theme: this.stage.theme,
      focus: focus === null ? null : focus - this.choices.start,
      turn: shares === null ? null : this.turn,
      axes: [this.axisName(1, shares?.[0] ?? 0), this.axisName(2, shares?.[1] ?? 0)],
      label: (point) => this.tokens.shown(this.choices.start + point),
    };
  }

  private axisName(number: number, share: number): string {
    const narrow = (this.scatter.clientWidth || 600) < 420;
    return narrow ? `PC${number}: ${percent(share)}` : this.say.axis(number, percent(share));
  }

  /** The token in focus, in its context, and its neighbours. */
  private async showSide(): Promise<void> {
    const focus = this.focus();
    if (focus === null) {
      this.side.replaceChildren(make("p", { class: "note" }, this.say.pick));
      return;
    }
    const { start, layer } = this.choices;
    const states = await this.planes.at(layer);
    const choose = (token: number) => focusToken(this.stage, this.hidden, token);
    const parts = await makeNeighbourhood(this.tokens, states, focus, start, this.say, choose);
    if (focus === this.focus() && layer === this.choices.layer && !this.ended.signal.aborted) {
      this.side.replaceChildren(...parts);
    }
  }

  private hover(point: number | null, x: number, y: number): void {
    if (point === null) {
      this.tip.hide();
      return;
    }
    this.tip.fill(makeContext(this.tokens, this.choices.start + point));
    this.tip.show(x, y);
  }

  private choose(point: number): void {
    focusToken(this.stage, this.hidden, this.choices.start + point);
  }

  private key(event: KeyboardEvent): void {
    const steps: Record<string, number> = {
      ArrowRight: 1,
      ArrowDown: 1,
      ArrowLeft: -1,
      ArrowUp: -1,
      Home: -1e9,
      End: 1e9,
    };
    const step = steps[event.key];
    if (event.key === "+" || event.key === "=") this.cloud.zoomBy(1.5);
    else if (event.key === "-") this.cloud.zoomBy(1 / 1.5);
    else if (step === undefined) return;
    else {
      const first = this.choices.start;
      const token = Math.max(
        first,
        Math.min(first + this.planes.count - 1, (this.focus() ?? first - 1) + step),
      );
      this.choose(token - first);
      this.stage.announce(`${this.tokens.shown(token)} (${token})`);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private async showSpread(): Promise<void> {
    write(this.note, "");
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

  private positionBar(ink: Inks): string {
    return spell(this.drawPositionBar(ink));
  }

  private drawPositionBar(ink: Inks): SVGGElement {
    const group = draw("g");
    const table = sequential(this.stage.theme);
    for (let step = 0; step < 40; step++) {
      group.append(
        draw("rect", { x: step * 2, y: 3, width: 2.5, height: 8, fill: pick(table, 70 + (185 * step) / 39) }),
      );
    }
    group.append(draw("text", { x: 88, y: 11, fill: ink.soft, "font-size": 11 }, this.say.position));
    return group;
  }

  private shownTokens(): string {
    const { tokens } = this.hidden;
    if (tokens === 1) return this.say.one;
    return tokens <= MOST
      ? ""
      : this.say.shown(
          count(this.choices.start),
          count(this.choices.start + this.planes.count - 1),
          count(tokens),
        );
  }

  private layerName(layer: number): string {
    if (layer === 0) return this.say.input;
    return layer === this.hidden.layers - 1 ? this.say.output : this.sayFocus.afterLayers(layer);
  }

  private openPlanes(): Planes {
    return new Planes(this.stage.source, this.hidden, this.choices.start, this.ended.signal);
  }

  private line(): TokenLine {
    return new TokenLine(
      this.stage.source,
      this.hidden.side,
      () => this.cloud.redraw(),
      (error) => this.stage.fail(error),
    );
  }

  private focus(): number | null {
    const token = tokenInFocus(this.stage, this.hidden.side);
    return token !== null && token >= this.choices.start && token < this.choices.start + this.planes.count
      ? token
      : null;
  }
}
