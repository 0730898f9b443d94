/** What a link to the walk states: the step, the cell in focus, the word of a text that was written, the zoom. */

import { integer, optional, real, type Schema, text } from "../../core/options";

export interface WalkOptions {
  readonly step: string; // the scene; in whichever layer is open
  readonly cell: readonly [row: number, column: number] | null; // of the step's result
  readonly word: number | null;
  readonly zoom: number; // of the pictures
}

export const options: Schema<WalkOptions> = {
  step: text("", (value) => /^[\w.]+$/.test(value)),
  cell: optional({
    initial: [0, 0] as const,
    parse(written) {
      const [, row, column] = /^(\d{1,6}),(\d{1,7})$/.exec(written) ?? [];
      return row === undefined ? undefined : ([Number(row), Number(column)] as const);
    },
    write: String,
  }),
  word: optional(integer(0)),
  zoom: real(1, 0.5, 8),
};
