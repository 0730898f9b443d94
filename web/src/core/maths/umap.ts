/**
 * UMAP (McInnes, Healy and Melville 2018): a plane in which neighbours stay neighbours.
 *
 * In:   the nearest neighbours of every point with their distances, and a first plane.
 * Out:  the plane, moved; the same numbers every time.
 *
 * Neighbourhoods become a graph: w(i, j) = exp(−max(0, d − ρ) / σ), with σ such that each point has log₂ k neighbours'
 * worth of weight, joined by a + b − ab. Edges pull, random pairs push (two-dimensional, minimum distance 0.1).
 */

import type { Pause } from "./pause";

export interface Neighbours {
  readonly indices: readonly (readonly number[])[]; // itself first
  readonly distances: readonly (readonly number[])[];
}

export interface Graph {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly weight: Float64Array;
}

// The curve 1 / (1 + a d^2b) that is nearest to 1 up to 0.1 and falls off as exp(−(d − 0.1)) beyond.
const A = 1.5769434603113077;
const B = 0.8950608779109733;
const PUSHES = 5; // random pairs for every pull

/** The fuzzy graph of neighbourhoods; every edge both ways. */
export function fuzzyGraph({ indices, distances }: Neighbours): Graph {
  const count = indices.length;
  const weights = new Map<number, number>();
  let total = 0;
  for (const row of distances) for (const distance of row) total += distance / row.length / count;
  for (let point = 0; point < count; point++) {
    const { nearest, width } = bandwidth(distances[point]!, total);
    indices[point]!.forEach((other, at) => {
      if (other === point) return;
      const beyond = distances[point]![at]! - nearest;
      weights.set(point * count + other, beyond <= 0 ? 1 : Math.exp(-beyond / width));
    });
  }
  const joined = new Map<number, number>();
  for (const [edge, weight] of weights) {
    const back = (edge % count) * count + Math.floor(edge / count);
    const other = weights.get(back) ?? 0;
    const both = weight + other - weight * other;
    joined.set(edge, both);
    joined.set(back, both);
  }
  const edges = [...joined].filter(([, weight]) => weight > 0).sort(([one], [other]) => one - other);
  return {
    from: Int32Array.from(edges, ([edge]) => Math.floor(edge / count)),
    to: Int32Array.from(edges, ([edge]) => edge % count),
    weight: Float64Array.from(edges, ([, weight]) => weight),
  };
}

/** Pull along edges, push at random, ever less; `points` is moved and given back. */
export async function settle(
  graph: Graph,
  points: Float64Array,
  epochs: number,
  random: () => number,
  pause: Pause,
): Promise<Float64Array> {
  const count = points.length / 2;
  const largest = graph.weight.reduce((most, weight) => Math.max(most, weight), 0);
  const every = graph.weight.map((weight) => (weight < largest / epochs ? Infinity : largest / weight));
  const nextPull = Float64Array.from(every);
  const nextPush = every.map((each) => each / PUSHES);
  for (let epoch = 0; epoch < epochs; epoch++) {
    await pause();
    const step = 1 - epoch / epochs;
    for (let edge = 0; edge < every.length; edge++) {
      if (nextPull[edge]! > epoch) continue;
      const one = 2 * graph.from[edge]!;
      move(points, one, 2 * graph.to[edge]!, step, true);
      nextPull[edge] = nextPull[edge]! + every[edge]!;
      const gap = every[edge]! / PUSHES;
      const pushes = Math.floor((epoch - nextPush[edge]!) / gap);
      for (let push = 0; push < pushes; push++) {
        const other = 2 * Math.floor(random() * count);
        if (other !== one) move(points, one, other, step, false);
      }
      nextPush[edge] = nextPush[edge]! + Math.max(0, pushes) * gap;
    }
  }
  return points;
}

/** The distance to the nearest, and the width that gives log₂ k of weight. */
function bandwidth(distances: readonly number[], average: number): { nearest: number; width: number } {
  const target = Math.log2(distances.length);
  const nearest = distances.find((distance) => distance > 0) ?? 0;
  let [low, high, width] = [0, Infinity, 1];
  for (let round = 0; round < 64; round++) {
    let sum = 0;
    for (let at = 1; at < distances.length; at++) {
      const beyond = distances[at]! - nearest;
      sum += beyond > 0 ? Math.exp(-beyond / width) : 1;
    }
    if (Math.abs(sum - target) < 1e-5) break;
    if (sum > target) {
      high = width;
      width = (low + high) / 2;
    } else {
      low = width;
      width = high === Infinity ? 2 * width : (low + high) / 2;
    }
  }
  const mean =
    nearest > 0 ? distances.reduce((sum, distance) => sum + distance, 0) / distances.length : average;
  return { nearest, width: Math.max(width, 1e-3 * mean) };
}

function pull(squared: number): number {
  return squared > 0 ? (-2 * A * B * squared ** (B - 1)) / (A * squared ** B + 1) : 0;
}

function repel(squared: number): number {
  return (2 * B) / ((0.001 + squared) * (A * squared ** B + 1));
}

/** One step of one point along the force to another; the other goes against it where it is a pull. */
function move(points: Float64Array, one: number, other: number, step: number, attract: boolean): void {
  const right = points[one]! - points[other]!;
  const up = points[one + 1]! - points[other + 1]!;
  const squared = right * right + up * up;
  const force = attract ? pull(squared) : repel(squared);
  const pushed = !attract && squared === 0; // two in one place part, whichever way
  const x = step * (pushed ? 4 : clip(force * right));
  const y = step * (pushed ? 4 : clip(force * up));
  points[one] = points[one]! + x;
  points[one + 1] = points[one + 1]! + y;
  if (!attract) return;
  points[other] = points[other]! - x;
  points[other + 1] = points[other + 1]! - y;
}

function clip(value: number): number {
  return value > 4 ? 4 : value < -4 ? -4 : value;
}
