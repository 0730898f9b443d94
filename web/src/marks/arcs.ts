/**
 * Lines between two columns of tokens: from a query on the left to a key on the right, a colour for each head.
 *
 * In:   blocks of weights as bytes, which rows and heads to draw, a lane (where the columns stand, in pixels).
 * Out:  strokes on a canvas, or SVG. A line is as opaque as its weight; weak ones are drawn first.
 */

import type { Block } from "../core/weight_bytes";
import { figure } from "./paper";

/** Where lines run: x of both ends, y of row 0, and the height of a row. */
export interface Lane {
  readonly left: number;
  readonly right: number;
  readonly top: number; // y of the middle of row 0 (scrolling makes it negative)
  readonly row: number;
}

/** Lines in columns of numbers: cheap to gather by the ten thousand. */
export interface Lines {
  readonly count: number;
  readonly query: Int32Array;
  readonly key: Int32Array;
  readonly head: Int32Array;
  readonly weight: Float32Array;
  readonly left_out: number; // weight of lines dropped because there are too many
}

export interface Gather {
  readonly heads: readonly number[];
  readonly threshold: number; // weights below are not drawn
  readonly queries: readonly [number, number];
  readonly most: number; // lines; the strongest are kept
}

const LEVELS = 32; // of opacity, when there are many lines
const MANY = 1500;

/** The smallest byte whose weight reaches the threshold; 0 is never drawn. */
export function firstByte(values: Float32Array, threshold: number): number {
  for (let byte = 1; byte < 256; byte++)
    if (Math.abs(values[byte]!) >= threshold && values[byte] !== 0) return byte;
  return 256;
}

/** The lines of some rows, weakest first. */
export function gather(blocks: Iterable<Block>, { heads, threshold, queries, most }: Gather): Lines {
  const parts = [...blocks].filter((block) => block.start < queries[1] && block.stop > queries[0]);
  const counts = new Uint32Array(256);
  each(parts, heads, queries, (_query, _key, _head, byte) => {
    counts[byte] = counts[byte]! + 1;
  });
  const values = parts[0]?.values ?? new Float32Array(256);
  const wanted = firstByte(values, threshold);
  let cut = 256;
  let count = 0;
  let dropped = 0;
  for (let byte = 255; byte >= wanted; byte--) {
    const here = counts[byte]!;
    if (cut === byte + 1 && count + here <= most) {
      count += here;
      cut = byte;
    } else dropped += here * Math.abs(values[byte]!);
  }
  const places = new Uint32Array(256); // a counting sort by byte
  for (let byte = cut + 1; byte < 256; byte++) places[byte] = places[byte - 1]! + counts[byte - 1]!;
  const lines = {
    count,
    query: new Int32Array(count),
    key: new Int32Array(count),
    head: new Int32Array(count),
    weight: new Float32Array(count),
    left_out: dropped,
  };
  if (count === 0) return lines;
  each(parts, heads, queries, (query, key, head, byte) => {
    if (byte < cut) return;
    const at = places[byte]!;
    places[byte] = at + 1;
    lines.query[at] = query;
    lines.key[at] = key;
    lines.head[at] = head;
    lines.weight[at] = values[byte]!;
  });
  return lines;
}

function each(
  blocks: readonly Block[],
  heads: readonly number[],
  queries: readonly [number, number],
  visit: (query: number, key: number, head: number, byte: number) => void,
): void {
  for (const { start, stop, keys, bytes } of blocks) {
    for (const head of heads) {
      for (let query = Math.max(start, queries[0]); query < Math.min(stop, queries[1]); query++) {
        const row = (head * (stop - start) + query - start) * keys;
        for (let key = 0; key < keys; key++) {
          const byte = bytes[row + key]!;
          if (byte !== 0) visit(query, key, head, byte);
        }
      }
    }
  }
}

/** Lines of one token, from weights (head, token) of its row or column. */
export function fan(
  weights: Float32Array,
  place: { query: number } | { key: number },
  { heads, threshold }: { heads: readonly number[]; threshold: number },
  count: number,
): Lines {
  const found: [number, number, number][] = []; // token, head, weight
  for (const head of heads) {
    for (let token = 0; token < count; token++) {
      const weight = weights[head * count + token]!;
      if (weight !== 0 && Math.abs(weight) >= threshold) found.push([token, head, weight]);
    }
  }
  found.sort((one, other) => Math.abs(one[2]) - Math.abs(other[2]));
  const fixed = new Int32Array(found.length).fill("query" in place ? place.query : place.key);
  const free = Int32Array.from(found, ([token]) => token);
  return {
    count: found.length,
    query: "query" in place ? fixed : free,
    key: "query" in place ? free : fixed,
    head: Int32Array.from(found, ([, head]) => head),
    weight: Float32Array.from(found, ([, , weight]) => weight),
    left_out: 0,
  };
}

