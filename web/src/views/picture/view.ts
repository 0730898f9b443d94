/**
 * Picture: attention drawn on the picture that the tokens were cut from.
 *
 * In:   the picture, the weights of a map (exact).
 * Out:  colours over its patches: where a patch, the class token or a word looks, or what looks at it. Pointing shows, a click
 *       keeps; then pointing reads the numbers of other patches. Tokens that are no patch stand beside it.
 */

import type { Description, MapDescription, TokenSlice } from "../../api/types";
import { captionOf, isSigned, mapName } from "../../core/focus";
import { digits, percent } from "../../core/formats";
import { axisOf, chooseMap, selectedRows } from "../../core/maps";
import { strongest } from "../../core/maths/strongest";
import { cutOut, hasPatches, type Patches, patchesOf } from "../../core/media";
import { writePlace } from "../../core/place";
import { readingOf } from "../../core/reading";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import { Refusal } from "../../core/source";
import type { TableData } from "../../core/view";
import { AxisNumbers, type Mode, rolloutLayers } from "../../data/axis_numbers";
import { readPicture } from "../../data/media";
import { readAxis, readHeads } from "../../data/weights";
import { button } from "../../marks/controls";
import { make, relabel, write } from "../../marks/make";
import { PatchField, type Veil } from "../../marks/patches";
import { TokenList } from "../../marks/token_list";
import { Bar } from "./bar";
import { Heads } from "./heads";
import { options, type PictureOptions } from "./settings";
import { writeSheet } from "./sheet";
import { type Words, words } from "./words";
import "./style.css";

const AT_REST = 60; // milliseconds before all heads follow
const BEST = 4; // tokens that a sentence names
const TALLEST = 620; // CSS pixels of the picture
const LOWEST = 220;

type Axis = "query" | "key";
interface Pointed {
  readonly axis: Axis;
  readonly row: number;
}

export const view = recordingView({
  name: "picture",
  order: 17,
  cutFrom: "picture",
  words,
  options,
  fits: ({ now: { description } }) =>
    description.maps.some((map) => isPictured(description, map)) || ((language) => words(language).noPicture),
  mount: (setting) => new PictureView(setting),
});

/** Whether one of the axes has patches. */
function isPictured(description: Description, map: MapDescription): boolean {
  return hasPatches(description, map, "query") || hasPatches(description, map, "key");
}

class PictureView extends MountedView<Words, PictureOptions> {
  private readonly opening = this.tasks.asker(); // picture and tokens
  private readonly loading = this.tasks.asker(); // numbers
  private readonly asking = this.tasks.asker(); // one row of a map that is too large to fetch whole
  private readonly comparing = this.tasks.asker(); // all heads
  private readonly bar: Bar;
  private readonly field: PatchField;
  private readonly heads: Heads;
  private readonly lists: Readonly<Record<Axis, TokenList>>;
  private readonly sections: Readonly<Record<Axis, HTMLElement>>;
  private readonly readout = make("p", { class: "picture-readout", dir: "auto" });
  private readonly note = make("p", { class: "picture-note", hidden: true });
  private readonly figure = make("div", { class: "picture-figure" });
  private map: MapDescription;
  private patches: Readonly<Record<Axis, Patches | null>> = { query: null, key: null };
  private image: ImageBitmap | null = null;
  private tokens: Readonly<Record<Axis, TokenSlice>> | null = null;
  private numbers: AxisNumbers | null = null;
  private pointed: Pointed | null = null;
  private shown: Float32Array | null = null; // of the coloured axis

