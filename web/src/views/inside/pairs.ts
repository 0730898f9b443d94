/**
 * Weights of one row, before and after: a pair (or three) of bars for each key.
 *
 * In:   rows of weights, the names of the keys.
 * Out:  an SVG group with a line for each of the heaviest keys.
 */

import { digits } from "../../core/formats";
import { strongest } from "../../core/maths/strongest";
import { draw, drawText } from "../../marks/make";
import type { Inks } from "../../marks/paper";

export interface Series {
  readonly name: string;
  readonly weights: ArrayLike<number>;
  readonly ink: string;
}

const SHOWN = 16; // keys
const BAR = 11;
const TOP = 26;

/** The keys that are heaviest in any of the rows, in the order of the text. */
function heaviest(rows: readonly ArrayLike<number>[]): number[] {
  const peak = (key: number) => Math.max(...rows.map((row) => row[key]!));
  return [...strongest(rows[0]?.length ?? 0, peak, SHOWN)].sort((one, other) => one - other);
}

function drawPairs(
  series: readonly Series[],
  keys: readonly number[],
  name: (key: number) => string,
  width: number,
  inks: Inks,
): SVGGElement {
  const group = draw("g", { class: "pairs" });
  const left = Math.min(130, width * 0.3);
  const right = width - 56;
  const most = Math.max(1e-9, ...series.flatMap(({ weights }) => keys.map((key) => weights[key]!)));
  let x = left;
  for (const each of series) {
    group.append(
      draw("rect", { x, y: 4, width: 10, height: 10, fill: each.ink }),
      drawText(each.name, x + 14, 13, inks.soft),
    );
    x += 34 + 9 * each.name.length;
  }
  const line = series.length * BAR + 6;
  keys.forEach((key, at) => {
    const y = TOP + at * line;
    const shown = [...name(key)].slice(0, 16).join("");
    group.append(drawText(shown, left - 8, y + line / 2 + 2, inks.ink, "end", { "font-size": 12 }));
    series.forEach((each, place) => {
      const weight = each.weights[key]!;
      const long = ((right - left) * weight) / most;
      const top = y + place * BAR;
      const box = { x: left, y: top + 1, width: Math.max(0.5, long), height: BAR - 1, fill: each.ink };
      const title = draw("title", {}, `${each.name}: ${weight}`);
      group.append(
        draw("rect", { ...box, "data-key": key, "data-series": place }, title),
        drawText(digits(weight, 3), left + long + 4, top + BAR / 2 + 4, inks.soft, "start", {
          "font-size": 10,
        }),
      );
    });
  });
  return group;
}

/** The heaviest keys; what stands below says how many of all these are. */
export function drawHeaviest(
  series: readonly Series[],
  count: number,
  name: (key: number) => string,
  tell: (shown: number) => string,
  width: number,
  inks: Inks,
): { group: SVGGElement; height: number } {
  const keys = heaviest(series.map(({ weights }) => weights));
  const group = drawPairs(series, keys, name, width, inks);
  const height = TOP + keys.length * (series.length * BAR + 6) + 4;
  if (keys.length < count) group.append(drawText(tell(keys.length), 0, height + 10, inks.soft));
  return { group, height: height + 16 };
}
