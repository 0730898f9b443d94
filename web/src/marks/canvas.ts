/**
 * Canvases in CSS pixels, sharp on any screen.
 *
 * In:   a canvas and its size; an element of the page.
 * Out:  an empty context; the page's inks as colours.
 */

import { magnification } from "./gestures";
import { setStyle } from "./make";
import { type Inks, SCREEN } from "./paper";

/** Pixels of a canvas for each of the page's. */
export function pixelRatio(canvas: HTMLCanvasElement): number {
  return Math.min(4, (window.devicePixelRatio || 1) * magnification(canvas));
}

/** An empty canvas of so many CSS pixels; `sized`: it is also made that large in the page. */
export function clearCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  sized = false,
): CanvasRenderingContext2D | null {
  const ratio = pixelRatio(canvas);
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== tall) canvas.height = tall;
  if (sized) setStyle(canvas, { width: `${width}px`, height: `${height}px` });
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

/** The page's inks as colours: a canvas does not know CSS variables. */
export function readInks(element: Element): Inks {
  const style = getComputedStyle(element);
  const read = ([name, ink]: [string, string]) => [
    name,
    style.getPropertyValue(ink.slice("var(".length, -1)).trim() || "#888888",
  ];
  return Object.fromEntries(Object.entries(SCREEN).map(read)) as unknown as Inks;
}
