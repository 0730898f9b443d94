/**
 * The walk as an animated GIF: each scene drawn as it is saved, one after the other.
 *
 * In:   standalone SVGs.
 * Out:  a GIF, all frames of one size.
 */

import { Refusal } from "../../core/source";
import { words } from "../../i18n/hosts";
import { GifWriter } from "./gif";

const WIDEST = 1000;
const TALLEST = 760;
const SECONDS = 2.4;

export interface Shot {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/** One size for all: as large as the largest scene, within limits. */
export function frameSize(shots: readonly Shot[]): { readonly width: number; readonly height: number } {
  const width = Math.min(WIDEST, Math.max(1, ...shots.map((shot) => shot.width)));
  const height = Math.min(TALLEST, Math.max(1, ...shots.map((shot) => shot.height)));
  return { width: Math.ceil(width), height: Math.ceil(height) };
}

/** Draws and encodes, with a pause after each frame so that the page stays alive; null: `told` said to stop. */
export async function makeGif(
  shots: readonly Shot[],
  ground: string,
  told: (at: number) => boolean,
): Promise<Blob | null> {
  const { width, height } = frameSize(shots);
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Refusal((language) => words(language).noGif, "no_canvas", 0);
  const gif = new GifWriter(width, height);
  for (const [at, shot] of shots.entries()) {
    const url = URL.createObjectURL(new Blob([shot.svg], { type: "image/svg+xml;charset=utf-8" }));
    try {
      const image = new Image();
      image.src = url;
      await image.decode();
      const scale = Math.min(1, width / shot.width, height / shot.height);
      context.fillStyle = ground;
      context.fillRect(0, 0, width, height);
      context.drawImage(image, 0, 0, shot.width * scale, shot.height * scale);
      gif.add({ pixels: context.getImageData(0, 0, width, height).data, seconds: SECONDS });
    } finally {
      URL.revokeObjectURL(url);
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (!told(at)) return null;
  }
  return gif.end();
}
