/**
 * Horizontal bars: a label, a bar, a number; the bars of one label stand together.
 *
 * In:   PlayBars; negative values go to the left of the zero line.
 * Out:  Drawn, with a cell for each bar.
 */

import type { PlayBars } from "../../api/types";
import { digits } from "../../core/formats";
import { linear } from "../../core/maths/scale";
import { draw, drawText } from "../../marks/make";
import { figure as round } from "../../marks/paper";
import { textWidth } from "../../marks/text";
import { beginFigure, colourOf, type Drawn, LARGE, type Look, sameDecimals, shorten } from "./drawing";

const BAR = 14;
const GAP = 8;

export function drawBars(figure: PlayBars, look: Look): Drawn {
  const { series, labels } = figure;
  const many = series.length;
  const { element, top: begin } = beginFigure("bars-figure", series, look);
  const heading = [figure.label_title && look.text(figure.label_title), look.text(figure.value_title)];
  const widths = labels.map((label) => textWidth(label, 12));
  const longest = Math.max(...widths, textWidth(heading[0] ?? "", 11), 24);
  const left = Math.ceil(Math.min(longest, look.width * 0.4)) + 8;
  const right = look.width - 56;
  const values = series.flatMap((each) => each.values.filter((value) => value !== null));
  const high = figure.high ?? Math.max(...values, 1e-12);
  const low = Math.min(0, ...values);
  const spell = sameDecimals(values);
  const across = linear([low, high], [left, right]);
  element.append(
    drawText(heading[0] ?? "", left - 8, begin + 12, look.inks.faint, "end"),
    drawText(heading[1] ?? "", left, begin + 12, look.inks.faint),
  );
  const top = begin + 20;
  const tall = many * BAR + GAP;
  labels.forEach((label, row) => {
    const y = top + row * tall;
    const middle = y + (many * BAR) / 2 + 4;
    element.append(drawText(shorten(label, left - 8), left - 8, middle, look.inks.ink, "end", LARGE));
    series.forEach((each, index) => {
      const value = each.values[row] ?? null;
      const colour = colourOf(index, many, look);
      const [from, to] = [across(0), across(value ?? 0)];
      element.append(
        draw("rect", {
          x: left,
          y: y + index * BAR + 1,
          width: Math.max(0, right - left),
          height: BAR - 2,
          fill: look.inks.line,
          "fill-opacity": 0.5,
        }),
        draw("rect", {
          x: round(Math.min(from, to)),
          y: y + index * BAR + 1,
          width: round(Math.abs(to - from)),
          height: BAR - 2,
          fill: colour,
          "fill-opacity": each.dashed ? 0.45 : 1,
          stroke: each.dashed ? colour : null,
          "stroke-dasharray": each.dashed ? "3 2" : null,
          "data-value": value,
        }),
        drawText(spell(value), look.width, y + index * BAR + 11, look.inks.soft, "end"),
      );
    });
  });
  const height = top + labels.length * tall;
  if (low < 0)
    element.append(
      draw("line", { x1: across(0), x2: across(0), y1: top, y2: height - GAP, stroke: look.inks.faint }),
    );
  return {
    element,
    height,
    rows: labels.length * many,
    columns: 1,
    spot: (at) => {
      const [row, index] = [Math.floor(at / many), at % many];
      const each = series[index];
      if (!each || row >= labels.length) return null;
      const value = each.values[row] ?? null;
      const name = many > 1 ? ` · ${look.text(each.name)}` : "";
      return {
        x: left,
        y: top + row * tall + index * BAR,
        width: Math.max(0, right - left),
        height: BAR,
        text: `${labels[row]}${name}: ${value === null ? look.none : digits(value)}`,
      };
    },
    at: (_, y) => {
      const row = Math.floor((y - top) / tall);
      if (row < 0 || row >= labels.length) return null;
      const index = Math.min(many - 1, Math.floor((y - top - row * tall) / BAR));
      return [row * many + index, 0];
    },
  };
}
