/**
 * The largest eigenvalues of a symmetric operator, and their vectors.
 *
 * In:   the operator as a product with a vector; its matrix is never built.
 * Out:  values and unit vectors: Lanczos steps with full reorthogonalisation, carried on until the residual is at
 *       rounding.
 */

import type { Pause } from "./pause";
import { seeded } from "./random";

const RESIDUAL = 1e-11; // of the largest eigenvalue

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
  /** A direction that the space has not seen. */
  const newDirection = (): Float64Array =>
    orthogonal(
      Float64Array.from({ length: order }, () => random() - 0.5),
      basis,
    );
  let next = newDirection();
  let check = Math.min(order, 4 * count + 8);
  for (;;) {
    await pause();
    basis.push(next);
    const product = multiply(next);
    diagonal.push(dot(product, next));
    const scale = Math.max(...diagonal.map(Math.abs), 1e-300);
    const rest = subtractBasis(product, basis);
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
      // The space is closed: go on in another direction, uncoupled.
      norm = 0;
      next = newDirection();
    } else {
      next = rest.map((value) => value / norm);
    }
    beside.push(norm);
  }
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
