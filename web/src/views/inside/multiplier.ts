/**
 * The attention-score multiplier: what softmax does when scores grow or shrink, for one row at once and for the whole
 * model by running it again.
 *
 * In:   the scores of the row in focus; a rerunner, where there is one.
 * Out:  weights before and after side by side, entropy, score distributions and outputs of the re-run.
 */

import { captionOf, mapName } from "../../core/focus";
import { digits, exact } from "../../core/formats";
import type { Kept, Stage, TableData } from "../../core/view";
import { SideTokens } from "../../data/side_tokens";
import { spell } from "../../marks/cells";
import { button, choice, slider } from "../../marks/controls";
import { drawHistogram } from "../../marks/histogram";
import { draw, make, write } from "../../marks/make";
import { type Inks, inks, label, SCREEN } from "../../marks/paper";
import { drawHeaviest, type Series } from "./pairs";
import { type Drawing, type Focus, focusOf, type InsidePanel, isAbort, type Words } from "./panel";
import { makeReport, RERUN_INK } from "./report";
import { compare, type Rerun } from "./rerun";
import { type Asked, runScaled, sentenceOf, whyNot } from "./scaled_run";
import { measureRow, readScoredRow, rescaleRow, type ScoredRow } from "./scored_row";

export class Multiplier implements InsidePanel {
  readonly element = make("div", { class: "multiplier" });
  private readonly effective = make("p", { class: "note" });
  private readonly live = make("section", { class: "live" });
  private readonly chart = draw("svg", { role: "img" });
  private readonly figures = make("dl");
  private readonly again = make("section", { class: "again" });
  private readonly state = make("p", { class: "note", role: "status" });
  private readonly result = make("div", { class: "result" });
  private readonly control: ReturnType<typeof slider>;
  private readonly tokens: { query: SideTokens; key: SideTokens };
  private readonly runButton: HTMLButtonElement;
  private row: ScoredRow | null = null;
  private rerun: Rerun | null = null;
  private shown = "";
  private factor: number;
  private coming: Promise<void> = Promise.resolve();
  private asked: Asked | null = null;
  private ended = false;

  constructor(
    private readonly stage: Stage,
    private readonly say: Words,
  ) {
    const { map } = focusOf(stage);
    const redraw = () => this.draw();
    const fail = (error: unknown) => this.fail(error);
    this.tokens = {
      query: new SideTokens(stage.source, map.query_side, redraw, fail),
      key: new SideTokens(stage.source, map.key_side, redraw, fail),
    };
    this.factor = this.chosenFactor();
    this.control = slider(
      {
        label: say.factor,
        minimum: 0,
        maximum: 4,
        step: 0.05,
        value: this.factor,
        text: (value) => `× ${digits(value, 3)}`,
      },
      (value) => {
        this.factor = value;
        this.draw();
      },
      (value) => {
        stage.selection.option("inside.factor", value === 1 ? null : String(value));
        this.run();
      },
    );
    const scope = choice(
      say.scope,
      [
        { value: "layer", text: say.thisLayer },
        { value: "all", text: say.everyLayer },
      ],
      this.everywhere() ? "all" : "layer",
      (value) => {
        stage.selection.option("inside.scope", value === "all" ? "all" : null);
        this.run();
      },
    );
    this.runButton = button(say.runAgain, () => this.run());
    this.live.append(make("h2", {}, say.live), this.figures, this.chart);
    this.again.append(make("h2", {}, say.rerunTitle), this.state, this.runButton, this.result);
    this.element.append(
      make("div", { class: "controls" }, this.control.element, scope.element),
      this.effective,
      make("div", { class: "both" }, this.live, this.again),
    );
    const why = whyNot(stage, say);
    this.runButton.hidden = why !== null;
    write(this.state, why ?? say.rerunHint);
    this.update();
    const kept = stage.kept as Asked | undefined;
    if (kept?.map === map.index) this.follow(kept);
    else kept?.stop?.();
  }