export function middle(lane: Lane, row: number): number {
  return lane.top + row * lane.row;
}

export interface Brush {
  readonly colours: readonly string[]; // by head
  readonly width: number;
  readonly full: number; // the weight that is drawn fully opaque
  readonly signs?: readonly [below: string, above: string] | undefined; // colours of signed values, whatever the head
}

function colourOf(
  { colours, signs }: Pick<Brush, "colours" | "signs">,
  head: number,
  weight: number,
): string {
  return signs ? signs[weight < 0 ? 0 : 1] : (colours[head] ?? "");
}

/** Draw lines on a canvas whose units are CSS pixels. */
export function strokeLines(context: CanvasRenderingContext2D, lines: Lines, lane: Lane, brush: Brush): void {
  const { width, full } = brush;
  context.lineWidth = width;
  const single = lines.count <= MANY;
  let open: string | null = null;
  for (let at = 0; at < lines.count; at++) {
    const opacity = Math.min(1, Math.abs(lines.weight[at]!) / full);
    const colour = colourOf(brush, lines.head[at]!, lines.weight[at]!);
    const group = single ? null : `${colour} ${Math.ceil(opacity * LEVELS)}`;
    if (group === null || group !== open) {
      if (open !== null || (single && at > 0)) context.stroke();
      context.beginPath();
      context.strokeStyle = colour;
      context.globalAlpha = single ? opacity : Math.ceil(opacity * LEVELS) / LEVELS;
      open = group;
    }
    trace(context, lane, middle(lane, lines.query[at]!), middle(lane, lines.key[at]!));
  }
  if (lines.count > 0) context.stroke();
  context.globalAlpha = 1;
}

function trace(context: CanvasRenderingContext2D, { left, right }: Lane, from: number, to: number): void {
  const bend = (right - left) * 0.42;
  context.moveTo(left, from);
  context.bezierCurveTo(left + bend, from, right - bend, to, right, to);
}

/** The same lines as SVG. */
export function writeLines(lines: Lines, lane: Lane, brush: Brush): string {
  const { width, full } = brush;
  const bend = (lane.right - lane.left) * 0.42;
  const paths: string[] = [];
  for (let at = 0; at < lines.count; at++) {
    const from = figure(middle(lane, lines.query[at]!));
    const to = figure(middle(lane, lines.key[at]!));
    const opacity = Math.min(1, Math.abs(lines.weight[at]!) / full);
    const colour = colourOf(brush, lines.head[at]!, lines.weight[at]!);
    paths.push(
      `<path d="M${figure(lane.left)} ${from}C${figure(lane.left + bend)} ${from} ${figure(lane.right - bend)} ${to}` +
        ` ${figure(lane.right)} ${to}" stroke="${colour}" stroke-opacity="${figure(opacity)}"` +
        ` data-query="${lines.query[at]}" data-key="${lines.key[at]}" data-head="${lines.head[at]}"/>`,
    );
  }
  return `<g fill="none" stroke-width="${width}">${paths.join("")}</g>`;
}

/** Boxes beside the tokens, one for each head, as dark as the weight. */
export function fillBoxes(
  context: CanvasRenderingContext2D,
  weights: Float32Array, // (head, token)
  place: { x: number; box: number; lane: Lane; rows: readonly [number, number]; count: number },
  { heads, full, ...brush }: { heads: readonly number[] } & Omit<Brush, "width">,
): void {
  const { x, box, lane, rows, count } = place;
  const tall = lane.row - 4;
  heads.forEach((head, index) => {
    for (let token = rows[0]; token < rows[1]; token++) {
      const weight = weights[head * count + token]!;
      if (weight === 0) continue;
      context.fillStyle = colourOf(brush, head, weight);
      context.globalAlpha = Math.min(1, Math.abs(weight) / full);
      context.fillRect(x + index * box, middle(lane, token) - tall / 2, box - 1, tall);
    }
  });
  context.globalAlpha = 1;
}
