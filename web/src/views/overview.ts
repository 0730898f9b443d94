/**
 * The overview: all layers × heads as small heat maps, with a number for each. The way in.
 *
 * In:   a stage: thumbnails, scores over heads, the selection, options "overview.…".
 * Out:  a canvas that follows scrolling; a click or Enter opens a head in the heat map.
 */

import type { Frame } from "../bundle";
import { words } from "../i18n/overview";
import { sequential } from "../marks/colours";
import { choice, list, slider } from "../marks/controls";
import { digits } from "../marks/digits";
import type { Colour } from "../marks/heat";
import {
  BAR,
  type Box,
  boxAt,
  type Grid,
  type Group,
  LABEL,
  labelOf,
  layGrid,
  neighbour,
  type Order,
} from "../marks/heat_grid";
import { Thumbnails } from "../marks/heat_thumbs";
import { make, write } from "../marks/make";
import { figure, inks, label, sheet } from "../marks/paper";
import { Tooltip } from "../marks/tooltip";
import type { Selection } from "../selection";
import { Refusal } from "../source";
import type { MapDescription, MetricDescription, ScoreDescription } from "../types";
import type { Mounted, Stage, TableData, View } from "../view";

const HIDDEN: Readonly<Record<string, Colour>> = { light: [238, 239, 242], dark: [36, 40, 48] };
const PREVIEW = 208; // CSS pixels of the larger picture
const STEPS = 100; // of the filter's slider

interface Options {
  readonly metric: string; // "" for none
  readonly order: Order;
  readonly how: "mean" | "max";
  readonly own: boolean;
  readonly way: "at_least" | "at_most";
  readonly bound: number | null;
}

class Overview implements Mounted {
  private readonly say: ReturnType<typeof words>;
  private readonly scroller = make("div", { class: "over-scroll", tabindex: 0, role: "listbox" });
  private readonly space = make("div", { class: "over-space" });
  private readonly canvas = make("canvas", { class: "over-canvas", "aria-hidden": "true" });
  private readonly active = make("div", { class: "over-active", role: "option", "aria-selected": "true" });
  private readonly about = make("p", { class: "over-about" });
  private readonly counted = make("output", { class: "over-count" });
  private readonly filter = make("div", { class: "over-filter" });
  private readonly controls: { set(): void }[] = [];
  private readonly tooltip: Tooltip;
  private readonly preview = make("canvas", { class: "over-preview" });
  private readonly previewName = make("div", { class: "over-name" });
  private readonly previewValue = make("div", { class: "over-value" });
  private readonly metrics: readonly MetricDescription[];
  private readonly groups: readonly Group[];
  private readonly heads: number;

  private frame: Frame | null = null;
  private thumbnails: Thumbnails | null = null;
  private scores: ReadonlyMap<
    number,
    { values: readonly (number | null)[]; why: readonly (string | null)[] }
  > = new Map();
  private limits: readonly [number, number] = [0, 1];
  private trouble: string | null = null;
  private grid: Grid | null = null;
  private focus: { map: number; head: number } | null = null;
  private hover: Box | null = null;
  private measuring: AbortController | null = null;
  private turn = 0;
  private due = 0;
  private over = false;

  constructor(private readonly stage: Stage) {
    this.say = words(stage.language);
    const { say } = this;
    const { maps } = stage.source.description;
    this.metrics = stage.metrics.filter(
      (metric) =>
        metric.levels.includes("head") &&
        (metric.needs === "statistics" || maps.some((map) => map.has_weights)),
    );
    this.groups = groupMaps(maps, stage.selection.get(), say);
    this.heads = this.groups.reduce(
      (sum, group) => sum + group.maps.reduce((more, map) => more + map.heads, 0),
      0,
    );
    const id = `over-active-${Math.round(performance.now())}`;
    this.active.id = id;
    this.scroller.setAttribute("aria-label", say.list(this.heads));
    this.scroller.setAttribute("aria-activedescendant", id);
    const titles = make("div", { class: "over-titles", "aria-hidden": "true" });
    this.space.append(titles);
    this.scroller.append(this.canvas, this.space, this.active);
    const bar = make("div", { class: "over-bar" }, ...this.makeControls());
    const area = make("div", { class: "over-area" }, this.scroller);
    const foot = make(
      "p",
      { class: "over-foot" },
      `${say.axes} ${maps.some((map) => map.causal) ? say.hidden : ""}`,
    );
    stage.element.append(make("div", { class: "over" }, bar, this.about, this.filter, area, foot));
    this.tooltip = new Tooltip(area);
    this.tooltip.element.classList.add("over-card");
    this.tooltip.fill(
      this.preview,
      this.previewName,
      this.previewValue,
      make("div", { class: "over-open" }, say.open),
    );
    this.scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    this.scroller.addEventListener("pointermove", (event) => this.point(event));
    this.scroller.addEventListener("pointerleave", () => this.leave());
    this.scroller.addEventListener("click", (event) => this.click(event));
    this.scroller.addEventListener("keydown", (event) => this.press(event));
    this.scroller.addEventListener("blur", () => this.leave());
    this.load();
    this.measure();
  }

