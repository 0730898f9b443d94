/**
 * The outline of a sound.
 *
 * In:   samples, pixels across.
 * Out:  for each pixel the lowest and the highest sample in it, the loudest being 1.
 */

/** The lowest and highest sample of each pixel, from -1 to 1 of the loudest one. */
export function outlineWave(
  samples: Int16Array,
  width: number,
): readonly (readonly [x: number, low: number, high: number])[] {
  let loudest = 1;
  for (const sample of samples) loudest = Math.max(loudest, Math.abs(sample));
  return Array.from({ length: width }, (_, x) => {
    const first = Math.floor((x * samples.length) / width);
    const last = Math.max(first + 1, Math.floor(((x + 1) * samples.length) / width));
    let [low, high] = [0, 0];
    for (let at = first; at < last; at++) {
      low = Math.min(low, samples[at] ?? 0);
      high = Math.max(high, samples[at] ?? 0);
    }
    return [x, low / loudest, high / loudest] as const;
  });
}
