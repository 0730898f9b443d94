/**
 * Where one token looks, or who looks at it: weights by head, at once from bytes, soon exact.
 *
 * In:   the blocks of a map; exact rows and columns on demand.
 * Out:  weights (head, token), their mean over the heads that are on, and the strongest of them.
 */

import type { MapDescription } from "../../api/types";
import { strongest } from "../../core/maths/strongest";
import type { RecordingSource } from "../../core/source";
import { Blocks, readHeads } from "../../data/weights";
import { firstByte } from "../../marks/arcs";
import type { Axis, Place } from "../../marks/columns";

export const LEAST = 0.0005; // weights below are next to nothing

export function otherAxis(axis: Axis): Axis {
  return axis === "query" ? "key" : "query";
}

export class HeadWeights {
  readonly blocks: Blocks;
  heads: readonly number[] = []; // those that are on
  private exact: { readonly place: Place; readonly weights: Float32Array } | null = null;

  constructor(
    private readonly source: RecordingSource,
    readonly map: MapDescription,
    readonly model: boolean, // the average of all layers, as one head
  ) {
    this.blocks = new Blocks(source, map, model);
  }

  /** Whether there is anything to draw. */
  get possible(): boolean {
    return this.map.has_weights || this.model;
  }

  get signed(): boolean {
    return this.map.content === "signed";
  }

  /** The largest value that is here, whatever its sign; weights go up to 1. */
  get largest(): number {
    return this.signed ? Math.max(0, ...[...this.blocks.all()].map(({ values }) => values[254]!)) : 1;
  }

  count(axis: Axis): number {
    return axis === "query" ? this.map.queries : this.map.keys;
  }

  /** Weights (head, token) of a row or column; null while they are not here. */
  weightsOf(place: Place): Float32Array | null {
    if (this.exact !== null && same(this.exact.place, place)) return this.exact.weights;
    const { map, blocks } = this;
    if (place.axis === "key" && !blocks.whole) return null;
    const block = blocks.at(place.axis === "query" ? place.row : 0);
    if (block === undefined) return null;
    const { keys } = map;
    const rows = block.stop - block.start;
    const count = place.axis === "query" ? keys : map.queries;
    const weights = new Float32Array(block.heads * count);
    for (let head = 0; head < block.heads; head++) {
      const first =
        place.axis === "query"
          ? (head * rows + place.row - block.start) * keys
          : head * rows * keys + place.row;
      const step = place.axis === "query" ? 1 : keys;
      for (let token = 0; token < count; token++) {
        weights[head * count + token] = block.values[block.bytes[first + token * step]!]!;
      }
    }
    return weights;
  }

  /** Fetch exact weights of a token; false where there is nothing more exact. */
  async refine(place: Place): Promise<boolean> {
    if (this.model || !this.map.has_weights) return false;
    if (this.exact !== null && same(this.exact.place, place)) return false;
    const where = place.axis === "query" ? { query: place.row } : { key: place.row };
    this.exact = { place, weights: await readHeads(this.source, this.map, where) };
    return true;
  }

  /** The mean over the heads that are on. */
  mean(weights: Float32Array, axis: Axis, token: number): number {
    const count = this.count(axis);
    let sum = 0;
    for (const head of this.heads) sum += weights[head * count + token]!;
    return this.heads.length === 0 ? 0 : sum / this.heads.length;
  }

  /** The tokens with the largest means, largest first. */
  best(weights: Float32Array, axis: Axis, most: number): { readonly row: number; readonly mean: number }[] {
    const mean = (row: number): number => this.mean(weights, axis, row);
    const least = this.signed ? 0 : LEAST;
    return strongest(this.count(axis), (row) => Math.abs(mean(row)), most, least).map((row) => ({
      row,
      mean: mean(row),
    }));
  }

  /** The share of weight below a threshold, of what is loaded. */
  hidden(threshold: number): number {
    let hidden = 0;
    let all = 0;
    for (const block of this.blocks.all()) {
      const first = firstByte(block.values, threshold);
      for (const head of this.heads) {
        for (let byte = 0; byte < 256; byte++) {
          const weight = block.weightOf[head * 256 + byte]!;
          all += weight;
          if (byte < first) hidden += weight;
        }
      }
    }
    return all === 0 ? 0 : hidden / all;
  }
}

function same(one: Place, other: Place): boolean {
  return one.axis === other.axis && one.row === other.row;
}
