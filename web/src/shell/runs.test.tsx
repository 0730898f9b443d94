import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Job, JobRequest } from "../api/types";
import { type RecordingSource, Refusal } from "../core/source";
import type { ServerJobs } from "../data/server_jobs";
import { learn } from "../i18n/core";
import { makeApp } from "../testing/app";
import { Progress } from "./panels/progress";
import type { PageStorage } from "./state";

const request: JobRequest = { kind: "record", model: "zoo/gpt2", sequence: "text", text: "A fox" };
const running: Job = {
  id: "j1",
  kind: "record",
  state: "running",
  stage: "running",
  share: 0.25,
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
  model: "zoo/gpt2",
};

function memory(first: Record<string, string> = {}): PageStorage & { readonly kept: Record<string, string> } {
  const kept = { ...first };
  return {
    kept,
    get: (name) => kept[name] ?? null,
    set: (name, value) => {
      kept[name] = value;
    },
  };
}

function build(jobs: () => readonly Job[], session = memory(), resume?: ServerJobs["resume"]) {
  const opened: string[] = [];
  const cancelled: string[] = [];
  const listed: string[] = [];
  const source = {
    recordings: async () => {
      listed.push("again");
      return [];
    },
    open: (id: string) => {
      opened.push(id);
      return Promise.reject(new Refusal("Not here.", "no_recording", 404));
    },
  };
  const server = {
    jobs: async () => jobs(),
    resume: resume ?? (() => new Promise(() => {})),
    cancel: async (id: string) => void cancelled.push(id),
  } as unknown as ServerJobs;
  const { app, root, draw } = makeApp({ source, server, session });
  draw(
    <form>
      <Progress />
      <button type="button" data-action="run">
        Run
      </button>
    </form>,
  );
  const see = (selector: string): HTMLElement | null => root.querySelector(selector);
  return { app, session, opened, cancelled, listed, see };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("what is drawn", () => {
  test("is not looked at when something else was chosen while the one before was looked at", async () => {
    const { app } = build(() => []);
    const sent: string[] = [];
    let finish = (): void => {};
    Object.assign(app.server!, {
      sendInput: async (file: File) => {
        sent.push(file.name);
        return "id";
      },
      run: () =>
        new Promise((done) => {
          finish = () => done("made");
        }),
    });
    const [one, two] = ["one.png", "two.png"].map((name) => new File([""], name)) as [File, File];
    const looking = app.runs.glance(one);
    void app.runs.glance(two);
    await vi.advanceTimersByTimeAsync(1);
    app.runs.change({ model: "zoo/gpt2", file: null });
    finish();
    await looking;
    expect(sent).toEqual(["one.png"]);
  });

  test("opens as what the model made of it that it was drawn for", async () => {
    const { app } = build(() => []);
    const plain = { tasks: {}, languages: [], samples: {} };
    app.runs.models.value = [
      { ...plain, name: "looks", reads: "picture", layers: 4 },
      { ...plain, name: "speaks", reads: "text" },
    ] as never;
    app.runs.change({ model: "looks" });
    const went = vi.spyOn(app, "go").mockResolvedValue();
    let finish = (): void => {};
    const server = {
      sendInput: async () => "id",
      run: () =>
        new Promise((done) => {
          finish = () => done("made");
        }),
    };
    Object.assign(app.server!, server);
    const looking = app.runs.glance(new File([""], "one.png"));
    await vi.advanceTimersByTimeAsync(1);
    app.runs.change({ model: "speaks", file: null, text: "mine" });
    finish();
    await looking;
    const place = { stack: "encoder", kind: "self", layer: 3, step: null }; // the last, which tells the class
    expect(went).toHaveBeenCalledWith("made", { view: "picture", head: "mean", place });
    app.runs.follow({ description: { id: "r", request } } as RecordingSource);
    expect(app.runs.form.peek().text).toBe("mine"); // written meanwhile
  });

  test.each([
    ["is looked at where the run before failed", new Error("no room"), ["one.png", "two.png"]],
    ["is not looked at where that was cancelled", new DOMException("cancelled", "AbortError"), ["one.png"]],
  ])("%s", async (_, error, names) => {
    const { app } = build(() => []);
    const sent: string[] = [];
    let fail = (): void => {};
    Object.assign(app.server!, {
      sendInput: async (file: File) => {
        sent.push(file.name);
        return "id";
      },
      run: () =>
        new Promise((_, refuse) => {
          fail = () => refuse(error);
        }),
    });
    const looking = app.runs.glance(new File([""], "one.png"));
    void app.runs.glance(new File([""], "two.png"));
    await vi.advanceTimersByTimeAsync(1);
    fail();
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toEqual(names);
    fail();
    await looking;
  });
});

describe("a recording whose text nobody knows", () => {
  const plain = { tasks: {}, languages: [], samples: {}, reads: "text", layers: 2 };
  const models = [
    { ...plain, name: "zoo/translator" },
    { ...plain, name: "zoo/gpt2" },
  ] as never;
  const source = { description: { id: "r", request: null, evidence: { model: "zoo/gpt2" } } };

  test.each([true, false])("chooses its model in the form, before models are known: %s", async (before) => {
    const { app } = build(() => []);
    Object.assign(app.server!, { models: async () => models });
    if (!before) await app.runs.loadModels();
    app.runs.follow(source as RecordingSource);
    if (before) await app.runs.loadModels();
    expect(app.runs.form.peek().model).toBe("zoo/gpt2");
    app.runs.change({ model: "zoo/translator" });
    app.runs.follow(source as RecordingSource);
    expect(app.runs.form.peek().model).toBe("zoo/translator"); // chosen by a person
  });
});

describe("samples of a task", () => {
  test("each run reads a new one, unless another was chosen meanwhile", () => {
    const { app } = build(() => []);
    const sent: JobRequest[] = [];
    Object.assign(app.server!, {
      run: (asked: JobRequest) => {
        sent.push(asked);
        return new Promise(() => {});
      },
    });
    app.runs.change({ model: "zoo/gpt2", sequence: "task" });
    app.runs.start();
    app.runs.start();
    app.runs.change({ sample: 7 });
    app.runs.start();
    app.runs.start();
    app.runs.change({ model: "zoo/bert" });
    app.runs.start();
    expect(sent.map(({ seed }) => seed)).toEqual([0, 1, 7, 8, 8]);
    expect(app.runs.form.peek().sample).toBe(8);
  });
});

describe("after a reload", () => {
  test("the job of this window is shown, can be cancelled, and its recording is opened", async () => {
    const session = memory({ job: JSON.stringify({ id: "j1", request }) });
    let finish: (id: string) => void = () => {};
    let signal: AbortSignal | null = null;
    const { app, opened, see } = build(
      () => [running],
      session,
      (job, heard, stop) => {
        heard({ job });
        signal = stop;
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    );
    const resumed = app.runs.resume();
    await vi.advanceTimersByTimeAsync(10);
    expect(see("[data-part=progress]")?.dataset.stage).toBe("running");
    expect(see("progress")?.getAttribute("value")).toBe("0.25");
    expect(app.runs.form.peek().text).toBe("A fox");
    see("[data-action=cancel]")?.click();
    expect((signal as AbortSignal | null)?.aborted).toBe(true);
    finish("made");
    await resumed;
    expect(opened).toEqual(["made"]);
    expect(session.kept.job).toBe("null"); // over: the next reload has nothing to find
  });

  test("why it failed meanwhile is said", async () => {
    const session = memory({ job: JSON.stringify({ id: "j1", request }) });
    const { app, see } = build(
      () => [{ ...running, state: "failed" }],
      session,
      () =>
        Promise.reject(
          new Refusal((language) => (language === "zh" ? "太长了。" : "Too long."), "refused", 422),
        ),
    );
    await app.runs.resume();
    await vi.advanceTimersByTimeAsync(10);
    expect(see("[data-notice=run-failed] p")?.textContent).toBe("Too long.");
    await learn("zh");
    app.language.value = "zh";
    await vi.advanceTimersByTimeAsync(10);
    expect(see("[data-notice=run-failed] p")?.textContent).toBe("太长了。");
  });

  test("a job that the server has forgotten is forgotten", async () => {
    const session = memory({ job: JSON.stringify({ id: "gone", request }) });
    const { app, see } = build(() => [], session);
    await app.runs.resume();
    expect(session.kept.job).toBe("null");
    expect(see(".progress")).toBeNull();
  });
});

describe("in a second window", () => {
  test("a run of the first is shown; its recording is offered, and nobody is taken there", async () => {
    let jobs: Job[] = [running];
    const { app, opened, see } = build(() => jobs);
    await app.runs.resume();
    await vi.advanceTimersByTimeAsync(10);
    expect(see("[data-part=other-progress]")?.textContent).toContain("zoo/gpt2");
    expect(app.runs.running.peek()).toBeNull(); // this window may run something of its own
    jobs = [{ ...running, state: "done", recording: "theirs" }];
    await vi.advanceTimersByTimeAsync(1100);
    expect(opened).toEqual([]);
    see("[data-action=open-result]")?.click();
    expect(opened).toEqual(["theirs"]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(see("[data-notice]")).toBeNull();
  });

  test("it can be cancelled from there, and games of the playground are left alone", async () => {
    const { app, cancelled, see } = build(() => [{ ...running, id: "play", kind: "play" }, running]);
    await app.runs.resume();
    await vi.advanceTimersByTimeAsync(10);
    see("[data-action=cancel]")?.focus();
    see("[data-action=cancel]")?.click();
    await vi.advanceTimersByTimeAsync(10);
    expect(document.activeElement).toBe(see("[data-action=run]")); // not nowhere
    expect(cancelled).toEqual(["j1"]);
    expect(see(".progress")).toBeNull();
  });
});

test("whoever was signed out meanwhile is offered to sign in again", async () => {
  const rob = {
    users: true,
    name: "rob",
    role: "runner",
    signs_out: true,
    storage: 0,
    storage_most: null,
  } as const;
  const server = {
    run: () => Promise.reject(new Refusal("Sign in first.", "not_signed_in", 401)),
    session: async () => ({ ...rob, name: null, role: null }),
  } as unknown as ServerJobs;
  const { app } = makeApp({ source: { recordings: async () => [] }, server });
  app.account.value = rob;
  app.runs.start();
  await vi.advanceTimersByTimeAsync(10);
  expect(app.runs.trouble.peek()).toBeInstanceOf(Refusal);
  expect(app.account.peek()?.name).toBeNull();
});

test("a recording that is gone leaves the list", async () => {
  const { app, listed } = build(() => []);
  app.complain(new Refusal("Too long.", "too_long", 422));
  expect(listed).toEqual([]);
  app.complain(new Refusal("There is no recording.", "no_recording", 404));
  expect(listed).toEqual(["again"]);
});

describe("who waits for a free place", () => {
  test("is told when no run goes on or waits", async () => {
    let jobs: Job[] = [{ ...running, state: "queued", listed: false }];
    const { app } = build(() => jobs);
    const told: string[] = [];
    const rerunner = app.runs.rerunner({ description: { id: "r" } } as RecordingSource);
    void rerunner!.whenFree!(new AbortController().signal).then(() => told.push("free"));
    await vi.advanceTimersByTimeAsync(1100);
    jobs = [running];
    await vi.advanceTimersByTimeAsync(1100);
    expect(told).toEqual([]);
    jobs = [{ ...running, state: "done" }];
    await vi.advanceTimersByTimeAsync(1100);
    expect(told).toEqual(["free"]);
  });
});

test("a rerun names the recording that it is derived from", () => {
  const { app } = build(() => []);
  const source = { description: { id: "r1", request } } as unknown as RecordingSource;
  const again = app.runs.rerunner(source)?.again({ edits: [{ kind: "scale", factor: 2 }] });
  const edits = [{ kind: "scale", factor: 2 }];
  expect(again).toEqual({ ...request, branch: null, parent: "r1", edits });
});

test("a head is silenced in a run of its own, and not silenced any more in the next", () => {
  const { app } = build(() => []);
  const asked: JobRequest[] = [];
  app.server!.run = (sent) => {
    asked.push(sent);
    return new Promise(() => {});
  };
  const place = { stack: "decoder", kind: "self", layer: 2, step: null } as const;
  const open = (edits: JobRequest["edits"]): RecordingSource =>
    ({ description: { id: "r1", request: { ...request, edits } } }) as unknown as RecordingSource;
  const scaled = { kind: "scale", factor: 2 } as const;
  const first = app.runs.edit(open([scaled]), place, 3);
  expect(first?.edited).toBe(false);
  first?.start();
  expect(asked[0]).toMatchObject({ ...request, parent: "r1" });
  expect(asked[0]?.edits?.[1]).toMatchObject({ kind: "ablate", layer: 2, head: 3, how: "zero" });
  const again = app.runs.edit(open(asked[0]?.edits ?? []), place, 3);
  expect(again?.edited).toBe(true);
  again?.start();
  expect(asked[1]?.edits).toEqual([scaled]);
  expect(app.runs.edit(open(asked[0]?.edits ?? []), place, 4)?.edited).toBe(false);
  const partly = { ...asked[0]!.edits![1]!, positions: [1] } as NonNullable<JobRequest["edits"]>[number];
  expect(app.runs.edit(open([partly]), place, 3)?.edited).toBe(false); // at one token alone: still to be silenced
  expect(app.runs.edit({ description: { id: "file" } } as RecordingSource, place, 3)).toBeNull();
});

test("a patch is hidden from every other token and from all words, and put back by the next run", () => {
  const { app } = build(() => []);
  const asked: JobRequest[] = [];
  app.server!.run = (sent) => {
    asked.push(sent);
    return new Promise(() => {});
  };
  const map = (stack: string, kind: string, side: string) => ({ place: { stack, kind }, key_side: side });
  const maps = [
    map("encoder", "self", "source"),
    map("encoder", "self", "source"),
    map("decoder", "self", "target"),
    map("decoder", "cross", "source"),
  ];
  const open = (edits: JobRequest["edits"]): RecordingSource =>
    ({ description: { id: "r1", maps, request: { ...request, edits } } }) as unknown as RecordingSource;
  const cut = app.runs.cutOut(open([]), "source", 7);
  expect(cut?.edited).toBe(false);
  cut?.start();
  expect(asked[0]?.edits).toEqual([
    { kind: "cut", stack: "encoder", attention: "self", key: 7 },
    { kind: "cut", stack: "decoder", attention: "cross", key: 7 },
  ]);
  const edge = { kind: "cut", stack: "encoder", attention: "self", query: 1, key: 7 } as const;
  const back = app.runs.cutOut(open([edge, ...asked[0]!.edits!]), "source", 7);
  expect(back?.edited).toBe(true);
  back?.start();
  expect(asked[1]?.edits).toEqual([edge]); // one query alone: another edit
  expect(app.runs.cutOut(open(asked[0]!.edits!), "source", 8)?.edited).toBe(false);
  const elsewhere = [
    { kind: "cut", stack: "decoder", attention: "self", key: 7 }, // a word of that number
    { kind: "cut", stack: "encoder", attention: "self", head: 1, key: 7 }, // in one head alone
  ] as const;
  expect(app.runs.cutOut(open([...elsewhere]), "source", 7)?.edited).toBe(false);
});
