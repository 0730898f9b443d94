/**
 * The tokens of one side of a recording, fetched in slices as they are asked for.
 *
 * In:   a recording, a side.
 * Out:  the text of a token once it is here; `arrived` is called then.
 */

import type { RowSide, TokenSlice } from "../api/types";
import type { Crop } from "../core/heat";
import type { RecordingSource } from "../core/source";

const SLICE = 1024;
const AT_ONCE = 3; // requests
const MOST_SPECIAL = 8192; // tokens that are looked through for special ones

export class SideTokens {
  readonly count: number;
  private readonly texts = new Map<number, string>();
  private readonly special = new Set<number>();
  private readonly requests = new Map<string, Promise<void>>(); // by range
  private readonly waiting: (() => void)[] = [];
  private running = 0;
  private disposed = false;
  private crops: ((token: number) => Crop | null) | undefined; // of the picture, once it was asked for

  constructor(
    private readonly source: RecordingSource,
    readonly side: RowSide,
    private readonly arrived: () => void = () => {},
    private readonly failed: (error: unknown) => void = () => {},
  ) {
    this.count = source.description[side]?.count ?? 0;
  }

  /** The token's text, if it is here; asks for it otherwise. `alone`: its neighbours are not needed. */
  get(token: number, alone = false): string | undefined {
    const text = this.texts.get(token);
    if (text === undefined && token >= 0 && token < this.count) {
      const start = alone ? token : token - (token % SLICE);
      this.fetch(start, alone ? token + 1 : start + SLICE).catch((error: unknown) => {
        if (!this.disposed) this.failed(error);
      });
    }
    return text;
  }

  /** What to show for a token: an ellipsis until it is here, nothing where there is no such token. */
  shown(token: number): string {
    return this.get(token) ?? (token >= 0 && token < this.count ? "…" : "");
  }

  /** What a token was cut from; null where that is no picture, or while it is not here. */
  crop(token: number): Crop | null {
    if (this.crops === undefined && this.source.description[this.side]?.picture) {
      this.crops = () => null;
      import("./media") // fetched with the first picture
        .then(({ readCrops }) => readCrops(this.source, this.side))
        .then((crops) => {
          this.crops = crops;
          if (!this.disposed) this.arrived();
        }, this.failed);
    }
    return this.crops?.(token) ?? null;
  }

  isSpecial(token: number): boolean {
    return this.special.has(token);
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

  /** Resolves when tokens start … stop are here. */
  async load(start: number, stop: number): Promise<void> {
    const requests: Promise<void>[] = [];
    for (let at = start - (start % SLICE); at < Math.min(stop, this.count); at += SLICE)
      requests.push(this.fetch(at, at + SLICE));
    await Promise.all(requests);
  }

  /** Resolves when all that was asked for is here, or has failed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.requests.values());
  }

  /** The special tokens among the first ones. */
  async specials(): Promise<number[]> {
    await this.load(0, MOST_SPECIAL);
    return [...this.special].sort((one, other) => one - other);
  }

  dispose(): void {
    this.disposed = true;
  }

  /** Asks once for each range; what failed is asked again. */
  private fetch(start: number, end: number): Promise<void> {
    const stop = Math.min(end, this.count);
    const name = `${start}:${stop}`;
    const known = this.requests.get(name);
    if (known !== undefined) return known;
    const turn = new Promise<void>((resolve) => this.waiting.push(resolve));
    const request = turn
      .then(() => this.source.tokens(this.side, [start, stop]))
      .then((slice) => this.keep(slice))
      .catch((error: unknown) => {
        this.requests.delete(name);
        throw error;
      })
      .finally(() => {
        this.running -= 1;
        this.startNext();
      });
    this.requests.set(name, request);
    this.startNext();
    return request;
  }

  private startNext(): void {
    while (this.running < AT_ONCE && this.waiting.length > 0 && !this.disposed) {
      this.running += 1;
      this.waiting.pop()!(); // the latest asked is what is looked at now
    }
  }

  private keep(slice: TokenSlice): void {
    for (const [offset, text] of slice.shown.entries()) {
      this.texts.set(slice.start + offset, text);
      if (slice.special[offset]) this.special.add(slice.start + offset);
    }
    if (!this.disposed) this.arrived();
  }
}

/** The tokens of every side of a recording, each made when it is first asked for. */
export class RecordingTokens {
  private readonly sides = new Map<RowSide, SideTokens>();

  constructor(
    private readonly source: RecordingSource,
    private readonly arrived: () => void = () => {},
    private readonly failed: (error: unknown) => void = () => {},
  ) {}

  of(side: RowSide): SideTokens {
    let tokens = this.sides.get(side);
    if (tokens === undefined) {
      tokens = new SideTokens(this.source, side, this.arrived, this.failed);
      this.sides.set(side, tokens);
    }
    return tokens;
  }

  /** Resolves when all that was asked for is here, or has failed. */
  async settled(): Promise<void> {
    await Promise.all([...this.sides.values()].map((tokens) => tokens.settled()));
  }

  dispose(): void {
    for (const tokens of this.sides.values()) tokens.dispose();
  }
}

/** The first tokens of a side, at once. */
export function readTokens(source: RecordingSource, side: RowSide, most: number): Promise<TokenSlice> {
  return source.tokens(side, [0, Math.min(most, source.description[side]?.count ?? 0)]);
}
