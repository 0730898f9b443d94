/**
 * The attention-score multiplier: what softmax does when scores grow or shrink, for one row at once and for the whole
 * model by running it again.
 *
 * In:   the scores of the row in focus; a rerunner, where there is one.
 * Out:  weights before and after side by side, entropy, score distributions and outputs of the re-run.
 */

import { captionOf, type Focus, focusOf, mapName } from "../../core/focus";
import { digits } from "../../core/formats";
import { entropyOf, rescale } from "../../core/maths/softmax";
import { errorText } from "../../core/source";
import type { KeptWork, TableData } from "../../core/view";
import { compare, type Rerun } from "../../data/comparison";
import { readScoredRow, type ScoredRow } from "../../data/pair";
import { RecordingTokens } from "../../data/side_tokens";
import { spell } from "../../marks/cells";
import { button, slider } from "../../marks/controls";
import { drawHistogram } from "../../marks/histogram";
import { drawChart, make, write } from "../../marks/make";
import { type Inks, inks, label, SCREEN } from "../../marks/paper";
import { drawHeaviest, type Series } from "./pairs";
import { type Drawing, InsidePanel, type InsideSetting } from "./panel";
import { makeChange, makeReport, RERUN_INK, rerunLook } from "./report";
import { type Asked, runScaled, whyNot } from "./scaled_run";

export class Multiplier extends InsidePanel {
  readonly element = make("div", { class: "multiplier" });
  private readonly effective = make("p", { class: "note" });
  private readonly live = make("section", { class: "live" });
  private chart = drawChart(0, 0, "");
  private readonly figures = make("dl");
  private readonly again = make("section", { class: "again" });
  private readonly state = make("p", { class: "note", role: "status" });
  private readonly result = make("div", { class: "result" });
  private readonly control: ReturnType<typeof slider>;
  private readonly tokens = new RecordingTokens(this.stage.source, () => this.draw(), this.tasks.fail);
  private readonly runButton: HTMLButtonElement;
  private row: ScoredRow | null = null;
  private rerun: Rerun | null = null;
  private factor: number;
  private asked: Asked | null = null;
  private readonly loading = this.tasks.asker();
  private readonly comparing = this.tasks.asker((error) =>
    write(this.state, this.stage.text(errorText(error))),
  );

  constructor(setting: InsideSetting, kept: KeptWork | undefined) {
    super(setting);
    const { stage, say, options } = this;
    const { map } = focusOf(stage);
    this.factor = options.now.factor;
    this.control = slider(
      {
        label: () => say.factor,
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
      (factor) => {
        options.set({ factor });
        this.run();
      },
    );
    const scope = this.controls.choice("scope", () => say.scope, {
      layer: () => say.thisLayer,
      all: () => say.everyLayer,
    });
    scope.addEventListener("change", () => this.run());
    this.runButton = button(
      () => say.runAgain,
      () => this.run(),
    );
    this.live.append(
      make("h2", {}, () => say.live),
      this.figures,
      this.chart,
    );
    this.again.append(
      make("h2", {}, () => say.rerunTitle),
      this.state,
      this.runButton,
      this.result,
    );
    this.element.append(
      make("div", { class: "drawn-bar" }, this.control.element, scope),
      this.effective,
      make("div", { class: "both" }, this.live, this.again),
    );
    this.runButton.hidden = whyNot(stage, say) !== null;
    this.update();
    this.tell();
    const asked = kept as Asked | undefined;
    if (asked?.map === map.place.address) this.follow(asked);
    else asked?.stop?.();
  }

  update(): void {
    const focus = focusOf(this.stage);
    const { factor } = this.options.now;
    if (factor !== this.factor) {
      this.factor = factor;
      this.control.set(factor);
    }
    if (!focus.map.has_scores || !focus.map.has_weights) {
      write(this.effective, this.say.noScores);
      this.live.hidden = true;
      return;
    }
    this.loading.ask(
      `${focus.oneHead} ${focus.query}`,
      (source) => readScoredRow(source, focus),
      (row) => {
        this.row = row;
        this.draw();
        if (this.rerun !== null) this.look(this.rerun.id, this.rerun.factor, this.rerun.everywhere);
      },
    );
    this.draw();
  }

  resize(): void {
    this.draw();
  }

  override restyle(): void {
    super.restyle();
    if (this.rerun !== null) this.showRerun(this.rerun, focusOf(this.stage));
    if (this.asked?.run.state !== "done") this.tell();
  }

  override keep(): KeptWork | null {
    const { asked } = this;
    this.asked = null;
    asked?.run.show(null);
    return asked;
  }

  override unmount(): void {
    this.asked?.run.show(null);
    this.asked?.stop?.();
  }

  async picture(): Promise<Drawing> {
    await this.loading.coming;
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
      const look = rerunLook(this.rerun.after, this.say, ink);
      const plot = drawHistogram(this.rerun.before, { ...look, width, height: 180 });
      body += `<g transform="translate(0 ${y})">${spell(plot)}</g>`;
      y += 190;
    }
    const query = this.tokens.of(focus.rowSide).shown(focus.map.query_start + focus.query);
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
    await this.loading.coming;
    const { map } = focusOf(this.stage);
    const series = this.series(SCREEN);
    const keys = this.tokens.of(map.key_side);
    await keys.load(map.key_start, map.key_start + map.keys);
    return {
      caption: this.say.live,
      columns: ["", this.say.key, ...series.map(({ name }) => name)],
      rows: Array.from({ length: Math.min(map.keys, 2000) }, (_, key) => [
        map.key_start + key,
        keys.shown(map.key_start + key),
        ...series.map(({ weights }) => weights[key]!),
      ]),
    };
  }