  constructor(setting: Setting<Words, PictureOptions>) {
    super(setting);
    const { stage, say } = this;
    this.map = chooseMap(stage.source.description, stage.selection.get())!;
    this.bar = new Bar(say, this.options, this.signed);
    this.field = new PatchField({
      label: () => this.describeField(),
      point: (cell) => this.point(cell === null ? null : this.atCell(cell)),
      choose: (cell) => this.choose(this.atCell(cell)),
      walk: (cell, only) => this.walk(cell, only),
      leave: () => stage.selection.set({ [this.focusAxis]: null }),
    });
    const list = (axis: Axis) =>
      new TokenList({
        label: () => (axis === "query" && !this.alike ? say.queries : say.others),
        theme: () => stage.theme,
        point: (row) => this.point(row === null ? null : this.inList(axis, row)),
        choose: (row) => this.choose({ axis: this.alike ? this.focusAxis : axis, row }),
      });
    this.lists = { query: list("query"), key: list("key") };
    const section = (axis: Axis) =>
      make(
        "section",
        {},
        make("h2", {}, () => (axis === "query" && !this.alike ? say.queries : say.others)),
        this.lists[axis].element,
      );
    this.sections = { query: section("query"), key: section("key") };
    this.heads = new Heads(say, (head) => stage.selection.set({ head }));
    this.figure.append(this.field.element);
    const aside = make(
      "div",
      { class: "picture-aside" },
      this.readout,
      this.sections.query,
      this.sections.key,
      this.heads.element,
    );
    const body = make("div", { class: "picture-body" }, this.figure, aside);
    stage.element.replaceChildren(make("div", { class: "picture drawn" }, this.bar.element, this.note, body));
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
    this.changed();
  }

  private get signed(): boolean {
    return isSigned(this.stage.source.description.maps);
  }

  /** Whether both axes are the same tokens. */
  private get alike(): boolean {
    return this.map.query_side === this.map.key_side;
  }

  private get described() {
    return (this.patches.key ?? this.patches.query)?.picture ?? null;
  }

  private mode(): Mode {
    const { show } = this.options.now;
    if (!this.map.has_weights && this.stage.selection.get().head !== "model") return "received";
    return show === "rollout" && this.layers() === null ? "out" : show;
  }

  private layers(): readonly MapDescription[] | null {
    return rolloutLayers(this.stage.source.description.maps, this.map);
  }

  /** Whose row or column is shown. */
  private get focusAxis(): Axis {
    return this.mode() === "in" ? "key" : "query";
  }

  /** Whose tokens are coloured. */
  private get coloured(): Axis {
    return this.mode() === "in" ? "query" : "key";
  }

  /** The map of the selection: its picture, tokens and numbers. */
  private open(): void {
    const { source, selection } = this.stage;
    const { description } = source;
    const now = selection.get();
    const map = chooseMap(description, now)!;
    const of = (each: MapDescription, axis: Axis) => patchesOf(description, each, axis);
    this.map = map;
    this.patches = { query: of(map, "query"), key: of(map, "key") };
    this.tellNote();
    const side = (this.patches.key ?? this.patches.query)?.side;
    this.opening.ask(
      `${writePlace(map.place)} ${readingOf(now)}`,
      (round) => {
        this.tokens = null;
        this.pointed = null;
        return Promise.all([
          side === undefined ? null : readPicture(round, side),
          readAxis(round, map, "query", now),
          readAxis(round, map, "key", now),
        ]);
      },
      ([image, query, key]) => {
        this.image = image;
        this.tokens = { query, key };
        this.fillLists();
        relabel(this.stage.element); // the picture's size, names of lists
        this.lay();
      },
    );
    const mode = this.mode();
    this.bar.allow((each) => {
      if (each === "received") return true;
      return map.has_weights && (each !== "rollout" || this.layers() !== null);
    });
    this.loading.ask(
      JSON.stringify([map.place, mode, mode === "rollout" ? null : now.head]),
      (round) => {
        this.numbers = null;
        return AxisNumbers.load(round, map, mode, now.head, this.layers() ?? []);
      },
      (numbers) => {
        this.numbers = numbers;
        this.changed();
      },
    );
  }

  /** Why there is nothing over the picture, and a way out. */
  private tellNote(): void {
    const { say, map, stage } = this;
    const { description } = stage.source;
    const here = this.patches.query ?? this.patches.key;
    const missing = !map.has_weights && here !== null;
    this.note.hidden = here !== null && !missing;
    if (this.note.hidden) return;
    const ways = description.maps.filter((each) => isPictured(description, each));
    const families = new Map(ways.map((each) => [`${each.place.stack} ${each.place.kind}`, each]));
    const doors = [...families.values()].map((each) =>
      button(say.goTo(mapName(each, stage.language)), () => stage.selection.set({ place: each.place })),
    );
    this.note.replaceChildren(missing ? say.onlyReceived : say.notThisMap, ...(missing ? [] : doors));
  }

