/**
 * Tokens as points: a projection for each layer, turned towards the one before, with the token in focus beside it.
 *
 * In:   what was chosen; hidden states of the stack.
 * Out:  a cloud to point at, the neighbours of the token in focus, the same as a picture and as rows.
 */

import type { HiddenDescription } from "../../api/types";
import { focusToken, tokenInFocus } from "../../core/focus";
import { count, percent } from "../../core/formats";
import { LinkedCamera } from "../../core/linked_camera";
import type { Projection } from "../../core/maths/projection";
import { procrustes, type Turn, turnPoints, UNTURNED } from "../../core/maths/turn";
import { MountedView, type Setting } from "../../core/recording_view";
import { SideTokens } from "../../data/side_tokens";
import { Projections } from "../../data/states";
import { drawRamp, spell } from "../../marks/cells";
import { Cloud, type CloudLook } from "../../marks/cloud";
import { sequential } from "../../marks/colours";
import { consume, moveInList, ZOOMS } from "../../marks/keys";
import { draw, drawText, make, write } from "../../marks/make";
import { type Inks, SCREEN } from "../../marks/paper";
import { PALEST } from "../../marks/scatter";
import { Tooltip } from "../../marks/tooltip";
import { type Choices, choicesOf, type EmbeddingsOptions, MOST } from "./choices";
import { makeContext, makeNeighbourhood } from "./neighbourhood";
import type { Words } from "./words";

const STEP = 1.5; // of zooming

export class Points extends MountedView<Words, EmbeddingsOptions> {
  readonly element = make("div", { class: "scatter" });
  readonly side = make("aside");
  private readonly cloud: Cloud;
  private readonly camera: LinkedCamera;
  private readonly tip: Tooltip;
  private readonly legend = draw("svg", { width: 260, height: 16, "aria-hidden": "true" });
  private readonly state = make("p", { class: "note", role: "status" });
  private readonly showing = this.tasks.asker();
  private readonly preparing = this.tasks.asker(() => {}); // the next layer
  private readonly naming = this.tasks.asker(); // the token in focus and its neighbours
  private hidden: HiddenDescription;
  private tokens: SideTokens;
  private projections: Projections;
  private projection: Projection | null = null;
  private turn: Turn = UNTURNED;
  private turned: Float64Array | null = null;

  constructor(setting: Setting<Words, EmbeddingsOptions>) {
    super(setting);
    const { say } = this;
    this.hidden = this.choices.hidden;
    this.tokens = this.line();
    this.projections = this.openProjections();
    this.cloud = new Cloud(() => say.plot, {
      hover: (point, x, y) => this.hover(point, x, y),
      choose: (point) => this.choose(point),
      key: (event) => this.key(event),
      moved: () => this.camera.moved(),
    });
    const at = { get: () => this.options.now.at, set: (at: string | null) => this.options.set({ at }) };
    this.camera = new LinkedCamera("cloud", this.cloud, at, this.tasks);
    this.tip = new Tooltip(this.element);
    this.restyle();
    this.element.prepend(this.cloud.element);
    this.element.append(make("div", { class: "line drawn-bar" }, this.legend, this.state));
  }

  /** The first token shown. */
  get start(): number {
    return this.projections.start;
  }

  /** Resolves when what is chosen is drawn. */
  get coming(): Promise<unknown> {
    return Promise.all([this.showing.coming, this.naming.coming]);
  }

  private get choices(): Choices {
    return choicesOf(this.stage, this.options);
  }

  /** Other states, or another part of them. */
  open(): void {
    this.hidden = this.choices.hidden;
    this.tokens = this.line();
    this.projections = this.openProjections();
  }

  /** Bring the chosen layer's projection on the paper, turned towards the one that is there. */
  show(): void {
    this.camera.follow();
    const { projections } = this;
    const { layer, by } = this.choices;
    const { tasks } = this;
    const asked = this.showing.ask(
      `${this.hidden.stack} ${this.start} ${by} ${layer}`,
      (source, signal) => {
        tasks.later("working", 120, () => write(this.state, this.say.working));
        return projections.projection(source, signal, layer, by);
      },
      async (projection) => {
        const before = this.turned?.length === projection.points.length ? this.turned : null;
        this.projection = projection;
        this.turn = before === null ? UNTURNED : procrustes(projection.points, before);
        this.turned = turnPoints(projection.points, this.turn);
        this.cloud.show(this.turned, this.look(), before !== null && !this.stage.reducedMotion);
        tasks.cancel("working");
        write(this.state, this.range());
        this.showSide();
        await this.naming.coming;
        const next = layer + 1; // made ready while someone looks at this one
        if (next < this.hidden.layers && by === "pca")
          this.preparing.ask(
            null,
            (source, signal) => projections.projection(source, signal, next, by),
            () => {},
          );
      },
      (error) => {
        tasks.cancel("working");
        tasks.fail(error);
      },
    );
    if (asked) return;
    this.cloud.redraw(this.look());
    this.showSide();
  }

