/**
 * Distributions: histograms of everything in one layer, for the head in focus or for all heads.
 *
 * In:   the distribution endpoint.
 * Out:  small multiples, each with its count, mean, deviation and ends.
 */

import type { Distribution } from "../../api/types";
import { captionOf, mapName } from "../../core/focus";
import { count, digits, exact } from "../../core/formats";
import { type DistributionOf, Refusal } from "../../core/source";
import type { Stage, TableData } from "../../core/view";
import { spell } from "../../marks/cells";
import { choice } from "../../marks/controls";
import { binAt, drawHistogram, type HistogramLook } from "../../marks/histogram";
import { draw, make, write } from "../../marks/make";
import { type Inks, inks, label, SCREEN, wrap } from "../../marks/paper";
import { type Drawing, type Focus, focusOf, type InsidePanel, isAbort, type Words } from "./panel";

interface Entry {
  readonly name: string;
  readonly title: string;
  readonly kept: boolean;
  readonly want: string; // what to keep when running again
  ask(signal: AbortSignal): Promise<Distribution>;
}

const BINS = 64;
const HEIGHT = 168;

export class Distributions implements InsidePanel {
  readonly element = make("div", { class: "distributions" });
  private readonly figures = make("div", { class: "figures" });
  private readonly found = new Map<string, Distribution | string>();
  private shown = "";
  private round: AbortController | null = null;
  private coming: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly stage: Stage,
    private readonly say: Words,
  ) {
    const log = choice(
      say.countScale,
      [
        { value: "linear", text: say.linear },
        { value: "log", text: say.logarithmic },
      ],
      this.log() ? "log" : "linear",
      (value) => stage.selection.option("inside.counts", value === "log" ? "log" : null),
    );
    this.element.append(make("div", { class: "controls" }, log.element), this.figures);
    this.update();
  }

  update(): void {
    const focus = focusOf(this.stage);
    const key = `${focus.map.index} ${focus.head}`;
    if (key === this.shown) {
      this.draw();
      return;
    }
    this.shown = key;
    this.round?.abort();
    const round = new AbortController();
    this.round = round;
    this.found.clear();
    this.coming = Promise.all(
      this.entries(focus)
        .filter(({ kept }) => kept)
        .map((entry) =>
          entry.ask(round.signal).then(
            (distribution) => this.arrive(entry.name, distribution, round),
            (error: unknown) => {
              if (isAbort(error) || round.signal.aborted) return;
              if (error instanceof Refusal) this.arrive(entry.name, error.sentence, round);
              else this.stage.fail(error);
            },
          ),
        ),
    );
    this.draw();
  }

  resize(): void {
    this.draw();
  }

  unmount(): void {
    this.round?.abort();
  }

  async picture(): Promise<Drawing> {
    await this.coming;
    const ink = inks(this.stage.theme);
    const focus = focusOf(this.stage);
    const entries = this.entries(focus).filter(({ name }) => typeof this.found.get(name) === "object");
    const [wide, tall, columns] = [320, HEIGHT + 84, 2];
    let body = "";
    entries.forEach((entry, at) => {
      const distribution = this.found.get(entry.name) as Distribution;
      const plot = drawHistogram(distribution, this.look(wide - 16, ink));
      body += `<g transform="translate(${(at % columns) * wide} ${Math.floor(at / columns) * tall})">`;
      body += label(entry.title, 0, 12, { fill: ink.ink, size: 12, weight: 600 });
      body += `<g transform="translate(0 18)">${spell(plot)}</g>`;
      wrap(this.moments(distribution), wide - 16).forEach((line, row) => {
        body += label(line, 0, HEIGHT + 32 + row * 14, { fill: ink.soft, size: 11 });
      });
      body += "</g>";
    });
    return {
      width: columns * wide,
      height: Math.ceil(entries.length / columns) * tall,
      body,
      title: `${this.say.distributions} · ${mapName(focus.map, this.stage.language)}`,
      lines: captionOf(this.stage),
    };
  }

  async table(): Promise<TableData> {
    await this.coming;
    const rows: (string | number | null)[][] = [];
    for (const entry of this.entries(focusOf(this.stage))) {
      const found = this.found.get(entry.name);
      if (typeof found !== "object") continue;
      found.counts.forEach((value, at) => {
        rows.push([entry.title, found.edges[at]!, found.edges[at + 1]!, value]);
      });
    }
    return {
      caption: this.say.distributions,
      columns: [this.say.array, "≥", "<", this.say.countScale],
      rows,
    };
  }

  private arrive(name: string, found: Distribution | string, round: AbortController): void {
    if (round.signal.aborted) return;
    this.found.set(name, found);
    this.draw();
  }

  private draw(): void {
    const focus = focusOf(this.stage);
    const width = this.figureWidth();
    this.figures.replaceChildren(...this.entries(focus).map((entry) => this.figure(entry, width)));
  }

  private figureWidth(): number {
    const across = this.element.clientWidth || 900;
    const columns = Math.max(1, Math.floor(across / 300));
    return Math.floor((across - (columns - 1) * 24) / columns);
  }

  private figure(entry: Entry, width: number): HTMLElement {
    const figure = make("figure", { "data-of": entry.name }, make("h2", {}, entry.title));
    const found = this.found.get(entry.name);
    if (!entry.kept || typeof found === "string") {
      figure.append(
        make("p", { class: "none" }, typeof found === "string" ? found : this.say.notKept(entry.want)),
      );
      return figure;
    }
    const svg = draw("svg", {
      width,
      height: HEIGHT,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: "img",
      "aria-label": entry.title,
    });
    const caption = make("figcaption");
    figure.append(svg, caption);
    if (found === undefined) {
      write(caption, "…");
      return figure;
    }
    const look = this.look(width, SCREEN);
    svg.append(drawHistogram(found, look));
    const rest = this.moments(found);
    write(caption, rest);
    caption.title = `${exact(found.mean)} ± ${exact(found.deviation)}`;
    svg.addEventListener("pointermove", (event) => {
      const bin = binAt(found, look, event.clientX - svg.getBoundingClientRect().left);
      write(caption, bin === null ? rest : this.say.bin(digits(bin.low), digits(bin.high), count(bin.count)));
    });
    svg.addEventListener("pointerleave", () => write(caption, rest));
    return figure;
  }

  private look(width: number, ink: Inks): HistogramLook {
    return { width, height: HEIGHT, inks: ink, log: this.log() };
  }

  private moments(found: Distribution): string {
    if (found.count === 0) return this.say.empty;
    const parts = [
      this.say.moments(count(found.count), digits(found.mean), digits(found.deviation)),
      this.say.ends(digits(found.minimum), digits(found.maximum)),
    ];
    if (found.left_out > 0) parts.push(this.say.leftOut(count(found.left_out)));
    if ((found as { whole?: boolean }).whole === false) parts.push(this.say.sample);
    return parts.join("; ");
  }

  private entries({ map, head }: Focus): readonly Entry[] {
    const { source } = this.stage;
    const hidden = source.description.hidden.find(({ stack }) => stack === map.stack);
    const place = { map, bins: BINS, ...(head === null ? {} : { head }) };
    const of = (name: DistributionOf, title: string, kept: boolean, want: string): Entry => ({
      name,
      title,
      kept,
      want,
      ask: (signal) => source.distribution(name, place, signal),
    });
    const states = (name: string, title: string, layer: number): Entry => ({
      name,
      title,
      kept: hidden !== undefined && layer < hidden.layers,
      want: "hidden",
      ask: (signal) => source.distribution("hidden", { stack: map.stack, layer, bins: BINS }, signal),
    });
    return [
      states("hidden", this.say.hidden, map.layer),
      of("queries", this.say.queries, map.has_queries, "queries"),
      of("keys", this.say.keys, map.has_keys, "keys"),
      of("values", this.say.valueVectors, map.has_values, "values"),
      of("scores_unscaled", this.say.scores_unscaled, map.has_scores, "scores"),
      of("scores", this.say.scores, map.has_scores, "scores"),
      of("attention", this.say.attention, map.has_weights, "weights"),
      states("hiddenAfter", this.say.hiddenAfter, map.layer + 1),
    ];
  }

  private log(): boolean {
    return this.stage.selection.get().options["inside.counts"] === "log";
  }
}
