/**
 * A heat map's cells as pixels: what is where, and which place of the colour table each cell gets.
 *
 * In:   tiles of bytes (weights or signed values on a square-root scale), a camera, a scale, what is masked.
 * Out:  one index per device pixel and axis, and whole numbers for the arithmetic of colours. The WebGL2 renderer and
 *       the canvas one use the same whole numbers, so they give the same pixels, at 100,000 tokens as at ten.
 */

import { asFloats, type Tensor, zeroByte } from "../api/frames";

/**
 * Weights of a rectangle, pooled over squares of 2**level cells. Never changed.
 * weight = maximum · s · |s| with s = (byte − zero) / (255 − zero).
 */
export interface WeightTile {
  readonly bytes: Uint8Array; // (row, column)
  readonly width: number; // pixels of the level
  readonly height: number;
  readonly level: number;
  readonly row: number; // of its upper left pixel, in pixels of its level
  readonly column: number;
  readonly maximum: number; // of absolute values
  readonly zero: 0 | 128; // the byte of zero: 128 where values are signed
}

/** A tile, and the cells where it is to be seen. */
export interface Placement {
  readonly tile: WeightTile;
  readonly queries: readonly [number, number];
  readonly keys: readonly [number, number];
}

/** Which cell lies at the upper left corner, and how many pixels a cell is wide and high. */
export interface Camera {
  readonly key: number;
  readonly query: number;
  readonly wide: number;
  readonly high: number;
}

export interface Extent {
  readonly queries: number;
  readonly keys: number;
}

/** What absolute value gets the last colour: one for all, or one for each query. */
export type Top = number | Float32Array;

export interface Mask {
  /** Keys beyond query + causal cannot be seen; null: no such rule. */
  readonly causal: number | null;
  /** 1 for queries whose zeros are masked keys (padding, windows). */
  readonly rows: Uint8Array | null;
  /** 1 for keys that the person has left out. */
  readonly left: Uint8Array | null;
}

export interface Scene {
  readonly width: number; // device pixels
  readonly height: number;
  readonly camera: Camera;
  readonly extent: Extent;
  readonly placements: readonly Placement[]; // later ones cover earlier ones
  readonly top: Top;
  readonly mask: Mask;
  readonly unit: number; // roots are taken of weights divided by this: whole numbers stay within 32 bits
  readonly table: Uint8Array; // 256 colours; zero has the place of its byte: 0, or 128 in a diverging table
  readonly hatch: readonly [ground: Colour, line: Colour];
}

export type Colour = readonly [number, number, number];

export interface Renderer {
  readonly kind: "webgl" | "canvas";
  draw(scene: Scene): void;
  dispose(): void;
}

export const NOTHING = 0x7fffffff; // a pixel outside the map, or between two cells
export const FLAG = 0x40000000; // rows: zeros are masked; columns: left out
export const UNIT = 1 << 20; // the fixed point of roots of weights
export const HATCH = 8; // device pixels between two lines of a hatch
const GAP = 14; // device pixels a cell needs before a line is left between cells

/** The root of a weight as a whole number; what is compared with it is one too, so that no rounding differs. */
export function fixedRoot(weight: number): number {
  return Math.max(1, Math.round(UNIT * Math.sqrt(weight)));
}

/** The place in the colour table: the last at the top and above, that of zero only for zero. `gain`, `top`: fixed roots. */
export function placeOf(byte: number, gain: number, top: number, zero: 0 | 128 = 0): number {
  const step = byte - zero;
  const far = Math.max(1, Math.floor((2 * Math.abs(step) * gain + top) / (2 * top)));
  return zero + Math.sign(step) * Math.min(255 - zero, far);
}

/** The largest number that a scene of such placements compares: its `unit`. */
export function unitOf(placements: readonly Placement[], top: Top): number {
  return Math.max(typeof top === "number" ? top : 0, ...placements.map(({ tile }) => tile.maximum));
}

/** The cell under each device pixel of an axis, NOTHING where there is none. */
export function indexAxis(pixels: number, first: number, scale: number, count: number): Uint32Array {
  const index = new Uint32Array(pixels);
  const gap = scale >= GAP;
  let before = -1;
  for (let pixel = pixels; pixel-- > 0; ) {
    const cell = Math.floor(first + (pixel + 0.5) / scale);
    if (cell < 0 || cell >= count) index[pixel] = NOTHING;
    else index[pixel] = gap && cell !== before && before !== -1 ? NOTHING : cell;
    before = cell;
  }
  return index;
}

/** The rows' cells with flags, the columns' with flags, and the fixed root of every row's top. */
export function indexScene(scene: Scene): { rows: Uint32Array; columns: Uint32Array; tops: Uint32Array } {
  const { camera, extent, mask, top } = scene;
  const rows = indexAxis(scene.height, camera.query, camera.high, extent.queries);
  const columns = indexAxis(scene.width, camera.key, camera.wide, extent.keys);
  const tops = new Uint32Array(scene.height);
  const shared = typeof top === "number" ? fixedRoot(top / scene.unit) : 0;
  for (let y = 0; y < rows.length; y++) {
    const row = rows[y]!;
    if (row === NOTHING) continue;
    tops[y] = typeof top === "number" ? shared : fixedRoot((top[row] ?? 1) / scene.unit);
    if (mask.rows?.[row]) rows[y] = row | FLAG;
  }
  if (mask.left !== null) {
    for (let x = 0; x < columns.length; x++) {
      const column = columns[x]!;
      if (column !== NOTHING && mask.left[column]) columns[x] = column | FLAG;
    }
  }
  return { rows, columns, tops };
}

