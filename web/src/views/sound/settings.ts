/** Options of the sound view. */

import { oneOf, type Schema } from "../../core/options";

export const MODES = ["out", "in", "received"] as const;
export type Mode = (typeof MODES)[number];

export interface SoundOptions {
  readonly show: Mode;
}

export const options: Schema<SoundOptions> = { show: oneOf(MODES, "out") };
