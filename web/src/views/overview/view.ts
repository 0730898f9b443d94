/**
 * The overview: all layers × heads as small heat maps, with a number for each. The way in.
 *
 * In:   a stage: thumbnails, scores over heads, the selection, options "overview.…".
 * Out:  a canvas that follows scrolling; a click or Enter opens a head in the heat map.
 */

import type { MapDescription, MetricDescription } from "../../api/types";
import { hasMaps, isSigned, joinSentences } from "../../core/focus";
import { digits } from "../../core/formats";
import { samePlace } from "../../core/place";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import type { Selection } from "../../core/selection";
import { errorText, Refusal } from "../../core/source";
import type { TableData } from "../../core/view";
import { measure } from "../../data/measures";
import { type HeadPictures, readThumbnails } from "../../data/thumbnails";
import { pointIn } from "../../marks/gestures";
import { make, relabel, setStyle, uniqueId, write } from "../../marks/make";
import { Card, drawGallery, type Gallery, type HeadPlace, HeadTooltip, isAt } from "./gallery";
import { type Box, boxAt, type Grid, type Group, layGrid, neighbour, reveal } from "./grid";
import { countHeads, groupMaps } from "./groups";
import { filterOf, Menu, type OverviewOptions, options, passes, usualColours, usualMetric } from "./menu";
import { explainMetric, headMetrics, type Numbers, numbersOf, tellNumber, whyNone } from "./numbers";
import { captionGallery, type Report, tabulate } from "./report";
import { printGallery } from "./sheet";
import { largestOf, Thumbnails } from "./thumbnails";
import { type Words, words } from "./words";
import "./style.css";

export const view = recordingView({
  name: "overview",
  order: 10,
  words,
  options,
  transport: "steps", // no token is marked here
  fits: hasMaps,
  mount: (setting) => new Overview(setting),
});

const BINS = 64; // the server's thumbnails have at most so many pixels a side

class Overview extends MountedView<Words, OverviewOptions> {
  private readonly loading = this.tasks.asker();
  private readonly measuring = this.tasks.asker((error) => this.measured(this.stage.text(errorText(error))));
  private readonly scroller = make("div", { class: "over-scroll", tabindex: 0, role: "listbox" });
  private readonly space = make("div", { class: "over-space" });
  private readonly titles = make("div", { class: "over-titles", "aria-hidden": "true" });
  private readonly canvas = make("canvas", { class: "over-canvas", "aria-hidden": "true" });
  private readonly active = make("div", { class: "over-active", role: "option", "aria-selected": "true" });
  private readonly about = make("p", { class: "over-about" });
  private readonly menu: Menu;
  private readonly card: Card;
  private readonly tooltip: HeadTooltip;
  private readonly metrics: readonly MetricDescription[];
  private groups: readonly Group[];
  private readonly heads: number;

  private pictures: ((map: MapDescription) => HeadPictures) | null = null;
  private numbers: Numbers | null = null; // of the metric, once they are here
  private thumbnails: Thumbnails | null = null;
  private grid: Grid | null = null;
  private focus: HeadPlace | null = null;
  private hover: Box | null = null;
  private readonly hint = make("p", { class: "over-hint" }, () => this.hints()); // needs the fields above

  constructor(setting: Setting<Words, OverviewOptions>) {
    super(setting);
    const { stage, say, options } = this;
    const { maps } = stage.source.description;
    this.metrics = headMetrics(stage.metrics, stage.source.description);
    this.groups = groupMaps(maps, stage.selection.get(), say);
    this.heads = countHeads(this.groups);
    this.active.id = uniqueId("over-active");
    this.scroller.setAttribute("aria-activedescendant", this.active.id);
    this.nameList();
    this.space.append(this.titles);
    this.scroller.append(this.canvas, this.space, this.active);
    const pooled = maps.some((map) => Math.max(map.queries, map.keys) > BINS);
    const language = () => stage.language;
    this.menu = new Menu(say, this.names, language, this.metrics, options, pooled, isSigned(maps));
    const area = make("div", { class: "over-area" }, this.scroller);
    this.card = new Card(() => say.open);
    const side = make("div", { class: "over-side" }, this.card.element, this.menu.looks, this.hint);
    const body = make("div", { class: "over-body" }, area, side);
    stage.element.append(make("div", { class: "over drawn" }, this.menu.bar, this.about, body));
    this.tooltip = new HeadTooltip(area);
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
    scroller.addEventListener("contextmenu", (event) => {
      const { rerunner, selection } = this.stage;
      const { place, head } = this.boxUnder(event) ? whereIs(this.boxUnder(event)!) : (this.focus ?? {});
      if (!rerunner?.again({}) || !place || head === undefined) return;
      selection.set({ place, head });
      event.preventDefault(); // the shell shows what can be done with this head
    });
    scroller.addEventListener("click", (event) => {
      const box = this.boxUnder(event);
      if (box !== null) this.open(box);
    });
  }

