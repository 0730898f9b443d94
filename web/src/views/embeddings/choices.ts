/**
 * Options of the embeddings view, kept within what the recording has.
 *
 * In:   the stage and its options.
 * Out:  stack, layer, projection, and which tokens of a long text are shown.
 */

import type { HiddenDescription } from "../../api/types";
import { chosenHidden } from "../../core/focus";
import { cameraOption } from "../../core/linked_camera";
import { integer, type Options, oneOf, optional, type Schema, text } from "../../core/options";
import type { Stage } from "../../core/view";

export const MOST = 2000; // points

export interface EmbeddingsOptions {
  readonly stack: string | null; // null: that of the map in focus
  readonly as: "points" | "distributions";
  readonly by: "pca" | "umap";
  readonly layer: number;
  readonly from: number; // the first token: more than fits has to be looked at part by part
  readonly at: string | null; // the part of the cloud in view
}

export const options: Schema<EmbeddingsOptions> = {
  stack: optional(text()),
  as: oneOf(["points", "distributions"], "points"),
  by: oneOf(["pca", "umap"], "pca"),
  layer: integer(0),
  from: integer(0),
  at: cameraOption(),
};

export interface Choices extends Pick<EmbeddingsOptions, "as" | "by" | "layer"> {
  readonly hidden: HiddenDescription;
  readonly start: number;
}

export function choicesOf(stage: Stage, { now }: Options<EmbeddingsOptions>): Choices {
  const hidden = chosenHidden(stage, now.stack);
  const layer = Math.min(now.layer, hidden.layers - 1);
  const start = hidden.tokens <= MOST ? 0 : Math.min(now.from, hidden.tokens - 1);
  return { hidden, as: now.as, by: now.by, layer, start };
}
