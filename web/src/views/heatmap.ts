/**
 * The heat map: one head, a layer's or the model's average; queries down, keys across, zoomed like a street map.
 *
 * In:   a stage: the recording's maps and tokens, the selection (map, head, query, key), options "heatmap.…".
 * Out:  cells in WebGL2 (or canvas), tokens on both axes, a crosshair with the exact weight; a click selects.
 */

import { inBoth, introduce } from "../i18n/core";
import { words } from "../i18n/heatmap";
import { TokenStore } from "../marks/axis";
import { sequential } from "../marks/colours";
import type { Camera, Colour, Extent, Scene } from "../marks/heat";
import { type Axis, drawAxes, FONT_SIZE, type Frame, layAxes, marginFor } from "../marks/heat_axes";
import { clamp, isFitted, readCamera, reveal, wholeMap, writeCamera, zoomAbout } from "../marks/heat_camera";
import { Desk, type Options } from "../marks/heat_desk";
import { listen } from "../marks/heat_gestures";
import { type Cell, drawOverlay } from "../marks/heat_overlay";
import { Readout, valueText } from "../marks/heat_readout";
import { printMap, tabulate } from "../marks/heat_report";
import { Subject } from "../marks/heat_subject";
import { openSupply, type Scale, wayOf } from "../marks/heat_supply";
import { Surface } from "../marks/heat_surface";
import { make } from "../marks/make";
import { Tooltip } from "../marks/tooltip";
import type { Selection } from "../selection";
import type { MapDescription } from "../types";
import type { Mounted, Stage, TableData, View } from "../view";
import { axisOf, chooseHead, chooseMap, type Head } from "../weights";

const HATCH: Readonly<Record<string, readonly [Colour, Colour]>> = {
  light: [
    [248, 248, 250],
    [222, 224, 231],
  ],
  dark: [
    [25, 28, 35],
    [52, 57, 68],
  ],
};
const STEP = 1.5; // a press of + or −
const USUAL = { pool: "mean", leave: "none" } as const;
const ARROWS: Readonly<Record<string, readonly [down: number, right: number]>> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};

class Heatmap implements Mounted {
  private readonly say: ReturnType<typeof words>;
  private readonly plot = make("div", { class: "heat-plot", tabindex: 0, role: "application" });
  private readonly cells = make("div", { class: "heat-cells" });
  private readonly axesLayer = make("canvas", { class: "heat-layer", "aria-hidden": "true" });
  private readonly overLayer = make("canvas", { class: "heat-layer", "aria-hidden": "true" });
  private readonly corner: HTMLElement;
  private readonly desk: Desk;
  private readonly floating: Readout;
  private readonly tooltip: Tooltip;
  private readonly surface: Surface;
  private readonly tokens = new Map<string, TokenStore>();
  private readonly deaf: () => void;
  private readonly inks: ReturnType<typeof readInks>;

  private subject: Subject | null = null;
  private laid: readonly [wide: number, high: number] = [0, 0]; // the plot's size at the last layout
  private frame: Frame = { left: 64, top: 64, width: 0, height: 0 };
  private camera: Camera = { key: 0, query: 0, scale: 1 };
  private hover: Cell | null = null;
  private pointer: { x: number; y: number } | null = null;
  private turn = 0;
  private due = 0;
  private stale = true; // the cells, not only what lies over them
  private readonly timers = { url: 0, exact: 0, tell: 0 };
  private written: string | null = null;
  private flat = false; // names above columns
  private named = false; // margins are as wide as names need
  private over = false;

  constructor(private readonly stage: Stage) {
    this.say = words(stage.language);
    const { say, plot } = this;
    const now = stage.selection.get();
    this.corner = make(
      "div",
      { class: "heat-corner", "aria-hidden": "true" },
      make("span", {}, `${say.keys} →`),
      make("span", {}, `${say.queries} ↓`),
    );
    plot.append(this.cells, this.axesLayer, this.overLayer, this.corner);
    const area = make("div", { class: "heat-area" }, plot);
    this.desk = new Desk(say, area, this.options(now), (name, value) => {
      const usual = name === "scale" ? this.usualScale() : USUAL[name];
      stage.selection.option(`heatmap.${name}`, value === usual ? null : value);
    });
    stage.element.append(this.desk.element);
    this.surface = new Surface(this.cells, now.options["heatmap.renderer"] === "canvas" ? "canvas" : "webgl");
    this.floating = new Readout(say);
    this.tooltip = new Tooltip(area);
    this.tooltip.fill(this.floating.element);
    this.inks = readInks(stage.element);
    this.deaf = listen(plot, {
      zoom: (x, y, factor) => this.zoomAt(x - this.frame.left, y - this.frame.top, factor),
      pan: (dx, dy) => this.pan(dx, dy),
      hover: (x, y) => this.point(this.cellAt(x, y), { x, y }),
      leave: () => this.point(null, null),
      tap: (x, y) => this.tap(x, y),
    });
    plot.addEventListener("keydown", (event) => this.press(event));
    plot.addEventListener("blur", () => this.point(null, null));
    this.layout();
    this.open(now);
  }

