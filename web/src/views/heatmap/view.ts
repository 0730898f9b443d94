/**
 * The heat map: one head, a layer's or the model's average; queries down, keys across, zoomed like a street map.
 *
 * In:   a stage: the recording's maps and tokens, the selection (map, head, query, key), options "heatmap.…".
 * Out:  cells in WebGL2 (or canvas), tokens on both axes, a crosshair with the exact weight; a click selects
 *       (src/heatmap/; cells, axes and gestures are marks).
 */

import type { Camera } from "../../core/heat";
import { chooseHead, chooseMap, selectedRows } from "../../core/maps";
import { samePlace } from "../../core/place";
import type { Selection } from "../../core/selection";
import type { Mounted, Stage, TableData, View } from "../../core/view";
import { openSupply } from "../../data/heat_supply";
import { inBoth, introduce, liveWords } from "../../i18n/core";
import { sequential } from "../../marks/colours";
import { ARROWS, listen, ZOOMS } from "../../marks/heat_gestures";
import type { Cell } from "../../marks/heat_overlay";
import { Surface } from "../../marks/heat_surface";
import { make, relabel } from "../../marks/make";
import { AxisTokens, areNamed } from "./axes";
import { Desk } from "./desk";
import { Lens } from "./lens";
import { fetchNeighbours } from "./neighbours";
import { Plot } from "./plot";
import { FloatingReadout, valueText } from "./readout";
import { printMap, tabulate } from "./report";
import { sceneOf } from "./scene";
import { AT, chooseOption, type Options, readOptions } from "./settings";
import { ShownMap } from "./shown_map";
import { words } from "./words";

export const view: View = {
  name: "heatmap",
  order: 20,
  ...introduce(words),
  needs: "recording",
  panel: true,
  transport: true,
  options: {},
  fits: ({ now: { description } }) => description.maps.length > 0 || inBoth(words, (say) => say.noMaps),
  mount: (stage: Stage): Mounted => new Heatmap(stage),
};

class Heatmap implements Mounted {
  private readonly say: ReturnType<typeof words>;
  private readonly plot: Plot;
  private readonly lens = new Lens();
  private readonly desk: Desk;
  private readonly floating: FloatingReadout;
  private readonly surface: Surface;
  private readonly tokens: AxisTokens;
  private readonly stopListening: () => void;

  private shown: ShownMap | null = null;
  private laid: readonly [wide: number, high: number] = [0, 0]; // the plot's size at the last layout
  private hover: Cell | null = null;
  private pointer: readonly [x: number, y: number] | null = null;
  private turn = 0;
  private due = 0;
  private stale = true; // the cells, not only what lies over them
  private readonly timers = { url: 0, exact: 0, tell: 0 };
  private written: string | null = null;
  private named = false; // margins are as wide as names need
  private over = false;

  constructor(private readonly stage: Stage) {
    this.say = liveWords(words, () => stage.language);
    const { say, lens } = this;
    const now = stage.selection.get();
    this.plot = new Plot(say);
    this.tokens = new AxisTokens(stage.source, () => {
      if (this.named) this.schedule(true);
      else this.resize(); // margins follow the first names; later they would shake the map
    });
    const area = make("div", { class: "heat-area" }, this.plot.element);
    this.desk = new Desk(say, area, this.options(now), (name, value) =>
      chooseOption(stage.selection, stage.source.description, name, value),
    );
    stage.element.append(this.desk.element);
    const renderer = now.options["heatmap.renderer"] === "canvas" ? "canvas" : "webgl";
    this.surface = new Surface(this.plot.cells, renderer);
    this.floating = new FloatingReadout(area, say);
    const { element } = this.plot;
    this.stopListening = listen(element, {
      zoom: (x, y, factor) => this.move(lens.zoomed(x, y, factor)),
      pan: (dx, dy) => this.move(lens.panned(dx, dy)),
      hover: (x, y) => this.point(lens.cellAt(x, y), [x, y]),
      leave: () => this.point(null, null),
      tap: (x, y) => this.choose(lens.cellAt(x, y)),
    });
    element.addEventListener("keydown", (event) => this.press(event));
    element.addEventListener("blur", () => this.point(null, null));
    this.layout();
    this.open(now);
  }

  // What is shown

