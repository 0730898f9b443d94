/**
 * The second panel: the attention weights of the chosen layer and head, queries down and keys across.
 *
 * In:   the map's cells.
 * Out:  a heat map to point at, zoom and drag.
 */

import type { MapDescription } from "../../api/types";
import { isSigned, mapName } from "../../core/focus";
import { digits } from "../../core/formats";
import type { Placement, Top } from "../../core/heat";
import type { LinkedCamera } from "../../core/linked_camera";
import { axisOf, type Head } from "../../core/maps";
import { writePlace } from "../../core/place";
import type { Setting } from "../../core/recording_view";
import { errorText } from "../../core/source";
import { causalOf, openTiles, Peaks, type TileSource, wayOf, weightShown } from "../../data/heat_tiles";
import { colourScale, drawCells, spell } from "../../marks/cells";
import { listen } from "../../marks/gestures";
import type { Axis } from "../../marks/heat_axes";
import type { Cell } from "../../marks/heat_overlay";
import { Plot } from "../../marks/heat_plot";
import { sceneOf, tableOf } from "../../marks/heat_scene";
import { Surface } from "../../marks/heat_surface";
import { Viewport } from "../../marks/heat_viewport";
import { ARROWS, consume, ZOOMS } from "../../marks/keys";
import { make } from "../../marks/make";
import { type Inks, label } from "../../marks/paper";
import { clip } from "../../marks/text";
import { type CanvasOptions, linkPanel } from "./cameras";
import type { Looking } from "./looking";
import { type Drawing, Frame, type Panel } from "./panel";
import type { Words } from "./words";

interface ShownMap {
  readonly map: MapDescription;
  readonly head: Head;
  readonly tiles: TileSource;
  readonly peaks: Peaks;
}

const MOST_IN_PICTURE = 64; // cells a side
const STRETCH = 8; // of cells: the panel is low and wide, and all of it is used

export class HeatPanel implements Panel {
  readonly frame: Frame;
  private readonly opening;
  private readonly plot: Plot;
  private readonly viewport = new Viewport();
  private readonly surface: Surface;
  private readonly stopListening: () => void;
  private shown: ShownMap | null = null;
  private placements: readonly Placement[] = [];
  private top: Top = 1;
  private laid = "";
  private wanted: string | null = null; // the part to see once there is room
  private readonly camera: LinkedCamera;
  private waits = 0; // the frame in which it is drawn

  constructor(
    private readonly setting: Setting<Words, CanvasOptions>,
    private readonly looking: Looking,
    open: () => void,
  ) {
    const { stage, say, tasks } = setting;
    this.opening = tasks.asker((error) => this.frame.say(stage.text(errorText(error))));
    this.plot = new Plot(say);
    this.surface = new Surface(this.plot.cells, "auto");
    const { element } = this.plot;
    const { viewport } = this;
    this.stopListening = listen(element, {
      zoom: (x, y, factor) => this.move(viewport.zoomed(x, y, factor)),
      pan: (dx, dy) => this.move(viewport.panned(dx, dy)),
      hover: (x, y) => looking.pointAtCell(viewport.cellAt(x, y)),
      leave: () => looking.pointAtCell(null),
      tap: (x, y) => this.choose(viewport.cellAt(x, y)),
    });
    element.addEventListener("keydown", (event) => this.press(event));
    const area = make("div", { class: "canvas-heat" }, element);
    this.camera = linkPanel(setting, "attention", this);
    this.frame = new Frame("attention", area, () => say.enlarge(this.title()), open);
  }

  /** The part in view, for the link; null for the whole map. */
  get at(): string | null {
    return this.viewport.write();
  }

  set at(words: string | null) {
    if (this.laid === "") this.wanted = words;
    else this.viewport.read(words);
    this.redraw();
  }