  /** Tokens that are no patch, beside the picture; one list where both axes are the same tokens. */
  private fillLists(): void {
    for (const axis of ["query", "key"] as const) {
      const { shown, special } = this.tokens![axis];
      const cells = this.patches[axis]?.cells;
      const listed = shown
        .map((text, row) => ({ row, text, special: special[row] === true }))
        .filter(({ row }) => (cells?.[row] ?? -1) < 0);
      this.lists[axis].setTokens(listed);
      this.sections[axis].hidden = listed.length === 0 || (axis === "key" && this.alike);
    }
  }

  /** The picture as large as there is room. */
  private lay(): void {
    const picture = this.described;
    this.figure.hidden = picture === null;
    if (picture === null) {
      this.changed();
      return;
    }
    const aspect = picture.width / picture.height;
    const room = this.stage.element.clientHeight - this.figure.offsetTop - 8;
    const tall = Math.max(LOWEST, Math.min(TALLEST, room));
    const across = this.stage.element.clientWidth || 320;
    const most = across > 640 ? 0.62 * across : across;
    const width = Math.round(Math.min(most, tall * aspect));
    const crossed = cutOut(this.stage.source.description).map((token) => picture.cells[token] ?? -1);
    this.field.show(this.image, picture, width, Math.round(width / aspect), crossed);
    this.changed();
  }

  /** The token that is kept, if any. */
  private kept(): number | null {
    return this.mode() === "received"
      ? null
      : selectedRows(this.map, this.stage.selection.get())[this.focusAxis];
  }

  /** The token whose row or column is shown: pointed at, kept, or the one a viewer would ask for first. */
  private focus(): number {
    const axis = this.focusAxis;
    if (this.pointed?.axis === axis) return this.pointed.row;
    return this.kept() ?? this.first(axis);
  }

  /** The class token, or the first word of a caption, the last one of a text; without any, the patch in the middle. */
  private first(axis: Axis): number {
    const patches = this.patches[axis];
    const [, count] = axisOf(this.map, axis);
    const cells = patches?.cells ?? [];
    if (patches === null) return Math.max(0, this.tokens?.[axis].special.indexOf(false) ?? 0); // no tag, no end
    if (axis === "query") {
      for (let row = count - 1; row >= 0; row--) if ((cells[row] ?? -1) < 0) return row;
    }
    const { rows, columns } = patches.picture;
    const middle = patches.rowAt[(rows >> 1) * columns + (columns >> 1)]!;
    return middle >= 0
      ? middle
      : Math.max(
          0,
          cells.findIndex((cell) => cell >= 0),
        );
  }

  /** What pointing at a cell means: it looks, or, where somebody looks already, its number is read. */
  private atCell(cell: number): Pointed | null {
    const [axis, other] = [this.focusAxis, this.coloured];
    const asks = this.patches[axis] !== null && this.kept() === null && this.mode() !== "received";
    const row = this.patches[asks ? axis : other]?.rowAt[cell] ?? -1;
    return row < 0 ? null : { axis: asks ? axis : other, row };
  }

  /** The same for a token of a list. */
  private inList(axis: Axis, row: number): Pointed {
    if (!this.alike) return { axis, row };
    const asks = this.kept() === null && this.mode() !== "received";
    return { axis: asks ? this.focusAxis : this.coloured, row };
  }

  private point(place: Pointed | null): void {
    if (place?.axis === this.pointed?.axis && place?.row === this.pointed?.row) return;
    this.pointed = place;
    this.changed();
  }

  /** Keep a token; a second time lets go. A token of the other axis turns the question round. */
  private choose(place: Pointed | null): void {
    if (place === null || this.mode() === "received") return;
    const { row } = place;
    const axis = this.alike ? this.focusAxis : place.axis;
    const token = row + axisOf(this.map, axis)[0];
    const { selection } = this.stage;
    const again = axis === this.focusAxis && this.kept() === row;
    if (axis !== this.focusAxis) this.options.set({ show: axis === "key" ? "in" : "out" }, { [axis]: token });
    else selection.set({ [axis]: again ? null : token });
    this.stage.announce(this.summary());
  }

