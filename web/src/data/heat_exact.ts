/**
 * Exact weights, fetched when someone looks at a cell.
 *
 * In:   a cell.
 * Out:  its float32 weight, a moment later; the part of its row that came with it is kept for a while.
 */

import { asFloats, tensor } from "../api/frames";
import type { MapDescription } from "../api/types";
import type { Head } from "../core/maps";
import type { RecordingSource } from "../core/source";
import { wayOf } from "./heat_tiles";

const ROW = 1024; // keys of a row fetched at once
const KEPT = 400; // parts of rows

export class Exact {
  private readonly kept = new Map<string, Float32Array>();
  private readonly coming = new Set<string>();
  /** The weights are bytes of an exported file: nearer ones are not there. */
  approximate = false;

  constructor(
    private readonly source: RecordingSource,
    private readonly map: MapDescription,
    private readonly head: Head,
    private readonly arrived: () => void,
  ) {}

  get available(): boolean {
    return this.map.has_weights && (this.head !== "model" || wayOf(this.map, this.head) === "dense");
  }

  /** The weight, if it is here; `ask` for it first. */
  get(query: number, key: number): number | undefined {
    return this.kept.get(this.name(query, key))?.[key % ROW];
  }

  ask(query: number, key: number): void {
    const name = this.name(query, key);
    if (!this.available || this.kept.has(name) || this.coming.has(name)) return;
    this.coming.add(name);
    void this.fetch(query, key)
      .then(() => this.arrived())
      .catch(() => {}) // the value that is drawn stays, marked as about
      .finally(() => this.coming.delete(name));
  }

  /** The weight, fetched with the part of its row if it is not here. */
  async fetch(query: number, key: number): Promise<number | undefined> {
    const name = this.name(query, key);
    if (!this.kept.has(name)) {
      const row = await this.read(query, key);
      this.kept.set(name, row);
      if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value!);
    }
    return this.get(query, key);
  }

  /** A part of a row as floats. */
  private async read(query: number, key: number): Promise<Float32Array> {
    const start = key - (key % ROW);
    const stop = Math.min(start + ROW, this.map.keys);
    if (this.head === "model") {
      const all = asFloats(
        tensor(await this.source.average(this.map.place.stack, this.map.place.kind), "weights"),
      );
      return all.slice(query * this.map.keys + start, query * this.map.keys + stop);
    }
    const where = { head: this.head, queries: [query, query + 1] as const, keys: [start, stop] as const };
    const frame = await this.source.weights(this.map.place, where, "float32");
    this.approximate = frame.meta.approximate === true;
    return asFloats(tensor(frame, "weights"));
  }

  private name(query: number, key: number): string {
    return `${query}/${Math.floor(key / ROW)}`;
  }
}
