/**
 * Distributions: histograms of everything in one layer, for the head in focus or for all heads.
 *
 * In:   the distribution endpoint.
 * Out:  small multiples, each with its count, mean, deviation and ends.
 */

import type { Distribution } from "../../api/types";
import { captionOf, focusOf, mapName } from "../../core/focus";
import { count, digits, exact } from "../../core/formats";
import { writePlace } from "../../core/place";
import { Refusal } from "../../core/source";
import type { TableData } from "../../core/view";
import { DISTRIBUTIONS, type DistributionName, notKept, readDistribution } from "../../data/layer_arrays";
import { spell } from "../../marks/cells";
import { pointIn } from "../../marks/gestures";
import { binAt, drawHistogram, type HistogramLook } from "../../marks/histogram";
import { drawChart, make, write } from "../../marks/make";
import { type Inks, inks, label, SCREEN, wrap } from "../../marks/paper";
import { type Drawing, InsidePanel, type InsideSetting } from "./panel";

const BINS = 64;
const HEIGHT = 168;

export class Distributions extends InsidePanel {
  readonly element = make("div", { class: "distributions" });
  private readonly figures = make("div", { class: "figures" });
  private readonly found = new Map<string, Distribution | Refusal>();
  private readonly loading = this.tasks.asker();

  constructor(setting: InsideSetting) {
    super(setting);
    const { say } = this;
    const log = this.controls.choice("counts", () => say.countScale, {
      linear: () => say.linear,
      log: () => say.logarithmic,
    });
    this.element.append(make("div", { class: "drawn-bar" }, log), this.figures);
    this.update();
  }

  update(): void {
    const focus = focusOf(this.stage);
    this.loading.ask(
      `${writePlace(focus.map.place)} ${focus.head}`,
      (source, signal) => {
        this.found.clear();
        const load = async (name: DistributionName): Promise<void> => {
          const found = await readDistribution(source, name, focus, BINS);
          if (signal.aborted) return;
          this.found.set(name, found);
          this.draw();
        };
        return Promise.all(DISTRIBUTIONS.filter((name) => this.notKept(name) === null).map(load));
      },
      () => {},
    );
    this.draw();
  }

  resize(): void {
    this.draw();
  }

  async picture(): Promise<Drawing> {
    await this.loading.coming;
    const ink = inks(this.stage.theme);
    const focus = focusOf(this.stage);
    const shown = this.shown();
    const [wide, tall, columns] = [320, HEIGHT + 84, 2];
    let body = "";
    shown.forEach(([name, distribution], at) => {
      const plot = drawHistogram(distribution, this.look(wide - 16, ink));
      body += `<g transform="translate(${(at % columns) * wide} ${Math.floor(at / columns) * tall})">`;
      body += label(this.title(name), 0, 12, { fill: ink.ink, size: 12, weight: 600 });
      body += `<g transform="translate(0 18)">${spell(plot)}</g>`;
      wrap(this.moments(distribution), wide - 16).forEach((line, row) => {
        body += label(line, 0, HEIGHT + 32 + row * 14, { fill: ink.soft, size: 11 });
      });
      body += "</g>";
    });
    return {
      width: columns * wide,
      height: Math.ceil(shown.length / columns) * tall,
      body,
      title: `${this.say.distributions} · ${mapName(focus.map, this.stage.language)}`,
      lines: captionOf(this.stage),
    };
  }

  async table(): Promise<TableData> {
    await this.loading.coming;
    const rows = this.shown().flatMap(([name, { counts, edges }]) =>
      counts.map((value, at) => [this.title(name), edges[at]!, edges[at + 1]!, value]),
    );
    return {
      caption: this.say.distributions,
      columns: [this.say.array, "≥", "<", this.say.countScale],
      rows,
    };
  }

  private draw(): void {
    const width = this.figureWidth();
    this.figures.replaceChildren(...DISTRIBUTIONS.map((name) => this.figure(name, width)));
  }

  private figureWidth(): number {
    const across = this.element.clientWidth || 900;
    const columns = Math.max(1, Math.floor(across / 300));
    return Math.floor((across - (columns - 1) * 24) / columns);
  }

  private figure(name: DistributionName, width: number): HTMLElement {
    const title = this.title(name);
    const figure = make("figure", { "data-of": name }, make("h2", {}, title));
    const found = this.found.get(name);
    const want = this.notKept(name);
    if (want !== null || found instanceof Refusal) {
      figure.append(
        make(
          "p",
          { class: "none" },
          found instanceof Refusal ? found.text(this.stage.language) : this.say.notKept(want!),
        ),
      );
      return figure;
    }
    const svg = drawChart(width, HEIGHT, title);
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
      const bin = binAt(found, look, pointIn(svg, event).x);
      write(caption, bin === null ? rest : this.say.bin(digits(bin.low), digits(bin.high), count(bin.count)));
    });
    svg.addEventListener("pointerleave", () => write(caption, rest));
    return figure;
  }

  private look(width: number, ink: Inks): HistogramLook {
    return { width, height: HEIGHT, inks: ink, log: this.options.now.counts };
  }

  private moments(found: Distribution): string {
    if (found.count === 0) return this.say.empty;
    const parts = [
      this.say.moments(count(found.count), digits(found.mean), digits(found.deviation)),
      this.say.ends(digits(found.minimum), digits(found.maximum)),
    ];
    if (found.left_out > 0) parts.push(this.say.leftOut(count(found.left_out)));
    if ((found as { whole?: boolean }).whole === false) parts.push(this.say.sample);
    return parts.join(this.say.next);
  }

  private title(name: DistributionName): string {
    return name === "values" ? this.say.valueVectors : this.say[name];
  }

  private notKept(name: DistributionName): string | null {
    return notKept(name, focusOf(this.stage), this.stage.source);
  }

  /** What is here, in order. */
  private shown(): (readonly [DistributionName, Distribution])[] {
    return DISTRIBUTIONS.flatMap((name) => {
      const found = this.found.get(name);
      return found && !(found instanceof Refusal) ? [[name, found] as const] : [];
    });
  }
}
