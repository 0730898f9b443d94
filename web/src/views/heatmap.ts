/**
 * The heat map: one head, a layer's or the model's average; queries down, keys across, zoomed like a street map.
 *
 * In:   a stage: the recording's maps and tokens, the selection (map, head, query, key), options "heatmap.…".
 * Out:  cells in WebGL2 (or canvas), tokens on both axes, a crosshair with the exact weight; a click selects.
 */

import { words } from "../i18n/heatmap";
import { TokenStore } from "../marks/axis";
import { sequential } from "../marks/colours";
import { choice, list } from "../marks/controls";
import { digits } from "../marks/digits";
import type { Camera, Colour, Extent, Mask, Placement, Scene, Top } from "../marks/heat";
import { type Axis, drawAxes, FONT_SIZE, type Frame, layAxes, marginFor } from "../marks/heat_axes";
import { clamp, wholeMap, isFitted, readCamera, reveal, writeCamera, zoomAbout } from "../marks/heat_camera";
import { listen } from "../marks/heat_gestures";
import { type Cell, drawOverlay } from "../marks/heat_overlay";
import { type Reading, Readout, valueText } from "../marks/heat_readout";
import { print } from "../marks/heat_sheet";
import {
  causalOf,
  Exact,
  glance,
  type How,
  openSupply,
  Peaks,
  readMask,
  type Scale,
  type Supply,
  wayOf,
} from "../marks/heat_supply";
import { Surface } from "../marks/heat_surface";
import { Legend, type LegendWords } from "../marks/legend";
import { make, write } from "../marks/make";
import { Tooltip } from "../marks/tooltip";
import type { Selection } from "../selection";
import type { MapDescription } from "../types";
import type { Mounted, Stage, TableData, View } from "../view";
import { axisOf, chooseHead, chooseMap, type Head } from "../weights";

const HATCH: Readonly<Record<string, readonly [Colour, Colour]>> = {
  light: [
    [247, 247, 249],
    [208, 211, 219],
  ],
  dark: [
    [26, 29, 36],
    [62, 67, 79],
  ],
};
const STEP = 1.5; // a press of + or −
const TABLE = 24; // rows and columns of the data table

type Leave = "none" | "first" | "special";

interface Options {
  readonly scale: Scale;
  readonly how: How;
  readonly leave: Leave;
}

/** Everything that belongs to one map and head, thrown away with it. */
interface Subject {
  readonly map: MapDescription;
  readonly head: Head;
  readonly how: How;
  readonly extent: Extent;
  readonly axes: { readonly query: Axis; readonly key: Axis };
  readonly supply: Supply;
  readonly exact: Exact;
  mask: Mask;
  peaks: Peaks;
  leave: Leave;
}

class Heatmap implements Mounted {
  private readonly say: ReturnType<typeof words>;
  private readonly plot = make("div", { class: "heat-plot", tabindex: 0, role: "application" });
  private readonly cells = make("div", { class: "heat-cells" });
  private readonly axesCanvas = make("canvas", { class: "heat-layer", "aria-hidden": "true" });
  private readonly overCanvas = make("canvas", { class: "heat-layer", "aria-hidden": "true" });
  private readonly corner: HTMLElement;
  private readonly heading = make("h2", { class: "heat-heading" });
  private readonly note = make("p", { class: "heat-note" });
  private readonly status = make("p", { class: "heat-status" });
  private readonly pinned: Readout;
  private readonly hint: HTMLElement;
  private readonly floating: Readout;
  private readonly tooltip: Tooltip;
  private readonly legend = new Legend();
  private readonly surface: Surface;
  private readonly tokens = new Map<string, TokenStore>();
  private readonly controls: {
    scale: { set(value: Scale): void };
    how: { set(value: How): void };
    leave: { set(value: Leave): void };
  };
  private readonly deaf: () => void;
  private readonly inks: Record<"ink" | "soft" | "faint" | "line" | "accent" | "accentInk" | "panel", string>;

  private subject: Subject | null = null;
  private frame: Frame = { left: 64, top: 64, width: 0, height: 0 };
  private camera: Camera = { key: 0, query: 0, scale: 1 };
  private hover: Cell | null = null;
  private pointer: { x: number; y: number } | null = null;
  private placements: readonly Placement[] = [];
  private top: Top = 1;
  private turn = 0;
  private due = 0;
  private dirty = { cells: true, axes: true };
  private later = 0; // timers: writing the URL, asking for exact values, announcing
  private asking = 0;
  private telling = 0;
  private written: string | null = null;
  private over = false;

