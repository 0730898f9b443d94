/**
 * The overview: all layers × heads as small heat maps, with a number for each. The way in.
 *
 * In:   a stage: thumbnails, scores over heads, the selection, options "overview.…".
 * Out:  a canvas that follows scrolling; a click or Enter opens a head in the heat map.
 */

import { type Frame, tensor } from "../bundle";
import { inBoth, introduce } from "../i18n/core";
import { words } from "../i18n/overview";
import { sequential } from "../marks/colours";
import { digits } from "../marks/digits";
import type { Colour } from "../marks/heat";
import { Card, drawGallery, Flag, type Gallery, isAt, type Place } from "../marks/heat_gallery";
import { printGallery } from "../marks/heat_gallery_sheet";
import { type Box, boxAt, type Grid, type Group, layGrid, neighbour } from "../marks/heat_grid";
import { Menu, type Options, passes, readOptions } from "../marks/heat_menu";
import { Thumbnails } from "../marks/heat_thumbs";
import { make, write } from "../marks/make";
import type { Selection } from "../selection";
import { Refusal } from "../source";
import type { MapDescription, MetricDescription, ScoreDescription } from "../types";
import type { Mounted, Stage, TableData, View } from "../view";

const HIDDEN: Readonly<Record<string, Colour>> = { light: [238, 239, 242], dark: [36, 40, 48] };
const BINS = 64; // the server's thumbnails have at most so many pixels a side

interface Numbers {
  readonly limits: readonly [number, number];
  readonly parts: ReadonlyMap<number, Pick<ScoreDescription["parts"][number], "values" | "why">>; // by map
}

let names = 0;

class Overview implements Mounted {
  private readonly say: ReturnType<typeof words>;
  private readonly scroller = make("div", { class: "over-scroll", tabindex: 0, role: "listbox" });
  private readonly space = make("div", { class: "over-space" });
  private readonly titles = make("div", { class: "over-titles", "aria-hidden": "true" });
  private readonly canvas = make("canvas", { class: "over-canvas", "aria-hidden": "true" });
  private readonly active = make("div", { class: "over-active", role: "option", "aria-selected": "true" });
  private readonly about = make("p", { class: "over-about" });
  private readonly menu: Menu;
  private readonly card: Card;
  private readonly flag: Flag;
  private readonly metrics: readonly MetricDescription[];
  private readonly groups: readonly Group[];
  private readonly heads: number;

  private frame: Frame | null = null;
  private thumbnails: Thumbnails | null = null;
  private numbers: Numbers | null = null;
  private grid: Grid | null = null;
  private focus: Place | null = null;
  private hover: Box | null = null;
  private measuring: AbortController | null = null;
  private turn = 0;
  private due = 0;
  private over = false;

  constructor(private readonly stage: Stage) {
    this.say = words(stage.language);
    const { say } = this;
    const { maps } = stage.source.description;
    const weights = maps.some((map) => map.has_weights);
    this.metrics = stage.metrics.filter(
      (each) => each.levels.includes("head") && (weights || each.needs === "statistics"),
    );
    this.groups = groupMaps(maps, stage.selection.get(), say);
    this.heads = this.groups.reduce(
      (sum, group) => sum + group.maps.reduce((more, map) => more + map.heads, 0),
      0,
    );
    this.active.id = `over-active-${++names}`;
    this.scroller.setAttribute("aria-label", say.list(this.heads));
    this.scroller.setAttribute("aria-activedescendant", this.active.id);
    this.space.append(this.titles);
    this.scroller.append(this.canvas, this.space, this.active);
    const pooled = maps.some((map) => Math.max(map.queries, map.keys) > BINS);
    this.menu = new Menu(say, stage.language, this.metrics, stage.selection, pooled);
    const area = make("div", { class: "over-area" }, this.scroller);
    const hints = `${say.axes} ${maps.some((map) => map.causal) ? say.hidden : ""}`;
    this.card = new Card(say.open);
    const side = make(
      "div",
      { class: "over-side" },
      this.card.element,
      this.menu.looks,
      make("p", { class: "over-hint" }, hints),
    );
    const body = make("div", { class: "over-body" }, area, side);
    stage.element.append(make("div", { class: "over" }, this.menu.bar, this.about, body));
    this.flag = new Flag(area);
    this.listen();
    this.load();
    this.measure();
  }

