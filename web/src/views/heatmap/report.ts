/**
 * What a heat map gives to take away: the picture with its caption, and the numbers around the selection.
 *
 * In:   the subject and how it is looked at.
 * Out:  SVG, and a table of exact weights.
 */

import type { Description } from "../../api/types";
import type { Camera, Scene } from "../../core/heat";
import { isFitted } from "../../core/heat_camera";
import type { TableData, Theme } from "../../core/view";
import { glance } from "../../data/heat_supply";
import { type Axis, type Frame, layAxes } from "../../marks/heat_axes";
import { legendWords } from "./desk";
import type { Options } from "./settings";
import { print } from "./sheet";
import type { Subject, Words } from "./subject";

const TABLE = 24; // rows and columns

export interface Looked {
  readonly subject: Subject;
  readonly scene: Scene; // one device pixel for each CSS pixel
  readonly frame: Frame;
  readonly camera: Camera;
  readonly options: Options;
  readonly measure: (text: string) => number;
}

export function printMap(looked: Looked, description: Description, say: Words, theme: Theme): string {
  const { subject, scene, frame, camera, options } = looked;
  const { extent, top } = subject;
  const rows = Math.min(extent.queries, Math.ceil(camera.query + frame.height / camera.scale));
  const columns = Math.min(extent.keys, Math.ceil(camera.key + frame.width / camera.scale));
  const part = isFitted(camera, extent, frame)
    ? ""
    : say.part(Math.floor(camera.query), rows - 1, Math.floor(camera.key), columns - 1);
  const which = { absolute: say.absoluteHint, map: say.perMapHint, row: say.perRowHint }[options.scale];
  const left = {
    none: "",
    first: say.leftCaption(say.leaveFirst),
    special: say.leftCaption(say.leaveSpecial),
  };
  const pixel = subject.side > 1 ? say.pixel(subject.side, say[subject.how]) : "";
  return print({
    scene,
    frame,
    axes: layAxes(frame, camera, extent, subject.axes, looked.measure),
    title: subject.name(say),
    caption: [
      `${say.caption(description.model, extent.queries, extent.keys)} ${part}`.trim(),
      `${say.scaleCaption(which, left[options.leave])} ${pixel}`.trim(),
      description.evidence.line,
    ],
    legend: {
      top: typeof top === "number" ? top : 1,
      percent: typeof top !== "number",
      words: legendWords(subject, say),
    },
    theme,
  });
}

/** Exact weights around a cell, or from the upper left corner of what is seen. */
export async function tabulate(
  subject: Subject,
  chosen: { readonly query: number | null; readonly key: number | null },
  camera: Camera,
  say: Words,
): Promise<TableData> {
  const { map, axes } = subject;
  const span = (middle: number | null, first: number, count: number): [number, number] => {
    const wish = middle === null ? Math.floor(first) : middle - TABLE / 2;
    const start = Math.max(0, Math.min(wish, count - TABLE));
    return [start, Math.min(count, start + TABLE)];
  };
  const [firstQuery, endQuery] = span(chosen.query, camera.query, map.queries);
  const [firstKey, endKey] = span(chosen.key, camera.key, map.keys);
  const name = (axis: Axis, cell: number): string =>
    `${axis.start + cell} ${axis.tokens.get(axis.start + cell) ?? ""}`.trim();
  const rows = await Promise.all(
    Array.from({ length: endQuery - firstQuery }, async (_, down) => {
      const query = firstQuery + down;
      const weights: (number | null)[] = [];
      for (let key = firstKey; key < endKey; key++) weights.push(await weightAt(subject, query, key));
      return [name(axes.query, query), ...weights];
    }),
  );
  const keys = Array.from({ length: endKey - firstKey }, (_, right) => name(axes.key, firstKey + right));
  const columns = [`${say.query} \\ ${say.key}`, ...keys];
  return { caption: say.tableCaption(subject.name(say)), columns, rows, more: map.queries - rows.length };
}

async function weightAt(subject: Subject, query: number, key: number): Promise<number | null> {
  if (!subject.exact.available) return glance(subject.placements, query, key)?.weight ?? null;
  return subject.exact.get(query, key) ?? (await subject.exact.fetch(query, key)) ?? null;
}