  // Data

  private load(): void {
    const turn = ++this.turn;
    const { how } = this.options();
    this.stage.source.thumbnails(how).then(
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
    if (this.frame !== null)
      this.thumbnails = new Thumbnails(this.frame, sequential(theme), HIDDEN[theme]!, this.options().own);
  }

  private measure(): void {
    this.measuring?.abort();
    this.scores = new Map();
    this.trouble = null;
    const metric = this.metric();
    this.describe(metric !== null);
    if (metric === null) {
      this.arrange();
      return;
    }
    const controller = new AbortController();
    this.measuring = controller;
    this.stage.source.score(metric.name, "head", {}, controller.signal).then(
      (score) => {
        if (controller.signal.aborted || this.over) return;
        this.keep(score);
        this.describe(false);
        this.arrange();
      },
      (error: unknown) => {
        if (controller.signal.aborted || this.over) return;
        this.trouble = error instanceof Refusal ? error.sentence : String(error);
        this.describe(false);
        this.arrange();
      },
    );
  }

  private keep(score: ScoreDescription): void {
    const scores = new Map<number, { values: readonly (number | null)[]; why: readonly (string | null)[] }>();
    const values: number[] = [];
    for (const part of score.parts) {
      if (part.map === null) continue;
      scores.set(part.map, part);
      for (const value of part.values) if (value !== null) values.push(value);
    }
    const lowest = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
    const highest = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
    this.scores = scores;
    this.limits = values.length === 0 ? [0, 1] : [lowest, highest];
  }

  private valueOf = (map: number, head: number): number | null => this.scores.get(map)?.values[head] ?? null;

  private keeps = (value: number | null): boolean => {
    const { bound, way } = this.options();
    if (bound === null || this.scores.size === 0) return true;
    if (value === null) return false;
    const slack = 1e-9 * Math.max(1, Math.abs(bound));
    return way === "at_least" ? value >= bound - slack : value <= bound + slack;
  };

  // Layout and drawing

  private arrange(): void {
    if (this.over || this.thumbnails === null) return;
    const { thumbnails, groups, scroller, space } = this;
    const ratio = window.devicePixelRatio || 1;
    const pixels =
      Math.max(1, ...groups.flatMap(({ maps }) => maps.map((map) => thumbnails.pixels(map)))) / ratio;
    const size = { width: scroller.clientWidth - 4, height: scroller.clientHeight - 4 };
    this.grid = layGrid(groups, {
      ...size,
      order: this.options().order,
      valueOf: this.valueOf,
      keeps: this.keeps,
      pixels,
    });
    space.style.setProperty("height", `${Math.ceil(this.grid.height)}px`);
    space.style.setProperty("width", `${Math.ceil(this.grid.width)}px`);
    const titles = this.grid.titles.map(({ text, y }) => {
      const title = make("h3", {}, text);
      title.style.setProperty("top", `${y}px`);
      return title;
    });
    space.firstElementChild?.replaceChildren(...titles);
    const kept = this.grid.boxes.filter((box) => box.kept).length;
    write(this.counted, kept === 0 ? this.say.empty : this.say.shown(kept, this.heads));
    this.focus ??= this.chosen();
    this.tellActive();
    this.schedule();
  }

  private schedule(): void {
    if (this.due === 0 && !this.over) this.due = requestAnimationFrame(() => this.drawAll());
  }

  private drawAll(): void {
    this.due = 0;
    const { grid, thumbnails, canvas, scroller } = this;
    if (this.over || grid === null || thumbnails === null) return;
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [scroller.clientWidth, scroller.clientHeight];
    if (canvas.width !== Math.round(wide * ratio)) canvas.width = Math.round(wide * ratio);
    if (canvas.height !== Math.round(high * ratio)) canvas.height = Math.round(high * ratio);
    canvas.style.setProperty("width", `${wide}px`);
    canvas.style.setProperty("height", `${high}px`);
    const context = canvas.getContext("2d");
    if (context === null) return;
    const [left, top] = [scroller.scrollLeft, scroller.scrollTop];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, wide, high);
    context.translate(-left, -top);
    const style = getComputedStyle(scroller);
    const ink = (name: string): string => style.getPropertyValue(name).trim();
    this.drawNames(context, style.fontFamily, ink("--ink-faint"));
    const chosen = this.chosen();
    for (const box of grid.boxes) {
      if (
        box.y + grid.step[1] < top ||
        box.y > top + high ||
        box.x + grid.step[0] < left ||
        box.x > left + wide
      )
        continue;
      this.drawBox(context, box, ratio, ink, is(box, chosen));
    }
    this.showPreview();
  }

