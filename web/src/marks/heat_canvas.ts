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
  return {
    kind: "canvas",
    draw(scene) {
      if (canvas.width !== scene.width) canvas.width = scene.width;
      if (canvas.height !== scene.height) canvas.height = scene.height;
      if (context === null || scene.width === 0 || scene.height === 0) return;
      context.putImageData(new ImageData(paint(scene), scene.width, scene.height), 0, 0);
    },
    dispose() {},
  };
}

/** The scene as RGBA, row by row; what shows nothing is transparent. */
export function paint(scene: Scene): Uint8ClampedArray<ArrayBuffer> {
  const pixels = new Uint8ClampedArray(scene.width * scene.height * 4);
  const words = new Uint32Array(pixels.buffer);
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
  const [left, top, right, bottom] = boxOf(scene, placement);
  const gain = fixedRoot(tile.maximum / scene.unit);
  const hatch = scene.hatch.map(packColour);
  const phase = hatchPhase(scene);
  const causal = scene.mask.causal;
  const span = (1 << tile.level) - 1; // cells behind the first of a pixel
  const shown = new Uint32Array(256); // the colours of bytes under the row's top
  let topNow = -1;
  for (let y = top; y < bottom; y++) {
    const row = rows[y]!;
    const query = row & ~FLAG;
    if (row === NOTHING || query < placement.queries[0] || query >= placement.queries[1]) continue;
    if (tops[y] !== topNow) {
      topNow = tops[y]!;
      for (let byte = 0; byte < 256; byte++) shown[byte] = colours[placeOf(byte, gain, topNow, tile.zero)]!;
    }
    const line = ((query >> tile.level) - tile.row) * tile.width - tile.column;
    const last = causal === null ? NOTHING : (query | span) + causal; // no query of this pixel sees keys beyond
    for (let x = left; x < right; x++) {
      const column = columns[x]!;
      const key = column & ~FLAG;
      if (column === NOTHING || key < placement.keys[0] || key >= placement.keys[1]) continue;
      const pixel = key >> tile.level;
      const byte = tile.bytes[line + pixel]!;
      const masked = byte === tile.zero && ((row & FLAG) !== 0 || pixel << tile.level > last);
      const at = y * scene.width + x;
      if (masked) words[at] = hatch[(x + y + phase) % HATCH === 0 ? 1 : 0]!;
      else if ((column & FLAG) !== 0)
        words[at] = hatch[(x + HATCH - (y % HATCH) + phase) % HATCH === 0 ? 1 : 0]!;
      else words[at] = shown[byte]!;
    }
  }
}

/** An opaque colour as four bytes of an image. */
export function packColour(colour: ArrayLike<number>): number {
  return (OPAQUE | (colour[2]! << 16) | (colour[1]! << 8) | colour[0]!) >>> 0;
}
