/**
 * Text: the text itself, coloured by what the chosen token attends to, or by what attends to it.
 *
 * In:   one row or column of weights (exact), or the attention that tokens receive in all.
 * Out:  running text; for cross-attention both texts. Long texts are read through a window of some thousand tokens,
 *       with a strip that shows the whole.
 */

import { inBoth, introduce } from "../i18n/core";
import { words } from "../i18n/text";
import { make, write } from "../marks/make";
import { inks, label, sheet } from "../marks/paper";
import { Passage } from "../marks/passage";
import { paintLegend, paintStrip } from "../marks/strip";
import type { Selection } from "../selection";
import type { SideName, TokenSlice } from "../types";
import type { Mounted, Stage, TableData, View } from "../view";
import { axisOf, chooseMap, readAxis, readColumn, readMass, readRow } from "../weights";

type Axis = "query" | "key";
type Mode = "out" | "in" | "received";

const WINDOW = 2000; // tokens shown at once
const MODE_OPTION = "text.show";
const FROM_OPTION: Readonly<Record<Axis, string>> = { query: "text.queries", key: "text.keys" }; // where windows begin

export const view: View = {
  name: "text",
  order: 40,
  ...introduce(words),
  fits: ({ description }) => description.maps.length > 0 || inBoth(words, (word) => word.noMaps),
  mount: (stage) => new TextView(stage),
};

/** One text on the page, and the axis of the map that it is (for self-attention: both). */
interface Pane {
  readonly axis: Axis;
  readonly passage: Passage;
  readonly element: HTMLElement;
  readonly heading: HTMLElement;
  readonly pager: HTMLElement;
  readonly range: HTMLElement;
  readonly strip: HTMLCanvasElement;
  slice: TokenSlice | null;
}

class TextView implements Mounted {
  private readonly word;
  private readonly radios: Readonly<Record<Mode, HTMLInputElement>>;
  private readonly readout = make("p", { class: "text-readout", dir: "auto" });
  private readonly note = make("p", { class: "text-note", hidden: true });
  private readonly legend = make("canvas", {
    class: "text-legend",
    width: 120,
    height: 10,
    "aria-hidden": "true",
  });
  private readonly largest = make("span", { class: "text-largest" });
  private readonly body = make("div", { class: "text-body" });
  private panes: readonly Pane[] = [];
  private values: Float32Array | null = null; // for every token of the coloured axis
  private readonly names = new Map<number, string>(); // of tokens beyond the window
  private asked = 0; // the number of the last question; older answers are late
  private gone = false;
  private map;

  constructor(private readonly stage: Stage) {
    this.word = words(stage.language);
    const { word } = this;
    const radio = (mode: Mode) =>
      make("input", {
        type: "radio",
        name: "text-show",
        value: mode,
        onchange: () => stage.selection.option(MODE_OPTION, mode === "out" ? null : mode),
      });
    this.radios = { out: radio("out"), in: radio("in"), received: radio("received") };
    const choice = (mode: Mode) =>
      make("label", mode === "received" ? { title: word.receivedHint } : {}, this.radios[mode], word[mode]);
    stage.element.replaceChildren(
      make(
        "div",
        { class: "text" },
        make(
          "div",
          { class: "text-bar" },
          make(
            "div",
            { class: "text-modes", role: "radiogroup", "aria-label": word.show },
            choice("out"),
            choice("in"),
            choice("received"),
          ),
          make("div", { class: "text-scale" }, "0", this.legend, this.largest),
        ),
        this.note,
        this.readout,
        this.body,
      ),
    );
    paintLegend(this.legend, stage.theme);
    this.map = chooseMap(stage.source.description, stage.selection.get())!;
    this.open();
  }

  update(now: Selection): void {
    const map = chooseMap(this.stage.source.description, now)!;
    const other =
      map.query_side !== this.map.query_side ||
      map.key_side !== this.map.key_side ||
      map.step !== this.map.step;
    this.map = map;
    if (other || this.panes.some((pane) => pane.slice?.start !== this.windowOf(pane.axis)[0])) this.open();
    else this.follow();
  }

  resize(): void {
    this.paintStrips();
  }

  private mode(): Mode {
    const wanted = this.stage.selection.get().options[MODE_OPTION];
    if (!this.map.has_weights) return "received";
    return wanted === "in" || wanted === "received" ? wanted : "out";
  }

