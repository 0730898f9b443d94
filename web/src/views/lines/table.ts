/**
 * The numbers behind the lines, as tables.
 *
 * In:   the lines that are drawn, or the weights of the token in focus.
 * Out:  TableData: a row for each line, strongest first; or for each token, with every head.
 */

import type { TokenSlice } from "../../api/types";
import { significant } from "../../core/formats";
import type { Names } from "../../core/recording_view";
import type { TableData } from "../../core/view";
import type { Lines } from "../../marks/arcs";
import type { Axis } from "../../marks/columns";
import type { HeadWeights } from "./head_weights";
import type { Words } from "./words";

const MOST_ROWS = 2000;

export type Tokens = Readonly<Record<Axis, TokenSlice>>;

/** Where one token looks: weights (head, token) on the other axis. */
export function tabulateToken(
  weights: Float32Array,
  { start, shown }: TokenSlice,
  { heads }: HeadWeights,
  caption: string,
  word: Words,
  names: Names,
): TableData {
  const count = shown.length;
  return {
    caption,
    columns: [names.position, names.token, ...heads.map((head) => word.head(head))],
    rows: Array.from({ length: Math.min(count, MOST_ROWS) }, (_, row) => [
      row + start,
      shown[row] ?? "",
      ...heads.map((head) => weights[head * count + row] ?? null),
    ]),
    more: Math.max(0, count - MOST_ROWS),
  };
}

export function tabulateLines(lines: Lines, { query, key }: Tokens, word: Words, names: Names): TableData {
  const { token } = names;
  return {
    caption: word.tableStrongest,
    columns: [word.columnQuery, token, word.columnKey, token, word.columnHead, word.columnWeight],
    rows: Array.from({ length: lines.count }, (_, at) => {
      const back = lines.count - 1 - at; // the strongest comes last
      const [from, to] = [lines.query[back]!, lines.key[back]!];
      return [
        from + query.start,
        query.shown[from] ?? "",
        to + key.start,
        key.shown[to] ?? "",
        lines.head[back]!,
        significant(lines.weight[back]!, 3), // drawn from bytes: more digits would mean nothing
      ];
    }),
  };
}
