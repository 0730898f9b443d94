/**
 * Rollout: how the information of a token at the top came up through the layers (Abnar and Zuidema 2020).
 *
 * In:   for each layer the attention averaged over heads, (query, key).
 * Out:  shares that sum to one at every layer, and the streams between layers.
 *
 *     M_l = r I + (1 - r) A_l, rows normalised; r is the share of the residual connection
 *     s_L = the chosen token alone;  s_(l-1) = s_l M_l;  s_0 is the row of the rollout M_L … M_1
 */

export const RESIDUAL = 0.5;

/** One layer with its residual connection, rows normalised; rows that look nowhere stay where they are. */
export function mix(mean: Float32Array, count: number, residual = RESIDUAL): Float32Array {
  const mixed = new Float32Array(count * count);
  for (let query = 0; query < count; query++) {
    const row = query * count;
    let sum = residual;
    for (let key = 0; key < count; key++) sum += (1 - residual) * mean[row + key]!;
    for (let key = 0; key < count; key++) {
      const part = (1 - residual) * mean[row + key]! + (key === query ? residual : 0);
      mixed[row + key] = sum > 0 ? part / sum : key === query ? 1 : 0;
    }
  }
  return mixed;
}

/** For each plane (0 the input, then one after each layer) the share of the chosen token that is at each token. */
export function traceDown(mixes: readonly Float32Array[], count: number, token: number): Float32Array[] {
  let share = new Float32Array(count);
  share[token] = 1;
  const planes = [share];
  for (const mixed of [...mixes].reverse()) {
    const below = new Float32Array(count);
    for (let query = 0; query < count; query++) {
      const here = share[query]!;
      if (here === 0) continue;
      for (let key = 0; key < count; key++) below[key] = below[key]! + here * mixed[query * count + key]!;
    }
    share = below;
    planes.unshift(share);
  }
  return planes;
}

/** For each plane, how much of each token there comes from one token of the input. */
export function traceUp(mixes: readonly Float32Array[], count: number, token: number): Float32Array[] {
  let part = new Float32Array(count);
  part[token] = 1;
  const planes = [part];
  for (const mixed of mixes) {
    const above = new Float32Array(count);
    for (let query = 0; query < count; query++) {
      let sum = 0;
      for (let key = 0; key < count; key++) sum += mixed[query * count + key]! * part[key]!;
      above[query] = sum;
    }
    part = above;
    planes.push(part);
  }
  return planes;
}

/** What goes from one token to another between two planes. */
export interface Stream {
  readonly layer: number; // between plane `layer` and plane `layer` + 1
  readonly from: number; // token below
  readonly to: number; // token above
  readonly share: number;
  readonly of: number; // the part of it that comes from the chosen input token; 0 without one
  start: number; // where it begins in the width of its lower end, 0 … 1 of all
  end: number; // and in that of its upper end
}

/** Streams of at least `least`, stacked at both ends in the order of their other end; with the share left out by layer. */
export function findStreams(
  mixes: readonly Float32Array[],
  count: number,
  down: readonly Float32Array[],
  up: readonly Float32Array[] | null,
  least: number,
): { streams: Stream[]; hidden: Float32Array } {
  const streams: Stream[] = [];
  const hidden = new Float32Array(mixes.length);
  mixes.forEach((mixed, layer) => {
    const starts = new Float32Array(count);
    for (let to = 0; to < count; to++) {
      const here = down[layer + 1]![to]!;
      if (here === 0) continue;
      let end = 0;
      for (let from = 0; from < count; from++) {
        const share = here * mixed[to * count + from]!;
        if (share === 0) continue;
        if (share >= least) {
          streams.push({
            layer,
            from,
            to,
            share,
            of: share * (up?.[layer]?.[from] ?? 0),
            start: starts[from]!,
            end,
          });
        } else hidden[layer] = hidden[layer]! + share;
        starts[from] = starts[from]! + share;
        end += share;
      }
    }
  });
  return { streams, hidden };
}
