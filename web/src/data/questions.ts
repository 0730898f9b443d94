/**
 * What a view asks about a recording, remembered: the same can be asked ahead about the next one of a series.
 *
 * In:   a source, given to a view through `watch`.
 * Out:  the same source; whether answers are still on their way; the questions again, about another recording.
 */

import type { RecordingSource } from "../core/source";

const MOST = 40; // questions of one picture

type Ask = (source: RecordingSource) => unknown;

export class Questions {
  private asked = new Map<string, Ask>();
  private old = false; // asked about what is not shown any more
  private open = 0;
  private quiet: (() => void)[] = [];

  /** Another view or place: what was asked before is not asked ahead any more. */
  forget(): void {
    this.old = false;
    this.asked = new Map();
  }

  /** Another place or option: the next question takes the place of those before. */
  age(): void {
    this.old = true;
  }

  watch(source: RecordingSource): RecordingSource {
    return new Proxy(source, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        if (name === "within") return (signal: AbortSignal) => this.watch(target.within(signal));
        return (...given: unknown[]) => {
          const asked = given.filter((each) => !(each instanceof AbortSignal));
          const ask: Ask = (other) =>
            (Reflect.get(other, name) as (...given: unknown[]) => unknown)(...asked);
          const key = `${String(name)} ${JSON.stringify(asked)}`;
          if (this.old) this.forget();
          this.asked.delete(key);
          this.asked.set(key, ask);
          if (this.asked.size > MOST) this.asked.delete(this.asked.keys().next().value!);
          return this.count(value.apply(target, given) as Promise<unknown>);
        };
      },
    });
  }

  /** Ask the same about another recording: its source remembers the answers. */
  async repeat(source: RecordingSource): Promise<void> {
    await Promise.allSettled([...this.asked.values()].map((ask) => ask(source)));
  }

  /** Resolves when every answer is here. */
  settled(): Promise<void> {
    return this.open === 0 ? Promise.resolve() : new Promise((resolve) => this.quiet.push(resolve));
  }

  private count(answer: Promise<unknown>): Promise<unknown> {
    this.open += 1;
    const done = (): void => {
      this.open -= 1;
      if (this.open > 0) return;
      for (const tell of this.quiet.splice(0)) tell();
    };
    answer.then(done, done);
    return answer;
  }
}