  private drawNames(context: CanvasRenderingContext2D, family: string, faint: string): void {
    const grid = this.grid!;
    context.font = `11px ${family}`;
    context.fillStyle = faint;
    context.textAlign = "right";
    for (const { text, y } of grid.rows) context.fillText(text, 22, y + 4);
    context.textAlign = "center";
    for (const { text, x, y } of grid.columns) context.fillText(text, x, y);
  }

  private drawBox(
    context: CanvasRenderingContext2D,
    box: Box,
    ratio: number,
    ink: (name: string) => string,
    chosen: boolean,
  ): void {
    const { size, labelled } = this.grid!;
    const { map, head, x, y, value } = box;
    context.globalAlpha = box.kept ? 1 : 0.14;
    this.thumbnails!.draw(context, map, head, x, y, size, ratio);
    context.strokeStyle = ink("--line");
    context.lineWidth = 1;
    context.strokeRect(x - 0.5, y - 0.5, size + 1, size + 1);
    if (this.scores.size > 0) {
      const [least, most] = this.limits;
      const share = value === null ? 0 : most > least ? (value - least) / (most - least) : 1;
      context.fillStyle = ink("--line");
      context.fillRect(x, y + size + 4, size, BAR);
      context.fillStyle = ink("--accent");
      if (value !== null) context.fillRect(x, y + size + 4, Math.max(1, share * size), BAR);
    }
    if (labelled) {
      context.fillStyle = ink(chosen ? "--accent" : "--ink-faint");
      context.textAlign = "left";
      const base = y + size + 4 + BAR + LABEL - 3;
      context.fillText(labelOf(map, head), x, base);
      const room = size - context.measureText(labelOf(map, head)).width - 6;
      const text = value === null ? "" : digits(value, 2);
      if (text !== "" && context.measureText(text).width <= room) {
        context.fillStyle = ink("--ink-soft");
        context.textAlign = "right";
        context.fillText(text, x + size, base);
      }
    }
    context.globalAlpha = 1;
    const focused = is(box, this.focus) && this.scroller.matches(":focus-visible");
    const lit = focused || box === this.hover;
    if (chosen || lit) {
      context.strokeStyle = ink(focused ? "--focus" : chosen ? "--accent" : "--ink");
      context.lineWidth = 2;
      context.strokeRect(x - 2, y - 2, size + 4, size + 4);
    }
  }

  // Pointing

  private place(event: MouseEvent): Box | null {
    if (this.grid === null) return null;
    const box = this.scroller.getBoundingClientRect();
    const found = boxAt(
      this.grid,
      event.clientX - box.left + this.scroller.scrollLeft,
      event.clientY - box.top + this.scroller.scrollTop,
    );
    return found?.kept ? found : null;
  }

  private point(event: PointerEvent): void {
    if (event.pointerType === "touch") return;
    const box = this.place(event);
    this.scroller.classList.toggle("over-pointing", box !== null);
    if (box !== this.hover) {
      this.hover = box;
      this.schedule();
    }
  }

  private leave(): void {
    this.hover = null;
    this.schedule();
  }

  private click(event: MouseEvent): void {
    const box = this.place(event);
    if (box !== null) this.open(box);
  }

  private open(box: Box): void {
    this.stage.selection.set({ map: box.map.index, head: box.head, view: "heatmap" });
  }