  /** Make the panes of a map and fetch their tokens. */
  private open(): void {
    const cross = this.map.query_side !== this.map.key_side;
    const axes: readonly Axis[] = cross ? ["key", "query"] : ["query"];
    const same = this.panes.length === axes.length;
    if (!same) {
      this.panes = axes.map((axis) => this.makePane(axis));
      this.body.replaceChildren(...this.panes.map((pane) => pane.element));
      this.body.toggleAttribute("data-two", cross);
    }
    const { source } = this.stage;
    const { map, word } = this;
    for (const pane of this.panes) {
      const [side, start, count] = axisOf(map, pane.axis);
      const [first, last] = this.windowOf(pane.axis);
      const name = cross ? (side === "source" ? word.source : word.target) : word.text;
      pane.heading.replaceChildren(
        make("b", {}, name),
        cross ? ` ${pane.axis === "query" ? word.queries : word.keys}` : "",
      );
      pane.heading.hidden = !cross;
      pane.pager.hidden = count <= WINDOW;
      write(pane.range, word.windowed(String(first), String(last - 1), String(start + count)));
      readAxis(source, map, pane.axis, [first - start, last - start]).then((slice) => {
        if (this.gone || this.map !== map) return;
        pane.slice = slice;
        pane.passage.setTokens(slice, this.textOf(side), count);
        this.follow();
      }, this.failed);
    }
  }

  private textOf(side: SideName): string | null {
    const { description } = this.stage.source;
    return (side === "source" ? description.source : description.target)?.text ?? null;
  }

  private makePane(axis: Axis): Pane {
    const { word, stage } = this;
    const passage = new Passage({
      label: axis === "query" ? word.queries : word.keys,
      theme: stage.theme,
      choose: (token) => this.choose(axis, token),
      point: (token) => this.point(axis, token),
    });
    const heading = make("h2", { class: "text-heading" });
    const strip = make("canvas", {
      class: "text-strip",
      height: 14,
      role: "img",
      "aria-label": word.strip,
      title: word.strip,
    });
    strip.addEventListener("click", (event) =>
      this.jump(axis, event.offsetX / Math.max(1, strip.clientWidth)),
    );
    const range = make("span", { class: "text-range" });
    const pager = make(
      "div",
      { class: "text-pager" },
      make("button", { type: "button", onclick: () => this.page(axis, -1) }, word.earlier),
      range,
      make("button", { type: "button", onclick: () => this.page(axis, 1) }, word.later),
      strip,
    );
    const element = make("section", { class: "text-pane" }, heading, pager, passage.element);
    return { axis, passage, element, heading, pager, range, strip, slice: null };
  }

  /** First and one past the last token of the window on an axis. */
  private windowOf(axis: Axis): readonly [number, number] {
    const [, start, count] = axisOf(this.map, axis);
    if (count <= WINDOW) return [start, start + count];
    const { options, query, key } = this.stage.selection.get();
    const wanted = Number(options[FROM_OPTION[axis]] ?? Number.NaN);
    const chosen =
      (axis === "query" && this.panes.length < 2 ? (query ?? key) : axis === "query" ? query : key) ?? start;
    const first = Number.isFinite(wanted) ? wanted : chosen - WINDOW / 2;
    const fitted = Math.max(start, Math.min(start + count - WINDOW, Math.round(first / 100) * 100));
    return [fitted, fitted + WINDOW];
  }

  private page(axis: Axis, direction: 1 | -1): void {
    const [, start, count] = axisOf(this.map, axis);
    const to = this.windowOf(axis)[0] + direction * WINDOW;
    this.stage.selection.option(
      FROM_OPTION[axis],
      String(Math.max(start, Math.min(start + count - WINDOW, to))),
    );
  }

  private jump(axis: Axis, share: number): void {
    const [, start, count] = axisOf(this.map, axis);
    this.stage.selection.option(
      FROM_OPTION[axis],
      String(Math.max(start, Math.round(start + share * count - WINDOW / 2))),
    );
  }

  private readonly failed = (error: unknown): void => {
    if (!this.gone) this.stage.fail(error);
  };

  /** The token whose row or column is shown; without a choice, the last word in view. */
  private chosen(): { axis: Axis; token: number } | null {
    const mode = this.mode();
    if (mode === "received") return null;
    const axis: Axis = mode === "out" ? "query" : "key";
    const selection = this.stage.selection.get();
    const token = selection[axis];
    const [, start, count] = axisOf(this.map, axis);
    if (token !== null && token >= start && token < start + count) return { axis, token };
    const slice = this.paneOf(axis)?.slice;
    if (!slice) return null;
    const last = slice.special.lastIndexOf(false);
    return { axis, token: slice.start + (last < 0 ? slice.special.length - 1 : last) };
  }

