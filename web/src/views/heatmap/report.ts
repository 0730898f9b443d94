/**
 * What a heat map gives to take away: the picture with its caption, and the numbers around the selection.
 *
 * In:   the map on show and how it is looked at.
 * Out:  SVG, and a table of exact weights.
 */

import { evidenceLine } from "../../core/focus";
import type { Camera } from "../../core/heat";
import { isFitted } from "../../core/heat_camera";
import type { Stage, TableData } from "../../core/view";
import { type Scale, weightShown } from "../../data/heat_tiles";
import { type Axis, layAxes } from "../../marks/heat_axes";
import { sceneOf } from "../../marks/heat_scene";
import type { Viewport } from "../../marks/heat_viewport";
import { legendWords } from "./panel";
import { print } from "./sheet";
import type { ShownMap } from "./shown_map";
import type { Words } from "./words";

const TABLE = 24; // rows and columns

/** `measure`: how wide a text is. */
export function printMap(
  shown: ShownMap,
  viewport: Viewport,
  scale: Scale,
  measure: (text: string) => number,
  { source, theme, language }: Stage,
  say: Words,
): string {
  const { description } = source;
  const { box, camera } = viewport;
  const { extent, top } = shown;
  const rows = Math.min(extent.queries, Math.ceil(camera.query + box.height / camera.high));
  const columns = Math.min(extent.keys, Math.ceil(camera.key + box.width / camera.wide));
  const part = isFitted(camera, extent, box)
    ? ""
    : say.part(Math.floor(camera.query), rows - 1, Math.floor(camera.key), columns - 1);
  const which = shown.signed
    ? say.signed({ absolute: say.absolute, map: say.perMap, row: say.perRow }[scale])
    : { absolute: say.absoluteHint, map: say.perMapHint, row: say.perRowHint }[scale];
  const left = {
    none: "",
    first: say.leftCaption(say.leaveFirst),
    special: say.leftCaption(say.leaveSpecial),
  };
  const pixel = shown.side > 1 ? say.pixel(shown.side, shown.pooling(say)) : "";
  return print({
    scene: sceneOf(shown, viewport, theme, 1),
    box,
    axes: layAxes(box, camera, extent, shown.axes, measure),
    title: shown.name(say),
    caption: [
      `${say.caption(description.model, extent.queries, extent.keys)} ${part}`.trim(),
      `${say.scaleCaption(which, left[shown.leave])} ${pixel}`.trim(),
      evidenceLine(description.evidence, language),
    ],
    legend: {
      top: typeof top === "number" ? top : 1,
      percent: typeof top !== "number",
      words: legendWords(shown, say),
    },
    theme,
  });
}

/** Exact weights around a cell, or from the upper left corner of what is seen. */
export async function tabulate(
  shown: ShownMap,
  chosen: { readonly query: number | null; readonly key: number | null },
  camera: Camera,
  say: Words,
): Promise<TableData> {
  const { map, axes } = shown;
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
      for (let key = firstKey; key < endKey; key++) weights.push(await weightAt(shown, query, key));
      return [name(axes.query, query), ...weights];
    }),
  );
  const keys = Array.from({ length: endKey - firstKey }, (_, right) => name(axes.key, firstKey + right));
  const columns = [`${say[axes.reading ?? "query"]} \\ ${say.key}`, ...keys];
  return {
    caption: say.tableCaption(shown.name(say), shown.signed),
    columns,
    rows,
    more: map.queries - rows.length,
  };
}

async function weightAt(shown: ShownMap, query: number, key: number): Promise<number | null> {
  if (!shown.exact.available) return weightShown(shown.placements, query, key)?.weight ?? null;
  return shown.exact.get(query, key) ?? (await shown.exact.fetch(query, key)) ?? null;
}
