/**
 * The lines view on a sheet of its own.
 *
 * In:   lines, tokens of both axes, the rows to show, the token in focus if there is one.
 * Out:  a standalone SVG with a legend of heads and a caption.
 */

import type { Description, Language, MapDescription, TokenSlice } from "../../api/types";
import { evidenceLine, mapName } from "../../core/focus";
import { fixed, percent } from "../../core/formats";
import type { Theme } from "../../core/view";
import { type Brush, type Lane, type Lines, middle, writeLines } from "../../marks/arcs";
import type { Axis } from "../../marks/columns";
import { inks, label, sheet } from "../../marks/paper";
import { clip } from "../../marks/text";
import type { words } from "./words";

export interface LinesPicture {
  readonly word: ReturnType<typeof words>;
  readonly description: Description;
  readonly language: Language;
  readonly theme: Theme;
  readonly map: MapDescription;
  readonly model: boolean;
  readonly heads: readonly number[];
  readonly lines: Lines;
  readonly brush: Brush;
  readonly tokens: Readonly<Record<Axis, TokenSlice>>;
  readonly rows: Readonly<Record<Axis, readonly [number, number]>>;
  readonly focus: {
    readonly axis: Axis;
    readonly row: number;
    value(axis: Axis, row: number): string;
  } | null;
  readonly threshold: number;
  readonly hidden: number;
}

const WIDTH = 760;
const COLUMN = 200;
const ROW = 20;
const TOP = 56; // legend and column labels

export function writePicture(picture: LinesPicture): string {
  const { word, map, theme, rows, description, language } = picture;
  const first = Math.min(rows.query[0], rows.key[0]);
  const last = Math.max(rows.query[1], rows.key[1]);
  const lane = { left: COLUMN + 8, right: WIDTH - COLUMN - 8, top: TOP + ROW / 2 - first * ROW, row: ROW };
  const lines = linesWithin(picture.lines, first, last);
  const body =
    writeLegend(picture) +
    writeLines(lines, lane, picture.brush) +
    writeColumn(picture, "query", lane) +
    writeColumn(picture, "key", lane);
  const share = percent(picture.hidden, 1);
  const caption = [
    `${description.model} · ${mapName(map, language)} · ` +
      (picture.model ? word.captionModel : word.captionHeads(picture.heads.join(", "))),
    `${word.captionThreshold(fixed(picture.threshold, 3), share)} ` +
      (picture.brush.full === 1
        ? word.captionOpacity
        : word.captionOpacityScaled(fixed(picture.brush.full, 3))),
    ...(last - first < Math.max(map.queries, map.keys)
      ? [word.captionRows(first, last - 1, Math.max(map.queries, map.keys))]
      : []),
    evidenceLine(description.evidence, picture.language),
  ];
  return sheet({
    width: WIDTH,
    height: TOP + (last - first) * ROW,
    body,
    title: `${word.title} · ${description.model}`,
    caption,
    theme,
  });
}

/** Lines that leave the picture are left out. */
function linesWithin(lines: Lines, first: number, last: number): Lines {
  const inside = (row: number) => row >= first && row < last;
  const keep: number[] = [];
  for (let at = 0; at < lines.count; at++)
    if (inside(lines.query[at]!) && inside(lines.key[at]!)) keep.push(at);
  const take = (from: Int32Array) => Int32Array.from(keep, (at) => from[at]!);
  return {
    count: keep.length,
    query: take(lines.query),
    key: take(lines.key),
    head: take(lines.head),
    weight: Float32Array.from(keep, (at) => lines.weight[at]!),
    left_out: lines.left_out,
  };
}

function writeLegend({ heads, brush, word, theme, model, map }: LinesPicture): string {
  const { ink, soft } = inks(theme);
  const side = (name: string) =>
    map.place.kind === "cross" ? ` · ${name === "source" ? word.source : word.target}` : "";
  const axes =
    label(`${word.query}${side(map.query_side)}`, COLUMN, TOP - 12, {
      fill: ink,
      anchor: "end",
      weight: 600,
    }) + label(`${word.key}${side(map.key_side)}`, WIDTH - COLUMN, TOP - 12, { fill: ink, weight: 600 });
  if (model) return axes;
  const step = Math.min(44, (WIDTH - 60) / Math.max(1, heads.length));
  const boxes = heads.map(
    (head, index) =>
      `<rect x="${60 + index * step}" y="0" width="10" height="10" fill="${brush.colours[head] ?? ""}"/>` +
      label(String(head), 74 + index * step, 9, { fill: soft, size: 11 }),
  );
  return label(word.heads, 0, 9, { fill: soft, size: 11 }) + boxes.join("") + axes;
}

function writeColumn({ tokens, rows, focus, theme }: LinesPicture, axis: Axis, lane: Lane): string {
  const { ink, faint } = inks(theme);
  const texts: string[] = [];
  const end = axis === "query";
  for (let row = rows[axis][0]; row < rows[axis][1]; row++) {
    const y = middle(lane, row) + 4;
    const here = focus?.axis === axis && focus.row === row;
    const text = clip(tokens[axis].shown[row] ?? "", 24);
    texts.push(
      label(text, end ? COLUMN : WIDTH - COLUMN, y, {
        fill: ink,
        anchor: end ? "end" : "start",
        ...(here ? { weight: 700 } : {}),
      }),
      label(String(row + tokens[axis].start), end ? 0 : WIDTH, y, {
        fill: faint,
        size: 9,
        anchor: end ? "start" : "end",
      }),
    );
    if (focus !== null && focus.axis !== axis) {
      texts.push(
        label(focus.value(axis, row), end ? 60 : WIDTH - 60, y, {
          fill: faint,
          size: 10,
          anchor: end ? "start" : "end",
        }),
      );
    }
  }
  return texts.join("");
}