  private paneOf(axis: Axis): Pane | undefined {
    return this.panes.find((pane) => pane.axis === axis) ?? this.panes[0];
  }

  private choose(axis: Axis, token: number): void {
    const { selection } = this.stage;
    const cross = this.panes.length === 2;
    const mode = this.mode();
    const now: Axis = cross ? axis : mode === "in" ? "key" : "query";
    const { [MODE_OPTION]: _, ...options } = selection.get().options;
    const next: Mode = now === "key" ? "in" : "out";
    selection.set({
      ...(now === "query" ? { query: token } : { key: token }),
      options: next === "out" ? options : { ...options, [MODE_OPTION]: next },
    });
    this.paneOf(now)?.passage.reveal(token, !this.stage.reducedMotion);
  }

  /** Fetch the numbers that the selection asks for, and colour with them. */
  private follow(): void {
    if (this.panes.some((pane) => pane.slice === null)) return;
    const { map, word, stage } = this;
    const mode = this.mode();
    this.radios[mode].checked = true;
    this.radios.out.disabled = this.radios.in.disabled = !map.has_weights;
    this.note.hidden = map.has_weights;
    write(this.note, map.has_weights ? "" : word.onlyReceived);
    const chosen = this.chosen();
    for (const pane of this.panes)
      pane.passage.mark(chosen !== null && pane === this.paneOf(chosen.axis) ? chosen.token : null);
    const asked = ++this.asked;
    this.numbers(chosen).then(
      (values) => {
        if (this.gone || asked !== this.asked) return;
        this.values = values;
        this.colour();
      },
      (error: unknown) => {
        if (this.gone || asked !== this.asked) return;
        if (stage.selection.get().head !== "model") return this.failed(error);
        this.values = null;
        this.note.hidden = false; // an average too large to make: say so, the rest still works
        write(this.note, error instanceof Error ? error.message : String(error));
        this.colour();
      },
    );
  }

  private numbers(chosen: { axis: Axis; token: number } | null): Promise<Float32Array> {
    const { source, selection } = this.stage;
    const { map } = this;
    const { head } = selection.get();
    if (chosen === null) return readMass(source, map, head);
    return chosen.axis === "query"
      ? readRow(source, map, head, chosen.token - map.query_start)
      : readColumn(source, map, head, chosen.token - map.key_start);
  }

  /** The axis whose tokens carry the colours. */
  private coloured(): Axis {
    return this.mode() === "in" ? "query" : "key";
  }

  private maximum(): number {
    let most = 0;
    for (const value of this.values ?? []) if (value > most) most = value;
    return most;
  }

  private colour(): void {
    const most = this.maximum();
    const target = this.paneOf(this.coloured());
    for (const pane of this.panes) {
      const { slice } = pane;
      const [, start] = axisOf(this.map, this.coloured());
      if (slice === null) continue;
      const part =
        pane === target && this.values !== null
          ? this.values.subarray(slice.start - start, slice.start - start + slice.shown.length)
          : null;
      pane.passage.colour(part, most);
    }
    write(this.largest, this.format(most));
    this.paintStrips();
    this.point(this.coloured(), null);
    this.nameFarTokens();
  }

  /** The strongest tokens may be beyond the window: fetch their names. */
  private nameFarTokens(): void {
    const { map, values, asked } = this;
    const axis = this.coloured();
    const slice = this.paneOf(axis)?.slice;
    const [, start] = axisOf(map, axis);
    this.names.clear();
    if (!slice || values === null) return;
    const far = strongest(values, 5).filter(
      (place) => slice.shown[place + start - slice.start] === undefined,
    );
    if (far.length === 0) return;
    Promise.all(far.map((place) => readAxis(this.stage.source, map, axis, [place, place + 1]))).then(
      (parts) => {
        if (this.gone || asked !== this.asked) return;
        for (const part of parts) this.names.set(part.start, part.shown[0] ?? "");
        this.point(axis, null);
      },
      this.failed,
    );
  }

  private paintStrips(): void {
    const target = this.paneOf(this.coloured());
    for (const pane of this.panes) {
      if (pane.pager.hidden) continue;
      const [, start, count] = axisOf(this.map, pane.axis);
      const [first, last] = this.windowOf(pane.axis);
      const frame = [(first - start) / count, (last - start) / count] as const;
      paintStrip(pane.strip, pane === target ? this.values : null, frame, this.stage.theme);
    }
  }