  update(now: Selection, before: Selection): void {
    const options = this.options(now);
    this.desk.set(options);
    if (
      !samePlace(now.place, before.place) ||
      now.head !== before.head ||
      options.how !== this.options(before).how
    ) {
      this.open(now);
      return;
    }
    if (this.shown !== null && options.leave !== this.shown.leave) void this.shown.leaveOut(options.leave);
    const at = now.options[AT] ?? null;
    if (at !== (before.options[AT] ?? null) && at !== this.written) this.lens.read(at);
    if (now.query !== before.query || now.key !== before.key)
      this.lens.camera = this.lens.revealed(this.selected());
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
        const axes = this.tokens.of(map);
        this.install(new ShownMap(source, map, head, how, axes, supply, () => this.schedule(true)));
        void this.shown?.leaveOut(leave);
        fetchNeighbours(source, map, head, () => this.over);
      },
      fail,
    );
  }

  private install(shown: ShownMap): void {
    const before = this.shown;
    before?.dispose();
    this.shown = shown;
    this.lens.extent = shown.extent;
    const same = before?.extent.queries === shown.extent.queries && before.extent.keys === shown.extent.keys;
    if (!same) {
      this.hover = null;
      this.layout();
      this.lens.read(this.stage.selection.get().options[AT]);
    } else if (this.hover !== null) shown.exact.ask(this.hover.query, this.hover.key);
    this.label(shown);
    void shown.learnMask();
    this.schedule(true);
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
    const at = this.lens.write();
    this.layout();
    this.lens.read(at);
    this.schedule(true);
  }

  private layout(): void {
    const { element } = this.plot;
    this.laid = [element.clientWidth, element.clientHeight];
    const axes = this.shown?.axes;
    this.lens.box = this.plot.layOut(axes);
    this.named = axes !== undefined && areNamed(axes);
  }

  private move(camera: Camera): void {
    const { lens } = this;
    lens.camera = camera;
    if (this.pointer !== null) this.hover = lens.cellAt(...this.pointer);
    this.schedule(true);
    window.clearTimeout(this.timers.url);
    this.timers.url = window.setTimeout(() => {
      this.timers.url = 0;
      this.written = lens.write();
      if (this.written !== null) {
        lens.read(this.written); // a link shows the very same pixels
        this.schedule(true);
      }
      this.stage.selection.option(AT, this.written);
    }, 250);
  }

  zoom(direction: -1 | 0 | 1): void {
    this.move(this.lens.stepped(direction, this.hover));
  }

  // Pointing and selecting

  private point(cell: Cell | null, pointer: readonly [x: number, y: number] | null): void {
    this.pointer = pointer;
    if (cell?.query !== this.hover?.query || cell?.key !== this.hover?.key) {
      this.hover = cell;
      window.clearTimeout(this.timers.exact);
      if (cell !== null) {
        this.timers.exact = window.setTimeout(() => this.shown?.exact.ask(cell.query, cell.key), 40);
      }
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
      const { width, height } = this.lens.box;
      if (event.shiftKey) this.move(this.lens.panned(-right * width * 0.15, -down * height * 0.15));
      else this.step(down, right);
    } else if (zoom !== undefined) this.zoom(zoom);
    else if (event.key === "Enter" || event.key === " ") this.choose(this.hover);
    else if (event.key === "Escape") {
      this.point(null, null);
      this.stage.selection.set({ query: null, key: null });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The crosshair goes to the next cell, or to the next pixel where a pixel covers several. */
  private step(down: number, right: number): void {
    const { lens } = this;
    const { query, key } = this.selected();
    const middle = lens.middle();
    const start = this.hover ?? { query: query ?? middle.query, key: key ?? middle.key };
    const far = this.shown?.side ?? 1;
    const cell = lens.beside(start, down * far, right * far);
    const seen = lens.revealed(cell);
    this.pointer = null;
    if (seen.key !== lens.camera.key || seen.query !== lens.camera.query) this.move(seen);
    this.point(cell, null);
    window.clearTimeout(this.timers.tell);
    this.timers.tell = window.setTimeout(() => {
      const reading = this.shown?.read(cell, this.say);
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
    const { shown, lens, say } = this;
    if (this.over || shown === null || lens.box.width <= 1) return;
    const anew = this.stale;
    if (anew) {
      this.stale = false;
      this.look(shown);
      this.surface.draw(sceneOf(shown, lens, this.stage.theme, window.devicePixelRatio || 1));
      this.plot.drawAxes(lens, shown.axes);
    }
    this.drawOver(shown);
    const { query, key } = this.selected();
    const both = query !== null && key !== null ? { query, key } : null;
    if (both !== null) shown.exact.ask(both.query, both.key);
    this.desk.show(shown, sequential(this.stage.theme), both === null ? null : shown.read(both, say));
    if (anew) this.rest(shown);
  }

  /** Say whether all is here: cells, masks, names (margins follow them). Then nothing moves by itself any more. */
  private rest(shown: ShownMap): void {
    const { element } = this.plot;
    const [wide, high] = this.laid;
    const moved = element.clientWidth !== wide || element.clientHeight !== high; // a bar that wraps otherwise
    if (moved) this.resize();
    const busy = moved || shown.supply.missing > 0 || shown.waiting || !this.named;
    element.setAttribute("aria-busy", String(busy));
  }

  private look(shown: ShownMap): void {
    const near = this.hover ?? this.lens.centre();
    const seen = this.lens.scaled(window.devicePixelRatio || 1);
    shown.look({ ...seen, near }, this.options().scale);
  }

  private drawOver(shown: ShownMap): void {
    const { hover, pointer, lens } = this;
    if (!this.plot.drawOver(lens, shown.axes, hover, this.selected())) return;
    if (hover === null) this.floating.hide();
    else {
      const corner = lens.placeOf(hover.query + 1, hover.key + 1);
      this.floating.show(shown.read(hover, this.say), pointer ?? corner);
    }
  }

  // Saving and reading

  async picture(): Promise<string> {
    const { shown, say, stage } = this;
    if (shown === null) throw new Error(say.noMaps);
    const { box, camera } = this.lens;
    const scene = sceneOf(shown, this.lens, stage.theme, 1);
    const looked = { shown, scene, box, camera, options: this.options(), measure: this.plot.measure() };
    return printMap(looked, stage.source.description, say, stage.theme);
  }

  async table(): Promise<TableData> {
    if (this.shown === null) return { caption: this.say.noMaps, columns: [], rows: [] };
    return tabulate(this.shown, this.selected(), this.lens.camera, this.say);
  }

  // Small things

  private options(selection: Selection = this.stage.selection.get()): Options {
    return readOptions(selection, this.stage.source.description);
  }

  unmount(): void {
    this.over = true;
    for (const timer of Object.values(this.timers)) window.clearTimeout(timer);
    cancelAnimationFrame(this.due);
    this.stopListening();
    this.shown?.dispose();
    this.tokens.dispose();
    this.surface.dispose();
    this.stage.element.replaceChildren();
  }
}
