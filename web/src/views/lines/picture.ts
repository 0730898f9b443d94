/**
 * The lines view on a sheet of its own.
 *
 * In:   lines, tokens of both axes, the rows to show, the token in focus if there is one.
 * Out:  a standalone SVG with a legend of heads and a caption.
 */

import { evidenceLine, mapName } from "../../core/focus";
import { fixed, percent } from "../../core/formats";
import type { Crop } from "../../core/heat";
import type { Stage } from "../../core/view";
import { type Brush, type Lane, type Lines, middle, writeLines } from "../../marks/arcs";
import type { Axis } from "../../marks/columns";
import { writeCrop } from "../../marks/crop";
import { inks, label, sheet } from "../../marks/paper";
import { clip } from "../../marks/text";
import type { HeadWeights } from "./head_weights";
import { crossSide } from "./readout";
import type { Tokens } from "./table";
import type { Words } from "./words";

export interface LinesPicture {
  readonly word: Words;
  readonly stage: Stage;
  readonly attention: HeadWeights;
  readonly lines: Lines;
  readonly brush: Brush;
  readonly tokens: Tokens;
  readonly crops: Readonly<Record<Axis, (row: number) => Crop | null>>;
  readonly rows: Readonly<Record<Axis, readonly [number, number]>>;
  readonly focus: {
    readonly axis: Axis;
    readonly row: number;
    value(axis: Axis, row: number): string;
  } | null;
  readonly threshold: number;
}

const WIDTH = 760;
const COLUMN = 200;
const ROW = 20;
const TOP = 56; // legend and column labels

export function writePicture(picture: LinesPicture): string {
  const { word, rows, attention, threshold } = picture;
  const { source, theme, language } = picture.stage;
  const { description } = source;
  const { map } = attention;
  const first = Math.min(rows.query[0], rows.key[0]);
  const last = Math.max(rows.query[1], rows.key[1]);
  const lane = { left: COLUMN + 8, right: WIDTH - COLUMN - 8, top: TOP + ROW / 2 - first * ROW, row: ROW };
  const lines = linesWithin(picture.lines, first, last);
  const body =
    writeLegend(picture) +
    writeLines(lines, lane, picture.brush) +
    writeColumn(picture, "query", lane) +
    writeColumn(picture, "key", lane);
  const share = percent(attention.hidden(threshold), 1);
  const caption = [
    `${description.model} · ${mapName(map, language)} · ` +
      (attention.model ? word.captionModel : word.captionHeads(attention.heads.join(", "))),
    `${word.captionThreshold(fixed(threshold, 3), share)} ` +
      (picture.brush.full === 1
        ? word.captionOpacity
        : word.captionOpacityScaled(fixed(picture.brush.full, 3))),
    ...(attention.signed ? [word.signedColours] : []),
    ...(last - first < Math.max(map.queries, map.keys)
      ? [word.captionRows(first, last - 1, Math.max(map.queries, map.keys))]
      : []),
    evidenceLine(description.evidence, language),
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

function writeLegend({ attention, brush, word, stage }: LinesPicture): string {
  const { ink, soft } = inks(stage.theme);
  const { heads, model, map } = attention;
  const bold = { fill: ink, weight: 600 };
  const axes =
    label(`${word.query}${crossSide(map, "query", stage)}`, COLUMN, TOP - 12, {
      ...bold,
      anchor: "end",
    }) + label(`${word.key}${crossSide(map, "key", stage)}`, WIDTH - COLUMN, TOP - 12, bold);
  if (model) return axes;
  const step = Math.min(44, (WIDTH - 60) / Math.max(1, heads.length));
  const boxes = heads.map(
    (head, index) =>
      `<rect x="${60 + index * step}" y="0" width="10" height="10" fill="${brush.colours[head] ?? ""}"/>` +
      label(String(head), 74 + index * step, 9, { fill: soft, size: 11 }),
  );
  return label(word.heads, 0, 9, { fill: soft, size: 11 }) + boxes.join("") + axes;
}

function writeColumn({ tokens, crops, rows, focus, stage }: LinesPicture, axis: Axis, lane: Lane): string {
  const { ink, faint } = inks(stage.theme);
  const texts: string[] = [];
  const end = axis === "query";
  const [outer, inner] = end ? (["start", "end"] as const) : (["end", "start"] as const);
  for (let row = rows[axis][0]; row < rows[axis][1]; row++) {
    const y = middle(lane, row) + 4;
    const here = focus?.axis === axis && focus.row === row;
    const text = clip(tokens[axis].shown[row] ?? "", 24);
    const crop = crops[axis](row);
    const aside = crop === null ? 0 : ROW + 2; // a small picture stands next to the lines
    if (crop !== null) texts.push(writeCrop(crop, end ? COLUMN - ROW + 2 : WIDTH - COLUMN, y - 13, ROW - 2));
    texts.push(
      label(text, end ? COLUMN - aside : WIDTH - COLUMN + aside, y, {
        fill: ink,
        anchor: inner,
        ...(here ? { weight: 700 } : {}),
      }),
      label(String(row + tokens[axis].start), end ? 0 : WIDTH, y, { fill: faint, size: 9, anchor: outer }),
    );
    if (focus !== null && focus.axis !== axis) {
      const look = { fill: faint, size: 10, anchor: outer };
      texts.push(label(focus.value(axis, row), end ? 60 : WIDTH - 60, y, look));
    }
  }
  return texts.join("");
}