  // What is shown

  update(now: Selection, before: Selection): void {
    const options = this.options(now);
    this.desk.set(options);
    if (now.map !== before.map || now.head !== before.head || options.how !== this.options(before).how) {
      this.open(now);
      return;
    }
    if (this.subject !== null && options.leave !== this.subject.leave)
      void this.subject.leaveOut(options.leave);
    const at = now.options["heatmap.at"] ?? null;
    if (at !== (before.options["heatmap.at"] ?? null) && at !== this.written) this.recall();
    if (now.query !== before.query || now.key !== before.key) {
      this.camera = reveal(this.camera, this.selected(), this.extent, this.frame);
    }
    this.schedule(true);
  }

  /** Load a map and head; what was shown stays until the new one is here. */
  private open(now: Selection): void {
    const { source } = this.stage;
    const map = chooseMap(source.description, now);
    if (map === null) return;
    const head = chooseHead(map, now.head);
    const { how, leave } = this.options(now);
    const turn = ++this.turn;
    const fail = (error: unknown): void => {
      if (turn === this.turn && !this.over) this.stage.fail(error);
    };
    openSupply(source, map, head, how, { arrived: () => this.schedule(true), failed: fail }).then(
      (supply) => {
        if (turn !== this.turn || this.over) {
          supply.dispose();
          return;
        }
        const axes = { query: this.axis(map, "query"), key: this.axis(map, "key") };
        this.install(new Subject(source, map, head, how, axes, supply, () => this.schedule(true)));
        void this.subject?.leaveOut(leave);
        this.prefetch(map, head);
      },
      fail,
    );
  }

  private install(subject: Subject): void {
    const before = this.subject;
    before?.dispose();
    this.subject = subject;
    const same =
      before?.extent.queries === subject.extent.queries && before.extent.keys === subject.extent.keys;
    if (!same) {
      this.hover = null;
      this.layout();
      this.recall();
    } else if (this.hover !== null) subject.exact.ask(this.hover.query, this.hover.key);
    this.plot.setAttribute("aria-label", this.say.plot(subject.name(this.say)));
    void subject.learnMask();
    this.schedule(true);
  }

  /** Neighbouring heads and layers of a short map, fetched when nothing else is to do: switching is then at once. */
  private prefetch(map: MapDescription, head: Head): void {
    if (typeof head !== "number" || wayOf(map, head) !== "dense") return;
    const { source } = this.stage;
    const near = (layer: number): number | undefined =>
      source.description.maps.find(
        (each) =>
          each.stack === map.stack &&
          each.kind === map.kind &&
          each.step === map.step &&
          each.layer === layer,
      )?.index;
    const idle = window.requestIdleCallback ?? ((task: () => void) => window.setTimeout(task, 200));
    idle(() => {
      const next = [
        [map.index, head + 1],
        [map.index, head - 1],
        [near(map.layer + 1), head],
        [near(map.layer - 1), head],
      ] as const;
      for (const [index, number] of next) {
        if (this.over || index === undefined || number < 0 || number >= map.heads) continue;
        source.weights(index, { head: number }, "uint8").catch(() => {});
      }
    });
  }

  // Size and camera

  private get extent(): Extent {
    return this.subject?.extent ?? { queries: 1, keys: 1 };
  }

  resize(): void {
    const whole = isFitted(this.camera, this.extent, this.frame);
    const at = whole ? undefined : writeCamera(this.camera, this.frame);
    this.layout();
    this.camera = readCamera(at, this.extent, this.frame) ?? wholeMap(this.extent, this.frame);
    this.schedule(true);
  }

  private layout(): void {
    const [wide, high] = [this.plot.clientWidth, this.plot.clientHeight];
    this.laid = [wide, high];
    const axes = this.subject?.axes;
    const measure = this.measure();
    const most = Math.min(132, wide * 0.24);
    const left = axes === undefined ? 64 : marginFor(axes.query, 64, most, measure);
    const top = axes === undefined ? 64 : marginFor(axes.key, 48, Math.min(most, high * 0.24), measure);
    this.frame = { left, top, width: Math.max(1, wide - left - 1), height: Math.max(1, high - top - 1) };
    for (const name of ["left", "top", "width", "height"] as const) {
      this.cells.style.setProperty(name, `${this.frame[name]}px`);
    }
    const known = (axis: Axis): boolean => axis.tokens.get(axis.start) !== undefined;
    this.named = axes !== undefined && known(axes.query) && known(axes.key);
    this.corner.style.setProperty("width", `${left}px`);
    this.corner.style.setProperty("height", `${top}px`);
  }

