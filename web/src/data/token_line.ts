/**
 * The tokens of one side, fetched a slice at a time when someone looks at them.
 *
 * In:   a recording, a side.
 * Out:  the text to show for a token, or a blank until it has arrived (`arrived` is called then).
 */

import type { SideName, TokenSlice } from "../api/types";
import type { RecordingSource } from "../core/source";

const SLICE = 2048;

export class TokenLine {
  readonly count: number;
  private readonly slices = new Map<number, TokenSlice>();
  private readonly coming = new Map<number, Promise<void>>();

  constructor(
    private readonly source: RecordingSource,
    readonly side: SideName,
    private readonly arrived: () => void,
    private readonly failed: (error: unknown) => void,
  ) {
    const { description } = source;
    this.count = (side === "source" ? description.source : description.target)?.count ?? 0;
  }

  /** What to show for a token; an ellipsis until it is here. */
  shown(token: number): string {
    const slice = this.slice(token);
    return slice === null ? "…" : (slice.shown[token - slice.start] ?? "");
  }

  special(token: number): boolean {
    const slice = this.slice(token);
    return slice?.special[token - slice.start] ?? false;
  }

  /** A token with its neighbours: before, itself, after. */
  context(token: number, reach = 4): readonly [before: string, token: string, after: string] {
    const join = (from: number, to: number) =>
      Array.from({ length: Math.max(0, to - from) }, (_, at) => this.shown(from + at)).join(" ");
    return [
      join(Math.max(0, token - reach), token),
      this.shown(token),
      join(token + 1, Math.min(this.count, token + 1 + reach)),
    ];
  }

  /** Wait until tokens start … stop are here. */
  async load(start: number, stop: number): Promise<void> {
    for (let at = Math.floor(start / SLICE); at * SLICE < Math.min(stop, this.count); at++)
      await this.fetch(at);
  }

  private slice(token: number): TokenSlice | null {
    if (token < 0 || token >= this.count) return null;
    const at = Math.floor(token / SLICE);
    const held = this.slices.get(at);
    if (held === undefined) this.fetch(at).catch(this.failed);
    return held ?? null;
  }

  /** Ask once; whoever looks hears of it. */
  private fetch(at: number): Promise<void> {
    let coming = this.coming.get(at);
    if (coming === undefined) {
      const range = [at * SLICE, Math.min(this.count, (at + 1) * SLICE)] as const;
      coming = this.source.tokens(this.side, range).then((slice) => {
        this.slices.set(at, slice);
        this.arrived();
      });
      this.coming.set(at, coming);
    }
    return coming;
  }
}
