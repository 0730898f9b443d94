/**
 * The numbers of training runs that a view shows: all steps in few points, and what is zoomed into exactly.
 *
 * In:   runs, the span of steps that is shown, how many points fit into it.
 * Out:  what is loaded of it. While finer numbers are on their way, the coarse ones are shown; what a run that goes on has
 *       written since is fetched about once a second.
 */

import type { AllRuns } from "../core/run_view";
import type { Range, RunSource, SeriesOf } from "../core/source";
import type { Asker, Tasks } from "../core/tasks";

export interface Loaded {
  readonly range: Range; // of steps
  readonly exact: boolean; // every point is one row of a log
  readonly runs: readonly SeriesOf[];
  readonly stamp: string; // of the runs at that time
  readonly last: number; // their last step at that time
}

export interface Wanted {
  readonly what: string; // is asked; changes where earlier answers are of no use any more
  readonly span: Range; // of steps that are shown
  readonly points: number; // that fit into the span
}

type Ask = (run: RunSource, range: Range | null, points: number) => Promise<SeriesOf>;

const AROUND = 0.5; // of the span, on each side: so that dragging finds numbers there
const COARSE = 3; // times as many steps as shown: then finer numbers are asked for
const STILL = 80; // ms without a change before finer numbers are asked for
const PAUSE = 1000; // ms between two questions about a run that goes on

export class RunNumbers {
  private overview: Loaded | null = null;
  private detail: Loaded | null = null;
  private readonly askers: { readonly overview: Asker<AllRuns>; readonly detail: Asker<AllRuns> };
  private what = "";
  private asked = 0; // when the overview was asked for last

  constructor(
    private readonly tasks: Tasks<AllRuns>,
    private readonly runs: () => readonly RunSource["run"][],
    private readonly ask: Ask,
    private readonly changed: () => void,
  ) {
    this.askers = { overview: tasks.asker(), detail: tasks.asker() };
  }

  /** What is loaded for a span; null: nothing yet. */
  shown(span: Range): Loaded | null {
    const { detail } = this;
    return detail && covers(detail, span) ? detail : this.overview;
  }

  /** See that what is shown is loaded. */
  want(wanted: Wanted): void {
    if (wanted.what !== this.what) {
      this.what = wanted.what;
      this.overview = this.detail = null;
      this.askOverview(wanted.points);
      return;
    }
    const stamp = this.stamp();
    if (this.overview && this.overview.stamp !== stamp && !this.tasks.waits("overview")) {
      const wait = Math.max(0, this.asked + PAUSE - Date.now());
      this.tasks.later("overview", wait, () => this.askOverview(wanted.points));
    }
    if (this.isNeeded(wanted, stamp)) this.tasks.later("detail", STILL, () => this.askDetail(wanted));
    else this.tasks.cancel("detail");
  }

  private isNeeded({ span }: Wanted, stamp: string): boolean {
    const { overview, detail } = this;
    if (!overview || overview.exact || size(span) * COARSE > size(overview.range)) return false;
    if (!detail || !covers(detail, span)) return true;
    if (!detail.exact && size(detail.range) > COARSE * size(span)) return true;
    return detail.stamp !== stamp && span[1] >= detail.last; // the end of a run that goes on
  }

  private askOverview(points: number): void {
    this.asked = Date.now();
    const key = `${this.what} ${this.stamp()} ${points}`;
    this.askers.overview.ask(key, this.question(null, points), (loaded) => {
      this.overview = loaded;
      this.changed();
    });
  }

  private askDetail({ span, points }: Wanted): void {
    const room = AROUND * size(span);
    const range: Range = [Math.max(0, Math.floor(span[0] - room)), Math.ceil(span[1] + room)];
    const key = `${this.what} ${this.stamp()} ${range} ${points}`;
    this.askers.detail.ask(key, this.question(range, Math.ceil(points * (1 + 2 * AROUND))), (loaded) => {
      this.detail = loaded;
      this.changed();
    });
  }

  private question(range: Range | null, points: number): (all: AllRuns) => Promise<Loaded> {
    const stamp = this.stamp();
    const last = Math.max(0, ...this.runs().map((run) => run.last_step));
    return async (all) => {
      const runs = await Promise.all(all.runs.map((run) => this.ask(run, range, points)));
      const exact = runs.every((series) => Object.values(series).every((each) => each.exact));
      return { range: range ?? [0, last], exact, runs, stamp, last };
    };
  }

  private stamp(): string {
    return this.runs()
      .map(({ updated, revision }) => `${updated}/${revision}`)
      .join();
  }
}

function size([first, last]: Range): number {
  return Math.max(1, last - first);
}

function covers({ range }: Loaded, [first, last]: Range): boolean {
  return range[0] <= first && range[1] >= last;
}