  update(): void {
    this.camera.follow();
    const { looking } = this;
    const { map, head } = looking;
    const { stage, say } = this.setting;
    if (map === null) return;
    const name = mapName(map, stage.language);
    this.plot.element.setAttribute("aria-label", say.plot(name));
    this.plot.forgetInks();
    this.frame.name(this.title(), this.about());
    this.opening.ask(
      `${writePlace(map.place)} ${head}`,
      async (source, signal) => {
        const heard = { arrived: () => this.redraw(), failed: () => {} }; // a coarser picture stands in
        const tiles = await openTiles(source, map, head, "mean", heard);
        if (signal.aborted) tiles.dispose();
        return tiles;
      },
      (tiles) => this.install({ map, head, tiles, peaks: new Peaks(null) }),
    );
    this.viewport.camera = this.viewport.revealed(looking.selected);
    this.redraw();
  }

  redraw(): void {
    cancelAnimationFrame(this.waits);
    this.waits = requestAnimationFrame(() => this.draw());
  }

  zoom(direction: -1 | 0 | 1): void {
    const { query, key } = this.looking.selected;
    this.move(this.viewport.stepped(direction, query === null || key === null ? null : { query, key }));
  }

  async write(inks: Inks): Promise<Drawing> {
    const { map, looking } = this.need();
    await Promise.all(
      (["query", "key"] as const).map((axis) => {
        const [start, count] = axisOf(map, axis);
        return looking
          .tokens(axis === "query" ? map.query_side : map.key_side)
          .load(start, start + Math.min(count, MOST_IN_PICTURE));
      }),
    );
    const placements = this.wholeMap();
    const side = 2 ** Math.max(0, ...placements.map(({ tile }) => tile.level)); // cells of the map in one of the picture
    const [rows, columns] = [Math.ceil(map.queries / side), Math.ceil(map.keys / side)];
    const cell = Math.min(24, 300 / rows, 320 / columns);
    const { theme } = this.setting.stage;
    const top = typeof this.top === "number" ? this.top : 1;
    const signed = isSigned([map]);
    const scale = colourScale([signed ? -1 : 0, 1], signed ? "diverging" : "sequential", false, theme);
    const root = (value: number) => Math.sign(value) * Math.sqrt(Math.abs(value) / top);
    const causal = causalOf(map);
    const [left, above] = [96, 72];
    const cells = drawCells({
      ...{ rows, columns, wide: cell, tall: cell },
      colour: (row, column) => {
        const masked = side === 1 && causal !== null && column > row + causal;
        const found = masked ? null : weightShown(placements, row * side, column * side);
        return (found && scale.css(root(found.weight))) ?? inks.line;
      },
    });
    let body = `<g transform="translate(${left} ${above})">${spell(cells)}</g>`;
    const every = Math.ceil(11 / cell);
    for (let row = 0; row < rows; row += every) {
      const text = looking.tokens(map.query_side).shown(map.query_start + row * side);
      const look = { fill: inks.ink, anchor: "end", size: 11 } as const;
      body += label(clip(text, 13), left - 6, above + (row + 0.5) * cell + 4, look);
    }
    for (let column = 0; column < columns; column += every) {
      const text = looking.tokens(map.key_side).shown(map.key_start + column * side);
      const turned = `translate(${Math.round(left + (column + 0.5) * cell + 4)} ${above - 6}) rotate(-90)`;
      body += `<g transform="${turned}">${label(clip(text, 10), 0, 0, { fill: inks.ink, size: 11 })}</g>`;
    }
    return { body, width: left + columns * cell, height: above + rows * cell + 4 };
  }

  unmount(): void {
    cancelAnimationFrame(this.waits);
    this.stopListening();
    this.shown?.tiles.dispose();
    this.surface.dispose();
  }

  private title(): string {
    const { map } = this.looking;
    const { say } = this.setting;
    return map !== null && isSigned([map]) ? say.signedValues : say.attention;
  }

  private about(): string {
    const { map, head } = this.looking;
    const { names, say, stage } = this.setting;
    if (map === null) return "";
    const which = typeof head === "number" ? names.head(head) : head === "mean" ? say.mean : say.model;
    return `${mapName(map, stage.language)}, ${which} · ${say.scale}`;
  }

