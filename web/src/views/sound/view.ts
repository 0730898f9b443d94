/**
 * Sound: attention over the time of the sound that the tokens were cut from.
 *
 * In:   the samples, the weights of a map (exact).
 * Out:  wave and spectrum, and below them where a word or a moment listens; every word as a row of its own, with its true
 *       boundaries where they are known. The sound can be played: a cursor runs through time, and words light up.
 */

import type { MapDescription, SoundDescription, TokenSlice } from "../../api/types";
import { captionOf, isSigned, mapName } from "../../core/focus";
import { count, digits, fixed } from "../../core/formats";
import { axisOf, chooseMap, selectedRows } from "../../core/maps";
import { strongest } from "../../core/maths/strongest";
import { cellAt, cutOut, divideTime, type Frames, framesOf, type TimeCell } from "../../core/media";
import { writePlace } from "../../core/place";
import { readingOf, readingOfMap, rowSideOf } from "../../core/reading";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import { Refusal } from "../../core/source";
import type { TableData } from "../../core/view";
import { AxisNumbers } from "../../data/axis_numbers";
import { readSamples } from "../../data/media";
import { readAxis } from "../../data/weights";
import { button, choice } from "../../marks/controls";
import { ARROWS, consume } from "../../marks/keys";
import { make, relabel, write } from "../../marks/make";
import { TokenList } from "../../marks/token_list";
import { align, countInside, type HeardWord } from "./alignment";
import { Chart, middleOf, type Spot } from "./chart";
import { Player } from "./player";
import { MODES, type Mode, options, type SoundOptions } from "./settings";
import { writeSheet } from "./sheet";
import { type Words, words } from "./words";
import "./style.css";

const BEST = 4; // tokens that a sentence names
const BELOW = 16; // CSS pixels that stay free below the chart
const MOST_ROWS = 60; // words below the spectrum
const LIT = 0.5; // of its largest weight: a word lights up

type Axis = "query" | "key";

export const view = recordingView({
  name: "sound",
  order: 18,
  cutFrom: "sound",
  transport: false,
  words,
  options,
  fits: ({ now: { description } }) =>
    description.maps.some(
      (map) => framesOf(description, map, "query") ?? framesOf(description, map, "key"),
    ) || ((language) => words(language).noSound),
  mount: (setting) => new SoundView(setting),
});

class SoundView extends MountedView<Words, SoundOptions> {
  private readonly opening = this.tasks.asker(); // sound and tokens
  private readonly loading = this.tasks.asker(); // numbers
  private readonly asking = this.tasks.asker(); // one row of a map that is too large to fetch whole
  private readonly modes;
  private readonly playButton: HTMLButtonElement;
  private readonly clock = make("span", { class: "sound-clock" });
  private readonly readout = make("p", { class: "sound-readout", dir: "auto" });
  private readonly note = make("p", { class: "sound-note", hidden: true });
  private readonly list: TokenList;
  private readonly listed: HTMLElement;
  private readonly chart: Chart;
  private player: Player | null = null;
  private map: MapDescription;
  private frames: Readonly<Record<Axis, Frames | null>> = { query: null, key: null };
  private cells: Readonly<Record<Axis, readonly TimeCell[]>> = { query: [], key: [] };
  private samples: Int16Array<ArrayBuffer> | null = null;
  private tokens: Readonly<Record<Axis, TokenSlice>> | null = null;
  private numbers: AxisNumbers | null = null;
  private heard: readonly HeardWord[] = [];
  private pointed: Spot | null = null;
  private second: number | null = null; // of the cursor
  private told = false; // that nothing can be heard
  private refused = false; // by the browser: it cannot play this sound

