/**
 * Tokens along an axis: which are named, where, and how long a name may be.
 *
 * In:   where an axis starts, how wide a cell is, how much room a name needs; tokens that come in slices.
 * Out:  labels that never overlap. Close up every token has its name; far away every 2nd, 5th, 10th … has, with its number.
 */

import type { RecordingSource } from "../source";
import type { SideName, TokenSlice } from "../types";

export interface Label {
  readonly index: number; // of the cell
  readonly at: number; // middle of the cell, in pixels from the start of the axis
  readonly numbered: boolean; // far away: the position is written too
}

/** The smallest of 1, 2, 5, 10, 20, 50 … that is not below `least`. */
export function niceStep(least: number): number {
  if (least <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least - 1e-9) return factor * power;
  return 10 * power;
}

/** The cells to be named on an axis of `length` pixels that begins at cell `first`. */
export function layLabels(axis: {
  first: number;
  scale: number;
  length: number;
  count: number;
  room: number;
}): Label[] {
  const { first, scale, length, count, room } = axis;
  const step = niceStep(room / scale);
  const numbered = step >= 5;
  const labels: Label[] = [];
  const start = Math.max(0, Math.ceil(first / step - 1) * step);
  for (let index = start; index < count; index += step) {
    const at = (index + 0.5 - first) * scale;
    if (at > length - room / 4) break;
    if (at >= room / 4) labels.push({ index, at, numbered });
  }
  return labels;
}

/** A text cut to a width, the middle replaced by an ellipsis; `measure` gives widths. */
export function elide(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  const letters = [...text];
  let low = 0;
  let high = letters.length - 1;
  while (low < high) {
    const kept = Math.ceil((low + high) / 2);
    if (measure(cut(letters, kept)) <= width) low = kept;
    else high = kept - 1;
  }
  return cut(letters, low);
}

function cut(letters: readonly string[], kept: number): string {
  const head = Math.ceil((kept * 2) / 3);
  return `${letters.slice(0, head).join("")}…${kept > head ? letters.slice(head - kept).join("") : ""}`;
}

const SLICE = 512;
const AT_ONCE = 3;

/** The tokens of one side of a recording, fetched as they are asked for: in slices where many are near, else one by one. */
export class TokenStore {
  private readonly shown = new Map<number, string>();
  private readonly special = new Map<number, boolean>();
  private readonly asked = new Set<string>();
  private readonly queue: [number, number][] = [];
  private running = 0;
  private over = false;

  constructor(
    private readonly source: RecordingSource,
    readonly side: SideName,
    readonly count: number,
    private readonly arrived: () => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** The token's text, if it is here; asks for it otherwise. `alone`: its neighbours are not needed. */
  get(index: number, alone = false): string | undefined {
    const text = this.shown.get(index);
    if (text === undefined && index >= 0 && index < this.count) this.ask(index, alone);
    return text;
  }

  isSpecial(index: number): boolean {
    return this.special.get(index) ?? false;
  }

  /** The special tokens of a side that is short enough to be read whole. */
  async specials(): Promise<number[]> {
    const slice = await this.source.tokens(this.side, [0, Math.min(this.count, 8192)]);
    this.keep(slice);
    return slice.special.flatMap((special, index) => (special ? [slice.start + index] : []));
  }

  dispose(): void {
    this.over = true;
  }

  private ask(index: number, alone: boolean): void {
    const start = alone ? index : index - (index % SLICE);
    const stop = alone ? index + 1 : Math.min(start + SLICE, this.count);
    const name = `${start}:${stop}`;
    if (this.asked.has(name)) return;
    this.asked.add(name);
    this.queue.push([start, stop]);
    this.advance();
  }

  private advance(): void {
    while (this.running < AT_ONCE && !this.over) {
      const range = this.queue.pop(); // the latest asked is what is looked at now
      if (range === undefined) return;
      this.running += 1;
      void this.source
        .tokens(this.side, range)
        .then((slice) => {
          this.keep(slice);
          if (!this.over) this.arrived();
        })
        .catch((error: unknown) => {
          this.asked.delete(`${range[0]}:${range[1]}`);
          if (!this.over) this.failed(error);
        })
        .finally(() => {
          this.running -= 1;
          this.advance();
        });
    }
  }

  private keep(slice: TokenSlice): void {
    for (const [offset, text] of slice.shown.entries()) {
      this.shown.set(slice.start + offset, text);
      this.special.set(slice.start + offset, slice.special[offset] ?? false);
    }
  }
}
