/**
 * The cloud of tokens on a plane: a canvas one can point at, zoom and drag, that glides from layer to layer.
 *
 * In:   planes, already turned towards the one before.
 * Out:  which point is pointed at or chosen.
 */

import { figure } from "../core/formats";
import { clearCanvas, readInks } from "./canvas";
import { listen } from "./gestures";
import { make, type Text } from "./make";
import type { Inks } from "./paper";
import {
  type Camera,
  type Fit,
  fitOf,
  paintScatter,
  pointAt,
  type ScatterLook,
  toUnits,
  unitOf,
  WHOLE,
  writeScatter,
} from "./scatter";

export type CloudLook = Omit<ScatterLook, "width" | "height" | "inks" | "camera" | "fit" | "hovered">;

const GLIDE = 600; // milliseconds from one layer to the next
const MOST = 64; // times larger

export class Cloud {
  readonly element: HTMLElement;
  readonly canvas = make("canvas", { "aria-hidden": "true" });
  private camera: Camera = WHOLE;
  hovered: number | null = null;
  private marked: number | null = null; // pointed at elsewhere
  private points: Float64Array = new Float64Array();
  private fit: Fit = fitOf(this.points, false);
  private from: Float64Array | null = null;
  private since = 0;
  private places: Float32Array = new Float32Array();
  private frame = 0;
  private look: CloudLook | null = null;

  constructor(
    label: Text,
    private readonly handlers: {
      hover(point: number | null, x: number, y: number): void;
      choose(point: number): void;
      key(event: KeyboardEvent): void;
      moved(): void; // another part is seen
    },
    private readonly fills = false, // all of the room, each axis to its own scale
  ) {
    this.element = make(
      "div",
      { class: "cloud", tabindex: 0, role: "application", "aria-label": label },
      this.canvas,
    );
    listen(this.canvas, {
      zoom: (x, y, factor) => this.zoomBy(factor, x, y),
      pan: (dx, dy) => this.pan(dx, dy),
      hover: (x, y) => this.point(pointAt(this.places, x, y), x, y),
      leave: () => this.point(null, 0, 0),
      tap: (x, y) => {
        const point = pointAt(this.places, x, y);
        if (point !== null) handlers.choose(point);
      },
    });
    this.element.addEventListener("keydown", (event) => handlers.key(event));
  }

  /** Show a plane; with `glide`, points go there from where they are. */
  show(points: Float64Array, look: CloudLook, glide: boolean): void {
    this.from = glide && this.points.length === points.length ? this.current() : null;
    this.since = performance.now();
    this.points = points;
    this.fit = fitOf(points, this.fills);
    this.look = look;
    this.draw();
  }

  /** Another focus or size: the same plane again. */
  redraw(look?: CloudLook): void {
    if (look !== undefined) this.look = look;
    this.draw();
  }

  /** A point that is pointed at in another picture. */
  mark(point: number | null): void {
    if (point === this.marked) return;
    this.marked = point;
    this.draw();
  }

  /** All of it as SVG elements in a frame of this size, its points where they come to rest. */
  write(width: number, height: number, inks: Inks): string {
    const { camera, fit, look } = this;
    const points = toUnits(this.points, fit);
    const drawn = look
      ? writeScatter(points, { ...look, width, height, inks, camera, fit, hovered: null })
      : "";
    return (
      `<rect width="${width}" height="${height}" fill="none" stroke="${inks.line}"/>` +
      `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${drawn}</svg>` // clips the axes
    );
  }

  /** Where points are now, in units of the fit. */
  current(): Float64Array {
    const target = toUnits(this.points, this.fit);
    if (this.from === null) return target;
    const share = Math.min(1, (performance.now() - this.since) / GLIDE);
    const eased = share < 0.5 ? 4 * share ** 3 : 1 - (2 - 2 * share) ** 3 / 2;
    return target.map((value, at) => this.from![at]! + (value - this.from![at]!) * eased);
  }

  /** What is seen, for a link: the middle in units of the fit, and how many times larger; null for all. */
  get at(): string | null {
    const { x, y, zoom } = this.camera;
    return zoom === 1 && x === 0 && y === 0 ? null : [x, y, zoom].map((number) => figure(number)).join("_");
  }

  set at(words: string | null) {
    const [x = 0, y = 0, zoom = 1] = (words ?? "").split("_").map(Number);
    this.camera = words === null ? WHOLE : { x, y, zoom: Math.max(1, Math.min(MOST, zoom)) };
    this.draw();
  }

  zoomBy(factor: number, x?: number, y?: number): void {
    const zoom = Math.max(1, Math.min(MOST, this.camera.zoom * factor));
    const { width, height } = this.size();
    const [across, up] = unitOf({ width, height, camera: this.camera, fit: this.fit });
    const moved = 1 - this.camera.zoom / zoom; // of what is away from the middle
    const [dx, dy] = [(x ?? width / 2) - width / 2, height / 2 - (y ?? height / 2)];
    this.camera =
      zoom === 1
        ? WHOLE
        : {
            zoom,
            x: this.camera.x + (dx * moved) / across,
            y: this.camera.y + (dy * moved) / up,
          };
    this.moved();
  }

  reset(): void {
    this.camera = WHOLE;
    this.moved();
  }

  unmount(): void {
    cancelAnimationFrame(this.frame);
    this.look = null;
  }

  private size(): { width: number; height: number } {
    return { width: this.element.clientWidth || 600, height: this.element.clientHeight || 400 };
  }

  private moved(): void {
    this.draw();
    this.handlers.moved();
  }

  private draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    if (this.look === null) return;
    const { width, height } = this.size();
    const context = clearCanvas(this.canvas, width, height, true);
    if (context === null) return;
    const look = {
      ...this.look,
      width,
      height,
      inks: readInks(this.element),
      camera: this.camera,
      fit: this.fit,
      hovered: this.hovered ?? this.marked,
    };
    this.places = paintScatter(context, this.current(), look);
    if (this.from !== null) {
      if (performance.now() - this.since < GLIDE) this.draw();
      else this.from = null;
    }
  }

  private point(found: number | null, x: number, y: number): void {
    if (found !== this.hovered) {
      this.hovered = found;
      this.draw();
    }
    this.handlers.hover(found, x, y);
  }

  private pan(dx: number, dy: number): void {
    const [across, up] = unitOf({ ...this.size(), camera: this.camera, fit: this.fit });
    this.camera = { ...this.camera, x: this.camera.x - dx / across, y: this.camera.y + dy / up };
    this.moved();
  }
}