  private draw(): void {
    if (this.tasks.over || this.row === null) return;
    const focus = focusOf(this.stage);
    const scale = focus.map.scale;
    const factor = digits(this.factor, 3);
    const product =
      scale === null ? "" : `${this.say.effective(digits(scale), factor, digits(scale * this.factor))}. `;
    const query = this.tokens.of(focus.rowSide).shown(focus.map.query_start + focus.query);
    write(this.effective, `${this.say.query}: ${query}. ${product}${this.say.liveAbout(factor)}`);
    this.figures.replaceChildren(...this.measures().flatMap((each) => makeChange(...each)));
    const width = Math.max(260, this.live.clientWidth || 480);
    const { group, height } = this.pairs(width, SCREEN);
    const chart = drawChart(width, height, this.say.pictureRow(query, factor), group);
    this.chart.replaceWith(chart);
    this.chart = chart;
  }

  /** Entropy, spread and peak: a name, the number before, the number after. */
  private measures(): [string, number, number][] {
    if (this.row === null) return [];
    const { say } = this;
    const { scores, weights } = this.row;
    const after = rescale(scores, weights, this.factor);
    const [one, other] = [entropyOf(weights), entropyOf(after)];
    return [
      [say.entropy, one, other],
      [say.spread, Math.exp(one), Math.exp(other)],
      [say.peak, Math.max(...weights), Math.max(...after)],
    ];
  }

  private series(ink: Inks): Series[] {
    if (this.row === null) return [];
    const { scores, weights } = this.row;
    const all: Series[] = [
      { name: this.say.before, weights, ink: ink.faint },
      { name: this.say.after, weights: rescale(scores, weights, this.factor), ink: ink.accent },
    ];
    if (this.rerun?.row != null && this.rerun.factor === this.factor)
      all.push({ name: this.say.rerun, weights: this.rerun.row, ink: RERUN_INK });
    return all;
  }

  private pairs(width: number, ink: Inks): { group: SVGGElement; height: number } {
    const { map } = focusOf(this.stage);
    const name = (key: number) => this.keyName(map.key_start + key);
    const heading = (shown: number) => this.say.topKeys(shown, map.keys);
    return drawHeaviest(this.series(ink), map.keys, name, heading, width, ink);
  }

  /** A key's token; where many look alike, with its place. */
  private keyName(token: number): string {
    const keys = this.tokens.of(focusOf(this.stage).map.key_side);
    const shown = keys.shown(token);
    return keys.count > 64 ? `${[...shown].slice(0, 9).join("")} ${token}` : shown;
  }

  /** Run the model again with this multiplier; an older run is given up. */
  private run(): void {
    const asked = runScaled(this.stage, this.factor, this.options.now.scope);
    if (asked === null) return;
    this.asked?.run.show(null);
    this.asked?.stop?.();
    this.follow(asked);
  }

  /** Show how far a run is, and in the end what it found. */
  private follow(asked: Asked): void {
    this.asked = asked;
    asked.run.show(() => this.tell());
    this.tell();
  }

  private tell(): void {
    const { say, stage, asked } = this;
    const run = asked?.run;
    if (run?.state === "running") write(this.state, say.running(say.stageName(run.job?.stage ?? "queued")));
    else if (run?.state === "done")
      void this.loading.coming.then(() => this.look(run.result!, asked!.factor, asked!.everywhere));
    else if (run?.state === "failed") write(this.state, stage.text(errorText(run.error)));
    else write(this.state, whyNot(stage, say) ?? say.rerunHint); // cancelled: as if nobody had asked
  }

  private look(id: string, factor: number, everywhere: boolean): void {
    const { stage } = this;
    const { rerunner } = stage;
    if (rerunner === null || this.tasks.over) return;
    const focus = focusOf(stage);
    this.comparing.ask(
      null,
      async (source, signal) => {
        const after = (await rerunner.open(id)).within(signal);
        return compare(source, after, focus, { id, factor, everywhere });
      },
      (rerun) => {
        const now = this.asked?.run;
        if (now?.state === "running" || (now?.result ?? id) !== id) return; // another is waited for
        this.rerun = rerun;
        this.showRerun(rerun, focus);
        this.draw();
        stage.announce(this.state.textContent ?? "");
      },
    );
  }

  private showRerun(rerun: Rerun, focus: Focus): void {
    const { say } = this;
    if (this.row !== null && rerun.row !== null) {
      const alone = rescale(this.row.scores, this.row.weights, rerun.factor);
      const difference = Math.max(...alone.map((weight, key) => Math.abs(weight - rerun.row![key]!)));
      const same = !rerun.everywhere || focus.map.place.layer === 0;
      write(this.state, (same ? say.confirmed : say.inputsChanged)(digits(difference, 2)));
      this.state.dataset.difference = String(difference);
    }
    const width = Math.max(260, this.again.clientWidth || 420);
    this.result.replaceChildren(...makeReport(rerun, width, say, () => this.stage.rerunner?.go(rerun.id)));
  }
}
