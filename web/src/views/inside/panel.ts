/**
 * What the panels of the inside view share: their options, and what a panel can do.
 *
 * In:   a setting of their own: its tasks end with the panel.
 * Out:  InsidePanel.
 */

import { flag, oneOf, real, type Schema } from "../../core/options";
import { MountedView, type Setting } from "../../core/recording_view";
import type { KeptWork, TableData } from "../../core/view";
import { ARRAYS, type ArrayName } from "../../data/layer_arrays";
import { OptionControls } from "../../marks/option_controls";
import type { words } from "./words";

export const PANELS = ["distributions", "values", "products", "multiplier"] as const;
export type PanelName = (typeof PANELS)[number];

export interface InsideOptions {
  readonly part: PanelName;
  readonly counts: boolean; // of distributions, on a logarithmic scale
  readonly array: ArrayName; // whose values are shown
  readonly order: boolean; // dimensions by the size of their products
  readonly factor: number; // of the scores
  readonly scope: boolean; // the factor holds in every layer
}

export const options: Schema<InsideOptions> = {
  part: oneOf(PANELS, "distributions"),
  counts: flag(false, "log", "linear"),
  array: oneOf(ARRAYS, "hidden"),
  order: flag(false, "size", "order"),
  factor: real(1, 0, 4),
  scope: flag(false, "all", "layer"),
};

export type Words = ReturnType<typeof words>;
export type InsideSetting = Setting<Words, InsideOptions>;

/** A drawing for a picture: its body, and lines for the caption. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly body: string;
  readonly title: string;
  readonly lines: readonly string[];
}

export abstract class InsidePanel extends MountedView<Words, InsideOptions> {
  abstract readonly element: HTMLElement;
  protected readonly controls = new OptionControls(this.options);

  abstract update(): void;
  abstract resize(): void;
  abstract picture(): Promise<Drawing>;
  abstract table(): Promise<TableData>;
  /** Another language or theme; texts that were given as functions are already written again. */
  restyle(): void {
    this.update();
    this.resize();
  }
  /** What goes on when the view is mounted anew; given to the same panel. */
  keep?(): KeptWork | null;
  unmount?(): void;
}
