/**
 * Many dimensions on a plane: principal components, UMAP, and turning one plane onto another.
 *
 * In:   states (token, width), row by row.
 * Out:  Plane: two coordinates a token, and for principal components the share of variance each axis explains.
 *
 * Principal components are exact: the eigenvectors of the Gram matrix of the centred states, by Lanczos steps with full
 * reorthogonalisation, carried on until the residual is at rounding. The matrix itself is never built.
 * Long work is cut into pieces; `pause` lets the page breathe in between.
 */

import { fuzzyGraph, type Neighbours, settle } from "./umap";

export interface Plane {
  readonly points: Float64Array; // x0, y0, x1, y1 …
  readonly shares: readonly [number, number] | null; // explained variance of each axis, 0 to 1; null for UMAP
}

/** Gives way to the page; rejects when the work is no longer wanted. */
export type Pause = () => Promise<void>;

/** An orthogonal turn of the plane: rows are where the axes go. */
export type Turn = readonly [xx: number, xy: number, yx: number, yy: number];

export const UNTURNED: Turn = [1, 0, 0, 1];

const RESIDUAL = 1e-11; // of the largest eigenvalue
const SLICE = 12; // milliseconds of work between two pauses
const NEIGHBOURS = 15;
const EPOCHS = 300;

/** A pause that gives way when a slice of time is used up, and stops the work when `signal` says so. */
export function pauseFor(signal: AbortSignal): Pause {
  let since = performance.now();
  return async () => {
    signal.throwIfAborted();
    if (performance.now() - since < SLICE) return;
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    signal.throwIfAborted();
    since = performance.now();
  };
}