  private listen(): void {
    const { scroller } = this;
    scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    scroller.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "touch") this.point(this.boxUnder(event));
    });
    scroller.addEventListener("pointerleave", () => this.point(null));
    scroller.addEventListener("blur", () => this.point(null));
    scroller.addEventListener("focus", () => this.schedule());
    scroller.addEventListener("keydown", (event) => this.press(event));
    scroller.addEventListener("click", (event) => {
      const box = this.boxUnder(event);
      if (box !== null) this.open(box);
    });
  }

  // Data

  private load(): void {
    const turn = ++this.turn;
    this.stage.source.thumbnails(this.options().how).then(
      (frame) => {
        if (turn !== this.turn || this.over) return;
        this.frame = frame;
        this.colour();
        this.arrange();
      },
      (error: unknown) => {
        if (turn === this.turn && !this.over) this.stage.fail(error);
      },
    );
  }

  private colour(): void {
    const { theme } = this.stage;
    if (this.frame === null) return;
    this.thumbnails = new Thumbnails(this.frame, sequential(theme), HIDDEN[theme]!, this.options().own);
  }

  private measure(): void {
    this.measuring?.abort();
    this.numbers = null;
    const metric = this.metric();
    const tongue = this.stage.language;
    const sentences =
      metric === null ? [] : [metric.caption[tongue], metric.lower?.[tongue], metric.higher?.[tongue]];
    this.tell(sentences.filter(Boolean).join(tongue === "zh" ? "" : " "), false);
    this.menu.offer(null, null);
    if (metric === null) return;
    this.menu.wait(this.say.measuring);
    const controller = new AbortController();
    this.measuring = controller;
    this.stage.source.score(metric.name, "head", {}, controller.signal).then(
      (score) => {
        if (controller.signal.aborted || this.over) return;
        this.numbers = numbersOf(score);
        this.menu.offer(metric, this.numbers.limits);
        this.arrange();
      },
      (error: unknown) => {
        if (controller.signal.aborted || this.over) return;
        this.menu.offer(null, null);
        this.tell(error instanceof Refusal ? error.sentence : String(error), true);
        this.arrange();
      },
    );
  }

  private tell(text: string, trouble: boolean): void {
    write(this.about, text);
    this.about.classList.toggle("over-trouble", trouble);
  }

  private readonly numberOf = (map: number, head: number): number | null =>
    this.numbers?.parts.get(map)?.values[head] ?? null;

  // Layout and drawing

  private lay(width: number, height: number, ratio: number): Grid {
    const { groups, frame } = this;
    const options = this.options();
    const measured = this.numbers !== null;
    const sides = groups.flatMap(({ maps }) =>
      maps.flatMap((map) => tensor(frame!, String(map.index)).shape.slice(1)),
    );
    return layGrid(groups, {
      width,
      height,
      order: measured ? options.order : "layer",
      numberOf: this.numberOf,
      keeps: (value) => !measured || passes(value, options),
      pixels: Math.max(1, ...sides) / ratio,
    });
  }

  private arrange(): void {
    if (this.over || this.thumbnails === null) return;
    const { scroller, space, say } = this;
    const grid = this.lay(scroller.clientWidth - 4, scroller.clientHeight - 4, window.devicePixelRatio || 1);
    this.grid = grid;
    space.style.setProperty("height", `${Math.ceil(grid.height)}px`);
    space.style.setProperty("width", `${Math.ceil(grid.width)}px`);
    const titles = grid.titles.map(({ text, y }) => {
      const title = make("h3", {}, text);
      title.style.setProperty("top", `${y}px`);
      return title;
    });
    this.titles.replaceChildren(...titles);
    const kept = grid.boxes.filter((box) => box.kept).length;
    this.menu.count(kept === 0 ? say.empty : say.shown(kept, this.heads));
    this.focus ??= this.chosen();
    this.hover =
      this.hover === null ? null : (grid.boxes.find((box) => isAt(box, placeOf(this.hover!))) ?? null);
    this.tellActive();
    this.schedule();
  }

  private schedule(): void {
    if (this.due === 0 && !this.over) this.due = requestAnimationFrame(() => this.drawAll());
  }

  private drawAll(): void {
    this.due = 0;
    const gallery = this.gallery(this.grid);
    if (this.over || gallery === null) return;
    drawGallery(this.canvas, this.scroller, gallery);
    const { grid, hover } = gallery;
    if (hover === null) this.flag.hide();
    else this.flag.show(grid, hover, this.scroller);
    const box = hover ?? grid.boxes.find((each) => isAt(each, gallery.chosen)) ?? grid.boxes[0];
    this.card.element.hidden = box === undefined;
    if (box !== undefined)
      this.card.show(gallery.thumbnails, box, { name: this.nameOf(box), value: this.valueText(box) });
  }

  private gallery(grid: Grid | null): Gallery | null {
    const { thumbnails, hover } = this;
    if (grid === null || thumbnails === null) return null;
    const focus = this.scroller.matches(":focus-visible") ? this.focus : null;
    return { grid, thumbnails, limits: this.numbers?.limits ?? null, chosen: this.chosen(), focus, hover };
  }

  // Pointing

  private boxUnder(event: MouseEvent): Box | null {
    if (this.grid === null) return null;
    const { scroller } = this;
    const edge = scroller.getBoundingClientRect();
    const x = event.clientX - edge.left + scroller.scrollLeft;
    const found = boxAt(this.grid, x, event.clientY - edge.top + scroller.scrollTop);
    return found?.kept ? found : null;
  }

  private point(box: Box | null): void {
    this.scroller.classList.toggle("over-pointing", box !== null);
    if (box === this.hover) return;
    this.hover = box;
    this.schedule();
  }

  private open(box: Box): void {
    this.stage.selection.set({ map: box.map.index, head: box.head, view: "heatmap" });
  }

  private press(event: KeyboardEvent): void {
    const { grid } = this;
    if (grid === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const now = grid.boxes.find((box) => isAt(box, this.focus)) ?? grid.boxes[0];
    if (now === undefined) return;
    if (event.key === "Enter" || event.key === " ") this.open(now);
    else if (/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key)) {
      const next = neighbour(grid, now, event.key);
      this.focus = placeOf(next);
      this.hover = next;
      this.reveal(next, grid);
      this.tellActive();
      this.stage.announce(this.active.textContent ?? "");
      this.schedule();
    } else return;
    event.preventDefault();
  }

  private reveal(box: Box, { step }: Grid): void {
    const { scroller } = this;
    if (box.y < scroller.scrollTop + 8) scroller.scrollTop = Math.max(0, box.y - 60);
    const below = box.y + step[1] - scroller.clientHeight;
    if (below > scroller.scrollTop) scroller.scrollTop = below + 8;
    if (box.x < scroller.scrollLeft + 30) scroller.scrollLeft = Math.max(0, box.x - 40);
    const right = box.x + step[0] - scroller.clientWidth;
    if (right > scroller.scrollLeft) scroller.scrollLeft = right + 8;
  }

  private tellActive(): void {
    const boxes = this.grid?.boxes ?? [];
    const box = boxes.find((each) => isAt(each, this.focus)) ?? boxes[0];
    const value = box === undefined ? null : this.valueText(box);
    const text = box === undefined ? this.say.empty : [this.nameOf(box), value].filter(Boolean).join(" · ");
    write(this.active, text);
  }

  private nameOf({ map, head }: Box): string {
    return `${this.say.group(map.stack, map.kind)} · ${this.say.head(map.layer, head)}`;
  }

  private valueText({ map, head, value }: Box): string | null {
    const metric = this.metric();
    if (metric === null || this.numbers === null) return null;
    const why = this.numbers.parts.get(map.index)?.why[head] ?? null;
    const text =
      value !== null ? digits(value, 4) : why === null ? this.say.unknown : this.say.undefined(why);
    return `${metric.label[this.stage.language]}: ${text}`;
  }

  private options(now: Selection = this.stage.selection.get()): Options {
    return readOptions(now, this.metrics);
  }

  private metric(): MetricDescription | null {
    return this.metrics.find((metric) => metric.name === this.options().metric) ?? null;
  }

  private chosen(): Place | null {
    const { map, head } = this.stage.selection.get();
    return typeof head === "number" ? { map, head } : null;
  }

  // The stage's wishes

  update(now: Selection, before: Selection): void {
    const [options, old] = [this.options(now), this.options(before)];
    this.menu.set(options);
    if (options.metric !== old.metric) {
      if (options.bound !== null) this.stage.selection.option("overview.keep", null);
      this.measure();
    } else if (options.way !== old.way && this.numbers !== null)
      this.menu.offer(this.metric(), this.numbers.limits);
    if (now.map !== before.map || now.head !== before.head) this.focus = this.chosen();
    if (options.own !== old.own) this.colour();
    if (options.how !== old.how) this.load();
    else this.arrange();
  }

  resize(): void {
    this.arrange();
  }

  async picture(): Promise<string> {
    const { say, stage, numbers } = this;
    if (this.frame === null) throw new Error(say.noMaps);
    const gallery = this.gallery(this.lay(1100, 900, 1));
    const { description } = stage.source;
    const metric = this.metric();
    const [least, most] = (numbers?.limits ?? [0, 1]).map((limit) => digits(limit, 3));
    const bars =
      metric === null || numbers === null
        ? []
        : [say.barCaption(metric.label[stage.language], least!, most!)];
    const colours = this.options().own ? say.coloursOwn : say.coloursShared;
    const caption = [say.caption(description.model, this.heads), ...bars, colours, description.evidence.line];
    return printGallery(
      gallery!,
      { title: `${say.title} · ${description.title[stage.language]}`, caption },
      stage.theme,
    );
  }

  async table(): Promise<TableData> {
    const { say } = this;
    const metric = this.metric();
    const label = metric === null ? [] : [metric.label[this.stage.language]];
    const boxes = this.grid?.boxes.filter((box) => box.kept) ?? [];
    const rows = boxes.map(({ map, head, value }) => [
      map.stack,
      map.kind,
      map.layer,
      head,
      ...label.map(() => value),
    ]);
    const columns = [say.stack, say.kind, say.layer, say.headColumn, ...label];
    return { caption: say.tableCaption, columns, rows, more: this.heads - rows.length };
  }

  unmount(): void {
    this.over = true;
    this.measuring?.abort();
    cancelAnimationFrame(this.due);
    this.stage.element.replaceChildren();
  }
}