  /** The part of the map that the URL names, or all of it. */
  private recall(): void {
    this.recallFrom(this.stage.selection.get().options["heatmap.at"]);
  }

  private recallFrom(at: string | undefined): void {
    this.camera = readCamera(at, this.extent, this.frame) ?? wholeMap(this.extent, this.frame);
    this.schedule(true);
  }

  private move(camera: Camera): void {
    this.camera = camera;
    if (this.pointer !== null) this.hover = this.cellAt(this.pointer.x, this.pointer.y);
    this.schedule(true);
    window.clearTimeout(this.timers.url);
    this.timers.url = window.setTimeout(() => {
      const whole = isFitted(this.camera, this.extent, this.frame);
      this.written = whole ? null : writeCamera(this.camera, this.frame);
      if (this.written !== null) this.recallFrom(this.written); // a link shows the very same pixels
      this.stage.selection.option("heatmap.at", this.written);
    }, 250);
  }

  private pan(dx: number, dy: number): void {
    const { key, query, scale } = this.camera;
    this.move(clamp({ key: key - dx / scale, query: query - dy / scale, scale }, this.extent, this.frame));
  }

  private zoomAt(x: number, y: number, factor: number): void {
    this.move(zoomAbout(this.camera, x, y, factor, this.extent, this.frame));
  }

  /** By a step about the crosshair, or the middle; 0 shows all. */
  zoom(direction: -1 | 0 | 1): void {
    const { frame, camera, hover } = this;
    if (direction === 0) this.move(wholeMap(this.extent, frame));
    else if (hover === null) this.zoomAt(frame.width / 2, frame.height / 2, STEP ** direction);
    else {
      const [x, y] = [hover.key + 0.5 - camera.key, hover.query + 0.5 - camera.query];
      this.zoomAt(x * camera.scale, y * camera.scale, STEP ** direction);
    }
  }

  // Pointing and selecting

  private cellAt(x: number, y: number): Cell | null {
    const { frame, camera, extent } = this;
    if (x < frame.left || y < frame.top) return null;
    const key = Math.floor(camera.key + (x - frame.left) / camera.scale);
    const query = Math.floor(camera.query + (y - frame.top) / camera.scale);
    return key < extent.keys && query < extent.queries ? { query, key } : null;
  }

  private point(cell: Cell | null, pointer: { x: number; y: number } | null): void {
    this.pointer = pointer;
    if (cell?.query !== this.hover?.query || cell?.key !== this.hover?.key) {
      this.hover = cell;
      window.clearTimeout(this.timers.exact);
      if (cell !== null) {
        this.timers.exact = window.setTimeout(() => this.subject?.exact.ask(cell.query, cell.key), 40);
      }
    }
    this.schedule(false);
  }

  private tap(x: number, y: number): void {
    const cell = this.cellAt(x, y);
    if (cell !== null) this.choose(cell);
  }

  private choose({ query, key }: Cell): void {
    const map = this.subject?.map;
    if (map === undefined) return;
    this.stage.selection.set({ query: map.query_start + query, key: map.key_start + key });
  }