  // Data

  private load(): void {
    this.loading.ask(
      this.options.now.pool,
      (source) => readThumbnails(source, this.options.now.pool),
      (pictures) => {
        this.pictures = pictures;
        this.colour();
        this.arrange();
      },
    );
  }

  private colour(): void {
    if (this.pictures === null) return;
    this.thumbnails = new Thumbnails(this.pictures, this.stage.theme, this.top());
    relabel(this.hint);
  }

  /** The value of the last colour: the largest of all heads, 1 for weights; null: each head has its own. */
  private top(): number | null {
    const { maps } = this.stage.source.description;
    const signed = isSigned(maps);
    if (this.pictures === null || (this.options.now.colours ?? usualColours(signed)) === "own") return null;
    return signed ? largestOf(this.groups.flatMap(({ maps }) => maps).map(this.pictures)) : 1;
  }

  private hints(): string {
    const { say } = this;
    const { maps } = this.stage.source.description;
    const signed = isSigned(maps);
    const top = signed ? this.top() : null;
    const all = [
      signed ? say.signedAxes : say.axes,
      signed && say.signed,
      top !== null && say.reach(digits(top, 2)),
      maps.some((map) => map.causal) && say.hidden,
    ];
    return all.filter(Boolean).join(" ");
  }

  private measure(): void {
    const metric = this.metric();
    this.explain();
    this.numbers = null;
    this.menu.offer(null, null);
    this.measuring.stop();
    if (metric === null) return;
    this.menu.wait(() => this.say.measuring);
    this.measuring.ask(
      null,
      (source) => measure(source, metric, "head"),
      (answer) => {
        const { language } = this.stage;
        const why = "parts" in answer ? whyNone(answer, language) : joinSentences(answer, language);
        this.numbers = "parts" in answer && why === null ? numbersOf(answer) : null;
        this.measured(why);
      },
    );
  }

  private explain(): void {
    const metric = this.metric();
    this.tell(metric === null ? "" : explainMetric(metric, this.stage.language), false);
  }

  private nameList(): void {
    this.scroller.setAttribute("aria-label", this.say.list(this.heads));
  }

  private measured(trouble: string | null): void {
    const { numbers } = this;
    this.menu.offer(numbers && this.metric(), numbers?.limits ?? null);
    if (trouble !== null) this.tell(trouble, this.options.now.metric !== null); // nobody asked for the usual one
    this.arrange();
  }

  private tell(text: string, trouble: boolean): void {
    write(this.about, text);
    this.about.classList.toggle("over-trouble", trouble);
  }

  private readonly numberOf = (map: string, head: number): number | null =>
    this.numbers?.parts.get(map)?.values[head] ?? null;

  // Layout and drawing

  private lay(width: number, height: number, ratio: number): Grid {
    const { groups } = this;
    const options = this.options.now;
    const measured = this.numbers !== null;
    return layGrid(groups, {
      width,
      height,
      order: measured ? options.order : "layer",
      numberOf: this.numberOf,
      keeps: (value) => !measured || passes(value, filterOf(options)),
      pixels: this.thumbnails!.largestSide(groups.flatMap(({ maps }) => maps)) / ratio,
    });
  }

  private arrange(): void {
    if (this.tasks.over || this.thumbnails === null) return;
    const { scroller, space, say } = this;
    const grid = this.lay(scroller.clientWidth - 4, scroller.clientHeight - 4, window.devicePixelRatio || 1);
    this.grid = grid;
    setStyle(space, { height: `${Math.ceil(grid.height)}px`, width: `${Math.ceil(grid.width)}px` });
    this.titles.replaceChildren(
      ...grid.titles.map(({ text, y }) => make("h3", { style: { top: `${y}px` } }, text)),
    );
    const kept = grid.boxes.filter((box) => box.kept).length;
    this.menu.count(kept === 0 ? say.empty : say.shown(kept, this.heads));
    this.focus ??= this.chosen();
    this.hover =
      this.hover === null ? null : (grid.boxes.find((box) => isAt(box, whereIs(this.hover!))) ?? null);
    this.tellActive();
    this.schedule();
  }

