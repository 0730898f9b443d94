/**
 * Places in sorted lists.
 *
 * In:   numbers that rise, a number.
 * Out:  where it would stand.
 */

/** The first index whose number is at least `wanted`; the length where all are smaller. */
export function lowerBound(sorted: ArrayLike<number>, wanted: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
