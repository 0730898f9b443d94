/**
 * The coloured text as a picture.
 *
 * In:   the panes as they are coloured, what the numbers say.
 * Out:  a standalone SVG.
 */

import type { MapDescription } from "../../api/types";
import { evidenceLine, mapName } from "../../core/focus";
import type { Stage } from "../../core/view";
import { inks, label, sheet } from "../../marks/paper";
import type { Pane } from "./pane";
import type { Words } from "./words";

export function writePicture(
  panes: readonly Pane[],
  map: MapDescription,
  sentence: string,
  stage: Stage,
  say: Words,
): string {
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
  const headName = typeof head === "number" ? say.head(head) : say[head];
  return sheet({
    width,
    height,
    body: bodies.join(""),
    title: `${say.title} · ${model}`,
    caption: [
      `${model} · ${mapName(map, stage.language)} · ${headName}`,
      sentence,
      evidenceLine(evidence, stage.language),
    ],
    theme: stage.theme,
  });
}