  /** The legend in the colours and the language of now. */
  restyle(): void {
    this.legend.replaceChildren(this.drawPositionBar(SCREEN));
  }

  redraw(): void {
    this.cloud.redraw();
  }

  zoom(direction: -1 | 0 | 1): void {
    if (direction !== 0) this.cloud.zoomBy(STEP ** direction);
    else {
      if (this.projection !== null) {
        this.turn = UNTURNED;
        this.turned = this.projection.points;
        this.cloud.show(this.turned, this.look(), !this.stage.reducedMotion);
      }
      this.cloud.reset();
    }
  }

  /** Which tokens are shown, where not all are. */
  range(): string {
    const { tokens } = this.hidden;
    if (tokens === 1) return this.say.one;
    const { start, projections } = this;
    return tokens <= MOST
      ? ""
      : this.say.shown(count(start), count(start + projections.count - 1), count(tokens));
  }

  async writeSvg(inks: Inks): Promise<{ body: string; width: number; height: number }> {
    const [width, height] = [720, 560];
    await this.tokens.load(this.start, this.start + this.projections.count);
    const body =
      this.cloud.write(width, height, inks) +
      `<g transform="translate(0 ${height + 12})">${spell(this.drawPositionBar(inks))}</g>`;
    return { width, height: height + 40, body };
  }

  /** A row for each token: its number, itself, where it lies. */
  async rows(): Promise<(string | number | null)[][]> {
    const { start, projections, projection, tokens } = this;
    await tokens.load(start, start + projections.count);
    return Array.from({ length: projections.count }, (_, at) => [
      start + at,
      tokens.shown(start + at),
      projection?.points[2 * at] ?? null,
      projection?.points[2 * at + 1] ?? null,
    ]);
  }

  unmount(): void {
    this.cloud.unmount();
  }

  private look(): CloudLook {
    const focus = this.focus();
    const shares = this.projection?.shares ?? null;
    return {
      theme: this.stage.theme,
      focus: focus === null ? null : focus - this.start,
      turn: shares === null ? null : this.turn,
      axes: [this.axisName(1, shares?.[0] ?? 0), this.axisName(2, shares?.[1] ?? 0)],
      label: (point) => this.tokens.shown(this.start + point),
    };
  }

  private axisName(number: number, share: number): string {
    const narrow = (this.element.clientWidth || 600) < 420;
    return narrow ? `PC${number}: ${percent(share)}` : this.say.axis(number, percent(share));
  }

  /** The token in focus, in its context, and its neighbours. */
  private showSide(): void {
    const { projections, tokens, start, say } = this;
    const { layer } = this.choices;
    const focus = this.focus();
    const choose = (token: number) => focusToken(this.stage, this.hidden, token);
    this.naming.ask(
      null,
      async (source) => {
        if (focus === null) return [make("p", { class: "note" }, say.pick)];
        const states = await projections.at(source, layer);
        return makeNeighbourhood(tokens, states, focus, start, say, choose);
      },
      (parts) => this.side.replaceChildren(...parts),
    );
  }

  private hover(point: number | null, x: number, y: number): void {
    if (point === null) {
      this.tip.hide();
      return;
    }
    this.tip.fill(makeContext(this.tokens, this.start + point));
    this.tip.show(x, y);
  }

  private choose(point: number): void {
    focusToken(this.stage, this.hidden, this.start + point);
  }

  private key(event: KeyboardEvent): void {
    const { start, projections } = this;
    const zoom = ZOOMS[event.key];
    const point = moveInList(event.key, (this.focus() ?? start - 1) - start, projections.count, "both");
    if (zoom) this.zoom(zoom);
    else if (point === undefined) return;
    else {
      this.choose(point);
      this.stage.announce(`${this.tokens.shown(start + point)} (${start + point})`);
    }
    consume(event);
  }

  /** The colours of positions, from the first token to the last. */
  private drawPositionBar(ink: Inks): SVGGElement {
    const ramp = drawRamp(sequential(this.stage.theme), 80, 11, PALEST);
    return draw("g", {}, ...ramp, drawText(this.say.position, 88, 10, ink.soft));
  }

  private openProjections(): Projections {
    const { start } = this.choices;
    return new Projections(this.hidden, start, Math.min(MOST, this.hidden.tokens - start));
  }

  private line(): SideTokens {
    return new SideTokens(this.stage.source, this.hidden.side, () => this.cloud.redraw(), this.tasks.fail);
  }

  private focus(): number | null {
    const token = tokenInFocus(this.stage, this.hidden.side);
    const { start, projections } = this;
    return token !== null && token >= start && token < start + projections.count ? token : null;
  }
}