  private walk(cell: number, only: boolean): void {
    const row = this.patches[this.focusAxis]?.rowAt[cell] ?? -1;
    if (!only && row >= 0 && this.mode() !== "received") {
      this.pointed = null;
      const [start] = axisOf(this.map, this.focusAxis);
      this.stage.selection.set({ [this.focusAxis]: row + start });
      this.stage.announce(this.summary());
      return;
    }
    const read = this.patches[this.coloured]?.rowAt[cell] ?? -1;
    if (read < 0) return;
    this.pointed = { axis: this.coloured, row: read };
    this.stage.announce(this.reading() ?? "");
    this.changed();
  }

  private changed(): void {
    this.tasks.frame(() => this.tokens !== null && this.paint());
  }

  /** The numbers of the coloured axis, fetched where they are not here. */
  private values(): Float32Array | null {
    return this.numbers?.get(this.focus(), this.asking, () => this.changed()) ?? null;
  }

  private paint(): void {
    const { coloured, signed } = this;
    this.shown = this.values();
    const veil = this.shown === null ? null : this.veilOf(this.shown);
    const [kept, focus] = [this.mode() === "received" ? null : this.focus(), this.focusAxis];
    const cellOf = (axis: Axis, row: number | null): number | null => {
      const cell = row === null ? -1 : (this.patches[axis]?.cells[row] ?? -1);
      return cell < 0 ? null : cell;
    };
    const read = this.pointed?.axis === coloured ? this.pointed.row : null;
    this.field.set(veil, cellOf(focus, kept), cellOf(coloured, read));
    const maximum = this.maximum();
    for (const axis of ["query", "key"] as const) {
      const list = this.lists[axis];
      const mine = axis === coloured || this.alike;
      const { shown } = this;
      list.colour(mine && shown !== null ? (row) => shown[row] ?? 0 : null, maximum, signed);
      list.mark(axis === focus || this.alike ? kept : null);
    }
    this.bar.show(this.mode(), this.options.now.paint, maximum);
    const parts = [
      this.reading(),
      this.summary(),
      this.kept() === null && this.canKeep ? this.say.hint : null,
    ];
    write(this.readout, parts.filter(Boolean).join(" "));
    this.tasks.later("heads", AT_REST, () => this.compareHeads());
  }

  private get canKeep(): boolean {
    return this.patches[this.focusAxis] !== null && this.mode() !== "received";
  }

  private cellsOf(values: Float32Array, axis: Axis): Float32Array {
    const patches = this.patches[axis]!;
    return Float32Array.from(patches.rowAt, (row) => (row < 0 ? Number.NaN : (values[row] ?? Number.NaN)));
  }

  private veilOf(values: Float32Array): Veil | null {
    if (this.patches[this.coloured] === null) return null;
    const { paint } = this.options.now;
    const { signed } = this;
    return { values: this.cellsOf(values, this.coloured), maximum: this.maximum(), signed, paint };
  }

  /** The strongest patch; of words alone the strongest word. */
  private maximum(): number {
    const cells = this.patches[this.coloured]?.cells;
    let most = 0;
    this.shown?.forEach((value, row) => {
      if (cells === undefined || (cells[row] ?? -1) >= 0) most = Math.max(most, Math.abs(value));
    });
    return most;
  }

  /** All heads for the token in focus, once the pointer rests. */
  private compareHeads(): void {
    const { map, image, described: picture, coloured } = this;
    const mode = this.mode();
    const { head } = this.stage.selection.get();
    const possible = map.has_weights && map.heads > 1 && (mode === "in" || mode === "out");
    if (image === null || picture === null || this.patches[coloured] === null || !possible) {
      this.heads.hide();
      return;
    }
    const row = this.focus();
    const { paint } = this.options.now;
    this.comparing.ask(
      JSON.stringify([map.place, mode, row, head, paint, this.stage.language]),
      (round) => readHeads(round, map, mode === "out" ? { query: row } : { key: row }),
      (all) => {
        const count = all.length / map.heads;
        const values = Array.from({ length: map.heads }, (_, each) =>
          this.cellsOf(all.subarray(each * count, (each + 1) * count), coloured),
        );
        const chosen = typeof head === "number" ? head : null;
        const look = { chosen, paint, signed: this.signed };
        this.heads.show(image, picture.width / picture.height, picture, values, look);
      },
    );
  }

