/**
 * The chart of a sound: what is spoken, its wave and spectrum, and below them attention, all over the same time.
 *
 * In:   samples, numbers of frames, words with their weights.
 * Out:  three canvases one over the other: what never changes, attention, the cursor. What is pointed at, in seconds and words.
 */

import type { SoundDescription } from "../../api/types";
import { round } from "../../core/formats";
import { type Spectrogram, spectrogram } from "../../core/maths/spectrum";
import { outlineWave } from "../../core/maths/wave";
import type { TimeCell } from "../../core/media";
import type { Theme } from "../../core/view";
import { elide } from "../../marks/axis";
import { clearCanvas, readInks } from "../../marks/canvas";
import { type ColourScale, colourScale } from "../../marks/cells";
import { pick, sequential } from "../../marks/colours";
import { pointIn } from "../../marks/gestures";
import { make, setStyle, type Text } from "../../marks/make";
import type { Inks } from "../../marks/paper";
import type { HeardWord } from "./alignment";
import type { Words } from "./words";

const GUTTER = 76; // CSS pixels of the names at the left
const BAND = 20; // of words above the wave
const WAVE = 64;
const SPECTRUM = 96;
const STRIP = 28;
const TALLEST = 2.5; // times these three, where there is room
const GAP = 6;
const ROW = 20; // of a word
const AXIS = 18;
const MOST_COLUMNS = 500; // of the spectrogram
const FONT = "12px system-ui, sans-serif";

type Band = readonly [top: number, height: number];

const middle = ([top, height]: Band): number => top + height / 2;

/** What is over the time now. */
export interface Heard {
  readonly cells: readonly TimeCell[];
  readonly values: Float32Array | null; // by row of the axis that is coloured
  readonly maximum: number;
  readonly signed: boolean;
  readonly words: readonly HeardWord[]; // rows below; none for frames that look at frames
  weight(row: number, key: number): number;
  readonly focus: number | null; // the word whose row it is
  readonly moment: TimeCell | null; // the moment that looks, or is looked at
}

export interface Spot {
  readonly second: number;
  readonly word: number | null; // row
}

export interface ChartHandlers {
  readonly label: Text;
  point(spot: Spot | null): void;
  choose(spot: Spot): void;
  key(event: KeyboardEvent): void;
}

export class Chart {
  readonly element: HTMLElement;
  private readonly layers = [0, 1, 2].map(() => make("canvas", { "aria-hidden": "true" }));
  private spectrum: { readonly of: Int16Array; readonly made: Spectrogram } | null = null;
  private samples: Int16Array = new Int16Array(0);
  private sound: SoundDescription | null = null;
  private heard: Heard | null = null;
  private cut: readonly (readonly [from: number, to: number])[] = []; // seconds that were cut out
  private width = 0;
  private room = 0; // CSS pixels of height that may be filled

  constructor(
    private readonly say: Words,
    private readonly theme: () => Theme,
    handlers: ChartHandlers,
  ) {
    this.element = make(
      "div",
      { class: "sound-chart", tabindex: 0, role: "application", "aria-label": handlers.label },
      ...this.layers,
    );
    this.element.addEventListener("pointermove", (event) => handlers.point(this.spotAt(event)));
    this.element.addEventListener("pointerleave", () => handlers.point(null));
    this.element.addEventListener("click", (event) => {
      const spot = this.spotAt(event);
      if (spot !== null) handlers.choose(spot);
    });
    this.element.addEventListener("keydown", (event) => handlers.key(event));
  }

  /** Another sound or size; frames that were cut out of it. */
  show(
    samples: Int16Array,
    sound: SoundDescription,
    width: number,
    room: number,
    cut: readonly number[],
  ): void {
    this.cut = cut.map((token) => sound.spans[token] ?? [0, 0]);
    [this.samples, this.sound, this.width, this.room] = [samples, sound, width, room];
    this.paintBelow();
    this.paintHeard();
  }

  set(heard: Heard | null): void {
    const before = JSON.stringify(this.bands);
    this.heard = heard;
    if (JSON.stringify(this.bands) !== before) this.paintBelow();
    this.paintHeard();
  }

