/**
 * The flow as a picture.
 *
 * In:   a traced token and the names of all tokens.
 * Out:  a standalone SVG: all rows of a short text, those in view of a long one.
 */

import { evidenceLine } from "../../core/focus";
import type { Stage } from "../../core/view";
import { words as focusWords } from "../../i18n/focus";
import { writeBands } from "../../marks/bands";
import { sequential } from "../../marks/colours";
import { type Inks, inks, label, sheet } from "../../marks/paper";
import { percent, STRIP, type Traced } from "./trace";
import type { Words } from "./words";

const [LEFT, TOP, ROW] = [150, 24, 18];

export interface FlowPicture {
  readonly word: Words;
  readonly stage: Stage;
  readonly stack: string;
  readonly traced: Traced;
  readonly tokens: readonly string[]; // as shown
  readonly start: number; // the number of the first
  readonly rows: readonly [number, number];
  readonly note: string;
}

export function writePicture(picture: FlowPicture): string {
  const { word, stage, stack, traced, tokens, start, rows, note } = picture;
  const ink = inks(stage.theme);
  const planes = traced.down.length;
  const wide = Math.max(360, 56 * planes);
  const columns = Array.from({ length: planes }, (_, plane) => LEFT + (wide * plane) / (planes - 1));
  const top = TOP + ROW / 2 - rows[0] * ROW;
  const names = columns.map((x, plane) =>
    label(plane === 0 ? word.input : word.layer(plane - 1), x, 12, {
      fill: ink.soft,
      size: 11,
      anchor: "middle",
    }),
  );
  const bands = writeBands(
    traced.streams,
    traced.down,
    { columns, top, row: ROW, strip: STRIP, thick: ROW - 3 },
    rows,
    {
      fill: traced.input === null ? ink.accent : ink.soft,
      chosen: ink.accent,
      table: sequential(stage.theme),
      line: ink.line,
    },
  );
  const { model, evidence } = stage.source.description;
  const name = focusWords(stage.language).stackName(stack);
  return sheet({
    width: LEFT + wide + 150,
    height: TOP + (rows[1] - rows[0]) * ROW,
    body: bands + names.join("") + writeTokens(picture, top, LEFT + wide, ink),
    title: `${word.title} · ${model}`,
    caption: [
      `${model} · ${name} · ${word.caption(tokens[traced.token] ?? "", traced.token + start)}`,
      note,
      evidenceLine(evidence, stage.language),
    ],
    theme: stage.theme,
  });
}

/** Inputs with their shares on the left, tokens at the top of the stack on the right. */
function writeTokens({ traced, tokens, rows }: FlowPicture, top: number, right: number, ink: Inks): string {
  let body = "";
  for (let row = rows[0]; row < rows[1]; row++) {
    const y = top + row * ROW + 4;
    const name = tokens[row] ?? "";
    const share = percent(traced.down[0]![row]!, true);
    const look = row === traced.token ? { fill: ink.ink, weight: 700 } : { fill: ink.faint };
    body += label(`${name}  ${share}`, LEFT - 12, y, { fill: ink.ink, anchor: "end" });
    body += label(name, right + 12, y, look);
  }
  return body;
}