  constructor(setting: Setting<Words, SoundOptions>) {
    super(setting);
    const { stage, say } = this;
    this.map = chooseMap(stage.source.description, stage.selection.get())!;
    const hint = (value: Mode) => (value === "received" ? () => say.receivedHint : undefined);
    this.modes = choice<Mode>(
      () => say.show,
      MODES.map((value) => ({ value, text: () => say[value], title: hint(value) })),
      this.options.now.show,
      (show) => this.options.set({ show }),
    );
    this.playButton = button(
      () => (this.player?.playing ? say.pause : say.play),
      () => this.togglePlay(),
      () => say.playHint,
    );
    this.list = new TokenList({
      label: () => (this.alike ? say.others : say.tokens),
      theme: () => stage.theme,
      point: (row) => this.point(row === null ? null : { second: -1, word: row }),
      choose: (row) => this.keepWord(row),
    });
    this.listed = make(
      "section",
      { class: "sound-words" },
      make("h2", {}, () => (this.alike ? say.others : say.tokens)),
      this.list.element,
    );
    this.chart = new Chart(say, () => stage.theme, {
      label: () => say.chart(digits(this.sound?.seconds ?? 0)),
      point: (spot) => this.point(spot),
      choose: (spot) => this.choose(spot),
      key: (event) => this.press(event),
    });
    stage.element.replaceChildren(
      make(
        "div",
        { class: "sound drawn" },
        make("div", { class: "drawn-bar" }, this.playButton, this.clock, this.modes.element),
        this.note,
        this.readout,
        this.listed,
        this.chart.element,
      ),
    );
    this.open();
  }

  update(): void {
    this.open();
    this.changed();
  }

  resize(): void {
    this.lay();
  }

  restyle(): void {
    relabel(this.stage.element);
    this.tellNote();
    this.lay();
  }

  unmount(): void {
    this.player?.close();
  }

  private get signed(): boolean {
    return isSigned(this.stage.source.description.maps);
  }

  private get alike(): boolean {
    return this.map.query_side === this.map.key_side;
  }

  private get sound() {
    return (this.frames.key ?? this.frames.query)?.sound ?? null;
  }

  private mode(): Mode {
    const { head } = this.stage.selection.get();
    return this.map.has_weights || head === "model" ? this.options.now.show : "received";
  }

  private get focusAxis(): Axis {
    return this.mode() === "in" ? "key" : "query";
  }

  private get coloured(): Axis {
    return this.mode() === "in" ? "query" : "key";
  }

  /** The map of the selection: its sound, tokens and numbers. */
  private open(): void {
    const { source, selection } = this.stage;
    const { description } = source;
    const now = selection.get();
    const map = chooseMap(description, now)!;
    this.map = map;
    this.frames = { query: framesOf(description, map, "query"), key: framesOf(description, map, "key") };
    const cells = (frames: Frames | null) => (frames === null ? [] : divideTime(frames));
    this.cells = { query: cells(this.frames.query), key: cells(this.frames.key) };
    this.tellNote();
    const side = (this.frames.key ?? this.frames.query)?.side;
    this.opening.ask(
      `${writePlace(map.place)} ${readingOf(now)}`,
      (round) => {
        this.tokens = null;
        this.pointed = null;
        return Promise.all([
          side === undefined ? null : readSamples(round, side),
          readAxis(round, map, "query", now),
          readAxis(round, map, "key", now),
        ]);
      },
      ([samples, query, key]) => {
        this.tokens = { query, key };
        this.load(samples);
        this.fillList();
        relabel(this.stage.element);
        this.lay();
      },
    );
    const mode = this.mode();
    for (const input of this.modes.element.querySelectorAll("input"))
      input.disabled = !map.has_weights && input.value !== "received";
    this.modes.set(mode);
    this.loading.ask(
      JSON.stringify([map.place, mode, now.head]),
      (round) => {
        this.numbers = null;
        return AxisNumbers.load(round, map, mode, now.head, []);
      },
      (numbers) => {
        this.numbers = numbers;
        this.changed();
      },
    );
  }

  /** Another map of the same sound goes on playing. */
  private load(samples: Int16Array<ArrayBuffer> | null): void {
    const { sound } = this;
    const before = this.samples;
    const same = before !== null && samples !== null && before.length === samples.length;
    if (same && before.every((value, at) => value === samples[at])) return;
    this.player?.close();
    this.samples = samples;
    this.player =
      samples === null || sound === null ? null : new Player(samples, sound.rate, () => this.ended());
    this.second = null;
    this.refused = false;
  }

