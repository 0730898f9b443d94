/**
 * What a mounted view has under way: requests, a frame to draw, timers. All of it ends when the view is unmounted.
 *
 * In:   the stage.
 * Out:  askers, whose requests also end when something else is asked; `frame` and `later`, which call once.
 */

import type { RecordingSource } from "./source";

/** What is asked: a recording, training runs. */
export interface Scoped<S> {
  within(signal: AbortSignal): S;
}

/** What tasks need of a stage. */
interface Host<S> {
  readonly source: S;
  fail(error: unknown): void;
}

export class Tasks<S extends Scoped<S> = RecordingSource> {
  private readonly askers: Asker<S>[] = [];
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();
  private readonly frames = new Map<string, { readonly number: number; draw: () => void }>();
  private ended = false;

  constructor(private readonly stage: Host<S>) {}

  get over(): boolean {
    return this.ended;
  }

  asker(failed?: (error: unknown) => void): Asker<S> {
    const asker = new Asker<S>(this.stage, failed ?? this.fail);
    this.askers.push(asker);
    return asker;
  }

  /** A promise of the view failed; nobody hears of it after the end, or where nobody waits any more. */
  readonly fail = (error: unknown): void => {
    if (!this.ended && !isAbort(error)) this.stage.fail(error);
  };

  /** Draw in the next frame, however often it is asked for; of several drawings of one name, the last. */
  frame(draw: () => void, name = ""): void {
    if (this.ended) return;
    if (!this.frames.has(name)) {
      const number = requestAnimationFrame(() => {
        const last = this.frames.get(name)!.draw;
        this.frames.delete(name);
        last();
      });
      this.frames.set(name, { number, draw });
    } else this.frames.get(name)!.draw = draw;
  }

  /** Call after a while, counted from the last time it was asked for. */
  later(name: string, milliseconds: number, act: () => void): void {
    this.cancel(name);
    if (this.ended) return;
    const timer = setTimeout(() => {
      this.timers.delete(name);
      act();
    }, milliseconds);
    this.timers.set(name, timer);
  }

  cancel(name: string): void {
    clearTimeout(this.timers.get(name));
    this.timers.delete(name);
  }

  waits(name: string): boolean {
    return this.timers.has(name);
  }

  /** Resolves when every question is answered, has failed or is no longer wanted. */
  async settled(): Promise<void> {
    let known: Promise<void>[];
    do {
      known = this.askers.map(({ coming }) => coming);
      await Promise.all(known);
    } while (this.askers.some(({ coming }, at) => coming !== known[at])); // an answer may lead to another question
  }

  end(): void {
    this.ended = true;
    for (const { number } of this.frames.values()) cancelAnimationFrame(number);
    for (const timer of this.timers.values()) clearTimeout(timer);
    for (const asker of this.askers) asker.stop();
  }
}

/** One question at a time: the next one aborts the requests of the one before. */
export class Asker<S extends Scoped<S> = RecordingSource> {
  /** Resolves when the last question is answered, has failed or is no longer wanted. */
  coming: Promise<void> = Promise.resolve();
  private key: string | null = null;
  private round: AbortController | null = null;

  constructor(
    private readonly stage: Host<S>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Ask, unless `key` is that of the last question; null: always. Says whether it was asked. */
  ask<T>(
    key: string | null,
    question: (source: S, signal: AbortSignal) => Promise<T>,
    answered: (answer: T) => unknown,
    failed: (error: unknown) => void = this.failed,
  ): boolean {
    if (key !== null && key === this.key) return false;
    const before = this.round;
    this.round = new AbortController();
    const { signal } = this.round;
    const source = this.stage.source.within(signal);
    this.key = key;
    this.coming = (async () => {
      try {
        const answer = await question(source, signal);
        if (!signal.aborted) await answered(answer);
      } catch (error) {
        if (!signal.aborted) failed(error);
      }
    })();
    before?.abort(); // now: what both want goes on
    return true;
  }

  stop(): void {
    this.key = null;
    this.round?.abort();
  }
}

/** Whether an error only says that nobody waits any more. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
