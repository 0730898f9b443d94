import { expect, test, vi } from "vitest";
import { Run } from "./run";

/** A rerunner whose one run ends as the test says. */
function begin(done = vi.fn()) {
  let signal!: AbortSignal;
  let finish!: { resolve(id: string): void; reject(error: unknown): void };
  const made = new Run((_, given) => {
    signal = given;
    return new Promise((resolve, reject) => {
      finish = { resolve, reject };
    });
  }, done);
  const told = vi.fn();
  made.show(told);
  return { run: made, done, told, signal, finish };
}

test("a run that ends hands its recording on, once", async () => {
  const { run, done, told, finish } = begin();
  expect(run.state).toBe("running");
  finish.resolve("r2");
  await vi.waitFor(() => expect(told).toHaveBeenCalledWith(null));
  expect([run.state, run.result]).toEqual(["done", "r2"]);
  expect(done.mock.calls).toEqual([["r2"]]);
});

test("stopped while its last word is on the way, it is cancelled and opens nothing", async () => {
  const { run, done, told, signal, finish } = begin();
  finish.resolve("r2");
  run.stop();
  await vi.waitFor(() => expect(told).toHaveBeenCalledWith(null));
  expect(signal.aborted).toBe(true);
  expect([run.state, run.result]).toEqual(["cancelled", null]); // no form waits for it for ever
  expect(done).not.toHaveBeenCalled();
});

test("cancelled by another window, it did not fail", async () => {
  const { run, told, finish } = begin();
  finish.reject(new DOMException("Cancelled.", "AbortError"));
  await vi.waitFor(() => expect(told).toHaveBeenCalled());
  expect(run.state).toBe("cancelled");
});

test("whoever has shown it is told no more", async () => {
  const { run, told, finish } = begin();
  const next = vi.fn();
  run.show(next);
  finish.reject(new Error("no"));
  await vi.waitFor(() => expect(next).toHaveBeenCalled());
  expect(run.state).toBe("failed");
  expect(told).not.toHaveBeenCalled();
});