  update(): void {
    const focus = focusOf(this.stage);
    if (this.chosenFactor() !== this.factor) {
      this.factor = this.chosenFactor();
      this.control.set(this.factor);
    }
    if (!focus.map.has_scores || !focus.map.has_weights) {
      write(this.effective, this.say.noScores);
      this.live.hidden = true;
      return;
    }
    const key = `${focus.map.index} ${focus.oneHead} ${focus.query}`;
    if (key !== this.shown) {
      this.shown = key;
      this.coming = this.load(focus, key);
    }
    this.draw();
  }

  resize(): void {
    this.draw();
  }

  keep(): Kept | null {
    const { asked } = this;
    this.asked = null;
    asked?.run.show(null);
    return asked;
  }

  unmount(): void {
    this.ended = true;
    this.asked?.run.show(null);
    this.asked?.stop?.();
  }

  async picture(): Promise<Drawing> {
    await this.coming;
    const ink = inks(this.stage.theme);
    const focus = focusOf(this.stage);
    const width = 560;
    const { group, height } = this.pairs(width, ink);
    let body = spell(group);
    let y = height + 16;
    for (const [name, before, after] of this.measures()) {
      body += label(`${name}: ${digits(before)} → ${digits(after)}`, 0, y, { fill: ink.ink, size: 12 });
      y += 18;
    }
    if (this.rerun !== null) {
      const plot = drawHistogram(this.rerun.before, {
        width,
        height: 180,
        inks: ink,
        log: false,
        outline: this.rerun.after,
        outlineInk: RERUN_INK,
        axis: this.say.scoreAxis,
      });
      body += `<g transform="translate(0 ${y})">${spell(plot)}</g>`;
      y += 190;
    }
    const query = this.tokens.query.shown(focus.map.query_start + focus.query);
    return {
      width,
      height: y,
      body,
      title: `${this.say.multiplier} × ${digits(this.factor, 3)} · ${mapName(focus.map, this.stage.language)}`,
      lines: captionOf(
        this.stage,
        `${this.say.live} · ${this.say.pictureRow(query, digits(this.factor, 3))}`,
      ),
    };
  }

  async table(): Promise<TableData> {
    await this.coming;
    const { map } = focusOf(this.stage);
    const series = this.series(SCREEN);
    await this.tokens.key.load(map.key_start, map.key_start + map.keys);
    return {
      caption: this.say.live,
      columns: ["", this.say.key, ...series.map(({ name }) => name)],
      rows: Array.from({ length: Math.min(map.keys, 2000) }, (_, key) => [
        map.key_start + key,
        this.tokens.key.shown(map.key_start + key),
        ...series.map(({ weights }) => weights[key]!),
      ]),
    };
  }

  private async load(focus: Focus, name: string): Promise<void> {
    try {
      const row = await readScoredRow(this.stage.source, focus);
      if (this.ended || this.shown !== name) return;
      this.row = row;
      this.draw();
      if (this.rerun !== null) await this.look(this.rerun.id, this.rerun.factor, this.rerun.everywhere);
    } catch (error) {
      this.fail(error);
    }
  }

  private draw(): void {
    if (this.ended || this.row === null) return;
    const focus = focusOf(this.stage);
    const scale = focus.map.scale;
    const factor = digits(this.factor, 3);
    const product =
      scale === null ? "" : `${this.say.effective(digits(scale), factor, digits(scale * this.factor))}. `;
    const query = this.tokens.query.shown(focus.map.query_start + focus.query);
    write(this.effective, `${this.say.query}: ${query}. ${product}${this.say.liveAbout(factor)}`);
    this.figures.replaceChildren(
      ...this.measures().flatMap(([name, before, after]) => [
        make("dt", {}, name),
        make(
          "dd",
          { title: `${exact(before)} → ${exact(after)}` },
          digits(before),
          make("span", {}, "→"),
          make("b", {}, digits(after)),
        ),
      ]),
    );
    const width = Math.max(260, this.live.clientWidth || 480);
    const { group, height } = this.pairs(width, SCREEN);
    this.chart.setAttribute("width", String(width));
    this.chart.setAttribute("height", String(height));
    this.chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.chart.setAttribute("aria-label", this.say.pictureRow(query, factor));
    this.chart.replaceChildren(group);
  }

