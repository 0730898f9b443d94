/**
 * Weights of one row, before and after: a pair (or three) of bars for each key.
 *
 * In:   rows of weights, the names of the keys.
 * Out:  an SVG group with a line for each of the heaviest keys.
 */

import { digits } from "../../core/formats";
import { strongest } from "../../core/maths/strongest";
import { draw } from "../../marks/make";
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
function heaviest(rows: readonly ArrayLike<number>[], most: number): number[] {
  const peak = (key: number) => Math.max(...rows.map((row) => row[key]!));
  return [...strongest(rows[0]?.length ?? 0, peak, most)].sort((one, other) => one - other);
}

function pairsHeight(keys: number, series: number): number {
  return TOP + keys * (series * BAR + 6) + 4;
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
      draw("text", { x: x + 14, y: 13, "font-size": 11, fill: inks.soft }, each.name),
    );
    x += 34 + 9 * each.name.length;
  }
  const line = series.length * BAR + 6;
  keys.forEach((key, at) => {
    const y = TOP + at * line;
    const shown = [...name(key)].slice(0, 16).join("");
    group.append(
      draw(
        "text",
        { x: left - 8, y: y + line / 2 + 2, "font-size": 12, "text-anchor": "end", fill: inks.ink },
        shown,
      ),
    );
    series.forEach((each, place) => {
      const weight = each.weights[key]!;
      const bar = draw("rect", {
        x: left,
        y: y + 1 + place * BAR,
        width: Math.max(0.5, ((right - left) * weight) / most),
        height: BAR - 1,
        fill: each.ink,
        "data-key": key,
        "data-series": place,
      });
      bar.append(draw("title", {}, `${each.name}: ${weight}`));
      group.append(
        bar,
        draw(
          "text",
          {
            x: left + ((right - left) * weight) / most + 4,
            y: y + (place + 0.5) * BAR + 4,
            "font-size": 10,
            fill: inks.soft,
          },
          digits(weight, 3),
        ),
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
  const keys = heaviest(
    series.map(({ weights }) => weights),
    SHOWN,
  );
  const group = drawPairs(series, keys, name, width, inks);
  const height = pairsHeight(keys.length, series.length);
  if (keys.length < count) {
    const look = { x: 0, y: height + 10, "font-size": 11, fill: inks.soft };
    group.append(draw("text", look, tell(keys.length)));
  }
  return { group, height: height + 16 };
}
