/**
 * Training runs over HTTP: fetched whole once, then only what is new.
 *
 * In:   the id of a run.
 * Out:  its curves, heads and events so far. A run that is resumed has another revision and is fetched whole again.
 */

import type { RunDescription, RunEntry } from "../api/types";
import { lowerBound } from "../core/maths/search";
import type { RunList, RunSource } from "../core/source";
import type { Connection } from "./http";

const PAUSE = 2000; // ms between two questions of a run that goes on

export function createRunList(connection: Connection, pause: number = PAUSE): RunList {
  const init = (signal?: AbortSignal): RequestInit => (signal ? { signal } : {});
  return {
    list: (signal) => connection.json<readonly RunEntry[]>("runs", init(signal)),
    async open(id, signal) {
      const path = `runs/${encodeURIComponent(id)}`;
      return new HttpRun(
        (since, stop) =>
          connection.json<RunDescription>(since === null ? path : `${path}?since=${since}`, init(stop)),
        await connection.json<RunDescription>(path, init(signal)),
        pause,
      );
    },
  };
}

type Ask = (since: number | null, signal?: AbortSignal) => Promise<RunDescription>;
type Changed = (run: RunDescription) => void;
type Failed = ((error: unknown) => void) | undefined;

class HttpRun implements RunSource {
  private readonly followers = new Map<Changed, Failed>();
  private controller: AbortController | null = null;

  constructor(
    private readonly ask: Ask,
    public run: RunDescription,
    private readonly pause: number,
  ) {}

  within(scope: AbortSignal): RunSource {
    const whole = this;
    const both = (signal?: AbortSignal): AbortSignal => (signal ? AbortSignal.any([signal, scope]) : scope);
    return {
      get run() {
        return whole.run;
      },
      within: (signal) => whole.within(both(signal)),
      refresh: (signal) => whole.refresh(both(signal)),
      follow(changed, failed) {
        const stop = whole.follow(changed, failed);
        if (scope.aborted) stop();
        scope.addEventListener("abort", stop, { once: true });
        return stop;
      },
    };
  }

  async refresh(signal?: AbortSignal): Promise<boolean> {
    const before = this.run;
    // The last step again: scores, alarms and the end of a run are written after its loss.
    const news = await this.ask(Math.max(0, before.last_step - 1), signal);
    const resumed = news.revision !== before.revision;
    if (resumed) this.run = await this.ask(null, signal);
    else if (news.updated === before.updated && news.state === before.state) return false;
    else this.run = joinRuns(before, news);
    for (const changed of [...this.followers.keys()]) changed(this.run);
    return true;
  }

  follow(changed: Changed, failed?: (error: unknown) => void): () => void {
    this.followers.set(changed, failed);
    if (this.controller === null) void this.watch();
    return () => {
      this.followers.delete(changed);
      if (this.followers.size > 0) return;
      this.controller?.abort();
      this.controller = null;
    };
  }

  /** Asks as long as there are followers; also after the run has ended, since it may be resumed. */
  private async watch(): Promise<void> {
    const controller = new AbortController();
    this.controller = controller;
    const { signal } = controller;
    while (!signal.aborted) {
      await new Promise((wake) => setTimeout(wake, this.pause));
      if (signal.aborted) return;
      try {
        await this.refresh(signal);
      } catch (error) {
        if (!signal.aborted) for (const failed of [...this.followers.values()]) failed?.(error);
      }
    }
  }
}

/** What was known up to a step, and all that came after it. */
export function joinRuns(before: RunDescription, news: RunDescription): RunDescription {
  const { since } = news;
  if (since === null) return news;
  const old = (steps: readonly number[]): number => lowerBound(steps, since + 1); // what is sent again is dropped
  const curves = { ...before.curves };
  for (const [name, known] of Object.entries(before.curves)) {
    const kept = old(known.steps);
    curves[name] = { steps: known.steps.slice(0, kept), values: known.values.slice(0, kept) };
  }
  for (const [name, { steps, values }] of Object.entries(news.curves)) {
    const known = curves[name];
    curves[name] = known
      ? { steps: [...known.steps, ...steps], values: [...known.values, ...values] }
      : { steps, values };
  }
  const heads = new Map(
    before.heads.map((each) => {
      const kept = old(each.steps);
      const rows = Object.entries(each.statistics).map(([name, all]) => [name, all.slice(0, kept)] as const);
      const cut = { ...each, steps: each.steps.slice(0, kept), statistics: Object.fromEntries(rows) };
      return [each.place.address, cut];
    }),
  );
  for (const more of news.heads) {
    const had = heads.get(more.place.address);
    const statistics = { ...had?.statistics };
    for (const [name, rows] of Object.entries(more.statistics))
      statistics[name] = [...(statistics[name] ?? []), ...rows];
    heads.set(more.place.address, { ...more, steps: [...(had?.steps ?? []), ...more.steps], statistics });
  }
  return {
    ...news,
    curves,
    heads: [...heads.values()],
    events: [...before.events.filter(({ step }) => step <= since), ...news.events],
    thinned: before.thinned || news.thinned,
  };
}