  constructor(private readonly stage: Stage) {
    this.say = words(stage.language);
    const { say } = this;
    const option = this.options(stage.selection.get());
    const scale = choice<Scale>(
      say.colours,
      [
        { value: "absolute", text: say.absolute },
        { value: "map", text: say.perMap },
        { value: "row", text: say.perRow },
      ],
      option.scale,
      (value) => stage.selection.option("heatmap.scale", value === this.defaultScale() ? null : value),
    );
    const how = choice<How>(
      say.pool,
      [
        { value: "mean", text: say.mean },
        { value: "max", text: say.max },
      ],
      option.how,
      (value) => stage.selection.option("heatmap.pool", value === "mean" ? null : value),
    );
    const leave = list<Leave>(
      say.leave,
      [
        {
          label: null,
          options: [
            { value: "none", text: say.leaveNone },
            { value: "first", text: say.leaveFirst },
            { value: "special", text: say.leaveSpecial },
          ],
        },
      ],
      option.leave,
      (value) => stage.selection.option("heatmap.leave", value === "none" ? null : value),
    );
    this.controls = { scale, how, leave };
    this.pinned = new Readout(say);
    this.floating = new Readout(say);
    this.hint = make("p", { class: "heat-hint" }, say.nothing);
    this.corner = make(
      "div",
      { class: "heat-corner", "aria-hidden": "true" },
      make("span", {}, `${say.keys} →`),
      make("span", {}, `${say.queries} ↓`),
    );
    const zooms = make(
      "div",
      { class: "heat-zooms" },
      ...(
        [
          ["+", say.zoomIn, 1],
          ["−", say.zoomOut, -1],
          ["⤢", say.whole, 0],
        ] as const
      ).map(([sign, title, way]) =>
        make("button", { type: "button", title, "aria-label": title, onclick: () => this.zoom(way) }, sign),
      ),
    );
    this.plot.append(this.cells, this.axesCanvas, this.overCanvas, this.corner);
    const area = make("div", { class: "heat-area" }, this.plot, zooms);
    const side = make(
      "div",
      { class: "heat-side" },
      this.legend.element,
      this.status,
      this.note,
      this.pinned.element,
      this.hint,
    );
    const bar = make("div", { class: "heat-bar" }, this.heading, scale.element, how.element, leave.element);
    stage.element.append(
      make("div", { class: "heat" }, bar, make("div", { class: "heat-body" }, area, side)),
    );
    this.surface = new Surface(
      this.cells,
      stage.selection.get().options["heatmap.renderer"] === "canvas" ? "canvas" : "webgl",
    );
    this.tooltip = new Tooltip(area);
    this.tooltip.fill(this.floating.element);
    this.inks = readInks(stage.element);
    this.deaf = listen(this.plot, {
      zoom: (x, y, factor) =>
        this.move(
          zoomAbout(this.camera, x - this.frame.left, y - this.frame.top, factor, this.extent, this.frame),
        ),
      pan: (dx, dy) => this.pan(dx, dy),
      hover: (x, y) => this.point(this.cellAt(x, y), { x, y }),
      leave: () => this.point(null, null),
      tap: (x, y) => this.tap(x, y),
    });
    this.plot.addEventListener("keydown", (event) => this.press(event));
    this.plot.addEventListener("blur", () => this.point(null, null));
    this.layout();
    this.open(stage.selection.get());
  }

  // What is shown

  update(now: Selection, before: Selection): void {
    const subject = this.subject;
    const option = this.options(now);
    this.controls.scale.set(option.scale);
    this.controls.how.set(option.how);
    this.controls.leave.set(option.leave);
    if (now.map !== before.map || now.head !== before.head || option.how !== this.options(before).how) {
      this.open(now);
      return;
    }
    if (subject !== null && option.leave !== subject.leave) void this.leaveOut(subject, option.leave);
    const at = now.options["heatmap.at"] ?? null;
    if (at !== (before.options["heatmap.at"] ?? null) && at !== this.written) this.recall(now);
    const { query, key } = this.selected();
    if (now.query !== before.query || now.key !== before.key) {
      this.camera = reveal(
        this.camera,
        query ?? this.camera.query,
        key ?? this.camera.key,
        this.extent,
        this.frame,
      );
      this.dirty.axes = true;
    }
    this.schedule();
  }

