import { act } from "preact/test-utils";
import { afterEach, expect, test } from "vitest";
import type { Job, JobRequest } from "../api/types";
import { type RecordingSource, Refusal } from "../core/source";
import type { ServerJobs } from "../data/server_jobs";
import { learn } from "../i18n/core";
import { makeApp } from "../testing/app";
import { BackgroundRuns } from "./background_runs";

const request: JobRequest = { kind: "generate", model: "toy", sequence: "text", text: "A fox" };
const job = { id: "j1", kind: "generate", state: "running", stage: "running", detail: "2/4" } as Job;

afterEach(() => document.body.replaceChildren());

/** A page whose generation view has asked for a run, which ends as the test says. */
async function begin() {
  const ended: { resolve(id: string): void; reject(error: unknown): void }[] = [];
  const signals: AbortSignal[] = [];
  const server = {
    run: (_, heard, signal) => {
      signals.push(signal);
      heard({ job });
      return new Promise<string>((resolve, reject) => {
        ended.push({ resolve, reject });
        signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
      });
    },
  } as ServerJobs;
  const { app, root, draw } = makeApp({ server });
  const look = (view: string) => act(() => app.store.set({ view }));
  await look("generation");
  await act(() => draw(<BackgroundRuns />));
  const controller = new AbortController();
  const rerunner = app.runs.rerunner({ description: { id: "r" } } as RecordingSource)!;
  const heard: unknown[] = [];
  const run = rerunner.run(request, (event) => heard.push(event), controller.signal);
  run.catch(() => {});
  const rows = () => [...root.querySelectorAll<HTMLElement>("[data-background-run]")];
  return { app, root, look, run, heard, rows, controller, signals, end: ended[0]! };
}

const settle = () => act(() => new Promise((done) => setTimeout(done)));

test("a run is seen from other views, in their language, and leads back", async () => {
  const { app, look, rows, heard } = await begin();
  expect([rows().length, heard]).toEqual([0, [{ job }]]);
  await look("heatmap");
  expect(rows()[0]?.querySelector("p")?.textContent).toBe(
    "Generation runs on behind this view · Running · 2/4",
  );
  await learn("zh");
  await act(() => {
    app.language.value = "zh";
  });
  expect(rows()[0]?.querySelector("p")?.textContent).toMatch(/^\S+ 仍在后台运行 · 运行 · 2\/4$/);
  await act(() => rows()[0]!.querySelector<HTMLElement>("[data-action=show-run]")!.click());
  expect([app.view.peek(), rows().length]).toEqual(["generation", 0]);
});

test("it is stopped there, or by its view, and is gone", async () => {
  for (const way of ["note", "view"]) {
    const { app, look, rows, run, signals, controller } = await begin();
    await look("heatmap");
    if (way === "note") rows()[0]!.querySelector<HTMLElement>("[data-action=stop-run]")!.click();
    else controller.abort();
    await expect(run).rejects.toThrow(DOMException);
    await settle();
    expect([signals[0]!.aborted, rows().length, app.runs.asked.peek().length]).toEqual([true, 0, 0]);
    expect(app.message.peek()).toBe("");
  }
});

test("how it ended is said where it is not seen, and only there", async () => {
  for (const [view, said] of [
    ["heatmap", "Too long."],
    ["generation", ""],
  ] as const) {
    const { app, look, rows, end } = await begin();
    await look(view);
    end.reject(new Refusal("Too long.", "refused", 422));
    await settle();
    expect([app.message.peek(), rows().length]).toEqual([said, 0]);
  }
  const { app, look, run, rows, end } = await begin();
  await look("heatmap");
  end.resolve("made");
  expect(await run).toBe("made");
  await settle();
  expect([app.message.peek(), rows().length]).toEqual(["The recording is there.", 0]);
});
