import { describe, expect, it } from "vitest";
import type { RecordingSource } from "../core/source";
import { Questions } from "./questions";

function pretend(log: string[], name: string): RecordingSource {
  const source = {
    description: { id: name },
    within: () => source,
    tokens: (...given: unknown[]) => {
      log.push(`${name} tokens ${given.filter((each) => typeof each === "string").join()}`);
      return Promise.resolve({});
    },
    thumbnails: () => {
      log.push(`${name} thumbnails`);
      return Promise.reject(new Error("gone"));
    },
  };
  return source as unknown as RecordingSource;
}

describe("questions of a view", () => {
  it("are asked again about another recording, without the signals of the first", async () => {
    const log: string[] = [];
    const questions = new Questions();
    const watched = questions.watch(pretend(log, "first:0:0"));
    expect(watched.description.id).toBe("first:0:0");
    const life = new AbortController();
    await watched.within(life.signal).tokens("source", undefined, life.signal);
    await watched.thumbnails("mean").catch(() => {});
    await watched.tokens("source");
    life.abort();
    log.length = 0;
    await questions.repeat(pretend(log, "first:5:0"));
    expect(log.sort()).toEqual([
      "first:5:0 thumbnails",
      "first:5:0 tokens source",
      "first:5:0 tokens source",
    ]);
    questions.forget();
    log.length = 0;
    await questions.repeat(pretend(log, "first:8:0"));
    expect(log).toEqual([]);
  });

  it("of another place or option take the place of those before, once there is one", async () => {
    const log: string[] = [];
    const questions = new Questions();
    const watched = questions.watch(pretend(log, "first:0:0"));
    const again = async (): Promise<string[]> => {
      log.length = 0;
      await questions.repeat(pretend(log, "next"));
      return log.sort();
    };
    await watched.tokens("source");
    questions.age();
    expect(await again()).toEqual(["next tokens source"]); // nothing else was asked: it is still shown
    await watched.tokens("target");
    await watched.tokens("third" as "source");
    expect(await again()).toEqual(["next tokens target", "next tokens third"]);
  });

  it("are settled when the last answer is here", async () => {
    const questions = new Questions();
    let answer = (_: unknown): void => {};
    const source = { tokens: () => new Promise((resolve) => (answer = resolve)) };
    const watched = questions.watch(source as unknown as RecordingSource);
    void watched.tokens("source");
    let settled = false;
    const waiting = questions.settled().then(() => (settled = true));
    await Promise.resolve();
    expect(settled).toBe(false);
    answer({});
    await waiting;
    expect(settled).toBe(true);
    await questions.settled();
  });
});
