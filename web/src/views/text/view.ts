/**
 * Text: the text itself, coloured by what the chosen token attends to, or by what attends to it.
 *
 * In:   one row or column of weights (exact), or the attention that tokens receive in all.
 * Out:  running text; for cross-attention both texts. Long texts are read through a window of some thousand
 *       tokens, with a strip that shows the whole.
 */

import type { RowSide } from "../../api/types";
import { hasMaps, isSigned, sideName } from "../../core/focus";
import { digits } from "../../core/formats";
import { axisOf, chooseMap, sideOf } from "../../core/maps";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import type { Selection } from "../../core/selection";
import { errorText } from "../../core/source";
import type { TableData } from "../../core/view";
import { readLayout } from "../../data/media";
import { RecordingTokens } from "../../data/side_tokens";
import { readAxis, readColumn, readMass, readRow } from "../../data/weights";
import { make, relabel, write } from "../../marks/make";
import { Bar } from "./bar";
import { Pane } from "./pane";
import { writePicture } from "./picture";
import { type Chosen, summarise } from "./readout";
import { type Axis, type Mode, moveWindow, options, type TextOptions, WINDOW, windowOf } from "./settings";
import { type Words, words } from "./words";
import "./style.css";

export const view = recordingView({
  name: "text",
  order: 40,
  words,
  options,
  fits: hasMaps,
  mount: (setting) => new TextView(setting),
});

class TextView extends MountedView<Words, TextOptions> {
  private readonly opening = this.tasks.asker(); // tokens of the windows
  private readonly asking = this.tasks.asker(); // numbers of the tokens
  private readonly bar: Bar;
  private readonly readout = make("p", { class: "text-readout", dir: "auto" });
  private readonly note = make("p", { class: "text-note", hidden: true });
  private readonly body = make("div", { class: "text-body" });
  private panes: readonly Pane[] = [];
  private values: Float32Array | null = null; // for every token of the coloured axis
  private readonly beyond = new RecordingTokens(this.stage.source, () => this.arrive()); // tokens beyond the windows
  private map;

  constructor(setting: Setting<Words, TextOptions>) {
    super(setting);
    const { stage, say, options } = this;
    this.bar = new Bar(
      say,
      () => stage.theme,
      isSigned(stage.source.description.maps),
      (show) => options.set({ show }),
    );
    stage.element.replaceChildren(
      make("div", { class: "text drawn" }, this.bar.element, this.note, this.readout, this.body),
    );
    this.map = chooseMap(stage.source.description, stage.selection.get())!;
    this.open();
  }

  update(now: Selection): void {
    this.map = chooseMap(this.stage.source.description, now)!;
    this.open();
    this.follow();
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
    return this.map.has_weights ? this.options.now.show : "received";
  }

  private windowOf(axis: Axis): readonly [number, number] {
    return windowOf(this.options.now, this.stage.selection.get(), this.map, axis, this.panes.length < 2);
  }

  /** Make the panes of a map and fetch their tokens. */
  private open(): void {
    const { map } = this;
    const now = this.stage.selection.get();
    const cross = map.query_side !== map.key_side;
    const axes: readonly Axis[] = cross ? ["key", "query"] : ["query"];
    if (this.panes.length !== axes.length) {
      this.panes = axes.map((axis) => this.makePane(axis));
      this.body.replaceChildren(...this.panes.map((pane) => pane.element));
      this.body.toggleAttribute("data-two", cross);
    }
    this.namePanes();
    const parts = this.panes.map(({ axis }) => {
      const [start, count] = axisOf(map, axis);
      const [first, last] = this.windowOf(axis);
      const side = sideOf(map, axis, now);
      return { axis, side, count, range: [first - start, last - start] as const };
    });
    this.opening.ask(
      JSON.stringify([parts, map.place.step]),
      (source) => {
        for (const pane of this.panes) pane.slice = null;
        const read = parts.map(({ axis, range, side }) =>
          Promise.all([readAxis(source, map, axis, now, range), readLayout(source, side)]),
        );
        return Promise.all(read);
      },
      (found) => {
        this.panes.forEach((pane, at) => {
          const { side, count } = parts[at]!;
          const [slice, patches] = found[at]!;
          pane.slice = slice;
          pane.passage.setTokens(slice, this.textOf(side), count, patches);
        });
        this.follow();
      },
    );
  }

  private namePanes(): void {
    const { map } = this;
    const { source, selection, language } = this.stage;
    const cross = map.query_side !== map.key_side;
    for (const pane of this.panes) {
      const [start, count] = axisOf(map, pane.axis);
      const side = sideOf(map, pane.axis, selection.get());
      pane.name(cross ? sideName(source.description, side, language) : null);
      pane.showRange(this.windowOf(pane.axis), start, start + count);
    }
  }

  private textOf(side: RowSide): string | null {
    const { description } = this.stage.source;
    return description[side]?.text ?? null;
  }

  private makePane(axis: Axis): Pane {
    const move = (first: number) => this.options.set(moveWindow(this.map, axis, first));
    return new Pane(axis, this.say, () => this.stage.theme, {
      choose: (token) => this.choose(axis, token),
      point: (token) => this.point(axis, token),
      page: (direction) => move(this.windowOf(axis)[0] + direction * WINDOW),
      jump: (share) => {
        const [start, count] = axisOf(this.map, axis);
        move(Math.round(start + share * count - WINDOW / 2));
      },
    });
  }