function placeOf(box: Box): Place {
  return { map: box.map.index, head: box.head };
}

function numbersOf(score: ScoreDescription): Numbers {
  const parts = new Map<number, ScoreDescription["parts"][number]>();
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const part of score.parts) {
    if (part.map === null) continue;
    parts.set(part.map, part);
    for (const value of part.values) {
      if (value === null) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  return { parts, limits: least > most ? [0, 1] : [least, most] };
}

/** Maps by stack and kind; of maps seen step by step, those of one step. */
function groupMaps(
  maps: readonly MapDescription[],
  selection: Selection,
  say: ReturnType<typeof words>,
): Group[] {
  const whole = maps.filter((map) => map.step === null);
  const last = maps.reduce((most, map) => Math.max(most, map.step ?? 0), 0);
  const step = maps.some((map) => map.step === selection.step) ? selection.step : last;
  const groups = new Map<string, MapDescription[]>();
  for (const map of whole.length > 0 ? whole : maps.filter((each) => each.step === step)) {
    const title = [
      say.group(map.stack, map.kind),
      ...(map.step === null ? [] : [say.groupStep(map.step)]),
    ].join(" · ");
    groups.set(title, [...(groups.get(title) ?? []), map]);
  }
  return [...groups].map(([title, members]) => ({ title, maps: members.sort((a, b) => a.layer - b.layer) }));
}

export const view: View = {
  name: "overview",
  order: 10,
  ...introduce(words),
  fits: ({ description }) => description.maps.length > 0 || inBoth(words, (word) => word.noMaps),
  mount: (stage: Stage): Mounted => new Overview(stage),
};