  private measures(): [string, number, number][] {
    return this.row === null ? [] : measureRow(this.row, this.factor, this.say);
  }

  private series(ink: Inks): Series[] {
    if (this.row === null) return [];
    const after = rescaleRow(this.row, this.factor);
    const all: Series[] = [
      { name: this.say.before, weights: this.row.weights, ink: ink.faint },
      { name: this.say.after, weights: after, ink: ink.accent },
    ];
    if (this.rerun?.row != null && this.rerun.factor === this.factor)
      all.push({ name: this.say.rerun, weights: this.rerun.row, ink: RERUN_INK });
    return all;
  }

  private pairs(width: number, ink: Inks): { group: SVGGElement; height: number } {
    const { map } = focusOf(this.stage);
    const name = (key: number) => this.keyName(map.key_start + key);
    return drawHeaviest(
      this.series(ink),
      map.keys,
      name,
      (shown) => this.say.topKeys(shown, map.keys),
      width,
      ink,
    );
  }

  /** A key's token; where many look alike, with its place. */
  private keyName(token: number): string {
    const shown = [...this.tokens.key.shown(token)].slice(0, 9).join("");
    return this.tokens.key.count > 64 ? `${shown} ${token}` : this.tokens.key.shown(token);
  }

  /** Run the model again with this multiplier; an older run is given up. */
  private run(): void {
    const asked = runScaled(this.stage, this.factor, this.everywhere());
    if (asked === null) return;
    this.asked?.run.show(null);
    this.asked?.stop?.();
    this.follow(asked);
  }

  /** Show how far a run is, and in the end what it found. */
  private follow(asked: Asked): void {
    this.asked = asked;
    asked.run.show(() => this.tell(asked));
    this.tell(asked);
  }

  private tell({ run, factor, everywhere }: Asked): void {
    const { say, stage } = this;
    if (run.state === "running") write(this.state, say.running(say.stageName(run.job?.stage ?? "queued")));
    else if (run.state === "done") void this.coming.then(() => this.look(run.result!, factor, everywhere));
    else if (run.state === "failed") write(this.state, sentenceOf(run.error, stage.language));
    else write(this.state, say.rerunHint); // cancelled: as if nobody had asked
  }

  private async look(id: string, factor: number, everywhere: boolean): Promise<void> {
    const { stage } = this;
    if (stage.rerunner === null) return;
    const focus = focusOf(stage);
    let rerun: Rerun;
    try {
      const after = await stage.rerunner.open(id);
      rerun = await compare(stage.source, after, focus, { id, factor, everywhere });
    } catch (error) {
      if (!isAbort(error) && !this.ended) write(this.state, sentenceOf(error, stage.language));
      return;
    }
    const now = this.asked?.run;
    if (this.ended || now?.state === "running" || (now?.result ?? id) !== id) return; // another is waited for
    this.rerun = rerun;
    this.showRerun(rerun, focus);
    this.draw();
    stage.announce(this.state.textContent ?? "");
  }

  private showRerun(rerun: Rerun, focus: Focus): void {
    const { say } = this;
    if (this.row !== null && rerun.row !== null) {
      const alone = rescaleRow(this.row, rerun.factor);
      const difference = Math.max(...alone.map((weight, key) => Math.abs(weight - rerun.row![key]!)));
      const same = !rerun.everywhere || focus.map.layer === 0;
      write(this.state, (same ? say.confirmed : say.inputsChanged)(digits(difference, 2)));
      this.state.dataset.difference = String(difference);
    }
    const width = Math.max(260, this.again.clientWidth || 420);
    this.result.replaceChildren(...makeReport(rerun, width, say, () => this.stage.rerunner?.go(rerun.id)));
  }

  private chosenFactor(): number {
    const wish = Number(this.stage.selection.get().options["inside.factor"] ?? 1);
    return Number.isFinite(wish) ? Math.max(0, Math.min(4, wish)) : 1;
  }

  private everywhere(): boolean {
    return this.stage.selection.get().options["inside.scope"] === "all";
  }

  private fail(error: unknown): void {
    if (!this.ended && !isAbort(error)) this.stage.fail(error);
  }
}