  /** The token whose row or column is shown; without a choice, the last word in view. */
  private chosen(): Chosen | null {
    const mode = this.mode();
    if (mode === "received") return null;
    const axis: Axis = mode === "out" ? "query" : "key";
    const token = this.stage.selection.get()[axis];
    const [start, count] = axisOf(this.map, axis);
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
    this.options.set({ show: now === "key" ? "in" : "out" }, { [now]: token });
    this.paneOf(now)?.passage.reveal(token, !this.stage.reducedMotion);
  }

  /** Fetch the numbers that the selection asks for, and colour with them. */
  private follow(): void {
    if (this.panes.some((pane) => pane.slice === null)) return;
    const { map, say, stage } = this;
    this.bar.show(this.mode(), map.has_weights);
    this.note.hidden = map.has_weights;
    write(this.note, map.has_weights ? "" : say.onlyReceived);
    const chosen = this.chosen();
    for (const pane of this.panes)
      pane.passage.mark(chosen !== null && pane === this.paneOf(chosen.axis) ? chosen.token : null);
    this.asking.ask(
      null,
      (source) => this.numbers(chosen, source),
      (values) => {
        this.values = values;
        this.colour();
      },
      (error) => {
        if (stage.selection.get().head !== "model") return stage.fail(error);
        this.values = null;
        this.note.hidden = false; // an average too large to make: say so, the rest still works
        write(this.note, stage.text(errorText(error)));
        this.colour();
      },
    );
  }

  private numbers(chosen: Chosen | null, source = this.stage.source): Promise<Float32Array> {
    const { map } = this;
    const { head } = this.stage.selection.get();
    if (chosen === null) return readMass(source, map, head);
    return chosen.axis === "query"
      ? readRow(source, map, head, chosen.token - map.query_start)
      : readColumn(source, map, head, chosen.token - map.key_start);
  }

  /** The axis whose tokens carry the colours. */
  private coloured(): Axis {
    return this.mode() === "in" ? "query" : "key";
  }

  private get signed(): boolean {
    return this.map.content === "signed";
  }

  private captionScale(): string {
    const most = this.maximum();
    return (this.signed ? this.say.captionSigned : this.say.captionScale)(digits(most), digits(-most));
  }

  private maximum(): number {
    let most = 0;
    for (const value of this.values ?? []) most = Math.max(most, Math.abs(value));
    return most;
  }

  private colour(): void {
    const most = this.maximum();
    const target = this.paneOf(this.coloured());
    for (const pane of this.panes) {
      const { slice } = pane;
      const [start] = axisOf(this.map, this.coloured());
      if (slice === null) continue;
      const part =
        pane === target && this.values !== null
          ? this.values.subarray(slice.start - start, slice.start - start + slice.shown.length)
          : null;
      pane.passage.colour(part, most, this.signed);
    }
    write(this.bar.largest, digits(most));
    write(this.bar.least, digits(this.signed ? -most : 0));
    this.paintStrips();
    this.point(this.coloured(), null);
  }

  /** Tokens one by one: the strongest may be beyond the window. */
  private arrive(): void {
    if (!this.tasks.over) this.point(this.coloured(), null);
  }

  private paintStrips(): void {
    const target = this.paneOf(this.coloured());
    for (const pane of this.panes) {
      pane.paintStrip(pane === target ? this.values : null, () => {
        const [start, count] = axisOf(this.map, pane.axis);
        const [first, last] = this.windowOf(pane.axis);
        return [(first - start) / count, (last - start) / count];
      });
    }
  }

  /** Say the number of the token pointed at, or the strongest ones. */
  private point(axis: Axis, token: number | null): void {
    const coloured = this.coloured();
    const pane = this.paneOf(axis);
    const [start] = axisOf(this.map, coloured);
    if (token !== null && this.values !== null && pane === this.paneOf(coloured) && pane?.slice) {
      const value = this.values[token - start] ?? 0;
      write(this.readout, this.say.value(this.nameOf(axis, token) ?? "", token, digits(value)));
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
    const [start] = axisOf(this.map, axis);
    const beyond = this.beyond.of(sideOf(this.map, axis, this.stage.selection.get()));
    return summarise(
      {
        signed: this.signed,
        values: this.values,
        start,
        chosen: chosen && { ...chosen, name: this.nameOf(chosen.axis, chosen.token) ?? "" },
        nameOf: (token) => this.nameOf(axis, token) ?? beyond.get(token, true) ?? "…",
      },
      this.say,
    );
  }

  /** The summary with the names of all tokens in it. */
  private async wholeSummary(): Promise<string> {
    this.summary(); // asks for tokens beyond the window
    await this.beyond.settled();
    return this.summary();
  }

  async picture(): Promise<string> {
    const { say, stage, map, panes } = this;
    const sentence = `${await this.wholeSummary()} ${this.captionScale()}`;
    return writePicture(panes, map, sentence, stage, say);
  }

  async table(): Promise<TableData> {
    const { say, map } = this;
    const values = this.values ?? (await this.numbers(this.chosen()));
    const axis = this.coloured();
    const slice = await readAxis(this.stage.source, map, axis, this.stage.selection.get(), [
      0,
      Math.min(WINDOW, axisOf(map, axis)[1]),
    ]);
    return {
      caption: await this.wholeSummary(),
      columns: [
        this.names.position,
        this.names.token,
        this.signed ? say.columnValue : this.mode() === "received" ? say.columnMass : say.columnWeight,
      ],
      rows: slice.shown.map((shown, index) => [slice.start + index, shown, values[index] ?? null]),
      more: values.length - slice.shown.length,
    };
  }
}
