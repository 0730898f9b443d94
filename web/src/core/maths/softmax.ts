/**
 * What softmax does to one row, exactly as the model does it.
 *
 * In:   the scores of a row as softmax was given them (minus infinity where masked) and the weights it gave.
 * Out:  the weights for scores times a factor. An attention sink, which takes part in the sum but belongs to no key,
 *       is found in what the weights lack to one, and keeps its own score.
 */

const LACKING = 1e-4; // less than this is rounding, not a sink

export function rescale(scores: ArrayLike<number>, weights: ArrayLike<number>, factor: number): Float64Array {
  const count = scores.length;
  const scaled = new Float64Array(count);
  let largest = -Infinity;
  for (let key = 0; key < count; key++) {
    const score = scores[key]!;
    scaled[key] = Number.isFinite(score) ? factor * score : -Infinity;
    largest = Math.max(largest, scaled[key]!);
  }
  const sink = sinkScore(scores, weights);
  largest = Math.max(largest, sink);
  const changed = new Float64Array(count);
  if (largest === -Infinity) return changed;
  let total = Math.exp(sink - largest);
  for (let key = 0; key < count; key++) {
    changed[key] = Math.exp(scaled[key]! - largest);
    total += changed[key]!;
  }
  for (let key = 0; key < count; key++) changed[key] = changed[key]! / total;
  return changed;
}

/** Shannon entropy in nats. */
export function entropyOf(weights: ArrayLike<number>): number {
  let entropy = 0;
  for (let key = 0; key < weights.length; key++) {
    const weight = weights[key]!;
    if (weight > 0) entropy -= weight * Math.log(weight);
  }
  return Math.max(0, entropy);
}

/** The score of what is no key; minus infinity where weights sum to one. */
function sinkScore(scores: ArrayLike<number>, weights: ArrayLike<number>): number {
  let sum = 0;
  let peak = 0;
  for (let key = 0; key < weights.length; key++) {
    sum += weights[key]!;
    if (weights[key]! > weights[peak]!) peak = key;
  }
  const lacking = 1 - sum;
  if (lacking < LACKING || !(weights[peak]! > 0)) return -Infinity;
  const logSum = scores[peak]! - Math.log(weights[peak]!);
  return logSum + Math.log(lacking);
}
