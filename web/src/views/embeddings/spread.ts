/**
 * Embeddings as distributions: values and norms of the chosen layer, and of all layers one behind the other.
 *
 * In:   the distribution endpoint for values, activations for norms.
 * Out:  two figures; a click on a ridge chooses its layer.
 */

import type { Distribution, HiddenDescription } from "../../api/types";
import { count, digits, exact } from "../../core/formats";
import type { Asker } from "../../core/tasks";
import { readSpread } from "../../data/states";
import { spell } from "../../marks/cells";
import { drawHistogram, gather } from "../../marks/histogram";
import { draw, drawChart, make } from "../../marks/make";
import { type Inks, SCREEN } from "../../marks/paper";
import { drawRidges, ridgesHeight } from "../../marks/ridges";
import type { Words } from "./words";

const WHAT = ["values", "norms"] as const;
type What = (typeof WHAT)[number];

const HEIGHT = 190; // of a histogram

export class Spread {
  readonly element = make("div", { class: "spread" });
  private readonly found = new Map<string, Distribution>();

  constructor(
    private readonly asking: Asker,
    private readonly hidden: HiddenDescription,
    private readonly say: Words,
    private readonly handlers: { layer(): number; name(layer: number): string; choose(layer: number): void },
  ) {}

  /** Draw, and fetch what is not here yet. */
  show(): void {
    this.paint();
    const { stack, tokens } = this.hidden;
    const bins = Math.max(8, Math.min(48, Math.round(2 * Math.sqrt(tokens))));
    this.asking.ask(
      stack,
      (source) => readSpread(source, this.hidden),
      ({ norms, values }) => {
        values.forEach((value, layer) => {
          const own = norms.subarray(layer * tokens, (layer + 1) * tokens);
          this.found.set(`norms ${layer}`, gather(own, bins)).set(`values ${layer}`, value);
        });
        this.paint();
      },
    );
  }

  paint(): void {
    const across = this.element.clientWidth || 800;
    const width = across < 640 ? across : Math.floor((across - 32) / 2);
    const height = this.height();
    const layer = this.handlers.layer();
    const figures = WHAT.map((what) => {
      const name = `${this.say[what]}, ${this.handlers.name(layer)}`;
      const svg = drawChart(width, height, name, this.draw(what, width, SCREEN));
      svg.addEventListener("click", (event) => {
        const ridge = (event.target as Element).closest("[data-layer]");
        if (ridge !== null) this.handlers.choose(Number(ridge.getAttribute("data-layer")));
      });
      const found = this.found.get(`${what} ${layer}`);
      const words =
        found === undefined || found.count === 0
          ? ""
          : this.say.moments(count(found.count), digits(found.mean), digits(found.deviation));
      return make(
        "figure",
        { "data-of": what },
        svg,
        make("figcaption", { title: exact(found?.mean) }, words),
      );
    });
    this.element.replaceChildren(...figures);
  }

  /** Both figures side by side, for a picture. */
  writeSvg(ink: Inks): { body: string; width: number; height: number } {
    const [values, norms] = WHAT.map((what) => spell(this.draw(what, 420, ink)));
    return {
      body: `${values}<g transform="translate(440 0)">${norms}</g>`,
      width: 860,
      height: this.height(),
    };
  }

  rows(): (string | number)[][] {
    return [...this.found].flatMap(([name, { counts, edges }]) =>
      counts.map((value, at) => [name, edges[at]!, edges[at + 1]!, value]),
    );
  }

  private height(): number {
    return HEIGHT + 60 + ridgesHeight(this.hidden.layers);
  }

  private draw(what: What, width: number, ink: Inks): SVGGElement {
    const layer = this.handlers.layer();
    const axis = what === "values" ? this.say.valueAxis : this.say.normAxis;
    const heading = (y: number, text: string) =>
      draw("text", { x: 0, y, fill: ink.ink, "font-size": 13, "font-weight": 600 }, text);
    const group = draw("g", {}, heading(12, `${this.say[what]} · ${this.handlers.name(layer)}`));
    const found = this.found.get(`${what} ${layer}`);
    if (found !== undefined) {
      const histogram = drawHistogram(found, { width, height: HEIGHT, inks: ink, log: false, axis });
      histogram.setAttribute("transform", "translate(0 20)");
      group.append(histogram);
    }
    const all = Array.from(
      { length: this.hidden.layers },
      (_, at) => this.found.get(`${what} ${at}`) ?? null,
    );
    const ridges = drawRidges(all, { width, inks: ink, chosen: layer, axis });
    ridges.setAttribute("transform", `translate(0 ${HEIGHT + 54})`);
    group.append(heading(HEIGHT + 50, this.say.allLayers), ridges);
    return group;
  }
}