/** The device pixels [left, top, right, bottom] that may show a placement. */
export function boxOf(scene: Scene, { queries, keys }: Placement): readonly [number, number, number, number] {
  const { camera, width, height } = scene;
  const clip = (value: number, most: number): number => Math.max(0, Math.min(most, value));
  return [
    clip(Math.floor((keys[0] - camera.key) * camera.wide), width),
    clip(Math.floor((queries[0] - camera.query) * camera.high), height),
    clip(Math.ceil((keys[1] - camera.key) * camera.wide), width),
    clip(Math.ceil((queries[1] - camera.query) * camera.high), height),
  ];
}

/** Where the hatch starts, so that it moves with the map. */
export function hatchPhase({ camera }: Scene): number {
  const moved = Math.round(camera.key * camera.wide + camera.query * camera.high);
  return ((moved % HATCH) + HATCH) % HATCH;
}

/** The byte farthest above zero, sign aside, of each row of a tile; `skip` tells columns of level pixels to leave out. */
export function rowPeaks(tile: WeightTile, skip: (column: number) => boolean = () => false): Uint8Array {
  const { bytes, width, height, zero } = tile;
  const kept: number[] = [];
  for (let column = 0; column < width; column++) if (!skip(tile.column + column)) kept.push(column);
  const peaks = new Uint8Array(height);
  for (let row = 0; row < height; row++) {
    const start = row * width;
    let peak = 0;
    for (const column of kept) {
      const step = Math.abs(bytes[start + column]! - zero);
      if (step > peak) peak = step;
    }
    peaks[row] = zero + peak;
  }
  return peaks;
}

/** The weight a byte of a tile stands for. */
export function weightOf(tile: WeightTile, byte: number): number {
  const share = (byte - tile.zero) / (255 - tile.zero);
  return tile.maximum * share * Math.abs(share);
}

/** The byte of a weight, as the server makes them: that of zero only for exactly zero. */
export function byteOf(weight: number, maximum: number, zero: 0 | 128 = 0): number {
  const size = zero === 0 ? weight : Math.abs(weight);
  if (!(size > 0)) return zero; // NaN too
  const most = 255 - zero;
  const step = Math.max(1, Math.min(most, Math.round(most * Math.sqrt(size / maximum))));
  return weight > 0 ? zero + step : zero - step;
}

/** Weights as bytes under their own maximum. */
export function quantise(
  weights: Float32Array,
  signed: boolean,
): Pick<WeightTile, "bytes" | "maximum" | "zero"> {
  const zero = signed ? 128 : 0;
  let maximum = 1e-12;
  for (const weight of weights) maximum = Math.max(maximum, signed ? Math.abs(weight) || 0 : weight || 0);
  return { bytes: Uint8Array.from(weights, (weight) => byteOf(weight, maximum, zero)), maximum, zero };
}

/** An array as bytes on the square-root scale: as they came, or floats under their own maximum. */
export function bytesOf(from: Tensor): Pick<WeightTile, "bytes" | "maximum" | "zero"> {
  const { data, scale, maximum } = from;
  if (data instanceof Uint8Array && (scale === "sqrt" || scale === "signed_sqrt"))
    return { bytes: data, maximum, zero: zeroByte(scale) };
  return quantise(asFloats(from), from.content === "signed");
}

/** The byte of a tile that shows a cell, or null where the tile does not reach. */
export function byteAt(tile: WeightTile, query: number, key: number): number | null {
  const row = (query >> tile.level) - tile.row;
  const column = (key >> tile.level) - tile.column;
  if (row < 0 || column < 0 || row >= tile.height || column >= tile.width) return null;
  return tile.bytes[row * tile.width + column] ?? null;
}

/** Half as many pixels a side: means, or what is farthest from zero; pixels at the far edges may be partial. */
export function coarsen(tile: WeightTile, how: "mean" | "max"): WeightTile {
  const width = (tile.width + 1) >> 1;
  const height = (tile.height + 1) >> 1;
  const { zero } = tile;
  const bytes = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    const down = 2 * row + 1 < tile.height ? tile.width : 0;
    for (let column = 0; column < width; column++) {
      const at = 2 * row * tile.width + 2 * column;
      const right = 2 * column + 1 < tile.width ? 1 : 0;
      const a = tile.bytes[at]! - zero;
      const b = right ? tile.bytes[at + 1]! - zero : 0;
      const c = down ? tile.bytes[at + down]! - zero : 0;
      const d = right && down ? tile.bytes[at + down + 1]! - zero : 0;
      let step: number;
      if (how === "max") {
        const [most, least] = [Math.max(a, b, c, d), Math.min(a, b, c, d)];
        step = most >= -least ? most : least;
      } else {
        const squares = a * Math.abs(a) + b * Math.abs(b) + c * Math.abs(c) + d * Math.abs(d);
        const root = Math.sqrt(Math.abs(squares) / ((right ? 2 : 1) * (down ? 2 : 1)));
        step = Math.sign(squares) * Math.max(1, Math.round(root));
      }
      bytes[row * width + column] = zero + step;
    }
  }
  return {
    bytes,
    width,
    height,
    level: tile.level + 1,
    row: tile.row >> 1,
    column: tile.column >> 1,
    maximum: tile.maximum,
    zero,
  };
}

/** A part of a picture, drawn on an axis in the place of a name. */
export interface Crop {
  readonly image: ImageBitmap;
  readonly box: readonly [left: number, top: number, width: number, height: number]; // pixels of the picture
}