  private nameOf(axis: Axis, row: number): string {
    const shown = this.tokens?.[axis].shown[row] ?? "";
    return (this.patches[axis]?.cells[row] ?? -1) >= 0 ? this.say.patch(shown) : shown;
  }

  /** The number that is read, where one is. */
  private reading(): string | null {
    if (this.pointed?.axis !== this.coloured || this.shown === null) return null;
    const { row } = this.pointed;
    return this.say.value(this.nameOf(this.coloured, row), digits(this.shown[row] ?? 0));
  }

  private summary(): string {
    const { say, coloured } = this;
    const values = this.tokens === null ? null : this.values();
    if (values === null) return "";
    const mode = this.mode();
    const best = strongest(values.length, (row) => Math.abs(values[row]!), BEST).map(
      (row) => `${this.nameOf(coloured, row)} ${digits(values[row]!)}`,
    );
    const list = best.length === 0 ? say.nothing : best.join(" · ");
    if (mode === "received") return `${say.receivedBest} ${list}.`;
    const name = this.nameOf(this.focusAxis, this.focus());
    if (this.signed) return `${say.signedOf(name)} ${list}.`;
    const begin = { out: say.looksAt, in: say.seenBy, rollout: say.cameFrom }[mode](name);
    const cells = this.patches[coloured]?.cells;
    if (cells === undefined || mode === "in") return `${begin} ${list}.`;
    const sum = values.reduce((total, value, row) => total + (cells[row]! >= 0 ? value : 0), 0);
    return `${begin} ${list}. ${say.onPicture(percent(sum))}`;
  }

  private describeField(): string {
    const picture = this.described;
    return picture === null
      ? ""
      : this.say.field(picture.width, picture.height, picture.rows, picture.columns);
  }

  private headName(): string {
    const { head } = this.stage.selection.get();
    if (this.mode() === "rollout") return this.say.rolloutHere;
    return typeof head === "number" ? this.say.head(head) : this.say[head];
  }

  async picture(): Promise<string> {
    const { say, stage, map, described: description } = this;
    if (description === null) throw new Refusal(say.notThisMap, "no_picture", 0);
    this.shown = this.values();
    const veil = this.shown === null ? null : this.veilOf(this.shown);
    const focus = this.patches[this.focusAxis]?.cells[this.focus()] ?? -1;
    const maximum = digits(this.maximum());
    return writeSheet({
      image: this.image,
      description,
      veil,
      ring: this.mode() === "received" || focus < 0 ? null : focus,
      theme: stage.theme,
      title: `${say.title} · ${stage.source.description.model}`,
      caption: captionOf(
        stage,
        `${mapName(map, stage.language)} · ${this.headName()}`,
        this.summary(),
        this.signed ? say.legendSigned(maximum) : say.legend(maximum),
      ),
    });
  }

  async table(): Promise<TableData> {
    const { say, coloured } = this;
    this.values(); // asks
    await this.asking.coming;
    const values = this.values();
    const patches = this.patches[coloured];
    const [start] = axisOf(this.map, coloured);
    const column = {
      received: say.columnMass,
      rollout: say.columnShare,
      out: say.columnWeight,
      in: say.columnWeight,
    };
    return {
      caption: this.summary(),
      columns: [
        this.names.position,
        this.names.token,
        ...(patches ? [say.columnRow, say.columnColumn] : []),
        this.signed ? say.columnValue : column[this.mode()],
      ],
      rows: this.tokens![coloured].shown.map((text, row) => {
        const cell = patches?.cells[row] ?? -1;
        const place = [
          Math.floor(cell / (patches?.picture.columns ?? 1)),
          cell % (patches?.picture.columns ?? 1),
        ];
        return [
          row + start,
          text,
          ...(patches ? (cell < 0 ? [null, null] : place) : []),
          values?.[row] ?? null,
        ];
      }),
    };
  }
}
