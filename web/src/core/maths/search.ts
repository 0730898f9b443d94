/**
 * Places in sorted lists.
 *
 * In:   numbers that rise, a number.
 * Out:  where it would stand.
 */

/** The first place whose step is not below `wanted`. */
export function lowerBound(steps: readonly number[], wanted: number): number {
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
