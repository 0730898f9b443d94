/**
 * Small pictures of heads, coloured once and kept: one image for all heads of a map, side by side.
 *
 * In:   the thumbnails of a recording (bytes).
 * Out:  drawing a head into a square of any size on a canvas.
 */

import type { MapDescription } from "../../api/types";
import { type Colour, fixedRoot, placeOf } from "../../core/heat";
import type { Theme } from "../../core/view";
import { causalOf } from "../../data/heat_tiles";
import type { HeadPictures } from "../../data/thumbnails";
import { diverging, sequential } from "../../marks/colours";
import { packColour } from "../../marks/heat_canvas";

const HIDDEN: Readonly<Record<Theme, Colour>> = { light: [238, 239, 242], dark: [36, 40, 48] }; // masked cells
const KEPT = 64; // maps

export interface Sheet {
  readonly canvas: HTMLCanvasElement;
  readonly width: number; // of one head, pixels
  readonly height: number;
}

export class Thumbnails {
  private readonly sheets = new Map<string, Sheet>(); // oldest first

  constructor(
    private readonly picturesOf: (map: MapDescription) => HeadPictures,
    private readonly theme: Theme,
    private readonly top: number | null, // what has the last colour; null: the largest of each head
  ) {}

  /** The longest side of these maps' pictures, in pixels. */
  largestSide(maps: readonly MapDescription[]): number {
    return Math.max(1, ...maps.map(this.picturesOf).flatMap(({ height, width }) => [height, width]));
  }

  /** Draw a head into the square at (x, y); a map that is no square keeps its form. */
  draw(
    context: CanvasRenderingContext2D,
    map: MapDescription,
    head: number,
    x: number,
    y: number,
    size: number,
    ratio: number,
  ): void {
    const { canvas, width, height } = this.sheet(map);
    const scale = size / Math.max(width, height);
    context.imageSmoothingEnabled = scale * ratio < 1;
    context.imageSmoothingQuality = "high";
    context.drawImage(canvas, head * width, 0, width, height, x, y, width * scale, height * scale);
  }

  private sheet(map: MapDescription): Sheet {
    let sheet = this.sheets.get(map.place.address);
    if (sheet === undefined) sheet = this.make(map);
    else this.sheets.delete(map.place.address);
    this.sheets.set(map.place.address, sheet); // as the most recently used
    if (this.sheets.size > KEPT) this.sheets.delete(this.sheets.keys().next().value!);
    return sheet;
  }

  private make(map: MapDescription): Sheet {
    const { heads, height, width, level, bytes, maximum, zero } = this.picturesOf(map);
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, heads * width);
    canvas.height = Math.max(1, height);
    const image = new ImageData(canvas.width, canvas.height);
    const unit = Math.max(maximum, this.top ?? 0) || 1; // effects may be tiny
    const gain = fixedRoot(maximum / unit);
    const table = zero === 0 ? sequential(this.theme) : diverging(this.theme);
    const most = 255 - zero;
    for (let head = 0; head < heads; head++) {
      const cells = bytes.subarray(head * height * width, (head + 1) * height * width);
      const top = this.top === null ? largest(cells, zero) * gain : most * fixedRoot(this.top / unit);
      const colours = coloursOf(table, gain, Math.max(1, Math.round(top / most)), zero);
      colour(image, head * width, { cells, width, height, level, zero }, colours, map, HIDDEN[this.theme]);
    }
    canvas.getContext("2d")?.putImageData(image, 0, 0);
    return { canvas, width, height };
  }
}

/** The largest value of some pictures, without its sign. */
export function largestOf(pictures: readonly HeadPictures[]): number {
  return Math.max(
    ...pictures.map(({ bytes, zero, maximum }) => (largest(bytes, zero) / (255 - zero)) ** 2 * maximum),
  );
}

/** How far a byte is from that of zero, at most. */
function largest(cells: Uint8Array, zero: number): number {
  let most = 1;
  for (const byte of cells) most = Math.max(most, Math.abs(byte - zero));
  return most;
}

/** The colour of each byte. */
function coloursOf(table: Uint8Array, gain: number, top: number, zero: 0 | 128): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    const place = placeOf(byte, gain, top, zero);
    return packColour(table.subarray(3 * place, 3 * place + 3));
  });
}

function colour(
  image: ImageData,
  left: number,
  {
    cells,
    width,
    height,
    level,
    zero,
  }: Omit<HeadPictures, "heads" | "bytes" | "maximum"> & { cells: Uint8Array },
  colours: Uint32Array,
  map: MapDescription,
  hidden: Colour,
): void {
  const causal = causalOf(map);
  const pixels = new Uint32Array(image.data.buffer);
  const masked = packColour(hidden);
  for (let row = 0; row < height; row++) {
    const last = causal === null ? Number.POSITIVE_INFINITY : (((row + 1) << level) - 1 + causal) >> level;
    for (let column = 0; column < width; column++) {
      const byte = cells[row * width + column]!;
      pixels[row * image.width + left + column] = byte === zero && column > last ? masked : colours[byte]!;
    }
  }
}