  private format(value: number): string {
    if (value === 0) return "0";
    return value < 0.001 ? value.toExponential(1) : value.toFixed(value < 0.1 ? 4 : 3);
  }

  /** Say the number of the token pointed at, or the strongest ones. */
  private point(axis: Axis, token: number | null): void {
    const { word } = this;
    const coloured = this.coloured();
    const pane = this.paneOf(axis);
    const [, start] = axisOf(this.map, coloured);
    if (token !== null && this.values !== null && pane === this.paneOf(coloured) && pane?.slice) {
      const value = this.values[token - start];
      const name = pane.slice.shown[token - pane.slice.start] ?? "";
      write(this.readout, word.value(name, token, this.format(value ?? 0)));
    } else write(this.readout, this.summary());
  }

  private summary(): string {
    const { word, values } = this;
    if (values === null) return word.idle;
    const chosen = this.chosen();
    const [, start] = axisOf(this.map, this.coloured());
    const slice = this.paneOf(this.coloured())?.slice;
    const best = strongest(values, 5).map((place) => {
      const name = slice?.shown[place + start - slice.start] ?? this.names.get(place + start) ?? "…";
      return `${name} (${place + start}) ${this.format(values[place]!)}`;
    });
    const list = best.length === 0 ? word.nothing : best.join(" · ");
    if (chosen === null) return `${word.receivedBest} ${list}`;
    const from = this.paneOf(chosen.axis)?.slice;
    const name = from?.shown[chosen.token - from.start] ?? "";
    return `${chosen.axis === "query" ? word.looksAt(name, chosen.token) : word.seenBy(name, chosen.token)} ${list}`;
  }

  private headName(): string {
    const { head } = this.stage.selection.get();
    return typeof head === "number" ? this.word.head(head) : this.word[head];
  }

  async picture(): Promise<string> {
    const { word, stage, map } = this;
    const look = inks(stage.theme);
    let height = 0;
    let width = 0;
    const bodies = this.panes.map((pane) => {
      const drawn = pane.passage.picture(look);
      const title =
        this.panes.length === 2
          ? label(pane.heading.textContent ?? "", 0, height + 14, { fill: look.soft, weight: 600 })
          : "";
      const top = height + (this.panes.length === 2 ? 24 : 0);
      height = top + drawn.height + 16;
      width = Math.max(width, drawn.width);
      return `${title}<g transform="translate(0 ${top})">${drawn.body}</g>`;
    });
    const kind = map.kind === "self" ? word.self : word.cross;
    const stack = map.stack === "encoder" ? word.encoder : map.stack === "decoder" ? word.decoder : map.stack;
    const { description } = stage.source;
    return sheet({
      width,
      height,
      body: bodies.join(""),
      title: `${word.title} · ${description.model}`,
      caption: [
        `${description.model}. ${word.mapName(stack, kind, map.layer)}. ${this.headName()}.`,
        `${this.summary()} ${word.captionScale(this.format(this.maximum()))}`,
        description.evidence.line,
      ],
      theme: stage.theme,
    });
  }

  async table(): Promise<TableData> {
    const { word, map } = this;
    const values = this.values ?? (await this.numbers(this.chosen()));
    const axis = this.coloured();
    const slice = await readAxis(this.stage.source, map, axis, [0, Math.min(WINDOW, axisOf(map, axis)[2])]);
    return {
      caption: this.summary(),
      columns: [
        word.columnPosition,
        word.columnToken,
        this.mode() === "received" ? word.columnMass : word.columnWeight,
      ],
      rows: slice.shown.map((shown, index) => [slice.start + index, shown, values[index] ?? null]),
      ...(values.length > slice.shown.length ? { more: values.length - slice.shown.length } : {}),
    };
  }

  unmount(): void {
    this.gone = true;
    this.stage.element.replaceChildren();
  }
}

/** The places of the largest numbers, largest first. */
export function strongest(values: ArrayLike<number>, count: number): number[] {
  const best: number[] = [];
  for (let place = 0; place < values.length; place++) {
    if (!(values[place]! > 0) || (best.length === count && values[place]! <= values[best[count - 1]!]!))
      continue;
    best.push(place);
    best.sort((one, other) => values[other]! - values[one]!);
    best.length = Math.min(count, best.length);
  }
  return best;
}