  /** The second that is heard or read; rows of words that light up. */
  mark(second: number | null, lit: readonly number[]): void {
    const context = clearCanvas(this.layers[2]!, this.width, this.height, true);
    if (context === null || this.sound === null) return;
    const inks = readInks(this.element);
    context.fillStyle = inks.accent;
    this.heard?.words.forEach(({ row }, at) => {
      if (lit.includes(row)) context.fillRect(0, this.rowTop(at) + 2, 4, ROW - 4);
    });
    if (second === null) return;
    const x = Math.round(this.x(second));
    context.fillRect(x - 1, 0, 2, this.height - AXIS);
  }

  /** From top to bottom, [top, height]: wave, spectrum and strip share the room that the rest leaves. */
  private get bands() {
    const rows = this.heard?.words.length ?? 0;
    const above = (this.sound?.words.length ? BAND : 0) + (rows > 0 ? BAND : 0) + GAP;
    const rest = above + 3 * GAP + ROW * rows + AXIS;
    const timed = this.heard?.cells.length !== 0; // else words are coloured, not time
    const low = timed ? STRIP : 0;
    const stretch = Math.max(1, Math.min(TALLEST, (this.room - rest) / (WAVE + SPECTRUM + low)));
    const after = ([top, height]: Band, next: number): Band => [
      top + height + GAP,
      Math.round(next * stretch),
    ];
    const wave: Band = [above, Math.round(WAVE * stretch)];
    const spectrum = after(wave, SPECTRUM);
    const strip = after(spectrum, low);
    return { wave, spectrum, strip, rows: after(strip, 0)[0] };
  }

  get height(): number {
    return this.bands.rows + ROW * (this.heard?.words.length ?? 0) + AXIS;
  }

  private rowTop(at: number): number {
    return this.bands.rows + at * ROW;
  }

  private x(second: number): number {
    return GUTTER + ((this.width - GUTTER) * second) / Math.max(1e-9, this.sound?.seconds ?? 1);
  }

  private spotAt(event: MouseEvent): Spot | null {
    const { x, y } = pointIn(this.element, event);
    if (this.sound === null) return null;
    const second = ((x - GUTTER) / (this.width - GUTTER)) * this.sound.seconds;
    const at = Math.floor((y - this.bands.rows) / ROW);
    const word = y >= this.bands.rows ? (this.heard?.words[at]?.row ?? null) : null;
    if (second < 0 && word === null) return null;
    return { second: Math.max(0, Math.min(this.sound.seconds, second)), word };
  }

  private name(context: CanvasRenderingContext2D, text: string, middle: number, ink: string): void {
    context.font = FONT;
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = ink;
    context.fillText(
      elide(text, GUTTER - 12, (each) => context.measureText(each).width),
      GUTTER - 8,
      middle,
    );
  }

  private paintBelow(): void {
    setStyle(this.element, { height: `${this.height}px` });
    const context = clearCanvas(this.layers[0]!, this.width, this.height, true);
    const { sound, say } = this;
    if (context === null || sound === null) return;
    const inks = readInks(this.element);
    const { wave, spectrum, strip } = this.bands;
    if (sound.words.length > 0) this.paintSpoken(context, sound, inks);
    this.name(context, say.wave, middle(wave), inks.faint);
    this.paintWave(context, wave, inks);
    this.paintSpectrum(context, spectrum, sound, inks);
    for (const [from, to] of this.cut) this.paintCut(context, from, to, [wave[0], spectrum[0] + spectrum[1]]);
    if (strip[1] > 0) this.name(context, say.attention, middle(strip), inks.faint);
    this.paintAxis(context, sound, inks);
  }