  private tellNote(): void {
    const { say, map, stage } = this;
    const { description } = stage.source;
    const here = this.frames.query ?? this.frames.key;
    const missing = here !== null && !map.has_weights;
    this.note.hidden = here !== null && !missing;
    this.chart.element.hidden = here === null;
    if (this.note.hidden) return;
    const ways = description.maps.filter(
      (each) => framesOf(description, each, "query") ?? framesOf(description, each, "key"),
    );
    const families = new Map(ways.map((each) => [`${each.place.stack} ${each.place.kind}`, each]));
    const doors = [...families.values()].map((each) =>
      button(say.goTo(mapName(each, stage.language)), () => stage.selection.set({ place: each.place })),
    );
    this.note.replaceChildren(missing ? say.onlyReceived : say.notThisMap, ...(missing ? [] : doors));
  }

  /** Tokens of the rows that are no moment: words. The last row writes what follows the transcript, usually its end. */
  private others(): { row: number; text: string; special: boolean }[] {
    const { shown, special } = this.tokens!.query;
    const spans = this.frames.query?.spans;
    const { source, selection } = this.stage;
    const written = rowSideOf(this.map, selection.get()) === "written";
    const last = written ? (source.description.target?.count ?? 0) - 1 - this.map.query_start : -1;
    return shown
      .map((text, row) => ({
        row,
        text: withoutSpace(text),
        special: special[row] === true || row === last,
      }))
      .filter(({ row }) => (spans?.[row]?.[0] ?? -1) < 0);
  }

  private fillList(): void {
    const others = this.others();
    this.list.setTokens(others);
    this.listed.hidden = others.length === 0;
  }

  private lay(): void {
    const { samples, sound } = this;
    if (samples === null || sound === null || this.tokens === null) return;
    const { clientWidth: width, clientHeight: height } = this.stage.element;
    const room = height - this.chart.element.offsetTop - BELOW;
    const cut = cutOut(this.stage.source.description);
    this.chart.show(samples, sound, Math.max(240, width || 320), room, cut);
    this.changed();
  }

  private kept(): number | null {
    if (this.mode() === "received") return null;
    return selectedRows(this.map, this.stage.selection.get())[this.focusAxis];
  }

  /** The row whose numbers are shown: pointed at, kept, or the first word. */
  private focus(): number {
    const pointed = this.pointedFocus();
    if (pointed !== null) return pointed;
    const first = this.focusAxis === "query" ? this.others().find(({ special }) => !special)?.row : undefined;
    return this.kept() ?? first ?? this.cells[this.focusAxis][0]?.row ?? 0;
  }

  private pointedFocus(): number | null {
    if (this.pointed === null || this.mode() === "received") return null;
    const { second, word } = this.pointed;
    if (word !== null) return this.focusAxis === "query" ? word : null;
    const asks =
      this.kept() === null && this.frames[this.focusAxis] !== null && (this.alike || this.mode() === "in");
    return asks ? (cellAt(this.cells[this.focusAxis], second)?.row ?? null) : null;
  }

  private point(spot: Spot | null): void {
    this.pointed = spot;
    this.changed();
  }

  private keepWord(row: number): void {
    const axis: Axis = "query";
    const token = row + axisOf(this.map, axis)[0];
    const again = this.focusAxis === axis && this.kept() === row;
    if (this.focusAxis === axis) this.stage.selection.set({ [axis]: again ? null : token });
    else this.options.set({ show: "out" }, { [axis]: token });
    this.stage.announce(this.summary());
  }

