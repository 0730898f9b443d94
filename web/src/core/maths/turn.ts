/**
 * Turning one plane onto another.
 *
 * In:   points of two planes.
 * Out:  the turn that brings one nearest to the other; turned points.
 */

import { centre } from "./projection";

/** An orthogonal turn of the plane: rows are where the axes go. */
export type Turn = readonly [xx: number, xy: number, yx: number, yy: number];

export const UNTURNED: Turn = [1, 0, 0, 1];

/** The turn (or mirrored turn) that brings `points` nearest to `target`; both are centred first. */
export function procrustes(points: Float64Array, target: Float64Array): Turn {
  const count = points.length / 2;
  const from = centre(points, count, 2);
  const to = centre(target, count, 2);
  let [xx, xy, yx, yy] = [0, 0, 0, 0];
  for (let at = 0; at < 2 * count; at += 2) {
    xx += from[at]! * to[at]!;
    xy += from[at]! * to[at + 1]!;
    yx += from[at + 1]! * to[at]!;
    yy += from[at + 1]! * to[at + 1]!;
  }
  const turned = Math.hypot(xx + yy, xy - yx);
  const mirrored = Math.hypot(xx - yy, xy + yx);
  if (turned === 0 && mirrored === 0) return UNTURNED;
  if (turned >= mirrored) {
    const [cosine, sine] = [(xx + yy) / turned, (xy - yx) / turned];
    return [cosine, sine, -sine, cosine];
  }
  const [cosine, sine] = [(xx - yy) / mirrored, (xy + yx) / mirrored];
  return [cosine, sine, sine, -cosine];
}

export function turnPoints(points: Float64Array, [xx, xy, yx, yy]: Turn): Float64Array {
  const turned = new Float64Array(points.length);
  for (let at = 0; at < points.length; at += 2) {
    turned[at] = points[at]! * xx + points[at + 1]! * yx;
    turned[at + 1] = points[at]! * xy + points[at + 1]! * yy;
  }
  return turned;
}
