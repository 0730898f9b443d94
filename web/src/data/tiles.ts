/**
 * Map-style tiles: which are needed, in which order they are fetched, which are kept.
 *
 * In:   a camera over a long map; a way to fetch one tile.
 * Out:  placements that cover what is seen at once: a tile's ancestor stands in until the tile has come.
 */

import type { Camera, Extent, Placement, WeightTile } from "../core/heat";

export const SIZE = 256; // pixels a side, as the server cuts them
const KEPT = 320; // tiles: 20 MiB
const AT_ONCE = 4;
const AGAIN = 5000; // ms until a tile that failed is asked for again

export interface Address {
  readonly level: number;
  readonly row: number;
  readonly column: number;
}

/** The finest level whose pixels are at least as large as the screen's; `scale` is device pixels per cell, along the shorter side. */
export function levelFor(scale: number, levels: number): number {
  return Math.max(0, Math.min(levels - 1, Math.ceil(-Math.log2(scale) - 1e-9)));
}

/** The tiles of a level that touch a view of width × height device pixels, nearest to a cell first. */
export function cover(
  { camera, width, height }: { camera: Camera; width: number; height: number },
  extent: Extent,
  level: number,
  near: { query: number; key: number },
): Address[] {
  const side = SIZE * 2 ** level; // cells
  const range = (first: number, seen: number, count: number): [number, number] => [
    Math.max(0, Math.floor(first / side)),
    Math.min(Math.ceil(count / side), Math.ceil((first + seen) / side)),
  ];
  const [top, bottom] = range(camera.query, height / camera.high, extent.queries);
  const [left, right] = range(camera.key, width / camera.wide, extent.keys);
  const found: (Address & { far: number })[] = [];
  for (let row = top; row < bottom; row++) {
    for (let column = left; column < right; column++) {
      const far = Math.hypot((row + 0.5) * side - near.query, (column + 0.5) * side - near.key);
      found.push({ level, row, column, far });
    }
  }
  return found.sort((a, b) => a.far - b.far).map(({ row, column }) => ({ level, row, column }));
}

/** The cells under a tile. */
function cellsOf({ level, row, column }: Address, extent: Extent): Omit<Placement, "tile"> {
  const side = SIZE * 2 ** level;
  return {
    queries: [row * side, Math.min((row + 1) * side, extent.queries)],
    keys: [column * side, Math.min((column + 1) * side, extent.keys)],
  };
}

function nameOf({ level, row, column }: Address): string {
  return `${level}/${row}/${column}`;
}

export interface TileListener {
  arrived(): void;
  failed(error: unknown): void;
}

export class Tiles {
  private readonly kept = new Map<string, WeightTile>(); // oldest first
  private readonly coming = new Map<string, AbortController>();
  private readonly failed = new Map<string, number>();
  private wanted: readonly Address[] = [];
  private over = false;

  constructor(
    private readonly fetch: (address: Address, signal: AbortSignal) => Promise<WeightTile>,
    private readonly heard: TileListener,
    private readonly levels: number,
    private readonly root: WeightTile | null, // a coarse tile of the whole map that is always here
  ) {}

  /** Fetch these, in this order; what is on its way and no longer wanted is given up. */
  want(addresses: readonly Address[]): void {
    this.wanted = addresses;
    const names = new Set(addresses.map(nameOf));
    for (const [name, controller] of this.coming) {
      if (!names.has(name)) {
        this.coming.delete(name);
        controller.abort();
      }
    }
    this.advance();
  }

  /** How many of the wanted tiles are still missing. */
  get missing(): number {
    return this.wanted.filter((address) => !this.kept.has(nameOf(address))).length;
  }

  get(address: Address): WeightTile | undefined {
    const name = nameOf(address);
    const tile = this.kept.get(name);
    if (tile !== undefined) {
      this.kept.delete(name); // the most recently used comes last
      this.kept.set(name, tile);
    }
    return tile;
  }

  /** The tile itself, or the finest one above it that is here. */
  best(address: Address): WeightTile | null {
    for (let up = 0; address.level + up < this.levels; up++) {
      const tile = this.get({
        level: address.level + up,
        row: address.row >> up,
        column: address.column >> up,
      });
      if (tile !== undefined) return tile;
    }
    return this.root;
  }

  /** What to draw for these tiles now. */
  place(addresses: readonly Address[], extent: Extent): Placement[] {
    const placements: Placement[] = [];
    for (const address of addresses) {
      const tile = this.best(address);
      if (tile !== null) placements.push({ tile, ...cellsOf(address, extent) });
    }
    return placements;
  }

  dispose(): void {
    this.over = true;
    for (const controller of this.coming.values()) controller.abort();
    this.coming.clear();
    this.kept.clear();
  }

  private advance(): void {
    if (this.over) return;
    const now = performance.now();
    for (const address of this.wanted) {
      if (this.coming.size >= AT_ONCE) return;
      const name = nameOf(address);
      if (this.kept.has(name) || this.coming.has(name) || now < (this.failed.get(name) ?? -AGAIN) + AGAIN)
        continue;
      void this.load(address, name);
    }
  }

  private async load(address: Address, name: string): Promise<void> {
    const controller = new AbortController();
    this.coming.set(name, controller);
    try {
      const tile = await this.fetch(address, controller.signal);
      if (this.over) return;
      this.kept.set(name, tile);
      this.shrink();
      this.heard.arrived();
    } catch (error) {
      if (controller.signal.aborted || this.over) return;
      this.failed.set(name, performance.now());
      this.heard.failed(error);
    } finally {
      if (this.coming.get(name) === controller) this.coming.delete(name);
      this.advance();
    }
  }

  private shrink(): void {
    for (const name of this.kept.keys()) {
      if (this.kept.size <= KEPT) return;
      this.kept.delete(name);
    }
  }
}
