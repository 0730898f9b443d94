/** The places of the largest numbers, largest first; what is not above `least` does not count. */
export function strongest(
  count: number,
  value: (place: number) => number,
  most: number,
  least = 0,
): readonly number[] {
  const best: { place: number; size: number }[] = [];
  for (let place = 0; place < count; place++) {
    const size = value(place);
    if (!(size > least) || (best.length === most && size <= best[most - 1]!.size)) continue;
    best.push({ place, size });
    best.sort((one, other) => other.size - one.size);
    best.length = Math.min(most, best.length);
  }
  return best.map(({ place }) => place);
}