/** The two principal components of states (token, width). */
export async function principalPlane(
  states: Float32Array,
  tokens: number,
  width: number,
  pause: Pause,
): Promise<Plane> {
  const points = new Float64Array(2 * tokens);
  const centred = centre(states, tokens, width);
  let total = 0; // the trace of the Gram matrix
  for (const value of centred) total += value * value;
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

/** The largest eigenvalues of a symmetric operator, and their unit vectors. */
export async function largestEigenpairs(
  multiply: (vector: Float64Array) => Float64Array,
  order: number,
  count: number,
  pause: Pause,
): Promise<{ values: number[]; vectors: Float64Array[] }> {
  const basis: Float64Array[] = [];
  const diagonal: number[] = [];
  const beside: number[] = []; // beside[i] couples basis i and i + 1
  const random = seeded(7);
  let next = orthogonal(
    Float64Array.from({ length: order }, () => random() - 0.5),
    basis,
  );
  let check = Math.min(order, 4 * count + 8);
  for (;;) {
    await pause();
    basis.push(next);
    const product = multiply(next);
    diagonal.push(dot(product, next));
    const scale = Math.max(...diagonal.map(Math.abs), 1e-300);
    let rest = subtractBasis(product, basis);
    let norm = Math.sqrt(dot(rest, rest));
    const done = basis.length === order;
    if (done || basis.length >= check) {
      const solved = solveTridiagonal(diagonal, beside);
      const last = basis.length - 1;
      const wanted = Math.min(count, basis.length);
      // The residual of a pair is what leaves the space: the coupling times the last entry of its vector.
      const worst = Math.max(
        ...solved.order.slice(0, wanted).map((at) => Math.abs(norm * solved.vectors[last]![at]!)),
      );
      if (done || worst <= RESIDUAL * Math.abs(solved.values[solved.order[0]!]!)) {
        return combine(basis, solved, wanted, order);
      }
      check = Math.min(order, Math.ceil(check * 1.4));
    }
    if (norm <= 1e-13 * scale) {
      // The space is closed: go on in a direction it has not seen, uncoupled.
      rest = orthogonal(
        Float64Array.from({ length: order }, () => random() - 0.5),
        basis,
      );
      norm = 0;
      next = rest;
    } else {
      next = rest.map((value) => value / norm);
    }
    beside.push(norm);
  }
}

/** UMAP of states (token, width): exact neighbours, seeded, started from the principal plane. */
export async function umapPlane(
  states: Float32Array,
  tokens: number,
  width: number,
  pause: Pause,
): Promise<Plane> {
  const start = await principalPlane(states, tokens, width, pause);
  if (tokens < 4) return { points: start.points, shares: null };
  const graph = fuzzyGraph(await nearest(states, tokens, width, Math.min(NEIGHBOURS, tokens), pause));
  let reach = 1e-12;
  for (const value of start.points) reach = Math.max(reach, Math.abs(value));
  const random = seeded(42);
  // Equal states must be able to part: a hair of noise.
  const points = start.points.map((value) => (10 * value) / reach + 1e-3 * random());
  return { points: centre(await settle(graph, points, EPOCHS, random, pause), tokens, 2), shares: null };
}

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

/** Numbers in [0, 1) that are the same every time (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function centre(rows: ArrayLike<number>, count: number, width: number): Float64Array {
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

function dot(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += one[at]! * other[at]!;
  return sum;
}

/** What is left of a vector outside the space of the basis; twice, since once leaves rounding behind. */
function subtractBasis(vector: Float64Array, basis: readonly Float64Array[]): Float64Array {
  const rest = Float64Array.from(vector);
  for (let round = 0; round < 2; round++) {
    for (const direction of basis) {
      const share = dot(rest, direction);
      for (let at = 0; at < rest.length; at++) rest[at] = rest[at]! - share * direction[at]!;
    }
  }
  return rest;
}

function orthogonal(vector: Float64Array, basis: readonly Float64Array[]): Float64Array {
  const rest = subtractBasis(vector, basis);
  const norm = Math.sqrt(dot(rest, rest));
  return rest.map((value) => value / norm);
}

interface Solved {
  readonly values: Float64Array;
  readonly vectors: readonly Float64Array[]; // vectors[row][which]
  readonly order: readonly number[]; // largest value first
}

/** Eigenvalues and vectors of a symmetric tridiagonal matrix: implicit QL steps with Wilkinson's shift. */
function solveTridiagonal(diagonal: readonly number[], beside: readonly number[]): Solved {
  const size = diagonal.length;
  const values = Float64Array.from(diagonal);
  const coupling = new Float64Array(size);
  for (let at = 0; at + 1 < size; at++) coupling[at] = beside[at]!;
  const vectors = Array.from({ length: size }, (_, row) => {
    const unit = new Float64Array(size);
    unit[row] = 1;
    return unit;
  });
  for (let first = 0; first < size; first++) {
    for (let round = 0; round < 60; round++) {
      let last = first;
      while (
        last + 1 < size &&
        Math.abs(coupling[last]!) > Number.EPSILON * (Math.abs(values[last]!) + Math.abs(values[last + 1]!))
      )
        last++;
      if (last === first) break;
      chase(values, coupling, vectors, first, last);
    }
  }
  const order = Array.from(values.keys()).sort((one, other) => values[other]! - values[one]!);
  return { values, vectors, order };
}

/** One QL step on the unreduced block first … last. */
function chase(
  values: Float64Array,
  coupling: Float64Array,
  vectors: readonly Float64Array[],
  first: number,
  last: number,
): void {
  const half = (values[first + 1]! - values[first]!) / (2 * coupling[first]!);
  const root = Math.hypot(half, 1);
  let ahead = values[last]! - values[first]! + coupling[first]! / (half + (half >= 0 ? root : -root));
  let sine = 1;
  let cosine = 1;
  let carried = 0;
  for (let at = last - 1; at >= first; at--) {
    const off = sine * coupling[at]!;
    const kept = cosine * coupling[at]!;
    const norm = Math.hypot(off, ahead);
    coupling[at + 1] = norm;
    if (norm === 0) {
      values[at + 1]! -= carried;
      coupling[last] = 0;
      return;
    }
    sine = off / norm;
    cosine = ahead / norm;
    const shifted = values[at + 1]! - carried;
    const mixed = (values[at]! - shifted) * sine + 2 * cosine * kept;
    carried = sine * mixed;
    values[at + 1] = shifted + carried;
    ahead = cosine * mixed - kept;
    for (const row of vectors) {
      const upper = row[at + 1]!;
      row[at + 1] = sine * row[at]! + cosine * upper;
      row[at] = cosine * row[at]! - sine * upper;
    }
  }
  values[first]! -= carried;
  coupling[first] = ahead;
  coupling[last] = 0;
}

function combine(basis: readonly Float64Array[], solved: Solved, count: number, order: number) {
  const chosen = solved.order.slice(0, count);
  const vectors = chosen.map((which) => {
    const vector = new Float64Array(order);
    basis.forEach((direction, row) => {
      const share = solved.vectors[row]![which]!;
      for (let at = 0; at < order; at++) vector[at]! += share * direction[at]!;
    });
    return vector;
  });
  return { values: chosen.map((which) => solved.values[which]!), vectors };
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
