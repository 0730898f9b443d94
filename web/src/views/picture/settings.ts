/** Options of the picture view: what lies over the picture, and how it is painted. */

import { oneOf, type Schema } from "../../core/options";
import type { Paint } from "../../marks/patches";

/** What a token looks at, what looks at it, what all look at, or where its information came from through all layers. */
export const MODES = ["out", "in", "received", "rollout"] as const;
export type Mode = (typeof MODES)[number];

export interface PictureOptions {
  readonly show: Mode;
  readonly paint: Paint;
}

export const options: Schema<PictureOptions> = {
  show: oneOf(MODES, "out"),
  paint: oneOf(["colour", "light"], "colour"),
};