  /** The selected row and column of this map. */
  private selected(): { query: number | null; key: number | null } {
    const { query, key } = this.stage.selection.get();
    const map = this.subject?.map;
    const within = (token: number | null, start: number, count: number): number | null =>
      token !== null && token >= start && token < start + count ? token - start : null;
    if (map === undefined) return { query: null, key: null };
    return { query: within(query, map.query_start, map.queries), key: within(key, map.key_start, map.keys) };
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    if (arrow !== undefined) {
      const [down, right] = arrow;
      if (event.shiftKey) this.pan(-right * this.frame.width * 0.15, -down * this.frame.height * 0.15);
      else this.step(down, right);
    } else if (event.key === "+" || event.key === "=") this.zoom(1);
    else if (event.key === "-") this.zoom(-1);
    else if (event.key === "0") this.zoom(0);
    else if (event.key === "Enter" || event.key === " ") {
      if (this.hover !== null) this.choose(this.hover);
    } else if (event.key === "Escape") {
      this.point(null, null);
      this.stage.selection.set({ query: null, key: null });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The crosshair goes to the next cell, or to the next pixel where a pixel covers several. */
  private step(down: number, right: number): void {
    const { extent, camera, frame } = this;
    const chosen = this.selected();
    const middle = (first: number, pixels: number, count: number): number =>
      Math.floor((first + Math.min(count, first + pixels / camera.scale)) / 2);
    const start = this.hover ?? {
      query: chosen.query ?? middle(camera.query, frame.height, extent.queries),
      key: chosen.key ?? middle(camera.key, frame.width, extent.keys),
    };
    const far = this.subject?.side ?? 1;
    const hold = (value: number, count: number): number => Math.max(0, Math.min(count - 1, value));
    const cell = {
      query: hold(start.query + down * far, extent.queries),
      key: hold(start.key + right * far, extent.keys),
    };
    const seen = reveal(camera, cell, extent, frame);
    this.pointer = null;
    if (seen.key !== camera.key || seen.query !== camera.query) this.move(seen);
    this.point(cell, null);
    window.clearTimeout(this.timers.tell);
    this.timers.tell = window.setTimeout(() => {
      const reading = this.subject?.read(cell, this.say);
      if (reading === undefined) return;
      const { said } = this.say;
      this.stage.announce(said(reading.query.text, reading.key.text, valueText(reading, this.say)));
    }, 250);
  }

  // Drawing

  /** Draw in the next frame; `cells` false: only what lies over them has changed. */
  private schedule(cells: boolean): void {
    this.stale ||= cells;
    if (this.due === 0 && !this.over) this.due = requestAnimationFrame(() => this.drawAll());
  }

  private drawAll(): void {
    this.due = 0;
    const { subject, frame, camera, stage } = this;
    if (this.over || subject === null || frame.width <= 1) return;
    const anew = this.stale;
    if (anew) {
      this.stale = false;
      this.look(subject);
      this.surface.draw(this.scene(subject, window.devicePixelRatio || 1));
      const axes = prepare(this.axesLayer, this.plot);
      if (axes !== null) {
        const laid = layAxes(
          frame,
          camera,
          subject.extent,
          subject.axes,
          (text) => axes.measureText(text).width,
        );
        drawAxes(axes, laid, this.inks);
        this.flat = laid.flat;
        this.edge(axes);
      }
    }
    this.drawOver(subject);
    const { query, key } = this.selected();
    const both = query !== null && key !== null ? { query, key } : null;
    if (both !== null) subject.exact.ask(both.query, both.key);
    this.desk.show(subject, sequential(stage.theme), both === null ? null : subject.read(both, this.say));
    if (anew) this.rest(subject);
  }

  /** Say whether all is here: cells, masks, names (margins follow them). Then nothing moves by itself any more. */
  private rest(subject: Subject): void {
    const [wide, high] = this.laid;
    const moved = this.plot.clientWidth !== wide || this.plot.clientHeight !== high; // a bar that wraps otherwise
    if (moved) this.resize();
    const busy = moved || subject.supply.missing > 0 || subject.waiting || !this.named;
    this.plot.setAttribute("aria-busy", String(busy));
  }

  private look(subject: Subject): void {
    const { frame, camera } = this;
    const ratio = window.devicePixelRatio || 1;
    const across = {
      query: camera.query + frame.height / camera.scale / 2,
      key: camera.key + frame.width / camera.scale / 2,
    };
    const size = { width: frame.width * ratio, height: frame.height * ratio };
    const device = { ...camera, scale: camera.scale * ratio };
    subject.look({ camera: device, ...size, near: this.hover ?? across }, this.options().scale);
  }

  /** What is seen, at so many device pixels per CSS pixel. */
  private scene(subject: Subject, ratio: number): Scene {
    const { frame, camera, stage } = this;
    const { placements, top, mask, extent } = subject;
    return {
      width: Math.max(1, Math.round(frame.width * ratio)),
      height: Math.max(1, Math.round(frame.height * ratio)),
      camera: { ...camera, scale: camera.scale * ratio },
      extent,
      placements,
      top,
      mask,
      table: sequential(stage.theme),
      hatch: HATCH[stage.theme]!,
    };
  }

  private edge(context: CanvasRenderingContext2D): void {
    const { frame, camera, extent } = this;
    const width = Math.min(frame.width, (extent.keys - camera.key) * camera.scale);
    const height = Math.min(frame.height, (extent.queries - camera.query) * camera.scale);
    context.strokeStyle = this.inks.line;
    context.lineWidth = 1;
    context.strokeRect(frame.left - 0.5, frame.top - 0.5, Math.ceil(width) + 1, Math.ceil(height) + 1);
  }

  private drawOver(subject: Subject): void {
    const { frame, camera, hover, pointer } = this;
    const context = prepare(this.overLayer, this.plot);
    if (context === null) return;
    drawOverlay(
      context,
      { frame, camera, axes: subject.axes, flat: this.flat, hover, selected: this.selected() },
      this.inks,
    );
    if (hover === null) {
      this.tooltip.hide();
      return;
    }
    this.floating.show(subject.read(hover, this.say));
    this.tooltip.refresh();
    const x = pointer?.x ?? frame.left + (hover.key + 1 - camera.key) * camera.scale;
    const y = pointer?.y ?? frame.top + (hover.query + 1 - camera.query) * camera.scale;
    this.tooltip.show(x, y);
  }

  // Saving and reading

  async picture(): Promise<string> {
    const { subject, say, stage, frame, camera } = this;
    if (subject === null) throw new Error(say.noMaps);
    const scene = this.scene(subject, 1);
    const looked = { subject, scene, frame, camera, options: this.options(), measure: this.measure() };
    return printMap(looked, stage.source.description, say, stage.theme);
  }

  async table(): Promise<TableData> {
    if (this.subject === null) return { caption: this.say.noMaps, columns: [], rows: [] };
    return tabulate(this.subject, this.selected(), this.camera, this.say);
  }

  // Small things

  private options({ options }: Selection = this.stage.selection.get()): Options {
    const scale = options["heatmap.scale"];
    const leave = options["heatmap.leave"];
    return {
      scale: scale === "absolute" || scale === "map" || scale === "row" ? scale : this.usualScale(),
      how: options["heatmap.pool"] === "max" ? "max" : "mean",
      leave: leave === "first" || leave === "special" ? leave : "none",
    };
  }

  /** Short maps from 0 to 1; means over many tokens are tiny, so long maps up to their largest. */
  private usualScale(): Scale {
    const map = chooseMap(this.stage.source.description, this.stage.selection.get());
    return map !== null && wayOf(map, 0) === "dense" ? "absolute" : "map";
  }

  private axis(map: MapDescription, which: "query" | "key"): Axis {
    const [side, start, count] = axisOf(map, which);
    let tokens = this.tokens.get(side);
    if (tokens === undefined) {
      const { description } = this.stage.source;
      const all = (side === "source" ? description.source : description.target)?.count ?? 0;
      const arrived = (): void => {
        if (this.named) this.schedule(true);
        else this.resize(); // margins follow the first names; later they would shake the map
      };
      tokens = new TokenStore(this.stage.source, side, all, arrived, () => {});
      this.tokens.set(side, tokens);
    }
    return { tokens, start, count };
  }

  private measure(): (text: string) => number {
    const context = this.axesLayer.getContext("2d");
    if (context === null) return (text) => text.length * 6;
    context.font = fontOf(this.plot);
    return (text) => context.measureText(text).width;
  }

  unmount(): void {
    this.over = true;
    for (const timer of Object.values(this.timers)) window.clearTimeout(timer);
    cancelAnimationFrame(this.due);
    this.deaf();
    this.subject?.dispose();
    for (const tokens of this.tokens.values()) tokens.dispose();
    this.surface.dispose();
    this.stage.element.replaceChildren();
  }
}

/** A clean canvas over an element, in CSS pixels. */
function prepare(canvas: HTMLCanvasElement, over: HTMLElement): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(over.clientWidth * ratio), Math.round(over.clientHeight * ratio)];
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext("2d");
  if (context === null) return null;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, over.clientWidth, over.clientHeight);
  context.font = fontOf(over);
  return context;
}

function fontOf(element: HTMLElement): string {
  return `${FONT_SIZE}px ${getComputedStyle(element).fontFamily || "sans-serif"}`;
}

function readInks(element: HTMLElement) {
  const style = getComputedStyle(element);
  const ink = (name: string, otherwise: string): string => style.getPropertyValue(name).trim() || otherwise;
  return {
    ink: ink("--ink", "#222"),
    soft: ink("--ink-soft", "#555"),
    faint: ink("--ink-faint", "#777"),
    line: ink("--line", "#ddd"),
    accent: ink("--accent", "#44c"),
    accentInk: ink("--accent-ink", "#fff"),
    panel: ink("--panel", "#fff"),
  };
}

export const view: View = {
  name: "heatmap",
  order: 20,
  ...introduce(words),
  fits: (source) => source.description.maps.length > 0 || inBoth(words, (say) => say.noMaps),
  mount: (stage: Stage): Mounted => new Heatmap(stage),
};
