/**
 * The tokens of one side of a recording, fetched in slices as they are asked for.
 *
 * In:   a recording, a side.
 * Out:  the text of a token once it has arrived; `arrived` is called then.
 */

import type { SideName, TokenSlice } from "../api/types";
import type { RecordingSource } from "../core/source";

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
