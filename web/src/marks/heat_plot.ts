/**
 * The plot: cells, token names beside them, and what lies over both, one layer above the other.
 *
 * In:   the viewport, axes with tokens, what is pointed at and selected.
 * Out:  layers drawn in CSS pixels; margins as wide as names need.
 */

import { clearCanvas, readInks } from "./canvas";
import { type Axis, drawAxes, FONT_SIZE, layAxes, marginFor, type PlotBox, wordsBeside } from "./heat_axes";
import { drawOverlay, namedPlaces, type OverlayInks, type Pointed } from "./heat_overlay";
import type { Viewport } from "./heat_viewport";
import { make, relabel, setStyle } from "./make";

interface Axes {
  readonly query: Axis;
  readonly key: Axis;
}

const NARROW = 64; // margins before names are known
const WIDEST = 132;
const SHARE = 0.24; // of the plot, for a margin

export class Plot {
  readonly element = make("div", { class: "heat-plot", tabindex: 0, role: "application" });
  readonly cells = make("div", { class: "heat-cells" });
  private readonly axesLayer = make("canvas", { class: "heat-layer", "aria-hidden": "true" });
  private readonly overLayer = make("canvas", { class: "heat-layer", "aria-hidden": "true" });
  private readonly corner: HTMLElement;
  private inks: OverlayInks | null = null; // known once it stands in the page,
  private font: string | null = null; // as is this; asking each time would have styles computed in every frame
  private laid: ReturnType<typeof layAxes> | null = null;

  constructor(say: { readonly keys: string; readonly queries: string }) {
    this.corner = make(
      "div",
      { class: "heat-corner", "aria-hidden": "true" },
      make("span", {}, () => `${say.keys} →`),
      make("span", {}, () => `${say.queries} ↓`),
    );
    this.element.append(this.cells, this.axesLayer, this.overLayer, this.corner);
  }

  /** Margins for the names of both axes; the cells have the rest. */
  layOut(axes: Axes | undefined): PlotBox {
    relabel(this.corner);
    const [wide, high] = [this.element.clientWidth, this.element.clientHeight];
    const measure = this.measure();
    const most = Math.min(WIDEST, wide * SHARE);
    const left = axes === undefined ? NARROW : marginFor(axes.query, NARROW, most, measure);
    const top = axes === undefined ? NARROW : marginFor(axes.key, 48, Math.min(most, high * SHARE), measure);
    const box = { left, top, width: Math.max(1, wide - left - 1), height: Math.max(1, high - top - 1) };
    for (const name of ["left", "top", "width", "height"] as const) {
      this.cells.style.setProperty(name, `${box[name]}px`);
    }
    setStyle(this.corner, { width: `${left}px`, height: `${top}px` });
    return box;
  }

  /** How wide a name is. */
  measure(): (text: string) => number {
    const context = this.axesLayer.getContext("2d");
    if (context === null) return (text) => text.length * 6;
    context.font = this.readFont();
    return (text) => context.measureText(text).width;
  }

  /** Find places for the names beside the cells. */
  layAxes({ box, camera, extent }: Viewport, axes: Axes): void {
    this.laid = layAxes(box, camera, extent, axes, this.measure());
  }

  /** Names beside the cells, but for those that others cover, and a line around the cells. */
  private drawAxes({ box, camera, extent }: Viewport, covered: ReturnType<typeof namedPlaces>): void {
    const context = this.prepare(this.axesLayer);
    if (context === null || this.laid === null) return;
    const inks = this.readInks();
    drawAxes(context, { ...this.laid, words: wordsBeside(this.laid.words, covered) }, inks);
    const width = Math.min(box.width, (extent.keys - camera.key) * camera.wide);
    const height = Math.min(box.height, (extent.queries - camera.query) * camera.high);
    context.strokeStyle = inks.line;
    context.lineWidth = 1;
    context.strokeRect(box.left - 0.5, box.top - 0.5, Math.ceil(width) + 1, Math.ceil(height) + 1);
  }

  /** Names, the crosshair and the selection; false where there is no canvas. */
  drawOver(
    viewport: Viewport,
    axes: Axes,
    hover: Pointed | null,
    selected: { readonly query: number | null; readonly key: number | null },
  ): boolean {
    const context = this.prepare(this.overLayer);
    if (context === null) return false;
    const { box, camera } = viewport;
    const overlay = { box, camera, axes, flat: this.laid?.flat ?? false, hover, selected };
    this.drawAxes(viewport, namedPlaces(overlay));
    drawOverlay(context, overlay, this.readInks());
    return true;
  }

  /** Colours of another theme, letters of another language. */
  forgetInks(): void {
    this.inks = null;
    this.font = null;
  }

  /** A clean canvas over the plot, in CSS pixels. */
  private prepare(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
    const context = clearCanvas(canvas, this.element.clientWidth, this.element.clientHeight);
    if (context !== null) context.font = this.readFont();
    return context;
  }

  private readFont(): string {
    const known = this.font ?? fontOf(this.element);
    if (this.element.isConnected) this.font = known;
    return known;
  }

  private readInks(): OverlayInks {
    this.inks ??= inksOf(this.element);
    return this.inks;
  }
}

function fontOf(element: HTMLElement): string {
  return `${FONT_SIZE}px ${getComputedStyle(element).fontFamily || "sans-serif"}`;
}

function inksOf(element: HTMLElement): OverlayInks {
  const inks = readInks(element);
  const accentInk = getComputedStyle(element).getPropertyValue("--accent-ink").trim() || inks.ground;
  return { ...inks, accentInk };
}