  /** A click: keep a word, or go to a moment (and keep it where moments look at moments). */
  private choose({ second, word }: Spot): void {
    if (word !== null) {
      this.keepWord(word);
      return;
    }
    this.seek(second);
    const row = cellAt(this.cells[this.focusAxis], second)?.row;
    const asks = row !== undefined && this.frames[this.focusAxis] !== null && this.mode() !== "received";
    if (!asks || !(this.alike || this.mode() === "in")) return;
    const token = row + axisOf(this.map, this.focusAxis)[0];
    this.stage.selection.set({ [this.focusAxis]: this.kept() === row ? null : token });
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") {
      consume(event);
      this.togglePlay();
    } else if (event.key === "Escape") {
      consume(event);
      this.stage.selection.set({ [this.focusAxis]: null });
    } else if (event.key in ARROWS) {
      consume(event);
      const [down, right] = ARROWS[event.key]!;
      if (right !== 0) this.stepTime(right);
      else this.stepWord(down);
    }
  }

  private stepTime(direction: number): void {
    const cells =
      this.cells[this.coloured].length > 0 ? this.cells[this.coloured] : this.cells[this.focusAxis];
    const at = cells.findIndex((cell) => cell === cellAt(cells, this.second ?? -1));
    const to = cells[Math.max(0, Math.min(cells.length - 1, at + direction))];
    if (to === undefined) return;
    this.seek(middleOf(to));
    if (this.alike && this.mode() !== "received") {
      const token = to.row + axisOf(this.map, this.focusAxis)[0];
      this.stage.selection.set({ [this.focusAxis]: token });
      this.stage.announce(this.summary());
    } else this.stage.announce(this.reading() ?? "");
  }

  private stepWord(direction: number): void {
    const rows = this.others().map(({ row }) => row);
    const at = rows.indexOf(this.kept() ?? -1);
    const to = rows[Math.max(0, Math.min(rows.length - 1, at + direction))];
    if (to !== undefined && to !== this.kept()) this.keepWord(to);
  }

  private seek(second: number): void {
    this.second = second;
    if (this.player?.playing) this.play(this.player, second);
    this.changed();
  }

  togglePlay(): void {
    const { player } = this;
    if (player === null) return;
    if (player.playing) {
      this.second = player.now;
      player.stop();
    } else {
      const from = this.second ?? 0;
      this.play(player, from >= player.seconds - 0.02 ? 0 : from);
      this.run();
    }
    relabel(this.playButton);
    this.changed();
  }

  private play(player: Player, from: number): void {
    this.refused = !player.play(from);
    if (this.refused) this.stage.announce(this.refusal()!);
  }

  private refusal(): string | null {
    if (this.refused) return this.say.cannotPlay(count(this.sound?.rate ?? 0));
    return this.player?.silent ? this.say.silent : null;
  }

  /** Every frame while it plays. */
  private run(): void {
    if (this.tasks.over || !this.player?.playing) return;
    if (this.player.silent && !this.told) {
      this.told = true;
      this.stage.announce(this.say.silent);
      this.changed();
    }
    const { now } = this.player;
    const cell = cellAt(this.cells.key, now);
    this.second = this.stage.reducedMotion && cell !== null ? cell.from : now; // by frames, where motion is unwanted
    this.paintCursor();
    this.tasks.frame(() => this.run(), "cursor");
  }

  private ended(): void {
    if (this.tasks.over) return;
    this.second = this.player?.seconds ?? null;
    relabel(this.playButton);
    this.changed();
  }

  private changed(): void {
    this.tasks.frame(() => this.tokens !== null && this.paint());
  }

  private paint(): void {
    const values = this.values();
    const { numbers, signed } = this;
    const weight = (row: number, key: number) => numbers?.at(row, key) ?? 0;
    const rows =
      this.mode() === "out" && numbers !== null && !this.alike ? this.others().slice(0, MOST_ROWS) : [];
    this.heard = align(rows, this.cells.key, weight, this.boundaries());
    const focus = this.mode() === "received" ? null : this.focus();
    const maximum = values?.reduce((most, value) => Math.max(most, Math.abs(value)), 0) ?? 0;
    this.chart.set({
      cells: this.cells[this.coloured],
      values: this.frames[this.coloured] === null ? null : values,
      maximum,
      signed,
      words: this.heard,
      weight,
      focus,
      moment: this.cells[this.focusAxis].find(({ row }) => row === focus) ?? null,
    });
    const wordsColoured = this.coloured === "query" && values !== null;
    this.list.colour(wordsColoured ? (row) => values[row] ?? 0 : null, maximum, signed);
    this.list.mark(this.focusAxis === "query" ? focus : null);
    this.paintCursor();
    const parts = [this.refusal(), this.reading(), this.summary(), this.alignment()];
    write(this.readout, parts.filter(Boolean).join(" "));
  }

  private paintCursor(): void {
    const second =
      this.pointed !== null && !this.player?.playing && this.pointed.second >= 0
        ? this.pointed.second
        : this.second;
    const lit = second === null ? [] : this.litAt(second);
    this.chart.mark(second, lit);
    this.list.light(lit);
    write(this.clock, this.say.time(fixed(second ?? 0, 2), fixed(this.sound?.seconds ?? 0, 2)));
  }

  /** The words that listen to a moment with at least half of their largest weight. */
  private litAt(second: number): number[] {
    const cell = cellAt(this.cells.key, second);
    if (cell === null) return [];
    return this.heard
      .filter(({ row, largest }) => largest > 0 && (this.numbers?.at(row, cell.row) ?? 0) >= LIT * largest)
      .map(({ row }) => row);
  }

  private values(): Float32Array | null {
    return this.numbers?.get(this.focus(), this.asking, () => this.changed()) ?? null;
  }

  private nameOf(axis: Axis, row: number): string {
    const shown = this.tokens?.[axis].shown[row] ?? "";
    return (this.frames[axis]?.spans[row]?.[0] ?? -1) >= 0 ? this.say.moment(shown) : withoutSpace(shown);
  }

  /** The number at the moment that is pointed at, or where the cursor stands. */
  private reading(): string | null {
    const second = this.pointed?.second ?? this.second;
    const asks = this.pointed?.word === null && this.pointedFocus() !== null; // it is the one that listens
    const cell = second === null || asks ? null : cellAt(this.cells[this.coloured], second);
    const values = this.values();
    if (cell === null || values === null) return null;
    return this.say.value(this.nameOf(this.coloured, cell.row), digits(values[cell.row] ?? 0));
  }

  private summary(): string {
    const { say, coloured } = this;
    const values = this.tokens === null ? null : this.values();
    if (values === null) return "";
    const best = strongest(values.length, (row) => Math.abs(values[row]!), BEST).map(
      (row) => `${this.nameOf(coloured, row)} ${digits(values[row]!)}`,
    );
    const list = best.length === 0 ? say.nothing : best.join(" · ");
    const mode = this.mode();
    if (mode === "received") return `${say.receivedBest} ${list}.`;
    const name = this.nameOf(this.focusAxis, this.focus());
    if (this.signed) return `${say.signedOf(name)} ${list}.`;
    return `${(mode === "out" ? say.looksAt : say.seenBy)(name)} ${list}.`;
  }

  /** The true boundaries of words; none where a row has the name of the word that entered, since it serves the next one. */
  private boundaries(): SoundDescription["words"] {
    const entered = readingOfMap(this.map, this.stage.selection.get()) === "entered";
    return entered ? [] : (this.sound?.words ?? []);
  }

  /** How the peaks lie in the true boundaries. */
  private alignment(): string | null {
    if (this.sound === null || this.signed) return null;
    const [inside, all] = countInside(this.heard, this.sound);
    return all === 0 ? null : this.say.inside(inside, all);
  }

  async picture(): Promise<string> {
    const { say, stage, map, sound } = this;
    if (sound === null) throw new Refusal(say.notThisMap, "no_sound", 0);
    const { head } = stage.selection.get();
    const headName = typeof head === "number" ? say.head(head) : say[head];
    return writeSheet({
      samples: this.samples ?? new Int16Array(0),
      sound,
      cells: this.cells[this.coloured],
      values: this.frames[this.coloured] === null ? null : this.values(),
      signed: this.signed,
      heard: this.heard,
      weight: (row, key) => this.numbers?.at(row, key) ?? 0,
      moment: (second) => say.moment(second),
      theme: stage.theme,
      title: `${say.title} · ${stage.source.description.model}`,
      caption: captionOf(
        stage,
        `${mapName(map, stage.language)} · ${headName}`,
        [this.summary(), this.alignment()].filter(Boolean).join(" "),
      ),
    });
  }

  async table(): Promise<TableData> {
    const { say, coloured } = this;
    this.values(); // asks
    await this.asking.coming;
    const values = this.values();
    const frames = this.frames[coloured];
    const [start] = axisOf(this.map, coloured);
    const last = this.mode() === "received" ? say.columnMass : say.columnWeight;
    return {
      caption: this.summary(),
      columns: [
        this.names.position,
        this.names.token,
        ...(frames ? [say.columnFrom, say.columnTo] : []),
        this.signed ? say.columnValue : last,
      ],
      rows: this.tokens![coloured].shown.map((text, row) => {
        const [from, to] = frames?.spans[row] ?? [-1, -1];
        const place = from < 0 ? [null, null] : [from, to];
        return [row + start, text, ...(frames ? place : []), values?.[row] ?? null];
      }),
    };
  }
}

/** A word as people write it, without the mark of the space before it. */
function withoutSpace(word: string): string {
  return word.replace(/^[␣▁]/, "");
}