  private paintSpoken(context: CanvasRenderingContext2D, { words }: SoundDescription, inks: Inks): void {
    this.name(context, this.say.spoken, BAND / 2, inks.faint);
    context.textAlign = "center";
    for (const { text, start, end } of words) {
      const [left, right] = [this.x(start), this.x(end)];
      context.fillStyle = inks.line;
      context.fillRect(left, 1, right - left, BAND - 2);
      context.fillStyle = inks.ink;
      context.fillText(
        elide(text, right - left - 2, (each) => context.measureText(each).width),
        (left + right) / 2,
        BAND / 2,
      );
      context.strokeStyle = inks.faint;
      context.setLineDash([2, 3]); // the boundaries, through wave and spectrum
      context.beginPath();
      for (const x of [left, right]) {
        context.moveTo(Math.round(x) + 0.5, BAND);
        context.lineTo(Math.round(x) + 0.5, this.bands.strip[0]);
      }
      context.stroke();
      context.setLineDash([]);
    }
  }

  private paintWave(context: CanvasRenderingContext2D, [top, height]: Band, inks: Inks): void {
    context.fillStyle = inks.soft;
    for (const [x, low, high] of outlineWave(this.samples, Math.max(1, Math.floor(this.width - GUTTER)))) {
      const [up, down] = [top + (height / 2) * (1 - high), top + (height / 2) * (1 - low)];
      context.fillRect(GUTTER + x, up, 1, Math.max(1, down - up));
    }
  }

  private paintSpectrum(
    context: CanvasRenderingContext2D,
    band: Band,
    sound: SoundDescription,
    inks: Inks,
  ): void {
    if (this.spectrum?.of !== this.samples) {
      const columns = Math.max(1, Math.min(MOST_COLUMNS, Math.ceil(sound.seconds * 200)));
      this.spectrum = { of: this.samples, made: spectrogram(this.samples, sound.rate, columns) };
    }
    const { columns, bins, highest, decibels } = this.spectrum.made;
    this.name(context, this.say.spectrum(round(Math.round(highest / 100) / 10)), middle(band), inks.faint);
    const small = document.createElement("canvas");
    [small.width, small.height] = [columns, bins];
    const drawn = small.getContext("2d");
    if (drawn === null) return;
    const image = drawn.createImageData(columns, bins);
    const table = sequential(this.theme());
    for (let column = 0; column < columns; column++)
      for (let bin = 0; bin < bins; bin++) {
        const place = 3 * Math.round((255 * (decibels[column * bins + bin]! + 80)) / 80);
        const at = 4 * ((bins - 1 - bin) * columns + column);
        image.data.set([table[place]!, table[place + 1]!, table[place + 2]!, 255], at);
      }
    drawn.putImageData(image, 0, 0);
    context.drawImage(small, GUTTER, band[0], this.width - GUTTER, band[1]);
  }

  /** Time that is not there for the others: crossed out. */
  private paintCut(
    context: CanvasRenderingContext2D,
    from: number,
    to: number,
    [top, bottom]: readonly [number, number],
  ): void {
    const [left, right] = [this.x(from), this.x(to)];
    const inks = readInks(this.element);
    context.fillStyle = inks.line;
    context.fillRect(left, top, right - left, bottom - top);
    context.strokeStyle = inks.ink;
    context.beginPath();
    context.moveTo(left, top);
    context.lineTo(right, bottom);
    context.moveTo(right, top);
    context.lineTo(left, bottom);
    context.stroke();
  }

  private paintAxis(context: CanvasRenderingContext2D, { seconds }: SoundDescription, inks: Inks): void {
    const top = this.height - AXIS;
    context.font = FONT;
    context.textBaseline = "top";
    context.fillStyle = inks.faint;
    for (const tick of ticksOf(seconds, Math.floor((this.width - GUTTER) / 64))) {
      const x = Math.round(this.x(tick));
      context.fillRect(x, top, 1, 3);
      context.textAlign = tick === 0 ? "left" : x > this.width - 20 ? "right" : "center";
      context.fillText(this.say.moment(round(tick)), x, top + 6); // apart: a mark is no apostrophe
    }
  }

