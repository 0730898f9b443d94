/** What the scenes of a walk share. */

import type { MapDescription, RowSide, TokenSlice, WalkPlan } from "../../api/types";
import { findMasks } from "../../core/generation";
import type { Options } from "../../core/options";
import type { RecordingSource } from "../../core/source";
import type { KeptWork, Stage, TableData } from "../../core/view";
import type { Run } from "../../data/run";
import type { WalkOptions } from "./options";
import { sideOf } from "./script";
import type { Naming } from "./values";
import type { WalkWords } from "./words";

/** Runs of the model that the walk has asked for; they go on while another tab is looked at. */
export class WalkRuns implements KeptWork {
  tracing: Run | null = null; // the same run, with every step kept
  searching: Run | null = null; // a beam search

  stop(): void {
    this.tracing?.stop();
    this.searching?.stop();
  }
}

export interface WalkContext {
  readonly stage: Stage;
  readonly options: Options<WalkOptions>;
  readonly runs: WalkRuns;
  readonly source: RecordingSource; // the one with every step, where there is one
  readonly plan: WalkPlan;
  readonly say: WalkWords;
  readonly awaited: boolean; // the model runs again, and more is on its way
  readonly tokens: Readonly<Record<RowSide, TokenSlice | null>>; // "written": what each target position writes
  /** Pixels across, and down to the lower edge of the page. */
  width(): number;
  height(): number;
  /** A head was chosen where all are shown. */
  openHead(map: MapDescription, head: number): void;
  failed(error: unknown): void;
}

export interface Drawn {
  readonly body: string;
  readonly width: number;
  readonly height: number;
}

/** What is on the screen in one scene. */
export interface WalkScene {
  readonly element: HTMLElement;
  readonly ready?: Promise<void>; // when its numbers are here
  /** Other sizes: of the page, or because of the zoom, which is in the options. */
  resize?(): void;
  /** The selection changed, but not the scene. */
  follow?(): void;
  /** Another language or theme; texts that were given as functions are already written again. */
  restyle?(): void;
  /** While the walk plays: one beat more; false when there is nothing more to show here. */
  beat?(): boolean;
  /** For a picture of the whole walk: show the end of what grows. */
  finish?(): void;
  picture(): Drawn;
  /** For a moving picture: the parts of what is too large for one. */
  pictures?(): readonly Drawn[];
  table(): TableData;
  stop?(): void;
}

/** The head in focus: an average is shown by its first head. */
export function headOf(stage: Stage): number {
  const { head } = stage.selection.get();
  return typeof head === "number" ? head : 0;
}

/** Names of the rows of a stack. */
export function naming(context: WalkContext, stack: string | null): Naming {
  const side = sideOf(stack, context.source.description);
  return (row) => context.tokens[side]?.shown[row] ?? String(row);
}

/** The row in focus: of the pinned cell, or the selection's query; else the second, or the last where it says a word. */
export function rowOf(context: WalkContext, rows: number, last = false): number {
  const { cell } = context.options.now;
  const usual = last ? speaking(context, rows) : 1;
  const row = cell?.[0] ?? context.stage.selection.get().query ?? usual;
  return Math.max(0, Math.min(rows - 1, row));
}

/** The row whose output matters most: the last goes on with the text, the first begins one; masks are filled. */
function speaking(context: WalkContext, rows: number): number {
  if (context.plan.shape === "decoder") return rows - 1;
  if (context.plan.shape === "encoder-decoder") return 0;
  const slice = context.tokens.source;
  return (slice === null ? undefined : findMasks(slice)[0]) ?? 1;
}