  /** Load a map and head; what was shown stays until the new one is here. */
  private open(now: Selection): void {
    const map = chooseMap(this.stage.source.description, now);
    if (map === null) return;
    const head = chooseHead(map, now.head);
    const { how, leave } = this.options(now);
    const turn = ++this.turn;
    const heard = { arrived: () => this.schedule(), failed: (error: unknown) => this.stage.fail(error) };
    void openSupply(this.stage.source, map, head, how, heard).then(
      (supply) => {
        if (turn !== this.turn || this.over) {
          supply.dispose();
          return;
        }
        this.install(map, head, how, supply);
        void this.leaveOut(this.subject!, leave);
        this.prefetch(map, head);
      },
      (error: unknown) => {
        if (turn === this.turn && !this.over) this.stage.fail(error);
      },
    );
  }

  private install(map: MapDescription, head: Head, how: How, supply: Supply): void {
    const before = this.subject;
    before?.supply.dispose();
    const extent = { queries: map.queries, keys: map.keys };
    const axes = { query: this.axis(map, "query"), key: this.axis(map, "key") };
    const exact = new Exact(this.stage.source, map, head, () => this.schedule());
    const mask = { causal: causalOf(map), rows: null, left: null };
    const subject: Subject = {
      map,
      head,
      how,
      extent,
      axes,
      supply,
      exact,
      mask,
      peaks: new Peaks(null),
      leave: "none",
    };
    this.subject = subject;
    const same =
      before !== null && before.extent.queries === extent.queries && before.extent.keys === extent.keys;
    if (!same) {
      this.hover = null;
      this.layout();
      this.recall(this.stage.selection.get());
    }
    const name = this.nameOf(subject);
    write(this.heading, name);
    this.plot.setAttribute("aria-label", this.say.plot(name));
    this.dirty = { cells: true, axes: true };
    void readMask(this.stage.source, map, head)
      .then((known) => {
        subject.mask = { ...subject.mask, ...known };
        this.schedule();
      })
      .catch(() => {}); // without statistics only the causal rule is known
    this.schedule();
  }

  /** Neighbouring heads of a short map, fetched when nothing else is to do: switching is then at once. */
  private prefetch(map: MapDescription, head: Head): void {
    if (typeof head !== "number" || wayOf(map, head) !== "dense") return;
    const idle = window.requestIdleCallback ?? ((task: () => void) => window.setTimeout(task, 200));
    idle(() => {
      for (const next of [head + 1, head - 1]) {
        if (!this.over && next >= 0 && next < map.heads) {
          void this.stage.source.weights(map.index, { head: next }, "uint8").catch(() => {});
        }
      }
    });
  }

  private async leaveOut(subject: Subject, leave: Leave): Promise<void> {
    subject.leave = leave;
    let left: Uint8Array | null = null;
    if (leave !== "none") {
      const { tokens, start, count } = subject.axes.key;
      left = new Uint8Array(count);
      if (leave === "first") left[0] = start === 0 ? 1 : 0;
      else
        for (const token of await tokens.specials())
          if (token >= start && token < start + count) left[token - start] = 1;
    }
    if (subject.leave !== leave) return;
    subject.mask = { ...subject.mask, left };
    subject.peaks = new Peaks(left);
    this.dirty.cells = true;
    this.schedule();
  }

  // Size and camera

  private get extent(): Extent {
    return this.subject?.extent ?? { queries: 1, keys: 1 };
  }

  resize(): void {
    const at =
      this.subject !== null && !isFitted(this.camera, this.extent, this.frame)
        ? writeCamera(this.camera, this.frame)
        : null;
    this.layout();
    const kept = at === null ? null : readCamera(at, this.extent, this.frame);
    this.camera = kept ?? wholeMap(this.extent, this.frame);
    this.dirty = { cells: true, axes: true };
    this.schedule();
  }

