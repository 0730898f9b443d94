/** Options of the picture view: what lies over the picture, and how it is painted. */

import { oneOf, type Schema } from "../../core/options";
import { MODES, type Mode } from "../../data/axis_numbers";
import type { Paint } from "../../marks/patches";

export interface PictureOptions {
  readonly show: Mode;
  readonly paint: Paint;
}

export const options: Schema<PictureOptions> = {
  show: oneOf(MODES, "out"),
  paint: oneOf(["colour", "light"], "colour"),
};
