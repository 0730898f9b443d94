/**
 * Heat maps without WebGL: pixel by pixel into an image, the same pixels as the shader's.
 *
 * In:   a scene.
 * Out:  RGBA bytes, on a canvas or alone (for saved pictures).
 */

import {
  boxOf,
  FLAG,
  fixedRoot,
  HATCH,
  hatchPhase,
  indexScene,
  NOTHING,
  type Placement,
  placeOf,
  type Renderer,
  type Scene,
} from "../core/heat";

const OPAQUE = 0xff000000;

export function createCanvasRenderer(canvas: HTMLCanvasElement): Renderer {
  const context = canvas.getContext("2d");
  let image: ImageData | null = null; // kept: a map of a window's size is megabytes of garbage
  return {
    kind: "canvas",
    draw(scene) {
      if (canvas.width !== scene.width) canvas.width = scene.width;
      if (canvas.height !== scene.height) canvas.height = scene.height;
      if (context === null || scene.width === 0 || scene.height === 0) return;
      if (image?.width !== scene.width || image.height !== scene.height)
        image = new ImageData(scene.width, scene.height);
      paint(scene, image.data);
      context.putImageData(image, 0, 0);
    },
    dispose() {},
  };
}

/** The scene as RGBA, row by row; what shows nothing is transparent. */
export function paint(
  scene: Scene,
  pixels = new Uint8ClampedArray(scene.width * scene.height * 4),
): Uint8ClampedArray<ArrayBuffer> {
  const words = new Uint32Array(pixels.buffer).fill(0);
  const index = indexScene(scene);
  const colours = new Uint32Array(256);
  for (let place = 0; place < 256; place++)
    colours[place] = packColour(scene.table.subarray(3 * place, 3 * place + 3));
  for (const placement of scene.placements) paintPlacement(scene, placement, index, colours, words);
  return pixels;
}

function paintPlacement(
  scene: Scene,
  placement: Placement,
  { rows, columns, tops }: ReturnType<typeof indexScene>,
  colours: Uint32Array,
  words: Uint32Array,
): void {
  const { tile } = placement;
  const { bytes, zero, level } = tile;
  const [left, top, right, bottom] = boxOf(scene, placement);
  const { count, at, cells, leftOut } = listColumns(placement, columns, left, right);
  if (count === 0) return;
  const [from, to] = [at[0]!, at[count - 1]! + 1];
  const gain = fixedRoot(tile.maximum / scene.unit);
  const [ground, line] = scene.hatch.map(packColour) as [number, number];
  const phase = hatchPhase(scene);
  const causal = scene.mask.causal;
  const span = (1 << level) - 1; // cells behind the first of a pixel
  const shown = new Uint32Array(256); // the colours of bytes under the row's top
  let topNow = -1;
  let queryAbove = -1; // of the row of pixels above
  for (let y = top; y < bottom; y++) {
    const row = rows[y]!;
    const query = row & ~FLAG;
    if (row === NOTHING || query < placement.queries[0] || query >= placement.queries[1]) {
      queryAbove = -1;
      continue;
    }
    if (tops[y] !== topNow) {
      topNow = tops[y]!;
      for (let byte = 0; byte < 256; byte++) shown[byte] = colours[placeOf(byte, gain, topNow, zero)]!;
    }
    const start = y * scene.width;
    const first = ((query >> level) - tile.row) * tile.width - tile.column;
    const last = causal === null ? NOTHING : (query | span) + causal; // no query of this pixel sees keys beyond
    const seen = (row & FLAG) !== 0 ? 0 : countUpTo(cells, count, last >> level);
    if (query === queryAbove)
      words.copyWithin(start + from, start + from - scene.width, start + to - scene.width);
    else for (let k = 0; k < seen; k++) words[start + at[k]!] = shown[bytes[first + cells[k]!]!]!;
    for (let k = seen; k < count; k++) {
      const x = at[k]!;
      const byte = bytes[first + cells[k]!]!;
      words[start + x] = byte !== zero ? shown[byte]! : (x + y + phase) % HATCH === 0 ? line : ground;
    }
    for (const k of leftOut) {
      if (k >= seen && bytes[first + cells[k]!] === zero) continue; // masked: already hatched
      const x = at[k]!;
      words[start + x] = (x + HATCH - (y % HATCH) + phase) % HATCH === 0 ? line : ground;
    }
    queryAbove = query;
  }
}

/** The columns of device pixels that show a placement, the tile's cell under each, and which of them are left out. */
function listColumns({ tile, keys }: Placement, columns: Uint32Array, left: number, right: number) {
  const at = new Int32Array(right - left);
  const cells = new Int32Array(right - left);
  const leftOut: number[] = [];
  let count = 0;
  for (let x = left; x < right; x++) {
    const column = columns[x]!;
    const key = column & ~FLAG;
    if (column === NOTHING || key < keys[0] || key >= keys[1]) continue;
    if ((column & FLAG) !== 0) leftOut.push(count);
    at[count] = x;
    cells[count++] = key >> tile.level;
  }
  return { count, at, cells, leftOut };
}

/** How many of the first `count` rising numbers are at most `limit`. */
function countUpTo(rising: Int32Array, count: number, limit: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** An opaque colour as four bytes of an image. */
export function packColour(colour: ArrayLike<number>): number {
  return (OPAQUE | (colour[2]! << 16) | (colour[1]! << 8) | colour[0]!) >>> 0;
}