  private layout(): void {
    const [wide, high] = [this.plot.clientWidth, this.plot.clientHeight];
    const most = Math.min(132, wide * 0.24);
    const axes = this.subject?.axes;
    const measure = this.measure();
    const left = axes === undefined ? 64 : marginFor(axes.query, most, measure);
    const top = axes === undefined ? 64 : marginFor(axes.key, Math.min(most, high * 0.24), measure);
    this.frame = { left, top, width: Math.max(1, wide - left - 1), height: Math.max(1, high - top - 1) };
    for (const [name, value] of [
      ["left", left],
      ["top", top],
      ["width", this.frame.width],
      ["height", this.frame.height],
    ] as const) {
      this.cells.style.setProperty(name, `${value}px`);
    }
    this.corner.style.setProperty("width", `${left}px`);
    this.corner.style.setProperty("height", `${top}px`);
    this.corner.hidden = left < 60 || top < 40;
  }

  private recall(now: Selection): void {
    const at = now.options["heatmap.at"];
    this.camera = readCamera(at, this.extent, this.frame) ?? wholeMap(this.extent, this.frame);
    this.dirty.axes = true;
    this.schedule();
  }

  private move(camera: Camera): void {
    this.camera = camera;
    this.dirty.axes = true;
    if (this.pointer !== null) this.hover = this.cellAt(this.pointer.x, this.pointer.y);
    this.schedule();
    window.clearTimeout(this.later);
    this.later = window.setTimeout(() => {
      const whole = isFitted(this.camera, this.extent, this.frame);
      this.written = whole ? null : writeCamera(this.camera, this.frame);
      this.stage.selection.option("heatmap.at", this.written);
    }, 250);
  }

  private pan(dx: number, dy: number): void {
    const { key, query, scale } = this.camera;
    this.move(clamp({ key: key - dx / scale, query: query - dy / scale, scale }, this.extent, this.frame));
  }

  zoom(direction: -1 | 0 | 1): void {
    if (direction === 0) {
      this.move(wholeMap(this.extent, this.frame));
      return;
    }
    const { frame, camera, hover } = this;
    const x = hover === null ? frame.width / 2 : (hover.key + 0.5 - camera.key) * camera.scale;
    const y = hover === null ? frame.height / 2 : (hover.query + 0.5 - camera.query) * camera.scale;
    this.move(zoomAbout(camera, x, y, STEP ** direction, this.extent, frame));
  }

  // Pointing and selecting

  private cellAt(x: number, y: number): Cell | null {
    const { frame, camera, extent } = this;
    if (x < frame.left || y < frame.top) return null;
    const key = Math.floor(camera.key + (x - frame.left) / camera.scale);
    const query = Math.floor(camera.query + (y - frame.top) / camera.scale);
    return key >= 0 && key < extent.keys && query >= 0 && query < extent.queries ? { query, key } : null;
  }

  private point(cell: Cell | null, pointer: { x: number; y: number } | null): void {
    this.pointer = pointer;
    if (cell?.query !== this.hover?.query || cell?.key !== this.hover?.key) {
      this.hover = cell;
      window.clearTimeout(this.asking);
      const { subject } = this;
      if (cell !== null && subject !== null) {
        this.asking = window.setTimeout(() => subject.exact.ask(cell.query, cell.key), 40);
      }
    }
    this.schedule();
  }

  private tap(x: number, y: number): void {
    const cell = this.cellAt(x, y);
    this.point(cell, { x, y });
    if (cell !== null) this.choose(cell);
  }

