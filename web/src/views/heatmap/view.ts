/**
 * The heat map: one head, a layer's or the model's average; queries down, keys across, zoomed like a street map.
 *
 * In:   a stage: the recording's maps and tokens, the selection (map, head, query, key), options "heatmap.…".
 * Out:  cells in WebGL2 (or canvas), tokens on both axes, a crosshair with the exact weight; a click selects.
 */

import { hasMaps } from "../../core/focus";
import type { Camera } from "../../core/heat";
import { chooseHead, chooseMap, selectedRows } from "../../core/maps";
import { samePlace } from "../../core/place";
import { readingOf } from "../../core/reading";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import type { Selection } from "../../core/selection";
import { errorText, Refusal } from "../../core/source";
import { isAbort } from "../../core/tasks";
import type { TableData } from "../../core/view";
import { fetchNeighbours } from "../../data/heat_neighbours";
import { openTiles, type Scale } from "../../data/heat_tiles";
import { aborted } from "../../data/http";
import { listen } from "../../marks/gestures";
import type { Cell } from "../../marks/heat_overlay";
import { Plot } from "../../marks/heat_plot";
import { sceneOf, tableOf } from "../../marks/heat_scene";
import { Surface } from "../../marks/heat_surface";
import { Viewport } from "../../marks/heat_viewport";
import { ARROWS, consume, ZOOMS } from "../../marks/keys";
import { make, relabel } from "../../marks/make";
import { Tooltip } from "../../marks/tooltip";
import { AxisTokens, areNamed } from "./axes";
import { Panel } from "./panel";
import { Readout, valueText } from "./readout";
import { printMap, tabulate } from "./report";
import { type HeatmapOptions, options, usualScale } from "./settings";
import { ShownMap } from "./shown_map";
import { type Words, words } from "./words";
import "./style.css";

const ASK_AGAIN = 5500; // ms: a little longer than failed tiles are left alone

export const view = recordingView({
  name: "heatmap",
  order: 20,
  words,
  options,
  fits: hasMaps,
  mount: (setting) => new Heatmap(setting),
});

class Heatmap extends MountedView<Words, HeatmapOptions> {
  private readonly opening = this.tasks.asker();
  private readonly plot: Plot;
  private readonly viewport = new Viewport();
  private readonly panel: Panel;
  private readonly readout: Readout;
  private readonly tooltip: Tooltip;
  private readonly surface: Surface;
  private readonly tokens: AxisTokens;
  private readonly stopListening: () => void;

  private shown: ShownMap | null = null;
  private laid: readonly [wide: number, high: number] = [0, 0]; // the plot's size at the last layout
  private hover: Cell | null = null;
  private pointer: readonly [x: number, y: number] | null = null;
  private stale = true; // the cells, not only what lies over them
  private written: string | null = null;
  private trouble: unknown = null; // why the last tile did not come
  private named = false; // margins are as wide as names need

  constructor(setting: Setting<Words, HeatmapOptions>) {
    super(setting);
    const { stage, say, viewport, options } = this;
    const now = stage.selection.get();
    const rows = (): string => say[this.shown?.axes.reading ?? "queries"];
    this.plot = new Plot({
      get keys() {
        return say.keys;
      },
      get queries() {
        return rows();
      },
    });
    this.tokens = new AxisTokens(stage.source, () => {
      if (this.named) this.schedule(true);
      else this.resize(); // margins follow the first names; later they would shake the map
    });
    const area = make("div", { class: "heat-area" }, this.plot.element);
    this.panel = new Panel(say, area, options, () =>
      usualScale(stage.selection.get(), stage.source.description),
    );
    stage.element.append(this.panel.element);
    this.surface = new Surface(this.plot.cells, options.now.renderer);
    this.readout = new Readout(say);
    this.tooltip = new Tooltip(area);
    this.tooltip.fill(this.readout.element);
    const { element } = this.plot;
    this.stopListening = listen(element, {
      zoom: (x, y, factor) => this.move(viewport.zoomed(x, y, factor)),
      pan: (dx, dy) => this.move(viewport.panned(dx, dy)),
      hover: (x, y) => this.point(viewport.cellAt(x, y), [x, y]),
      leave: () => this.point(null, null),
      tap: (x, y) => this.choose(viewport.cellAt(x, y)),
    });
    element.addEventListener("keydown", (event) => this.press(event));
    element.addEventListener("contextmenu", (event) => {
      if (!stage.rerunner?.again({})) return;
      this.choose(this.hover);
      event.preventDefault(); // the shell shows what can be done with this edge
    });
    element.addEventListener("blur", () => this.point(null, null));
    this.layout();
    this.open(now);
  }

  // What is shown

