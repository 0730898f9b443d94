import { expect, test, vi } from "vitest";
import { invent, setStage, settle } from "../testing/recording";
import { Tasks } from "./tasks";

/** A stage whose source notes the signals of its requests, and answers when it is told to. */
function holding() {
  const { source } = invent();
  const signals: AbortSignal[] = [];
  const within = (signal: AbortSignal) => {
    signals.push(signal);
    return source;
  };
  const { stage, failures } = setStage(Object.assign(source, { within }));
  return { tasks: new Tasks(stage), signals, failures };
}

test("another question aborts the one before, whose answer is never heard", async () => {
  const { tasks, signals, failures } = holding();
  const asker = tasks.asker();
  const heard: string[] = [];
  let answer: (text: string) => void = () => {};
  asker.ask(
    "one",
    () => new Promise<string>((resolve) => (answer = resolve)),
    (text) => heard.push(text),
  );
  const late = answer;
  asker.ask(
    "two",
    async () => "two",
    (text) => heard.push(text),
  );
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  late("one");
  await settle();
  expect([heard, failures]).toEqual([["two"], []]);
});

test("the same key is asked once; a failure is told once, an abort never", async () => {
  const { tasks, signals, failures } = holding();
  const asker = tasks.asker();
  const fail = () => Promise.reject(new Error("no"));
  asker.ask("one", fail, () => {});
  asker.ask("one", fail, () => {});
  await asker.coming;
  expect([signals.length, failures.length]).toEqual([1, 1]);
  tasks.fail(new DOMException("", "AbortError"));
  expect(failures.length).toBe(1);
});

test("the end aborts requests, frames and timers; nothing begins after it", async () => {
  vi.useFakeTimers();
  const { tasks, signals, failures } = holding();
  const late = vi.fn();
  tasks.asker().ask(null, () => Promise.reject(new Error("late")), late);
  tasks.frame(late);
  tasks.later("save", 10, late);
  expect(tasks.waits("save")).toBe(true);
  tasks.end();
  tasks.frame(late);
  tasks.later("save", 10, late);
  await vi.advanceTimersByTimeAsync(100);
  expect([signals[0]!.aborted, late.mock.calls, failures]).toEqual([true, [], []]);
  vi.useRealTimers();
});

test("a delayed call waits for the last wish", async () => {
  vi.useFakeTimers();
  const { tasks } = holding();
  const calls: number[] = [];
  for (const wish of [1, 2, 3]) tasks.later("save", 10, () => calls.push(wish));
  await vi.advanceTimersByTimeAsync(20);
  expect([calls, tasks.waits("save")]).toEqual([[3], false]);
  vi.useRealTimers();
});

test("all is settled when answers lead to no further question", async () => {
  const { tasks } = holding();
  const [first, second] = [tasks.asker(), tasks.asker()];
  const heard: string[] = [];
  const answer = async (text: string) => {
    await settle();
    return text;
  };
  first.ask(
    null,
    () => answer("one"),
    (text) => {
      heard.push(text);
      second.ask(
        null,
        () => answer("two"),
        (other) => heard.push(other),
      );
    },
  );
  await tasks.settled();
  expect(heard).toEqual(["one", "two"]);
});
