/**
 * Hidden states of a stack as floats, their projections and their distributions.
 *
 * In:   a source, a stack.
 * Out:  arrays; projections layer by layer, each made once.
 */

import { asFloats, tensor } from "../api/frames";
import type { Distribution, HiddenDescription } from "../api/types";
import { pauseFor } from "../core/maths/pause";
import { type Projection, pcaProjection, umapProjection } from "../core/maths/projection";
import type { RecordingSource } from "../core/source";

/** How far states are from zero, from the layer before, or the value of one neuron: (layer, token). */
export async function readActivations(
  source: RecordingSource,
  stack: string,
  by: "norm" | "change" | "neuron",
  neuron?: number,
): Promise<Float32Array> {
  return asFloats(tensor(await source.activations(stack, by, neuron), "activations"));
}

/** The norms of all states (layer, token), and the distribution of values of each layer. */
export async function readSpread(
  source: RecordingSource,
  { stack, layers }: HiddenDescription,
): Promise<{ readonly norms: Float32Array; readonly values: readonly Distribution[] }> {
  const ask = (_: unknown, layer: number) => source.distribution("hidden", { stack, layer, bins: 64 });
  const [norms, ...values] = await Promise.all([
    readActivations(source, stack, "norm"),
    ...Array.from({ length: layers }, ask),
  ]);
  return { norms, values };
}

export interface States {
  readonly values: Float32Array; // (token, width)
  readonly tokens: number;
  readonly width: number;
}

/** Projections of some tokens' states. */
export class Projections {
  private readonly states = new Map<number, Promise<States>>();
  private readonly projections = new Map<string, Promise<Projection>>();

  constructor(
    readonly hidden: HiddenDescription,
    readonly start: number, // the first token
    readonly count: number,
  ) {}

  at(source: RecordingSource, layer: number): Promise<States> {
    return once(this.states, layer, async () => {
      const { stack, tokens, width } = this.hidden;
      const part = this.count < tokens ? ([this.start, this.start + this.count] as const) : undefined;
      const frame = await source.hidden(stack, layer, part);
      return { values: asFloats(tensor(frame, "states")), tokens: this.count, width };
    });
  }

  projection(
    source: RecordingSource,
    signal: AbortSignal,
    layer: number,
    by: "pca" | "umap",
  ): Promise<Projection> {
    return once(this.projections, `${by} ${layer}`, async () => {
      const { values, tokens, width } = await this.at(source, layer);
      return (by === "umap" ? umapProjection : pcaProjection)(values, tokens, width, pauseFor(signal));
    });
  }
}

/** What is under way or done is not begun again; what failed is. */
function once<K, T>(held: Map<K, Promise<T>>, key: K, begin: () => Promise<T>): Promise<T> {
  let found = held.get(key);
  if (found === undefined) {
    found = begin();
    held.set(key, found);
    found.catch(() => held.delete(key));
  }
  return found;
}
