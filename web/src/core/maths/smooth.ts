/**
 * Curves made smoother: an exponential moving average that starts unbiased.
 *
 * In:   values, null where there is none; how much of the past is kept, from 0 (nothing) to below 1.
 * Out:  as many values. The first is the first measured one: the average is divided by the weight it has so far.
 */

export function smooth(values: readonly (number | null)[], kept: number): (number | null)[] {
  if (kept <= 0) return [...values];
  let [average, weight] = [0, 0];
  return values.map((value) => {
    if (value === null || !Number.isFinite(value)) return null; // a gap stays one
    average = kept * average + (1 - kept) * value;
    weight = kept * weight + (1 - kept);
    return average / weight;
  });
}