  private paintHeard(): void {
    const context = clearCanvas(this.layers[1]!, this.width, this.height, true);
    const { heard, sound } = this;
    if (context === null || heard === null || sound === null) return;
    const inks = readInks(this.element);
    const { cells, values, maximum, signed, words, moment } = heard;
    if (moment !== null) this.paintMoment(context, moment, inks);
    const kind = signed ? "diverging" : "sequential";
    if (values !== null) {
      const scale = colourScale([0, maximum], kind, false, this.theme());
      this.paintCells(context, cells, (row) => values[row]!, scale, ...this.bands.strip);
    }
    if (words.length === 0) return;
    this.paintPeaks(context, words, inks);
    words.forEach((word, at) => {
      const top = this.rowTop(at);
      const scale = colourScale([0, word.largest], kind, false, this.theme());
      this.paintCells(context, cells, (key) => heard.weight(word.row, key), scale, top + 1, ROW - 2);
      this.name(context, word.text, top + ROW / 2, word.row === heard.focus ? inks.accent : inks.ink);
      const spoken = word.spoken === null ? null : sound.words[word.spoken]!;
      if (spoken !== null) {
        context.strokeStyle = inks.ink;
        context.lineWidth = 1.5;
        context.strokeRect(
          this.x(spoken.start),
          top + 1.5,
          this.x(spoken.end) - this.x(spoken.start),
          ROW - 3,
        );
        context.lineWidth = 1;
      }
      if (word.peak !== null) this.paintDot(context, this.x(middleOf(word.peak)), top + ROW / 2);
    });
  }

  /** A frame around the moment in focus, through wave and spectrum. */
  private paintMoment(context: CanvasRenderingContext2D, { from, to }: TimeCell, inks: Inks): void {
    const { wave, spectrum } = this.bands;
    const [left, top, bottom] = [this.x(from), wave[0], spectrum[0] + spectrum[1]];
    for (const [ink, width] of [
      [inks.ground, 5], // seen on any spectrum
      [inks.accent, 2],
    ] as const) {
      context.strokeStyle = ink;
      context.lineWidth = width;
      context.strokeRect(left, top, Math.max(2, this.x(to) - left), bottom - top);
    }
    context.lineWidth = 1;
  }

  private paintCells(
    context: CanvasRenderingContext2D,
    cells: readonly TimeCell[],
    value: (row: number) => number,
    scale: ColourScale,
    top: number,
    height: number,
  ): void {
    for (const { row, from, to } of cells) {
      context.fillStyle = pick(scale.table, scale.place(value(row)) ?? 0);
      const left = Math.round(this.x(from));
      context.fillRect(left, top, Math.max(1, Math.round(this.x(to)) - left), height);
    }
  }

  /** Words above the time that they listen to most; where there is no room, none. */
  private paintPeaks(context: CanvasRenderingContext2D, words: readonly HeardWord[], inks: Inks): void {
    const line = this.bands.wave[0] - GAP - BAND / 2;
    this.name(context, this.say.heard, line, inks.faint);
    context.textAlign = "center";
    let free = GUTTER;
    const sorted = words.filter(({ peak, special }) => peak !== null && !special);
    for (const { text, peak } of sorted.sort((one, other) => one.peak!.from - other.peak!.from)) {
      const half = context.measureText(text).width / 2 + 3;
      const x = Math.max(GUTTER + half, Math.min(this.width - half, this.x(middleOf(peak!))));
      if (x - half < free) continue;
      free = x + half;
      context.fillStyle = inks.ink;
      context.fillText(text, x, line);
    }
  }

  private paintDot(context: CanvasRenderingContext2D, x: number, y: number): void {
    for (const [ink, radius] of [
      ["#000000", 4],
      ["#ffffff", 2.5],
    ] as const) {
      context.fillStyle = ink;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
    }
  }
}

export function middleOf({ from, to }: TimeCell): number {
  return (from + to) / 2;
}

/** Round seconds, at most so many. */
export function ticksOf(seconds: number, most: number): number[] {
  const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20];
  const step = steps.find((each) => seconds / each <= Math.max(1, most)) ?? 60;
  return Array.from({ length: Math.floor(seconds / step + 1e-9) + 1 }, (_, at) => at * step);
}
