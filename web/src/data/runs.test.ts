import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RunDescription } from "../api/types";
import { inventRun } from "../testing/run";
import { Connection } from "./http";
import { openRun } from "./runs";

const aRun = (last_step: number, change: Partial<RunDescription> = {}): RunDescription =>
  inventRun({ id: "a b", state: "running", last_step, updated: last_step, ...change });

/** A stream of events that a test sends. */
class FakeEvents extends EventTarget {
  static all: FakeEvents[] = [];
  readyState = 1;

  constructor(readonly url: string) {
    super();
    FakeEvents.all.push(this);
  }

  send(name: string, data: unknown): void {
    this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }));
  }

  fail(readyState: number): void {
    this.readyState = readyState;
    this.dispatchEvent(new Event("error"));
  }

  close(): void {
    this.readyState = 2;
  }
}

beforeEach(() => {
  FakeEvents.all = [];
  vi.useFakeTimers();
});
afterEach(() => void vi.useRealTimers());

function serve(...answers: unknown[]) {
  const asked: string[] = [];
  const fetch = async (input: RequestInfo | URL) => {
    asked.push(String(input).replace("http://x/", ""));
    return Response.json(answers.length > 1 ? answers.shift() : answers[0]);
  };
  const connection = new Connection({ base: "http://x/", fetch: fetch as typeof globalThis.fetch });
  const open = () =>
    openRun(connection, "a b", undefined, (url) => new FakeEvents(url) as unknown as EventSource);
  return { open, asked };
}

test("a run is followed by its events, without another question, until nobody follows it", async () => {
  const { open, asked } = serve(aRun(2));
  const source = await open();
  const heard: number[] = [];
  const stop = source.follow((run) => heard.push(run.last_step));
  const [events] = FakeEvents.all;
  expect(events!.url).toBe("http://x/runs/a%20b/events");
  events!.send("news", aRun(2)); // what is known already
  events!.send("news", aRun(3));
  expect([heard, source.run.last_step]).toEqual([[3], 3]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toEqual(["runs/a%20b"]);
  stop();
  expect(events!.readyState).toBe(2);
});

test("a run that has ended has no stream; one that ends closes it", async () => {
  const ended = await serve(aRun(2, { state: "finished" })).open();
  ended.follow(() => {})();
  expect(FakeEvents.all).toEqual([]);
  const source = await serve(aRun(2)).open();
  const heard: string[] = [];
  const stop = source.follow((run) => heard.push(run.state));
  FakeEvents.all[0]!.send("news", aRun(2, { state: "finished" }));
  FakeEvents.all[0]!.send("end", {});
  expect([heard, FakeEvents.all[0]!.readyState]).toEqual([["finished"], 2]);
  stop();
});

test("a run that was resumed is followed again when the window is looked at", async () => {
  const { open } = serve(aRun(2, { state: "finished" }), aRun(3, { revision: 2 }));
  const source = await open();
  const stop = source.follow(() => {});
  document.dispatchEvent(new Event("visibilitychange"));
  await vi.advanceTimersByTimeAsync(1);
  expect([source.run.revision, FakeEvents.all.length]).toEqual([2, 1]);
  stop();
});

test("a stream that breaks is connected again by the browser; where that is given up, the server is asked", async () => {
  const { open, asked } = serve(aRun(2), aRun(3), aRun(4));
  const source = await open();
  const stop = source.follow(() => {});
  FakeEvents.all[0]!.fail(0);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked.length).toBe(1);
  FakeEvents.all[0]!.fail(2);
  await vi.advanceTimersByTimeAsync(3000);
  expect([asked.length, source.run.last_step]).toEqual([2, 3]);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(FakeEvents.all.length).toBe(2); // tried again
  stop();
});

test("no more than three streams are open at once, and each is given back", async () => {
  const sources = await Promise.all(Array.from({ length: 5 }, () => serve(aRun(2)).open()));
  const stops = sources.map((source) => source.follow(() => {}));
  expect(FakeEvents.all.length).toBe(3);
  for (const stop of stops) stop();
  const again = sources[4]!.follow(() => {});
  expect(FakeEvents.all.length).toBe(4);
  again();
});

test("numbers are asked for by name, range and how many points fit", async () => {
  const { open, asked } = serve(aRun(2), { series: { loss: {} } });
  const source = (await open()).within(new AbortController().signal);
  expect(await source.series(["loss", "norm.encoder.0"], [10, 20], 500)).toEqual({ loss: {} });
  await source.heads("peak", null, 50);
  expect(asked.slice(1)).toEqual([
    "runs/a%20b/series?name=loss&name=norm.encoder.0&start=10&stop=20&points=500",
    "runs/a%20b/heads?statistic=peak&points=50",
  ]);
});
