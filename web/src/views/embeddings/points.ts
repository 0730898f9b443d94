/**
 * Tokens as points: a projection for each layer, turned towards the one before, with the token in focus beside it.
 *
 * In:   what was chosen; hidden states of the stack.
 * Out:  a cloud to point at, the neighbours of the token in focus, the same as a picture and as rows.
 */

import type { HiddenDescription } from "../../api/types";
import { focusToken, tokenInFocus } from "../../core/focus";
import { count, percent } from "../../core/formats";
import type { Projection } from "../../core/maths/projection";
import { procrustes, type Turn, turnPoints, UNTURNED } from "../../core/maths/turn";
import type { Stage } from "../../core/view";
import { TokenLine } from "../../data/token_line";
import { spell } from "../../marks/cells";
import { pick, sequential } from "../../marks/colours";
import { draw, make, write } from "../../marks/make";
import type { Inks } from "../../marks/paper";
import { SCREEN } from "../../marks/paper";
import { spellScatter, unit } from "../../marks/scatter";
import { Tooltip } from "../../marks/tooltip";
import type { Choices } from "./choices";
import { Cloud, type CloudLook } from "./cloud";
import { makeContext, makeNeighbourhood } from "./neighbourhood";
import { MOST, Projections } from "./projections";
import type { words } from "./words";

const STEPS: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
  Home: -1e9,
  End: 1e9,
};
const STEP = 1.5; // of zooming

export class Points {
  readonly element = make("div", { class: "scatter" });
  readonly side = make("aside");
  private readonly cloud: Cloud;
  private readonly tip: Tooltip;
  private readonly state = make("p", { class: "note", role: "status" });
  private readonly ended = new AbortController();
  private hidden: HiddenDescription;
  private tokens: TokenLine;
  private projections: Projections;
  private shown = ""; // which projection is on the paper
  private projection: Projection | null = null;
  private turn: Turn = UNTURNED;
  private turned: Float64Array | null = null;

  constructor(
    private readonly stage: Stage,
    private readonly choices: Choices,
    private readonly say: ReturnType<typeof words>,
  ) {
    this.hidden = choices.hidden;
    this.tokens = this.line();
    this.projections = this.openProjections();
    this.cloud = new Cloud(() => say.plot, {
      hover: (point, x, y) => this.hover(point, x, y),
      choose: (point) => this.choose(point),
      key: (event) => this.key(event),
    });
    this.tip = new Tooltip(this.element);
    const legend = draw("svg", { width: 260, height: 16, "aria-hidden": "true" });
    legend.append(this.drawPositionBar(SCREEN));
    this.element.prepend(this.cloud.element);
    this.element.append(make("div", { class: "line" }, legend, this.state));
  }

  /** The first token shown. */
  get start(): number {
    return this.projections.start;
  }

  /** Other states, or another part of them. */
  open(): void {
    this.hidden = this.choices.hidden;
    this.tokens = this.line();
    this.projections = this.openProjections();
    this.shown = "";
  }

  /** Bring the chosen layer's projection on the paper, turned towards the one that is there. */
  async show(): Promise<void> {
    const { projections } = this;
    const { layer, by } = this.choices;
    const name = `${by} ${layer}`;
    if (name === this.shown) {
      this.cloud.redraw(this.look());
      await this.showSide();
      return;
    }
    this.shown = name;
    const late = setTimeout(() => write(this.state, this.say.working), 120);
    try {
      const projection = await projections.projection(layer, by);
      if (this.shown !== name || projections !== this.projections || this.ended.signal.aborted) return;
      const before = this.turned?.length === projection.points.length ? this.turned : null;
      this.projection = projection;
      this.turn = before === null ? UNTURNED : procrustes(projection.points, before);
      this.turned = turnPoints(projection.points, this.turn);
      this.cloud.show(this.turned, this.look(), before !== null && !this.stage.reducedMotion);
      clearTimeout(late);
      write(this.state, this.range());
      await this.showSide();
      const next = layer + 1; // made ready while someone looks at this one
      if (next < this.hidden.layers && by === "pca") projections.projection(next, by).catch(() => {});
    } catch (error) {
      if (!this.ended.signal.aborted) this.stage.fail(error);
    } finally {
      clearTimeout(late);
    }
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

  async spell(inks: Inks): Promise<{ body: string; width: number; height: number }> {
    const [width, height] = [720, 560];
    await this.tokens.load(this.start, this.start + this.projections.count);
    const look = { ...this.look(), width, height, inks, camera: this.cloud.camera, hovered: null };
    const cloud = spellScatter(unit(this.turned ?? new Float64Array()), look);
    const body =
      `<rect width="${width}" height="${height}" fill="none" stroke="${inks.line}"/>` +
      `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${cloud}</svg>` + // clips the axes
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
    this.ended.abort();
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
  private async showSide(): Promise<void> {
    const focus = this.focus();
    if (focus === null) {
      this.side.replaceChildren(make("p", { class: "note" }, this.say.pick));
      return;
    }
    const { layer } = this.choices;
    const states = await this.projections.at(layer);
    const choose = (token: number) => focusToken(this.stage, this.hidden, token);
    const parts = await makeNeighbourhood(this.tokens, states, focus, this.start, this.say, choose);
    if (focus === this.focus() && layer === this.choices.layer && !this.ended.signal.aborted) {
      this.side.replaceChildren(...parts);
    }
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
    const step = STEPS[event.key];
    if (event.key === "+" || event.key === "=") this.cloud.zoomBy(STEP);
    else if (event.key === "-") this.cloud.zoomBy(1 / STEP);
    else if (step === undefined) return;
    else {
      const { start, projections } = this;
      const token = Math.max(
        start,
        Math.min(start + projections.count - 1, (this.focus() ?? start - 1) + step),
      );
      this.choose(token - start);
      this.stage.announce(`${this.tokens.shown(token)} (${token})`);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** The colours of positions, from the first token to the last. */
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

  private openProjections(): Projections {
    return new Projections(this.stage.source, this.hidden, this.choices.start, this.ended.signal);
  }

  private line(): TokenLine {
    return new TokenLine(
      this.stage.source,
      this.hidden.side,
      () => this.cloud.redraw(),
      (error) => !this.ended.signal.aborted && this.stage.fail(error),
    );
  }

  private focus(): number | null {
    const token = tokenInFocus(this.stage, this.hidden.side);
    const { start, projections } = this;
    return token !== null && token >= start && token < start + projections.count ? token : null;
  }
}
