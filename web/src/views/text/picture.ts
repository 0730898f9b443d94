/**
 * The coloured text as a picture.
 *
 * In:   the panes as they are coloured, what the numbers say.
 * Out:  a standalone SVG.
 */

import type { MapDescription } from "../../api/types";
import type { Stage } from "../../core/view";
import { inks, label, sheet } from "../../marks/paper";
import type { Pane } from "./pane";
import type { words } from "./words";

export interface TextPicture {
  readonly word: ReturnType<typeof words>;
  readonly stage: Stage;
  readonly map: MapDescription;
  readonly panes: readonly Pane[];
  readonly sentence: string;
}

export function writePicture({ word, stage, map, panes, sentence }: TextPicture): string {
  const look = inks(stage.theme);
  const two = panes.length === 2;
  let [width, height] = [0, 0];
  const bodies = panes.map((pane) => {
    const drawn = pane.passage.picture(look);
    const title = two ? label(pane.title, 0, height + 14, { fill: look.soft, weight: 600 }) : "";
    const top = height + (two ? 24 : 0);
    height = top + drawn.height + 16;
    width = Math.max(width, drawn.width);
    return `${title}<g transform="translate(0 ${top})">${drawn.body}</g>`;
  });
  const { model, evidence } = stage.source.description;
  const { head } = stage.selection.get();
  const kind = map.kind === "self" ? word.self : word.cross;
  const stack = map.stack === "encoder" ? word.encoder : map.stack === "decoder" ? word.decoder : map.stack;
  const headName = typeof head === "number" ? word.head(head) : word[head];
  return sheet({
    width,
    height,
    body: bodies.join(""),
    title: `${word.title} · ${model}`,
    caption: [`${model} · ${word.mapName(stack, kind, map.layer)} · ${headName}`, sentence, evidence.line],
    theme: stage.theme,
  });
}
