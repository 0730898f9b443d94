/** Training runs: a list of them, and one with its curves, heads and events. */

import type { Kind, Phrase, Stack } from "./basics";

export interface RunEntry {
  readonly id: string;
  readonly state: "open" | "finished" | "stopped" | "failed"; // open: running, or killed
  readonly last_step: number | null;
  readonly updated: number | string | null;
  readonly alarms: number;
}

/** Values over steps; null where one was not finite. */
export interface RunCurve {
  readonly steps: readonly number[];
  readonly values: readonly (number | null)[];
}

export interface PlaceDescription {
  readonly stack: Stack;
  readonly kind: Kind;
  readonly layer: number;
  readonly step: number | null;
  readonly address: string; // "decoder.cross.3"
}

/** Statistics of the heads of one map: a list for each step, a number for each head. */
export interface RunHeads {
  readonly place: PlaceDescription;
  readonly heads: number;
  readonly steps: readonly number[];
  readonly statistics: Readonly<Record<string, readonly (readonly (number | null)[])[]>>;
}

export interface RunEvent {
  readonly step: number | null;
  readonly kind: string;
  readonly message: Phrase | { readonly code: string } | string | null;
  readonly topic: string | null;
  readonly place: PlaceDescription | null;
  readonly value: number | null;
  readonly time: number | string | null;
}

export interface RunDescription extends RunEntry {
  readonly curves: Readonly<Record<string, RunCurve>>;
  readonly heads: readonly RunHeads[];
  readonly events: readonly RunEvent[];
  readonly recipe: string | null;
  readonly environment: Readonly<Record<string, unknown>>;
  readonly damaged: number; // lines that cannot be read
  readonly revision: number; // grows when the run is started or resumed: then what was fetched is out of date
  readonly since: number | null; // only what came after this step; null: everything
  readonly thinned: boolean;
}
