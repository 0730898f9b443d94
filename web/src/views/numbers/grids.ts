/**
 * All heads at once: a grid of layers and heads for every stack and kind, coloured by one metric.
 *
 * In:   rows of heads with their readings.
 * Out:  grids one can click and walk through with arrow keys, and their legend.
 */

import type { MetricDescription } from "../../api/types";
import { joinSentences } from "../../core/focus";
import { digits } from "../../core/formats";
import { groupBy } from "../../core/maths/group";
import { formatText } from "../../core/messages";
import { samePlace } from "../../core/place";
import type { Stage } from "../../core/view";
import { words as focusWords } from "../../i18n/focus";
import { type ColourScale, colourScale, drawColourBar, showColourBar, spell } from "../../marks/cells";
import { drawHeadGrid, gridSize, type HeadCell } from "../../marks/headgrid";
import { ARROWS, consume } from "../../marks/keys";
import { draw, drawChart, make } from "../../marks/make";
import { type Inks, SCREEN } from "../../marks/paper";
import { reach } from "../../marks/sparkline";
import type { MeasureRow } from "./measures";
import type { Words } from "./words";

interface Drawn {
  readonly group: SVGGElement;
  readonly size: readonly [number, number];
  readonly stack: string;
  readonly kind: string;
}

export class Grids {
  readonly element = make("div", { class: "grids", tabindex: 0, role: "application" });
  readonly legend = draw("svg", { width: 220, height: 28, role: "img" });
  private rows: readonly MeasureRow[] = [];
  private metric: MetricDescription | null = null;

  constructor(
    private readonly stage: Stage,
    private readonly say: Words,
    private readonly handlers: { place(row: MeasureRow): string; go(row: MeasureRow): void },
  ) {
    this.element.addEventListener("click", (event) => this.click(event));
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  show(rows: readonly MeasureRow[], metric: MetricDescription): void {
    this.rows = rows;
    this.metric = metric;
    const most = Math.max(1, ...rows.map((row) => row.head! + 1));
    const cell = Math.max(8, Math.min(22, Math.floor(300 / most)));
    const drawn = this.draw(SCREEN, cell).map(({ group, size, stack, kind }) => {
      const chart = drawChart(...size, null, group);
      Object.assign(chart.dataset, { stack, kind });
      return chart;
    });
    this.element.replaceChildren(...drawn);
    const name = formatText(metric.label, this.stage.language);
    this.element.setAttribute("aria-label", this.say.gridAbout(name));
    showColourBar(this.legend, this.scale(), name);
  }

  /** Grids side by side with their legend, for a picture. */
  writeSvg(ink: Inks): { body: string; width: number; height: number } {
    let body = "";
    let [width, tall] = [0, 0];
    for (const { group, size } of this.draw(ink, 22)) {
      body += `<g transform="translate(${width} 0)">${spell(group)}</g>`;
      width += size[0] + 28;
      tall = Math.max(tall, size[1]);
    }
    const metric = this.metric;
    const name =
      metric === null
        ? ""
        : `${formatText(metric.label, this.stage.language)} (${this.say.unit(metric.unit)})`;
    body += `<g transform="translate(0 ${tall + 14})">${spell(drawColourBar(this.scale(), 200, ink, name))}</g>`;
    return { body, width, height: tall + 44 };
  }

  private scale(): ColourScale {
    const values = this.rows.map((row) => row.readings.get(this.metric?.name ?? "")?.value ?? null);
    const kind = this.stage.source.description.difference ? "diverging" : "sequential";
    return colourScale(reach(values), kind, false, this.stage.theme);
  }

  private draw(ink: Inks, cell: number): Drawn[] {
    const { metric } = this;
    if (metric === null) return [];
    const scale = this.scale();
    const { place, head } = this.stage.selection.get();
    const names = { layer: this.say.layers, head: this.say.heads };
    return familiesOf(this.rows).map((rows) => {
      const [stack, kind] = [rows[0]!.stack!, rows[0]!.kind!];
      const layers = [...new Set(rows.map((row) => row.layer!))];
      const heads = Math.max(...rows.map((row) => row.head! + 1));
      const cells = rows.map((row): HeadCell => {
        return {
          layer: row.layer!,
          head: row.head!,
          value: row.readings.get(metric.name)?.value ?? null,
          title: this.title(row, metric),
          chosen: samePlace(row.place, place) && (row.head === head || head === "mean"),
        };
      });
      const title = focusWords(this.stage.language).familyName(stack, kind === "cross");
      const look = { title, layers, heads, cell, scale, inks: ink, none: ink.ground, names };
      return { group: drawHeadGrid(cells, look), size: gridSize(look), stack, kind };
    });
  }

  private click(event: MouseEvent): void {
    const cell = (event.target as Element).closest("rect[data-head]");
    const svg = cell?.closest("svg");
    if (!cell || !svg) return;
    const row = this.rows.find(
      (each) =>
        each.stack === svg.dataset["stack"] &&
        each.kind === svg.dataset["kind"] &&
        each.layer === Number(cell.getAttribute("data-layer")) &&
        each.head === Number(cell.getAttribute("data-head")),
    );
    if (row !== undefined) this.handlers.go(row);
  }

  private key(event: KeyboardEvent): void {
    const move = ARROWS[event.key];
    const { place, head } = this.stage.selection.get();
    const here = this.rows.find((row) => samePlace(row.place, place));
    if (move === undefined || here === undefined || this.metric === null) return;
    consume(event);
    const family = this.rows.filter((row) => row.stack === here.stack && row.kind === here.kind);
    const layers = [...new Set(family.map((row) => row.layer))];
    const layer = layers[Math.max(0, Math.min(layers.length - 1, layers.indexOf(here.layer) + move[0]))];
    const wish = Math.max(0, (typeof head === "number" ? head : 0) + move[1]);
    const row = family.find((each) => each.layer === layer && each.head === wish);
    if (row === undefined) return;
    this.handlers.go(row);
    this.stage.announce(this.title(row, this.metric));
  }

  /** A cell in words. */
  private title(row: MeasureRow, { name, unit }: MetricDescription): string {
    const { value, why } = row.readings.get(name) ?? { value: null, why: [] };
    const text = value === null ? joinSentences(why, this.stage.language) : digits(value);
    return `${this.handlers.place(row)}: ${text || "–"}${value === null ? "" : ` ${this.say.unit(unit)}`}`;
  }
}

/** Rows by stack and kind. */
export function familiesOf(rows: readonly MeasureRow[]): MeasureRow[][] {
  return [...groupBy(rows, ({ stack, kind }) => `${stack} ${kind}`).values()];
}
