/**
 * Projections of layers: hidden states fetched and projected, one layer at a time, each kept.
 *
 * In:   a source, a stack, which tokens, PCA or UMAP.
 * Out:  a projection for a layer; the states it was made from.
 */

import { asFloats, tensor } from "../../api/frames";
import type { HiddenDescription } from "../../api/types";
import { pauseFor } from "../../core/maths/pause";
import { type Projection, pcaProjection, umapProjection } from "../../core/maths/projection";
import type { RecordingSource } from "../../core/source";

export const MOST = 2000; // points

export type By = "pca" | "umap";

export interface States {
  readonly values: Float32Array; // (token, width)
  readonly tokens: number;
  readonly width: number;
}

export class Projections {
  readonly count: number; // of tokens shown
  private readonly states = new Map<number, Promise<States>>();
  private readonly projections = new Map<string, Promise<Projection>>();

  constructor(
    private readonly source: RecordingSource,
    readonly hidden: HiddenDescription,
    readonly start: number,
    private readonly signal: AbortSignal,
  ) {
    this.count = Math.min(MOST, hidden.tokens - start);
  }

  at(layer: number): Promise<States> {
    let found = this.states.get(layer);
    if (found === undefined) {
      const { stack, tokens, width } = this.hidden;
      const part = this.count < tokens ? ([this.start, this.start + this.count] as const) : undefined;
      found = this.source.hidden(stack, layer, part).then((frame) => ({
        values: asFloats(tensor(frame, "states")),
        tokens: this.count,
        width,
      }));
      this.states.set(layer, found);
      found.catch(() => this.states.delete(layer));
    }
    return found;
  }

  projection(layer: number, by: By): Promise<Projection> {
    const name = `${by} ${layer}`;
    let found = this.projections.get(name);
    if (found === undefined) {
      found = this.at(layer).then(({ values, tokens, width }) =>
        (by === "umap" ? umapProjection : pcaProjection)(values, tokens, width, pauseFor(this.signal)),
      );
      this.projections.set(name, found);
      found.catch(() => this.projections.delete(name));
    }
    return found;
  }
}

/** The tokens whose states point most nearly the same way: number and cosine, nearest first. */
export function nearestTokens(
  { values, tokens, width }: States,
  token: number,
  most: number,
): { token: number; cosine: number }[] {
  const norm = (at: number) => {
    let sum = 0;
    for (let column = 0; column < width; column++) sum += values[at * width + column]! ** 2;
    return Math.sqrt(sum);
  };
  const own = norm(token);
  const found: { token: number; cosine: number }[] = [];
  for (let other = 0; other < tokens; other++) {
    if (other === token) continue;
    let dot = 0;
    for (let column = 0; column < width; column++)
      dot += values[token * width + column]! * values[other * width + column]!;
    found.push({ token: other, cosine: dot / (own * norm(other) || 1) });
  }
  return found.sort((one, other) => other.cosine - one.cosine || one.token - other.token).slice(0, most);
}
