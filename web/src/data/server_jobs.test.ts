import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Job, JobRequest } from "../api/types";
import { Connection } from "./http";
import { createServerJobs } from "./server_jobs";

const job: Job = {
  id: "j1",
  kind: "record",
  state: "queued",
  stage: "queued",
  share: null,
  detail: null,
  recording: null,
  code: null,
  message: null,
  created: 0,
  listed: true,
  parent: null,
  prefix: null,
  owner: null,
  position: null,
  wait: null,
  model: "gpt2",
};
const request: JobRequest = { kind: "record", model: "gpt2", sequence: "text", text: "Hi" };

class FakeEvents extends EventTarget {
  readyState = 1;
  onerror: (() => void) | null = null;
  constructor(readonly url: string) {
    super();
  }
  close(): void {
    this.readyState = 2;
  }
  tell(name: string, data: unknown): void {
    this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }));
  }
}

function makeServerJobs(state: () => Partial<Job> = () => ({})) {
  const asked: string[] = [];
  let stream: FakeEvents | null = null;
  const connection = new Connection({
    base: "/api/",
    fetch: (async (input: RequestInfo | URL, init?: RequestInit) => {
      const method = init?.method ?? "GET";
      asked.push(`${method} ${String(input)}`);
      const begun = method === "GET" ? { state: "running", stage: "loading" } : {};
      return Response.json({ ...job, ...begun, ...state() });
    }) as typeof fetch,
  });
  const made = createServerJobs(connection, (url) => {
    stream = new FakeEvents(url);
    return stream as unknown as EventSource;
  });
  return {
    made,
    asked,
    opened: () => stream !== null,
    events: () => vi.waitFor(() => stream ?? Promise.reject(new Error("no stream yet"))),
  };
}

beforeEach(() => {
  vi.stubGlobal("EventSource", { CONNECTING: 0, OPEN: 1, CLOSED: 2 });
});

describe("a run", () => {
  test("tells stages and steps, and ends with the recording", async () => {
    const { made, events } = makeServerJobs();
    const heard: string[] = [];
    const run = made.run(
      request,
      (event) =>
        heard.push(
          "job" in event
            ? `${event.job.state} ${event.job.stage} ${event.job.share}`
            : `step ${event.step.index}`,
        ),
      new AbortController().signal,
    );
    const stream = await events();
    expect(stream.url).toBe("/api/jobs/j1/events");
    stream.tell("progress", { stage: "loading", share: 0.5, detail: null });
    stream.tell("step", { index: 0 });
    stream.tell("done", { recording: "new" });
    await expect(run).resolves.toBe("new");
    expect(heard).toEqual(["queued queued null", "running loading 0.5", "step 0"]);
    expect(stream.readyState).toBe(2);
  });

  test("that fails gives the sentence", async () => {
    const { made, events } = makeServerJobs();
    const run = made.run(request, () => {}, new AbortController().signal);
    const message = { code: "workbench.no_model", parameters: { name: "gpt2" } };
    (await events()).tell("failed", { code: "no_model", message });
    await expect(run).rejects.toMatchObject({ code: "no_model", said: message });
  });

  test("is cancelled by its signal", async () => {
    const { made, asked, events } = makeServerJobs();
    const stop = new AbortController();
    const run = made.run(request, () => {}, stop.signal);
    const stream = await events();
    stop.abort();
    await expect(run).rejects.toMatchObject({ name: "AbortError" });
    expect(asked).toEqual(["POST /api/jobs", "GET /api/jobs/j1", "DELETE /api/jobs/j1"]);
    expect(stream.readyState).toBe(2);
  });

  test("that is cancelled before the server has named it does not run on", async () => {
    const { made, asked } = makeServerJobs();
    const stop = new AbortController();
    const run = made.run(request, () => {}, stop.signal);
    stop.abort();
    await expect(run).rejects.toMatchObject({ name: "AbortError" });
    expect(asked).toEqual(["POST /api/jobs", "DELETE /api/jobs/j1"]);
  });

  test("sends no more of a picture once it is cancelled", async () => {
    const stalled: typeof fetch = (_, init) =>
      new Promise((_, reject) => {
        const give = (): void => reject(new DOMException("", "AbortError"));
        if (init?.signal) init.signal.addEventListener("abort", give);
        else reject(new Error("cannot be cancelled"));
      });
    const made = createServerJobs(new Connection({ base: "/api/", fetch: stalled }));
    const stop = new AbortController();
    const sent = made.sendInput!(new Blob(["x"]), stop.signal);
    stop.abort();
    await expect(sent).rejects.toMatchObject({ name: "AbortError" });
  });

  test("whose events break off is asked for", async () => {
    const answers: Partial<Job>[] = [
      {},
      {},
      { state: "running", stage: "running" },
      { state: "done", recording: "late" },
    ];
    const { made, events } = makeServerJobs(() => answers.shift() ?? {});
    const heard: string[] = [];
    const run = made.run(
      request,
      (event) => "job" in event && heard.push(event.job.state),
      new AbortController().signal,
    );
    const stream = await events();
    stream.onerror?.();
    await vi.waitFor(() => expect(heard).toEqual(["queued", "running"]));
    stream.onerror?.();
    await expect(run).resolves.toBe("late");
  });

  test("whose server starts again is heard again, though the browser has given its stream up", async () => {
    const answers: Partial<Job>[] = [{}, {}, { state: "queued" }, { state: "running" }];
    const { made, events } = makeServerJobs(() => answers.shift() ?? {});
    const run = made.run(request, () => {}, new AbortController().signal);
    const stream = await events();
    stream.close();
    stream.onerror?.();
    await vi.waitFor(async () => expect(await events()).not.toBe(stream));
    (await events()).tell("done", { recording: "after" });
    await expect(run).resolves.toBe("after");
  });

  test("that waits for others takes no connection, and is listened to when its turn comes", async () => {
    vi.useFakeTimers();
    const answers: Partial<Job>[] = [{}, ...Array(5).fill({ state: "queued", stage: "queued" }), {}];
    const { made, asked, events, opened } = makeServerJobs(() => answers.shift() ?? {});
    const run = made.run(request, () => {}, new AbortController().signal);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked.length).toBeGreaterThan(2);
    expect(opened()).toBe(false);
    await vi.advanceTimersByTimeAsync(10_000);
    vi.useRealTimers();
    expect(asked).toHaveLength(7);
    (await events()).tell("done", { recording: "mine" });
    await expect(run).resolves.toBe("mine");
  });

  test("that was started before is heard again from its start", async () => {
    const { made, asked, events } = makeServerJobs();
    const running: Job = { ...job, state: "running", stage: "running" };
    const run = made.resume(running, () => {}, new AbortController().signal);
    (await events()).tell("done", { recording: "found" });
    await expect(run).resolves.toBe("found");
    expect(asked).toEqual([]);
  });
});
