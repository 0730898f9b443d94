/**
 * Text: the text itself, coloured by what the chosen token attends to, or by what attends to it.
 *
 * In:   one row or column of weights (exact), or the attention that tokens receive in all.
 * Out:  running text (src/text/); for cross-attention both texts. Long texts are read through a window of some thousand
 *       tokens, with a strip that shows the whole.
 */

import type { SideName } from "../../api/types";
import { axisOf, chooseMap } from "../../core/maps";
import type { Selection } from "../../core/selection";
import type { Mounted, Stage, TableData, View } from "../../core/view";
import { readAxis, readColumn, readMass, readRow } from "../../data/weights";
import { inBoth, introduce, liveWords } from "../../i18n/core";
import { make, relabel, write } from "../../marks/make";
import { Bar } from "./bar";
import { Pane } from "./pane";
import { writePicture } from "./picture";
import { BEST, type Chosen, format, strongest, summarise } from "./readout";
import {
  type Axis,
  chooseMode,
  chooseToken,
  type Mode,
  modeOf,
  moveWindow,
  WINDOW,
  windowOf,
} from "./settings";
import { words } from "./words";

export const view: View = {
  name: "text",
  order: 40,
  ...introduce(words),
  needs: "recording",
  panel: true,
  transport: true,
  options: {},
  fits: ({ now: { description } }) => description.maps.length > 0 || inBoth(words, (word) => word.noMaps),
  mount: (stage) => new TextView(stage),
};

class TextView implements Mounted {
  private readonly word;
  private readonly bar: Bar;
  private readonly readout = make("p", { class: "text-readout", dir: "auto" });
  private readonly note = make("p", { class: "text-note", hidden: true });
  private readonly body = make("div", { class: "text-body" });
  private panes: readonly Pane[] = [];
  private values: Float32Array | null = null; // for every token of the coloured axis
  private readonly names = new Map<number, string>(); // of tokens beyond the window
  private asked = 0; // the number of the last question; older answers are late
  private gone = false;
  private map;

  constructor(private readonly stage: Stage) {
    this.word = liveWords(words, () => stage.language);
    this.bar = new Bar(
      this.word,
      () => stage.theme,
      (mode) => chooseMode(stage.selection, mode),
    );
    stage.element.replaceChildren(
      make("div", { class: "text" }, this.bar.element, this.note, this.readout, this.body),
    );
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

  restyle(): void {
    this.bar.paint();
    relabel(this.stage.element);
    this.namePanes();
    this.follow();
  }

  private mode(): Mode {
    return modeOf(this.stage.selection.get(), this.map);
  }

  private windowOf(axis: Axis): readonly [number, number] {
    return windowOf(this.stage.selection.get(), this.map, axis, this.panes.length < 2);
  }

  /** Make the panes of a map and fetch their tokens. */
  private open(): void {
    const cross = this.map.query_side !== this.map.key_side;
    const axes: readonly Axis[] = cross ? ["key", "query"] : ["query"];
    if (this.panes.length !== axes.length) {
      this.panes = axes.map((axis) => this.makePane(axis));
      this.body.replaceChildren(...this.panes.map((pane) => pane.element));
      this.body.toggleAttribute("data-two", cross);
    }
    const { map } = this;
    this.namePanes();
    for (const pane of this.panes) {
      const [side, start, count] = axisOf(map, pane.axis);
      const [first, last] = this.windowOf(pane.axis);
      readAxis(this.stage.source, map, pane.axis, [first - start, last - start]).then((slice) => {
        if (this.gone || this.map !== map) return;
        pane.slice = slice;
        pane.passage.setTokens(slice, this.textOf(side), count);
        this.follow();
      }, this.failed);
    }
  }

  private namePanes(): void {
    const { map, word } = this;
    const cross = map.query_side !== map.key_side;
    for (const pane of this.panes) {
      const [side, start, count] = axisOf(map, pane.axis);
      pane.name(cross ? (side === "source" ? word.source : word.target) : null);
      pane.showRange(this.windowOf(pane.axis), start, start + count);
    }
  }

  private textOf(side: SideName): string | null {
    const { description } = this.stage.source;
    return (side === "source" ? description.source : description.target)?.text ?? null;
  }

  private makePane(axis: Axis): Pane {
    const { selection } = this.stage;
    const move = (first: number) => moveWindow(selection, this.map, axis, first);
    return new Pane(axis, this.word, () => this.stage.theme, {
      choose: (token) => this.choose(axis, token),
      point: (token) => this.point(axis, token),
      page: (direction) => move(this.windowOf(axis)[0] + direction * WINDOW),
      jump: (share) => {
        const [, start, count] = axisOf(this.map, axis);
        move(Math.round(start + share * count - WINDOW / 2));
      },
    });
  }

  private readonly failed = (error: unknown): void => {
    if (!this.gone) this.stage.fail(error);
  };

  /** The token whose row or column is shown; without a choice, the last word in view. */
  private chosen(): Chosen | null {
    const mode = this.mode();
    if (mode === "received") return null;
    const axis: Axis = mode === "out" ? "query" : "key";
    const token = this.stage.selection.get()[axis];
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
    const now: Axis = this.panes.length === 2 ? axis : this.mode() === "in" ? "key" : "query";
    chooseToken(this.stage.selection, now, token);
    this.paneOf(now)?.passage.reveal(token, !this.stage.reducedMotion);
  }

  /** Fetch the numbers that the selection asks for, and colour with them. */
  private follow(): void {
    if (this.panes.some((pane) => pane.slice === null)) return;
    const { map, word, stage } = this;
    this.bar.show(this.mode(), map.has_weights);
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

  private numbers(chosen: Chosen | null): Promise<Float32Array> {
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
    write(this.bar.largest, format(most));
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
    const far = strongest(values, BEST).filter(
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
      pane.paintStrip(pane === target ? this.values : null, () => {
        const [, start, count] = axisOf(this.map, pane.axis);
        const [first, last] = this.windowOf(pane.axis);
        return [(first - start) / count, (last - start) / count];
      });
    }
  }

  /** Say the number of the token pointed at, or the strongest ones. */
  private point(axis: Axis, token: number | null): void {
    const coloured = this.coloured();
    const pane = this.paneOf(axis);
    const [, start] = axisOf(this.map, coloured);
    if (token !== null && this.values !== null && pane === this.paneOf(coloured) && pane?.slice) {
      const value = this.values[token - start] ?? 0;
      write(this.readout, this.word.value(this.nameOf(axis, token) ?? "", token, format(value)));
    } else write(this.readout, this.summary());
  }

  /** A token in the window of an axis. */
  private nameOf(axis: Axis, token: number): string | undefined {
    const slice = this.paneOf(axis)?.slice;
    return slice?.shown[token - slice.start];
  }

  private summary(): string {
    const axis = this.coloured();
    const chosen = this.chosen();
    return summarise(
      {
        values: this.values,
        start: axisOf(this.map, axis)[1],
        chosen: chosen && { ...chosen, name: this.nameOf(chosen.axis, chosen.token) ?? "" },
        nameOf: (token) => this.nameOf(axis, token) ?? this.names.get(token) ?? "…",
      },
      this.word,
    );
  }

  async picture(): Promise<string> {
    const { word, stage, map, panes } = this;
    const sentence = `${this.summary()} ${word.captionScale(format(this.maximum()))}`;
    return writePicture({ word, stage, map, panes, sentence });
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