  private schedule(): void {
    this.tasks.frame(() => this.drawAll());
  }

  private drawAll(): void {
    const gallery = this.gallery(this.grid);
    if (gallery === null) return;
    drawGallery(this.canvas, this.scroller, gallery);
    const { grid, hover } = gallery;
    if (hover === null) this.tooltip.hide();
    else this.tooltip.show(grid, hover, this.scroller);
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

  /** The box at a mouse event, if the filter lets it through. */
  private boxUnder(event: MouseEvent): Box | null {
    const { grid, scroller } = this;
    const { x, y } = pointIn(scroller, event);
    const found = grid && boxAt(grid, x + scroller.scrollLeft, y + scroller.scrollTop);
    return found?.kept ? found : null;
  }

  private point(box: Box | null): void {
    this.scroller.classList.toggle("over-pointing", box !== null);
    if (box === this.hover) return;
    this.hover = box;
    this.schedule();
  }

  private open(box: Box): void {
    this.stage.selection.set({ place: box.map.place, head: box.head, view: "heatmap" });
  }

  private press(event: KeyboardEvent): void {
    const { grid } = this;
    if (grid === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const now = grid.boxes.find((box) => isAt(box, this.focus)) ?? grid.boxes[0];
    if (now === undefined) return;
    if (event.key === "Enter" || event.key === " ") this.open(now);
    else if (/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key)) {
      const next = neighbour(grid, now, event.key);
      this.focus = whereIs(next);
      this.hover = next;
      reveal(next, grid, this.scroller);
      this.tellActive();
      this.stage.announce(this.active.textContent ?? "");
      this.schedule();
    } else return;
    event.preventDefault();
  }

  private tellActive(): void {
    const boxes = this.grid?.boxes ?? [];
    const box = boxes.find((each) => isAt(each, this.focus)) ?? boxes[0];
    const value = box === undefined ? null : this.valueText(box);
    const text = box === undefined ? this.say.empty : [this.nameOf(box), value].filter(Boolean).join(" · ");
    write(this.active, text);
  }

  private nameOf({ map, head }: Box): string {
    return `${this.say.group(map.place.stack, map.place.kind)} · ${this.say.head(map.place.layer, head)}`;
  }

  private valueText(box: Box): string | null {
    const { numbers } = this;
    const metric = this.metric();
    if (metric === null || numbers === null) return null;
    return tellNumber(box, metric, numbers, this.stage.language, this.say);
  }

  private metric(): MetricDescription | null {
    const name = this.options.now.metric ?? usualMetric(this.metrics);
    return this.metrics.find((metric) => metric.name === name) ?? null;
  }

  private chosen(): HeadPlace | null {
    const { place, head } = this.stage.selection.get();
    return typeof head === "number" ? { place, head } : null;
  }

  // Selection, size, language and theme

  update(now: Selection, before: Selection): void {
    const [options, old] = [this.options.in(now), this.options.in(before)];
    this.menu.follow();
    if (options.metric !== old.metric) {
      if (options.keep !== null) this.options.set({ keep: null });
      this.measure();
    } else if (filterOf(options).way !== filterOf(old).way && this.numbers !== null)
      this.menu.offer(this.metric(), this.numbers.limits);
    if (!samePlace(now.place, before.place) || now.head !== before.head) this.focus = this.chosen();
    if (options.colours !== old.colours) this.colour();
    this.load();
    this.arrange();
  }

  resize(): void {
    this.arrange();
  }

  restyle(): void {
    this.groups = groupMaps(this.stage.source.description.maps, this.stage.selection.get(), this.say);
    this.nameList();
    relabel(this.stage.element);
    if (!this.about.classList.contains("over-trouble")) this.explain();
    this.colour();
    this.arrange();
  }

  private report(): Report {
    const { say, names, stage, heads } = this;
    return { say, names, language: stage.language, heads, metric: this.metric() };
  }

  async picture(): Promise<string> {
    const { stage, numbers } = this;
    if (this.pictures === null) throw new Refusal(this.names.noMaps, "no_maps", 0);
    const gallery = this.gallery(this.lay(1100, 900, 1));
    const words = captionGallery(this.report(), stage.source.description, numbers, this.top());
    return printGallery(gallery!, words, stage.theme);
  }

  async table(): Promise<TableData> {
    return tabulate(this.report(), this.grid);
  }
}

function whereIs(box: Box): HeadPlace {
  return { place: box.map.place, head: box.head };
}