  private choose({ query, key }: Cell): void {
    const { subject } = this;
    if (subject === null) return;
    subject.exact.ask(query, key);
    this.stage.selection.set({ query: subject.map.query_start + query, key: subject.map.key_start + key });
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
    const way = ({ ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] } as const)[
      event.key as "ArrowLeft"
    ] as readonly [number, number] | undefined;
    if (way !== undefined) {
      if (event.shiftKey) this.pan(-way[1] * this.frame.width * 0.15, -way[0] * this.frame.height * 0.15);
      else this.step(way[0], way[1]);
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

  /** The crosshair goes to the next cell, or the next pixel where a pixel covers several. */
  private step(down: number, right: number): void {
    const { extent, camera, frame } = this;
    const chosen = this.selected();
    const far = 2 ** (this.placements[0]?.plane.level ?? 0);
    const start = this.hover ?? {
      query:
        chosen.query ??
        Math.floor(Math.min(extent.queries, camera.query * 2 + frame.height / camera.scale) / 2),
      key: chosen.key ?? Math.floor(Math.min(extent.keys, camera.key * 2 + frame.width / camera.scale) / 2),
    };
    const hold = (value: number, count: number): number => Math.max(0, Math.min(count - 1, value));
    const cell = {
      query: hold(start.query + down * far, extent.queries),
      key: hold(start.key + right * far, extent.keys),
    };
    const seen = reveal(camera, cell.query, cell.key, extent, frame);
    if (seen.key !== camera.key || seen.query !== camera.query) this.move(seen);
    this.point(cell, null);
    window.clearTimeout(this.telling);
    this.telling = window.setTimeout(() => this.tell(cell), 250);
  }

  private tell(cell: Cell): void {
    const reading = this.read(cell);
    if (reading !== null && !this.over) {
      this.stage.announce(this.say.said(reading.query.text, reading.key.text, valueText(reading, this.say)));
    }
  }

  // Drawing

  private schedule(): void {
    if (this.due === 0 && !this.over) this.due = requestAnimationFrame(() => this.drawAll());
  }

  private drawAll(): void {
    this.due = 0;
    const { subject, frame, camera } = this;
    if (this.over || subject === null || frame.width <= 1) return;
    const scene = this.scene(window.devicePixelRatio || 1, true);
    this.surface.draw(scene);
    const axes = prepare(this.axesCanvas, this.plot);
    if (axes !== null) {
      const laid = layAxes(
        frame,
        camera,
        subject.extent,
        subject.axes,
        (text) => axes.measureText(text).width,
      );
      drawAxes(axes, laid, this.inks);
      this.edge(axes);
    }
    this.drawOver();
    this.describe();
  }

  /** The scene at so many device pixels per CSS pixel; `ask` for tiles only when it is for the screen. */
  private scene(ratio: number, ask: boolean): Scene {
    const { subject, frame, camera, stage } = this;
    const { supply, extent, peaks, mask } = subject!;
    const device = { ...camera, scale: camera.scale * ratio };
    const size = {
      width: Math.max(1, Math.round(frame.width * ratio)),
      height: Math.max(1, Math.round(frame.height * ratio)),
    };
    if (ask) {
      const near = this.hover ?? {
        query: camera.query + frame.height / camera.scale / 2,
        key: camera.key + frame.width / camera.scale / 2,
      };
      this.placements = supply.placements({ camera: device, ...size, near });
      this.top = peaks.top(this.options(stage.selection.get()).scale, this.placements, extent);
    }
    const look = {
      placements: this.placements,
      top: this.top,
      mask,
      table: sequential(stage.theme),
      hatch: HATCH[stage.theme]!,
    };
    return { ...size, camera: device, extent, ...look };
  }

  private edge(context: CanvasRenderingContext2D): void {
    const { frame, camera, extent } = this;
    const width = Math.min(frame.width, (extent.keys - camera.key) * camera.scale);
    const height = Math.min(frame.height, (extent.queries - camera.query) * camera.scale);
    context.strokeStyle = this.inks.line;
    context.lineWidth = 1;
    context.strokeRect(
      Math.round(frame.left) - 0.5,
      Math.round(frame.top) - 0.5,
      Math.ceil(width) + 1,
      Math.ceil(height) + 1,
    );
  }

  private drawOver(): void {
    const { subject, frame, camera, hover } = this;
    const context = prepare(this.overCanvas, this.plot);
    if (context === null || subject === null) return;
    const selected = this.selected();
    drawOverlay(context, { frame, camera, axes: subject.axes, hover, selected }, this.inks);
    const reading = hover === null ? null : this.read(hover);
    if (reading === null || hover === null) this.tooltip.hide();
    else {
      this.floating.show(reading);
      this.tooltip.refresh();
      const x = this.pointer?.x ?? frame.left + (hover.key + 1 - camera.key) * camera.scale;
      const y = this.pointer?.y ?? frame.top + (hover.query + 1 - camera.query) * camera.scale;
      this.tooltip.show(x, y);
    }
    const both =
      selected.query !== null && selected.key !== null ? { query: selected.query, key: selected.key } : null;
    if (both !== null) subject.exact.ask(both.query, both.key);
    const pinned = both === null ? null : this.read(both);
    this.pinned.element.hidden = pinned === null;
    this.hint.hidden = pinned !== null;
    if (pinned !== null) this.pinned.show(pinned);
  }

  /** What is known of a cell now. */
  private read({ query, key }: Cell): Reading | null {
    const { subject, placements, say } = this;
    if (subject === null) return null;
    const { axes, exact, mask, how } = subject;
    const token = (axis: Axis, cell: number) => ({
      number: axis.start + cell,
      text: axis.tokens.get(axis.start + cell, axis.count > 4096) ?? "…",
    });
    const both = { query: token(axes.query, query), key: token(axes.key, key) };
    const seen = glance(placements, query, key);
    const sure = exact.get(query, key);
    const side = 2 ** (seen?.level ?? 0);
    const pooled = side > 1 && seen !== null ? say.pooled(side, say[how], digits(seen.weight, 2)) : null;
    const beyond = mask.causal !== null && key > query + mask.causal;
    if (beyond || (sure === 0 && mask.rows?.[query]))
      return { ...both, weight: null, kind: "masked", pooled };
    if (sure !== undefined) return { ...both, weight: sure, kind: "exact", pooled };
    const weight = side > 1 ? null : (seen?.weight ?? null);
    return { ...both, weight, kind: exact.available ? "coming" : "drawn", pooled };
  }

  /** Legend, notes and the status line. */
  private describe(): void {
    const { subject, say, stage } = this;
    if (subject === null) return;
    const { supply } = subject;
    const percent = typeof this.top !== "number";
    this.legend.show(
      sequential(stage.theme),
      typeof this.top === "number" ? this.top : 1,
      percent,
      this.legendWords(),
    );
    const side = 2 ** (this.placements[0]?.plane.level ?? 0);
    const parts = [
      side > 1 ? say.pixel(side, say[subject.how]) : "",
      supply.missing > 0 ? say.coming(supply.missing) : "",
    ];
    write(this.status, parts.filter(Boolean).join(" · "));
    this.plot.setAttribute("aria-busy", String(supply.missing > 0));
    const note =
      supply.coarse === "average"
        ? say.coarseAverage
        : supply.coarse === "statistics"
          ? say.coarseStatistics
          : "";
    write(this.note, note);
    this.note.hidden = note === "";
  }

  private legendWords(): LegendWords {
    const { say, subject } = this;
    const top = typeof this.top === "number" ? digits(this.top, 3) : say.rowShare;
    const keys = [];
    if (subject!.mask.causal !== null || subject!.mask.rows !== null)
      keys.push({ text: say.masked, falling: false });
    if (subject!.mask.left !== null) keys.push({ text: say.leftOut, falling: true });
    return {
      note: typeof this.top === "number" ? say.root : `${say.rowShare}, ${say.root}`,
      said: say.legend(top),
      keys,
    };
  }

  // Saving and reading

  async picture(): Promise<string> {
    const { subject, say, stage, frame, camera } = this;
    if (subject === null) throw new Error(say.noMaps);
    const { description } = stage.source;
    const { queries, keys } = subject.extent;
    const option = this.options(stage.selection.get());
    const q1 = Math.min(queries, Math.ceil(camera.query + frame.height / camera.scale));
    const k1 = Math.min(keys, Math.ceil(camera.key + frame.width / camera.scale));
    const whole = isFitted(camera, subject.extent, frame);
    const which = { absolute: say.absolute, map: say.perMapHint, row: say.perRowHint }[option.scale];
    const left = {
      none: "",
      first: say.leftCaption(say.leaveFirst),
      special: say.leftCaption(say.leaveSpecial),
    }[option.leave];
    const side = 2 ** (this.placements[0]?.plane.level ?? 0);
    return print({
      scene: this.scene(1, false),
      frame,
      axes: layAxes(frame, camera, subject.extent, subject.axes, this.measure()),
      title: this.nameOf(subject),
      caption: [
        say.caption(description.model, queries, keys) +
          (whole ? "" : ` ${say.part(Math.floor(camera.query), q1 - 1, Math.floor(camera.key), k1 - 1)}`),
        say.scaleCaption(which, left) + (side > 1 ? ` ${say.pixel(side, say[subject.how])}` : ""),
        description.evidence.line,
      ],
      legend: {
        top: typeof this.top === "number" ? this.top : 1,
        percent: typeof this.top !== "number",
        words: this.legendWords(),
      },
      theme: stage.theme,
    });
  }

  async table(): Promise<TableData> {
    const { subject, say, camera } = this;
    if (subject === null) return { caption: say.noMaps, columns: [], rows: [] };
    const { map, axes, exact } = subject;
    const chosen = this.selected();
    const span = (middle: number | null, first: number, count: number): [number, number] => {
      const start = Math.max(
        0,
        Math.min(middle === null ? Math.floor(first) : middle - TABLE / 2, count - TABLE),
      );
      return [start, Math.min(count, start + TABLE)];
    };
    const [q0, q1] = span(chosen.query, camera.query, map.queries);
    const [k0, k1] = span(chosen.key, camera.key, map.keys);
    const name = (axis: Axis, cell: number): string =>
      `${axis.start + cell} ${axis.tokens.get(axis.start + cell) ?? ""}`.trim();
    const rows = await Promise.all(
      Array.from({ length: q1 - q0 }, async (_, down) => {
        const weights: (number | null)[] = [];
        for (let key = k0; key < k1; key++) weights.push(await this.known(exact, q0 + down, key));
        return [name(axes.query, q0 + down), ...weights];
      }),
    );
    const columns = [
      `${say.query} \\ ${say.key}`,
      ...Array.from({ length: k1 - k0 }, (_, right) => name(axes.key, k0 + right)),
    ];
    return {
      caption: say.tableCaption(this.nameOf(subject)),
      columns,
      rows,
      more: map.queries - rows.length,
    };
  }

  private async known(exact: Exact, query: number, key: number): Promise<number | null> {
    const here = exact.get(query, key);
    if (here !== undefined) return here;
    if (!exact.available) return glance(this.placements, query, key)?.weight ?? null;
    return (await exact.fetch(query, key)) ?? null;
  }

  // Small things

  private options(now: Selection): Options {
    const { options } = now;
    const scale = options["heatmap.scale"];
    const leave = options["heatmap.leave"];
    return {
      scale: scale === "absolute" || scale === "map" || scale === "row" ? scale : this.defaultScale(),
      how: options["heatmap.pool"] === "max" ? "max" : "mean",
      leave: leave === "first" || leave === "special" ? leave : "none",
    };
  }

  /** Short maps from 0 to 1; means over many tokens are tiny, so long maps up to their largest. */
  private defaultScale(): Scale {
    const map = chooseMap(this.stage.source.description, this.stage.selection.get());
    return map !== null && wayOf(map, 0) === "dense" ? "absolute" : "map";
  }

  private nameOf({ map, head }: Pick<Subject, "map" | "head">): string {
    const { say } = this;
    const which =
      head === "model" ? say.modelMean : head === "mean" ? say.layerMean(map.heads) : say.head(head);
    const step = map.step === null ? [] : [say.step(map.step)];
    return [say.map(map.stack, map.layer, map.kind), ...step, which].join(" · ");
  }

  private axis(map: MapDescription, which: "query" | "key"): Axis {
    const [side, start, count] = axisOf(map, which);
    let tokens = this.tokens.get(side);
    if (tokens === undefined) {
      const { description } = this.stage.source;
      const all = (side === "source" ? description.source : description.target)?.count ?? 0;
      const arrived = (): void => {
        if (isFitted(this.camera, this.extent, this.frame))
          this.resize(); // margins follow the names
        else this.schedule();
      };
      tokens = new TokenStore(this.stage.source, side, all, arrived, () => {});
      this.tokens.set(side, tokens);
    }
    return { tokens, start, count };
  }

  private measure(): (text: string) => number {
    const context = this.axesCanvas.getContext("2d");
    if (context === null) return (text) => text.length * 6;
    context.font = fontOf(this.plot);
    return (text) => context.measureText(text).width;
  }

  unmount(): void {
    this.over = true;
    for (const timer of [this.later, this.asking, this.telling]) window.clearTimeout(timer);
    cancelAnimationFrame(this.due);
    this.deaf();
    this.subject?.supply.dispose();
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

let font: string | null = null;

function fontOf(element: HTMLElement): string {
  font ??= `${FONT_SIZE}px ${getComputedStyle(element).fontFamily || "sans-serif"}`;
  return font;
}

function readInks(element: HTMLElement): Heatmap["inks"] {
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

const en = words("en");
const zh = words("zh");

export const view: View = {
  name: "heatmap",
  order: 20,
  title: { en: en.title, zh: zh.title },
  about: { en: en.about, zh: zh.about },
  fits: (source) => (source.description.maps.length > 0 ? true : { en: en.noMaps, zh: zh.noMaps }),
  mount: (stage: Stage): Mounted => new Heatmap(stage),
};
