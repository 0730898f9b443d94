/**
 * Training runs over HTTP, followed while they are written by server-sent events.
 *
 * In:   the id of a run; a range of steps and how many points fit.
 * Out:  what is known of it, and its numbers. Where no stream can be had (too many are open, a proxy holds it back), the
 *       server is asked every few seconds until there is one.
 */

import type { RunDescription, RunSamples, SampledStep, SeriesByName } from "../api/types";
import type { Range, RunSource } from "../core/source";
import { isAbort } from "../core/tasks";
import type { Connection } from "./http";

const PAUSE = 3000; // ms between two questions where no stream can be had
const RETRY = 30_000; // ms until a stream is tried again
const STREAMS = 3; // at once: a browser has six connections to a server, for all its windows

export type OpenEvents = (url: string) => EventSource;

/** The streams of this page. */
const streams = { open: 0 };

export async function openRun(
  connection: Connection,
  id: string,
  signal?: AbortSignal,
  events: OpenEvents = (url) => new EventSource(url),
): Promise<RunSource> {
  const path = `runs/${encodeURIComponent(id)}`;
  const run = await connection.json<RunDescription>(path, withSignal(signal));
  return new HttpRun(connection, path, run, events);
}

type Changed = (run: RunDescription) => void;
type Failed = ((error: unknown) => void) | undefined;

class HttpRun implements RunSource {
  private readonly followers = new Map<Changed, Failed>();
  private life: AbortController | null = null; // of what follows the run

  constructor(
    private readonly connection: Connection,
    private readonly path: string,
    public run: RunDescription,
    private readonly events: OpenEvents,
  ) {}

  within(scope: AbortSignal): RunSource {
    const whole = this;
    const both = (signal?: AbortSignal): AbortSignal => (signal ? AbortSignal.any([signal, scope]) : scope);
    return {
      get run() {
        return whole.run;
      },
      within: (signal) => whole.within(both(signal)),
      series: (names, span, points, signal) => whole.series(names, span, points, both(signal)),
      heads: (statistic, span, points, signal) => whole.heads(statistic, span, points, both(signal)),
      samples: (signal) => whole.samples(both(signal)),
      follow(changed, failed) {
        const stop = whole.follow(changed, failed);
        if (scope.aborted) stop();
        scope.addEventListener("abort", stop, { once: true });
        return stop;
      },
    };
  }

  series(names: readonly string[], span: Range | null, points: number, signal?: AbortSignal) {
    return this.numbers(
      "series",
      names.map((name) => ["name", name]),
      span,
      points,
      signal,
    );
  }

  heads(statistic: string, span: Range | null, points: number, signal?: AbortSignal) {
    return this.numbers("heads", [["statistic", statistic]], span, points, signal);
  }

  async samples(signal?: AbortSignal): Promise<readonly SampledStep[]> {
    return (await this.connection.json<RunSamples>(`${this.path}/samples`, withSignal(signal))).steps;
  }

  private async numbers(
    what: string,
    asked: [string, string][],
    span: Range | null,
    points: number,
    signal?: AbortSignal,
  ): Promise<SeriesByName["series"]> {
    const range = span ? [["start", String(span[0])] as const, ["stop", String(span[1])] as const] : [];
    const query = new URLSearchParams(
      [...asked, ...range, ["points", String(points)]].map(([...pair]) => pair),
    );
    const path = `${this.path}/${what}?${query}`;
    return (await this.connection.json<SeriesByName>(path, withSignal(signal))).series;
  }

  follow(changed: Changed, failed?: (error: unknown) => void): () => void {
    this.followers.set(changed, failed);
    if (this.life === null) this.watch();
    return () => {
      this.followers.delete(changed);
      if (this.followers.size > 0) return;
      this.life?.abort();
      this.life = null;
    };
  }

  /** A run that has ended is asked for again when the window is looked at again: it may have been resumed. */
  private watch(): void {
    this.life = new AbortController();
    const { signal } = this.life;
    if (this.run.state === "running") this.listen(signal);
    const look = (): void => {
      if (document.visibilityState === "visible" && this.run.state !== "running") void this.ask(signal);
    };
    document.addEventListener("visibilitychange", look, { signal });
  }

  private listen(signal: AbortSignal): void {
    if (streams.open >= STREAMS) {
      this.poll(signal);
      return;
    }
    streams.open += 1;
    const source = this.events(`${this.connection.base}${this.path}/events`);
    let closed = false;
    const close = (): void => {
      if (closed) return;
      closed = true;
      source.close();
      signal.removeEventListener("abort", close);
      streams.open -= 1;
    };
    signal.addEventListener("abort", close);
    source.addEventListener("news", ({ data }: MessageEvent<string>) => {
      this.learn(JSON.parse(data) as RunDescription, signal);
    });
    source.addEventListener("end", close);
    source.addEventListener("error", () => {
      if (source.readyState !== 2) return; // the browser connects again by itself
      close();
      this.poll(signal);
    });
  }

  /** Without a stream, until one is tried again. */
  private poll(signal: AbortSignal): void {
    const until = Date.now() + RETRY;
    const again = async (): Promise<void> => {
      await this.ask(signal);
      if (signal.aborted || this.run.state !== "running") return;
      if (Date.now() < until) setTimeout(again, PAUSE);
      else this.listen(signal);
    };
    setTimeout(again, PAUSE);
  }

  private async ask(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    try {
      this.learn(await this.connection.json<RunDescription>(this.path, { signal }), signal);
    } catch (error) {
      if (!isAbort(error)) for (const failed of [...this.followers.values()]) failed?.(error);
    }
  }

  private learn(run: RunDescription, signal: AbortSignal): void {
    if (signal.aborted) return;
    const before = this.run;
    this.run = run;
    if (run.state === "running" && before.state !== "running") this.listen(signal); // resumed
    if (run.updated === before.updated && run.state === before.state) return;
    for (const changed of [...this.followers.keys()]) changed(run);
  }
}

function withSignal(signal: AbortSignal | undefined): RequestInit {
  return signal ? { signal } : {};
}