  private install(shown: ShownMap): void {
    this.shown?.tiles.dispose();
    this.shown = shown;
    this.frame.say(null);
    const { queries, keys } = shown.map;
    const same = this.viewport.extent.queries === queries && this.viewport.extent.keys === keys;
    this.viewport.extent = { queries, keys };
    if (!same) {
      if (this.laid !== "") this.camera.moved(); // another map, seen as a whole
      this.laid = "";
    }
    this.redraw();
  }

  private axes(): { readonly query: Axis; readonly key: Axis } {
    const { map, looking } = this.need();
    const axis = (which: "query" | "key"): Axis => {
      const [start, count] = axisOf(map, which);
      return { tokens: looking.tokens(which === "query" ? map.query_side : map.key_side), start, count };
    };
    return { query: axis("query"), key: axis("key") };
  }

  private need() {
    return { map: this.shown!.map, looking: this.looking };
  }

  /** All of the map in few cells, whatever part is in view. */
  private wholeMap(): readonly Placement[] {
    const all = new Viewport();
    all.extent = this.viewport.extent;
    all.box = { left: 0, top: 0, width: MOST_IN_PICTURE, height: MOST_IN_PICTURE };
    all.read(null);
    return this.shown!.tiles.placements({ ...all.scaled(1), near: all.centre() });
  }

  private draw(): void {
    const { shown, viewport, plot } = this;
    const { stage } = this.setting;
    if (shown === null) return;
    const axes = this.axes();
    const { clientWidth, clientHeight } = plot.element;
    const named = [axes.query, axes.key].every(({ tokens, start }) => tokens.get(start) !== undefined);
    const laid = `${clientWidth} ${clientHeight} ${named} ${writePlace(shown.map.place)}`;
    if (laid !== this.laid) {
      const at = this.laid === "" ? this.wanted : viewport.write();
      this.wanted = null;
      this.laid = laid;
      viewport.box = { ...plot.layOut(axes), stretch: STRETCH };
      viewport.read(at);
    }
    if (viewport.box.width <= 1) return;
    const ratio = window.devicePixelRatio || 1;
    this.placements = shown.tiles.placements({ ...viewport.scaled(ratio), near: viewport.centre() });
    const { map, head, peaks } = shown;
    const signed = isSigned([map]);
    const whole = wayOf(map, head) === "dense" && !signed;
    this.top = peaks.top(whole ? "absolute" : "map", this.placements, viewport.extent);
    const mask = { causal: causalOf(map), rows: null, left: null };
    const scene = { placements: this.placements, top: this.top, mask, signed };
    this.surface.draw(sceneOf(scene, viewport, stage.theme, ratio));
    plot.layAxes(viewport, axes);
    plot.drawOver(viewport, axes, this.looking.pointed, this.looking.selected);
    const most = digits(typeof this.top === "number" ? this.top : 1, 2);
    this.frame.colours(tableOf({ signed }, stage.theme), signed ? `−${most}` : "0", most);
    plot.element.setAttribute("aria-busy", String(shown.tiles.missing > 0));
  }

  private move(camera: Viewport["camera"]): void {
    this.viewport.camera = camera;
    this.redraw();
    this.camera.moved();
  }

  private choose(cell: Cell | null): void {
    const map = this.shown?.map;
    if (map === undefined || cell === null) return;
    this.setting.stage.selection.set({ query: map.query_start + cell.query, key: map.key_start + cell.key });
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [arrow, zoom] = [ARROWS[event.key], ZOOMS[event.key]];
    if (arrow !== undefined) {
      const { query, key } = this.looking.selected;
      const from = { query: query ?? 0, key: key ?? 0 };
      this.choose(query === null || key === null ? from : this.viewport.beside(from, ...arrow));
    } else if (zoom !== undefined) this.zoom(zoom);
    else return;
    consume(event);
  }
}
