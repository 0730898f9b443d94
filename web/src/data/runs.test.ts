import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RunDescription } from "../api/types";
import { Connection } from "./http";
import { createRunList, joinRuns } from "./runs";

const place = { stack: "decoder", kind: "self", layer: 0, step: null, address: "decoder.self.0" } as const;

function aRun(steps: readonly number[], change: Partial<RunDescription> = {}): RunDescription {
  const last = steps.at(-1) ?? 0;
  return {
    id: "a b",
    state: "running",
    started: null,
    score_name: null,
    score: null,
    loss: [],
    indexing: null,
    last_step: last,
    updated: last,
    alarms: 0,
    curves: { loss: { steps, values: steps.map((step) => (step === 2 ? null : 1 / step)) } },
    heads: [{ place, heads: 2, steps, statistics: { entropy: steps.map((step) => [step, null]) } }],
    events: steps.map((step) => ({
      step,
      kind: "checkpoint",
      message: { code: "training.checkpoint", parameters: {}, default: null },
      topic: "",
      where: "",
      place: null,
      value: null,
      time: null,
    })),
    recipe: "",
    environment: {},
    damaged: 0,
    revision: 1,
    since: null,
    thinned: false,
    ...change,
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A server whose answers are given one by one. */
function serve(...answers: RunDescription[]) {
  const asked: string[] = [];
  const signals: (AbortSignal | null | undefined)[] = [];
  const fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
    asked.push(String(input).replace("http://x/", ""));
    signals.push(init?.signal);
    return Response.json(answers.length > 1 ? answers.shift() : answers[0]);
  };
  const connection = new Connection({ base: "http://x/", fetch: fetch as typeof globalThis.fetch });
  return { runs: createRunList(connection, 1000), asked, signals };
}

test("what came after is put behind what was known", () => {
  const whole = joinRuns(aRun([1, 2]), aRun([3], { since: 2, state: "finished" }));
  expect(whole).toEqual({ ...aRun([1, 2, 3]), since: 2, state: "finished" });
  expect(joinRuns(aRun([1]), aRun([5]))).toEqual(aRun([5])); // answered whole
  const again = joinRuns(aRun([1, 2]), aRun([2, 3], { since: 1 })); // the last step is asked for again
  expect(again).toEqual({ ...aRun([1, 2, 3]), since: 1 });
});

test("a run is followed with what is new only, until nobody follows it", async () => {
  const { runs, asked, signals } = serve(
    aRun([1, 2]),
    aRun([2, 3], { since: 1 }),
    aRun([3], { since: 2, updated: 3 }),
  );
  const source = await runs.open("a b");
  const heard: (number | null)[] = [];
  const stop = source.follow((run) => heard.push(run.last_step));
  await vi.advanceTimersByTimeAsync(1000);
  expect(source.run.curves.loss!.values).toEqual([1, null, 1 / 3]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(heard).toEqual([3]);
  expect(asked).toEqual(["runs/a%20b", "runs/a%20b?since=1", "runs/a%20b?since=2", "runs/a%20b?since=2"]);
  stop();
  await vi.advanceTimersByTimeAsync(5000);
  expect([asked.length, signals.at(-1)?.aborted]).toEqual([4, true]);
});

test("followers and requests of a view end with its signal", async () => {
  const { runs, asked, signals } = serve(aRun([1]), aRun([1], { since: 0 }));
  const [source, life] = [await runs.open("a"), new AbortController()];
  const scoped = source.within(life.signal);
  scoped.follow(() => {});
  await scoped.refresh();
  await vi.advanceTimersByTimeAsync(1000);
  expect(scoped.run).toBe(source.run);
  life.abort();
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toEqual(["runs/a", "runs/a?since=0", "runs/a?since=0"]);
  expect(signals.slice(1).map((signal) => signal?.aborted)).toEqual([true, true]);
  scoped.follow(() => {}); // too late
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toHaveLength(3);
});

test("a run that was resumed is fetched whole again", async () => {
  const { runs, asked } = serve(
    aRun([1, 2]),
    aRun([], { revision: 2, since: 2 }),
    aRun([1], { revision: 2 }),
  );
  const source = await runs.open("a b");
  expect(await source.refresh()).toBe(true);
  expect(source.run).toEqual(aRun([1], { revision: 2 }));
  expect(asked).toEqual(["runs/a%20b", "runs/a%20b?since=1", "runs/a%20b"]);
});
