/**
 * Many dimensions on a plane: principal components and UMAP.
 *
 * In:   states (token, width), row by row.
 * Out:  Projection: two coordinates a token, and for principal components the share of variance each axis explains.
 *
 * Principal components are exact: the eigenvectors of the Gram matrix of the centred states, which is never built.
 * Long work is cut into pieces; `pause` lets the page breathe in between.
 */

import { largestEigenpairs } from "./eigenpairs";
import type { Pause } from "./pause";
import { seeded } from "./random";
import { fuzzyGraph, type Neighbours, settle } from "./umap";

export interface Projection {
  readonly points: Float64Array; // x0, y0, x1, y1 …
  readonly shares: readonly [number, number] | null; // explained variance of each axis, 0 to 1; null for UMAP
}

const NEIGHBOURS = 15;
const EPOCHS = 300;
const PIECE = 1 << 16; // numbers between two pauses

/** The two principal components of states (token, width). */
export async function pcaProjection(
  states: Float32Array,
  tokens: number,
  width: number,
  pause: Pause,
): Promise<Projection> {
  const points = new Float64Array(2 * tokens);
  const { centred, total } = await centreStates(states, tokens, width, pause);
  if (total === 0 || tokens < 2) return { points, shares: [0, 0] };
  const multiply = gramProduct(centred, tokens, width);
  const { values, vectors } = await largestEigenpairs(multiply, tokens, 2, pause);
  for (let axis = 0; axis < Math.min(2, vectors.length); axis++) {
    const length = Math.sqrt(Math.max(values[axis]!, 0));
    const sign = leadingSign(vectors[axis]!);
    for (let token = 0; token < tokens; token++)
      points[2 * token + axis] = sign * length * vectors[axis]![token]!;
  }
  const share = (axis: number) => Math.max(values[axis] ?? 0, 0) / total;
  return { points, shares: [share(0), share(1)] };
}

/** UMAP of states (token, width): exact neighbours, seeded, started from the principal plane. */
export async function umapProjection(
  states: Float32Array,
  tokens: number,
  width: number,
  pause: Pause,
): Promise<Projection> {
  const start = await pcaProjection(states, tokens, width, pause);
  if (tokens < 4) return { points: start.points, shares: null };
  const graph = fuzzyGraph(await nearest(states, tokens, width, Math.min(NEIGHBOURS, tokens), pause));
  let reach = 1e-12;
  for (const value of start.points) reach = Math.max(reach, Math.abs(value));
  const random = seeded(42);
  // Equal states must be able to part: a hair of noise.
  const points = start.points.map((value) => (10 * value) / reach + 1e-3 * random());
  return { points: centre(await settle(graph, points, EPOCHS, random, pause), tokens, 2), shares: null };
}

/** Rows less their mean. */
export function centre(rows: ArrayLike<number>, count: number, width: number): Float64Array {
  const mean = new Float64Array(width);
  for (let row = 0; row < count; row++)
    for (let column = 0; column < width; column++) mean[column]! += rows[row * width + column]!;
  const centred = new Float64Array(count * width);
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < width; column++) {
      centred[row * width + column] = rows[row * width + column]! - mean[column]! / count;
    }
  }
  return centred;
}

/** States less their mean, piece by piece; and their squares summed up, the trace of the Gram matrix. */
async function centreStates(
  states: Float32Array,
  tokens: number,
  width: number,
  pause: Pause,
): Promise<{ readonly centred: Float64Array; readonly total: number }> {
  const mean = new Float64Array(width);
  const step = Math.max(1, Math.floor(PIECE / width)); // rows
  for (let start = 0; start < tokens; start += step) {
    await pause();
    for (let row = start; row < Math.min(tokens, start + step); row++)
      for (let column = 0; column < width; column++) mean[column]! += states[row * width + column]!;
  }
  for (let column = 0; column < width; column++) mean[column]! /= tokens;
  const centred = new Float64Array(tokens * width);
  let total = 0;
  for (let start = 0; start < tokens; start += step) {
    await pause();
    for (let row = start; row < Math.min(tokens, start + step); row++) {
      for (let column = 0; column < width; column++) {
        const value = states[row * width + column]! - mean[column]!;
        centred[row * width + column] = value;
        total += value * value;
      }
    }
  }
  return { centred, total };
}

/** v → X (Xᵀ v): the Gram matrix of centred rows, without building it. */
function gramProduct(
  rows: Float64Array,
  count: number,
  width: number,
): (vector: Float64Array) => Float64Array {
  const across = new Float64Array(width);
  return (vector) => {
    across.fill(0);
    for (let row = 0; row < count; row++) {
      const factor = vector[row]!;
      const start = row * width;
      for (let column = 0; column < width; column++) across[column]! += factor * rows[start + column]!;
    }
    const product = new Float64Array(count);
    for (let row = 0; row < count; row++) {
      const start = row * width;
      let sum = 0;
      for (let column = 0; column < width; column++) sum += across[column]! * rows[start + column]!;
      product[row] = sum;
    }
    return product;
  };
}

/** The sign that makes the entry of largest size positive: an axis has no direction of its own. */
function leadingSign(vector: Float64Array): number {
  let leading = 0;
  for (const value of vector) if (Math.abs(value) > Math.abs(leading) + 1e-12) leading = value;
  return leading < 0 ? -1 : 1;
}

/** The nearest neighbours of every state, itself first, by exact Euclidean distance. */
async function nearest(
  states: Float32Array,
  tokens: number,
  width: number,
  count: number,
  pause: Pause,
): Promise<Neighbours> {
  const indices: number[][] = [];
  const distances: number[][] = [];
  for (let token = 0; token < tokens; token++) {
    await pause();
    const near = [token]; // nearest first
    const far = [0]; // their squared distances
    for (let other = 0; other < tokens; other++) {
      if (other === token) continue;
      const limit = near.length < count ? Infinity : far[count - 1]!;
      const squared = apart(states, token * width, other * width, width, limit);
      if (squared >= limit) continue;
      let place = Math.min(near.length, count - 1);
      while (place > 1 && far[place - 1]! > squared) place--;
      near.splice(place, 0, other);
      far.splice(place, 0, squared);
      near.length = far.length = Math.min(near.length, count);
    }
    indices.push(near);
    distances.push(far.map(Math.sqrt));
  }
  return { indices, distances };
}

/** The squared distance of two rows; given up as soon as it is beyond the limit. */
function apart(states: Float32Array, one: number, other: number, width: number, limit: number): number {
  let sum = 0;
  for (let start = 0; start < width && sum < limit; start += 64) {
    const stop = Math.min(width, start + 64);
    for (let column = start; column < stop; column++) {
      const difference = states[one + column]! - states[other + column]!;
      sum += difference * difference;
    }
  }
  return sum;
}
