/**
 * Keys that move through lists and grids.
 *
 * In:   a key, where one is.
 * Out:  where it leads.
 */

/** Arrow keys: to the next cell. */
export const ARROWS: Readonly<Record<string, readonly [down: number, right: number]>> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};

/** Keys that zoom in, out, and show all. */
export const ZOOMS: Readonly<Record<string, -1 | 0 | 1>> = { "+": 1, "=": 1, "-": -1, "0": 0 };

/** The place that a key leads to in a list of `count` that runs down, across or both ways; undefined: nowhere. */
export function moveInList(
  key: string,
  at: number,
  count: number,
  way: "down" | "across" | "both",
  page = 10,
): number | undefined {
  const [down, right] = ARROWS[key] ?? [0, 0];
  const step = way === "down" ? down : way === "across" ? right : down + right;
  const pages = way === "down" ? { PageUp: at - page, PageDown: at + page } : {};
  const ends: Readonly<Record<string, number>> = { Home: 0, End: count - 1, ...pages };
  const to = step === 0 ? ends[key] : at + step;
  return to === undefined || count === 0 ? undefined : Math.max(0, Math.min(count - 1, to));
}

/** The same in a list whose ends meet. */
export function moveInCircle(
  key: string,
  at: number,
  count: number,
  way: "across" | "both",
): number | undefined {
  const [down, right] = ARROWS[key] ?? [0, 0];
  const step = way === "across" ? right : down + right;
  return step === 0 || count === 0 ? moveInList(key, at, count, way) : (at + step + count) % count;
}

/** The key did something: neither the browser nor the page shall use it as well. */
export function consume(event: KeyboardEvent): void {
  event.preventDefault();
  event.stopPropagation();
}