  update(now: Selection, before: Selection): void {
    const [options, old] = [this.options.in(now), this.options.in(before)];
    this.panel.follow();
    if (
      !samePlace(now.place, before.place) ||
      now.head !== before.head ||
      options.pool !== old.pool ||
      readingOf(now) !== readingOf(before)
    ) {
      this.open(now);
      return;
    }
    if (this.shown !== null && options.leave !== this.shown.leave) void this.shown.leaveOut(options.leave);
    if (options.at !== old.at && options.at !== this.written) this.viewport.read(options.at);
    if (now.query !== before.query || now.key !== before.key)
      this.viewport.camera = this.viewport.revealed(this.selected());
    this.schedule(true);
  }

  swap(): void {
    this.open(this.stage.selection.get()); // tokens and camera stay
  }

  /** Load a map and head; what was shown stays until the new one is here. */
  private open(now: Selection): void {
    const map = chooseMap(this.stage.source.description, now);
    if (map === null) return;
    const head = chooseHead(map, now.head);
    const { pool, leave } = this.options.in(now);
    const changed = (cells: boolean): void => {
      if (cells) this.schedule(true);
      else this.tasks.frame(() => this.shown && this.rest(this.shown), "rest");
    };
    this.opening.ask(
      null,
      async (source, signal) => {
        const arrived = (): void => {
          this.trouble = null;
          changed(true);
        };
        const failed = (error: unknown): void => this.failTile(error);
        const tiles = await openTiles(source, map, head, pool, { arrived, failed });
        if (signal.aborted) tiles.dispose();
        const shown = new ShownMap(source, map, head, pool, this.tokens.of(map, now), tiles, changed);
        return shown;
      },
      (shown) => {
        this.install(shown);
        void shown.leaveOut(leave);
        fetchNeighbours(this.stage.source, map, head); // they stay wanted when the next head is asked for
      },
    );
  }

  private install(shown: ShownMap): void {
    const before = this.shown;
    before?.dispose();
    this.shown = shown;
    this.trouble = null;
    this.viewport.extent = shown.extent;
    const same = before?.extent.queries === shown.extent.queries && before.extent.keys === shown.extent.keys;
    if (!same) {
      this.hover = null;
      this.layout();
      this.viewport.read(this.options.now.at);
    } else if (before?.axes.reading !== shown.axes.reading) this.resize();
    else if (this.hover !== null) shown.exact.ask(this.hover.query, this.hover.key);
    this.label(shown);
    void shown.learnMask();
    this.stale = true;
    this.drawAll(); // now: the next frame would show it a frame later
  }

  /** A coarser picture stands in for a tile that did not come; it is asked for again after a while. */
  private failTile(error: unknown): void {
    if (this.tasks.over || isAbort(error)) return;
    this.trouble = error;
    this.schedule(true);
    this.tasks.later("tiles", ASK_AGAIN, () => this.schedule(true));
  }

  private label(shown: ShownMap): void {
    this.plot.element.setAttribute("aria-label", this.say.plot(shown.name(this.say)));
  }

  // Size, camera, language and theme

  restyle(): void {
    this.plot.forgetInks();
    relabel(this.stage.element);
    if (this.shown !== null) this.label(this.shown);
    this.resize();
  }

  resize(): void {
    const at = this.viewport.write();
    this.layout();
    this.viewport.read(at);
    this.schedule(true);
  }

  private layout(): void {
    const { element } = this.plot;
    this.laid = [element.clientWidth, element.clientHeight];
    const axes = this.shown?.axes;
    this.viewport.box = this.plot.layOut(axes);
    this.named = axes !== undefined && areNamed(axes);
  }

  private move(camera: Camera): void {
    const { viewport } = this;
    viewport.camera = camera;
    if (this.pointer !== null) this.hover = viewport.cellAt(...this.pointer);
    this.schedule(true);
    this.tasks.later("link", 250, () => {
      this.written = viewport.write();
      if (this.written !== null) {
        viewport.read(this.written); // a link shows the very same pixels
        this.schedule(true);
      }
      this.options.set({ at: this.written });
    });
  }

  zoom(direction: -1 | 0 | 1): void {
    this.move(this.viewport.stepped(direction, this.hover));
  }

  // Pointing and selecting

  private point(cell: Cell | null, pointer: readonly [x: number, y: number] | null): void {
    this.pointer = pointer;
    if (cell?.query !== this.hover?.query || cell?.key !== this.hover?.key) {
      this.hover = cell;
      if (cell === null) this.tasks.cancel("exact");
      else this.tasks.later("exact", 40, () => this.shown?.exact.ask(cell.query, cell.key));
    }
    this.schedule(false);
  }

  private choose(cell: Cell | null): void {
    const map = this.shown?.map;
    if (map === undefined || cell === null) return;
    this.stage.selection.set({ query: map.query_start + cell.query, key: map.key_start + cell.key });
  }