  private press(event: KeyboardEvent): void {
    const { grid } = this;
    if (grid === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const now = grid.boxes.find((box) => is(box, this.focus)) ?? grid.boxes[0];
    if (now === undefined) return;
    if (event.key === "Enter" || event.key === " ") this.open(now);
    else if (/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(event.key)) {
      const next = neighbour(grid, now, event.key);
      this.focus = { map: next.map.index, head: next.head };
      this.hover = next;
      this.reveal(next);
      this.tellActive();
      this.stage.announce(this.active.textContent ?? "");
      this.schedule();
    } else return;
    event.preventDefault();
  }

  private reveal(box: Box): void {
    const { scroller } = this;
    const grid = this.grid!;
    if (box.y < scroller.scrollTop + 8) scroller.scrollTop = Math.max(0, box.y - 60);
    else if (box.y + grid.step[1] > scroller.scrollTop + scroller.clientHeight) {
      scroller.scrollTop = box.y + grid.step[1] - scroller.clientHeight + 8;
    }
    if (box.x < scroller.scrollLeft + 30) scroller.scrollLeft = Math.max(0, box.x - 40);
    else if (box.x + grid.step[0] > scroller.scrollLeft + scroller.clientWidth) {
      scroller.scrollLeft = box.x + grid.step[0] - scroller.clientWidth + 8;
    }
  }

  private tellActive(): void {
    const box = this.grid?.boxes.find((each) => is(each, this.focus)) ?? this.grid?.boxes[0];
    write(this.active, box === undefined ? this.say.empty : this.wordsOf(box));
  }

  private wordsOf(box: Box): string {
    const metric = this.metric();
    const value = metric === null ? "" : ` · ${metric.label[this.stage.language]} ${digits(box.value, 4)}`;
    return `${this.say.group(box.map.stack, box.map.kind)} · ${this.say.head(box.map.layer, box.head)}${value}`;
  }

  private showPreview(): void {
    const { hover, grid, thumbnails, tooltip, preview, say, scroller } = this;
    if (hover === null || grid === null || thumbnails === null) {
      tooltip.hide();
      return;
    }
    const ratio = window.devicePixelRatio || 1;
    preview.width = preview.height = Math.round(PREVIEW * ratio);
    const context = preview.getContext("2d");
    if (context !== null) thumbnails.draw(context, hover.map, hover.head, 0, 0, preview.width, 1);
    write(
      this.previewName,
      `${say.group(hover.map.stack, hover.map.kind)} · ${say.head(hover.map.layer, hover.head)}`,
    );
    const metric = this.metric();
    const why = this.scores.get(hover.map.index)?.why[hover.head] ?? null;
    const known = this.scores.size > 0 && metric !== null;
    const value =
      hover.value === null ? (why === null ? say.unknown : say.undefined(why)) : digits(hover.value, 4);
    write(this.previewValue, known ? `${metric.label[this.stage.language]}: ${value}` : "");
    this.previewValue.hidden = !known;
    tooltip.refresh();
    tooltip.show(hover.x - scroller.scrollLeft + grid.size, hover.y - scroller.scrollTop + grid.size / 2);
  }

  // Controls

  private makeControls(): HTMLElement[] {
    const { say, stage } = this;
    const set = (name: string, value: string, usual: string): void =>
      stage.selection.option(`overview.${name}`, value === usual ? null : value);
    const families = new Map<string, MetricDescription[]>();
    for (const metric of this.metrics)
      families.set(metric.family, [...(families.get(metric.family) ?? []), metric]);
    const usual = this.usual();
    const metric = list<string>(
      say.measure,
      [
        { label: null, options: [{ value: "none", text: say.noMeasure }] },
        ...[...families].map(([family, members]) => ({
          label: say.families(family),
          options: members.map((each) => ({ value: each.name, text: each.label[stage.language] })),
        })),
      ],
      this.options().metric || "none",
      (value) => set("metric", value, usual),
    );
    const order = choice<Order>(
      say.order,
      [
        { value: "layer", text: say.byLayer },
        { value: "high", text: say.highFirst },
        { value: "low", text: say.lowFirst },
      ],
      this.options().order,
      (value) => set("order", value, "layer"),
    );
    const own = choice<"own" | "shared">(
      say.colours,
      [
        { value: "own", text: say.own },
        { value: "shared", text: say.shared },
      ],
      this.options().own ? "own" : "shared",
      (value) => set("colours", value, "own"),
    );
    const how = choice<"mean" | "max">(
      say.pool,
      [
        { value: "mean", text: say.mean },
        { value: "max", text: say.max },
      ],
      this.options().how,
      (value) => set("pool", value, "mean"),
    );
    this.controls.push(
      { set: () => metric.set(this.options().metric || "none") },
      { set: () => order.set(this.options().order) },
      { set: () => own.set(this.options().own ? "own" : "shared") },
      { set: () => how.set(this.options().how) },
    );
    return [metric, order, own, how].map((control) => control.element);
  }

  /** The sentence about the measure, and its filter. */
  private describe(measuring: boolean): void {
    const { say, stage } = this;
    const metric = this.metric();
    const tongue = stage.language;
    const parts =
      metric === null
        ? []
        : [
            metric.caption[tongue],
            metric.lower?.[tongue] && say.lower(metric.lower[tongue]),
            metric.higher?.[tongue] && say.higher(metric.higher[tongue]),
          ];
    write(this.about, this.trouble ?? parts.filter(Boolean).join(" "));
    this.about.classList.toggle("over-trouble", this.trouble !== null);
    this.filter.replaceChildren();
    if (metric === null || this.trouble !== null) return;
    if (measuring) {
      this.filter.append(make("span", { class: "over-count" }, say.measuring));
      return;
    }
    const [least, most] = this.limits;
    const { way, bound } = this.options();
    const keep = (now: "at_least" | "at_most", value: number): void => {
      const all = now === "at_least" ? value <= least : value >= most;
      stage.selection.option("overview.keep", all ? null : `${now}_${Number(value.toPrecision(6))}`);
    };
    const end = way === "at_least" ? least : most;
    const slide = slider(
      {
        label: say.threshold(metric.label[tongue]),
        minimum: least,
        maximum: most > least ? most : least + 1,
        step: most > least ? (most - least) / STEPS : 1,
        value: bound ?? end,
        text: (value) => digits(value, 3),
      },
      (value) => keep(way, value),
    );
    const ways = choice<"at_least" | "at_most">(
      say.keep,
      [
        { value: "at_least", text: say.atLeast },
        { value: "at_most", text: say.atMost },
      ],
      way,
      (now) => {
        stage.selection.option("overview.way", now === "at_least" ? null : now);
        stage.selection.option("overview.keep", null);
      },
    );
    slide.element.firstElementChild?.classList.add("over-unseen"); // the measure's name is in the list above
    this.filter.append(ways.element, slide.element, this.counted);
  }

  private options(now: Selection = this.stage.selection.get()): Options {
    const get = (name: string): string | undefined => now.options[`overview.${name}`];
    const [, kept, bound] = /^(at_least|at_most)_(-?[\d.e+-]+)$/.exec(get("keep") ?? "") ?? [];
    const order = get("order");
    const metric = get("metric") ?? this.usual();
    return {
      metric: metric === "none" ? "" : metric,
      order: order === "high" || order === "low" ? order : "layer",
      how: get("pool") === "max" ? "max" : "mean",
      own: get("colours") !== "shared",
      way: (kept ?? get("way")) === "at_most" ? "at_most" : "at_least",
      bound: bound === undefined || !Number.isFinite(Number(bound)) ? null : Number(bound),
    };
  }

  private usual(): string {
    return this.metrics.some((metric) => metric.name === "entropy")
      ? "entropy"
      : (this.metrics[0]?.name ?? "none");
  }

  private metric(): MetricDescription | null {
    return this.metrics.find((metric) => metric.name === this.options().metric) ?? null;
  }

  private chosen(): { map: number; head: number } | null {
    const { map, head } = this.stage.selection.get();
    return typeof head === "number" ? { map, head } : null;
  }

  // The stage's wishes

  update(now: Selection, before: Selection): void {
    const [option, old] = [this.options(now), this.options(before)];
    for (const control of this.controls) control.set();
    if (option.how !== old.how) this.load();
    if (option.own !== old.own) this.colour();
    if (option.metric !== old.metric) {
      if (now.options["overview.keep"] !== undefined) this.stage.selection.option("overview.keep", null);
      this.measure();
    } else if (option.way !== old.way) this.describe(false);
    if (now.map !== before.map || now.head !== before.head) this.focus = this.chosen();
    this.arrange();
  }

  resize(): void {
    this.arrange();
  }

  async picture(): Promise<string> {
    const { say, stage, thumbnails } = this;
    if (thumbnails === null) throw new Error(say.noMaps);
    const { description } = stage.source;
    const ink = inks(stage.theme);
    const order = this.options().order;
    const pixels = Math.max(
      1,
      ...this.groups.flatMap(({ maps }) => maps.map((map) => thumbnails.pixels(map))),
    );
    const grid = layGrid(this.groups, {
      width: 1100,
      height: 900,
      order,
      valueOf: this.valueOf,
      keeps: this.keeps,
      pixels,
    });
    const fine = 2;
    const canvas = make("canvas", {
      width: Math.ceil(grid.width * fine),
      height: Math.ceil(grid.height * fine),
    });
    const context = canvas.getContext("2d");
    const parts: string[] = [];
    for (const { text, y } of grid.titles)
      parts.push(label(text, 0, y + 22, { size: 13, fill: ink.ink, weight: 600 }));
    for (const { text, y } of grid.rows)
      parts.push(label(text, 22, y + 4, { size: 11, fill: ink.faint, anchor: "end" }));
    for (const { text, x, y } of grid.columns)
      parts.push(label(text, x, y, { size: 11, fill: ink.faint, anchor: "middle" }));
    const [least, most] = this.limits;
    for (const { map, head, x, y, value, kept } of grid.boxes) {
      if (context !== null) {
        context.globalAlpha = kept ? 1 : 0.14;
        thumbnails.draw(context, map, head, x * fine, y * fine, grid.size * fine, 1);
      }
      if (value !== null) {
        const share = most > least ? (value - least) / (most - least) : 1;
        const bar = (width: number, fill: string): string =>
          `<rect x="${figure(x)}" y="${figure(y + grid.size + 4)}" width="${figure(width)}" height="${BAR}" fill="${fill}"/>`;
        parts.push(bar(grid.size, ink.line), bar(Math.max(1, share * grid.size), ink.accent));
      }
      if (grid.labelled)
        parts.push(
          label(labelOf(map, head), x, y + grid.size + 4 + BAR + LABEL - 3, { size: 10, fill: ink.faint }),
        );
    }
    const image = `<image x="0" y="0" width="${canvas.width / fine}" height="${canvas.height / fine}" href="${canvas.toDataURL("image/png")}"/>`;
    const metric = this.metric();
    const bars =
      metric === null || this.scores.size === 0
        ? []
        : [say.barCaption(metric.label[stage.language], digits(least, 3), digits(most, 3))];
    return sheet({
      width: grid.width,
      height: grid.height,
      body: image + parts.join(""),
      title: `${say.title} · ${description.title[stage.language]}`,
      caption: [
        say.caption(description.model, this.heads),
        ...bars,
        this.options().own ? say.coloursOwn : say.coloursShared,
        description.evidence.line,
      ],
      theme: stage.theme,
    });
  }

  async table(): Promise<TableData> {
    const { say } = this;
    const metric = this.metric();
    const columns = [
      say.stack,
      say.kind,
      say.layer,
      say.headColumn,
      ...(metric === null ? [] : [metric.label[this.stage.language]]),
    ];
    const boxes = this.grid?.boxes.filter((box) => box.kept) ?? [];
    const rows = boxes.map(({ map, head, value }) => [
      map.stack,
      map.kind,
      map.layer,
      head,
      ...(metric === null ? [] : [value]),
    ]);
    return { caption: say.tableCaption, columns, rows, more: this.heads - rows.length };
  }

  unmount(): void {
    this.over = true;
    this.measuring?.abort();
    cancelAnimationFrame(this.due);
    this.stage.element.replaceChildren();
  }
}

function is(box: Box, head: { map: number; head: number } | null): boolean {
  return head !== null && box.map.index === head.map && box.head === head.head;
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

const en = words("en");
const zh = words("zh");

export const view: View = {
  name: "overview",
  order: 10,
  title: { en: en.title, zh: zh.title },
  about: { en: en.about, zh: zh.about },
  fits: (source) => (source.description.maps.length > 0 ? true : { en: en.noMaps, zh: zh.noMaps }),
  mount: (stage: Stage): Mounted => new Overview(stage),
};