  /** The selected row and column of this map. */
  private selected(): { readonly query: number | null; readonly key: number | null } {
    if (this.shown === null) return { query: null, key: null };
    return selectedRows(this.shown.map, this.stage.selection.get());
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    const zoom = ZOOMS[event.key];
    if (arrow !== undefined) {
      const [down, right] = arrow;
      const { width, height } = this.viewport.box;
      if (event.shiftKey) this.move(this.viewport.panned(-right * width * 0.15, -down * height * 0.15));
      else this.step(down, right);
    } else if (zoom !== undefined) this.zoom(zoom);
    else if (event.key === "Enter" || event.key === " ") this.choose(this.hover);
    else if (event.key === "Escape") {
      this.point(null, null);
      this.stage.selection.set({ query: null, key: null });
    } else return;
    consume(event);
  }

  /** The crosshair goes to the next cell, or to the next pixel where a pixel covers several. */
  private step(down: number, right: number): void {
    const { viewport } = this;
    const { query, key } = this.selected();
    const middle = viewport.middle();
    const start = this.hover ?? { query: query ?? middle.query, key: key ?? middle.key };
    const far = this.shown?.side ?? 1;
    const cell = viewport.beside(start, down * far, right * far);
    const seen = viewport.revealed(cell);
    this.pointer = null;
    if (seen.key !== viewport.camera.key || seen.query !== viewport.camera.query) this.move(seen);
    this.point(cell, null);
    this.tasks.later("tell", 250, () => {
      const reading = this.shown?.read(cell, this.say);
      if (reading === undefined) return;
      const { said } = this.say;
      this.stage.announce(said(reading.query.text, reading.key.text, valueText(reading, this.say)));
    });
  }

  // Drawing

  /** Draw in the next frame; `cells` false: only what lies over them has changed. */
  private schedule(cells: boolean): void {
    this.stale ||= cells;
    this.tasks.frame(() => this.drawAll());
  }

  private drawAll(): void {
    const { shown, viewport, say } = this;
    if (shown === null || viewport.box.width <= 1) return;
    const anew = this.stale;
    this.stale = false;
    if (anew) this.look(shown);
    const { query, key } = this.selected();
    const both = query !== null && key !== null ? { query, key } : null;
    if (both !== null) shown.exact.ask(both.query, both.key);
    const { stage, trouble } = this;
    const problem = trouble === null ? null : stage.text(errorText(trouble));
    // Words first: what is drawn asks for sizes, and the page is then laid out once.
    this.panel.show(shown, tableOf(shown, stage.theme), both && shown.read(both, say), problem);
    if (anew) {
      this.surface.draw(sceneOf(shown, viewport, stage.theme, window.devicePixelRatio || 1));
      this.plot.layAxes(viewport, shown.axes);
    }
    this.drawOver(shown);
    if (anew || this.plot.element.ariaBusy === "true") this.rest(shown);
  }

  /** Say whether all is here: cells, masks, names (margins follow them). Then nothing moves by itself any more. */
  private rest(shown: ShownMap): void {
    const { element } = this.plot;
    const [wide, high] = this.laid;
    const moved = element.clientWidth !== wide || element.clientHeight !== high; // a bar that wraps otherwise
    if (moved) this.resize();
    const busy = moved || shown.tiles.missing > 0 || shown.waiting || !this.named;
    element.setAttribute("aria-busy", String(busy));
  }

  private look(shown: ShownMap): void {
    const near = this.hover ?? this.viewport.centre();
    const seen = this.viewport.scaled(window.devicePixelRatio || 1);
    shown.look({ ...seen, near }, this.scale());
  }

  private drawOver(shown: ShownMap): void {
    const { hover, pointer, viewport } = this;
    if (!this.plot.drawOver(viewport, shown.axes, hover, this.selected())) return;
    if (hover === null) this.tooltip.hide();
    else {
      const corner = viewport.placeOf(hover.query + 1, hover.key + 1);
      this.readout.show(shown.read(hover, this.say));
      this.tooltip.show(...(pointer ?? corner));
    }
  }

  // Saving and reading

  async picture(): Promise<string> {
    const shown = await this.loaded();
    return printMap(shown, this.viewport, this.scale(), this.plot.measure(), this.stage, this.say);
  }

  async table(): Promise<TableData> {
    return tabulate(await this.loaded(), this.selected(), this.viewport.camera, this.say);
  }

  /** The map on show, once all that is seen of it is here. */
  private async loaded(): Promise<ShownMap> {
    const { shown } = this;
    if (shown === null) throw new Refusal(this.names.noMaps, "no_maps", 0);
    const waits = () => this.trouble === null && (shown.tiles.missing > 0 || shown.waiting);
    while (!this.tasks.over && shown === this.shown && waits()) await new Promise(requestAnimationFrame);
    if (this.tasks.over) throw aborted();
    return shown;
  }

  private scale(): Scale {
    const { selection, source } = this.stage;
    return this.options.now.scale ?? usualScale(selection.get(), source.description);
  }

  unmount(): void {
    this.stopListening();
    this.shown?.dispose();
    this.tokens.dispose();
    this.surface.dispose();
  }
}
