/** Asking from a component: the last answer, or why there is none. */

import { useEffect, useState } from "preact/hooks";

interface Answer<T> {
  readonly value: T | null; // null until the first answer is here
  readonly error: unknown; // null: none
  readonly fresh: boolean; // it answers the present question, not the one before
}

/**
 * Asks a source when the question changes; null: nothing is asked. The request ends when something else is asked, or
 * the component goes away. After `pause` milliseconds, so that what is only passed by is never asked.
 */
export function useAnswer<S extends object | null, T>(
  source: S,
  question: string | null,
  ask: (source: S, signal: AbortSignal) => Promise<T>,
  pause?: number,
): Answer<T> {
  const [last, setLast] = useState<{
    readonly source: S | null;
    readonly question: string | null;
    readonly value: T | null;
    readonly error: unknown;
  }>({ source: null, question: null, value: null, error: null });
  useEffect(() => {
    if (question === null) return;
    const stop = new AbortController();
    const settle = (value: T | null, error: unknown): void => {
      if (!stop.signal.aborted) setLast({ source, question, value, error });
    };
    const begin = (): void => {
      ask(source, stop.signal).then(
        (value) => settle(value, null),
        (error: unknown) => settle(null, error),
      );
    };
    const timer = pause === undefined ? begin() : setTimeout(begin, pause);
    return () => {
      clearTimeout(timer ?? undefined);
      stop.abort();
    };
  }, [source, question]);
  return { ...last, fresh: last.source === source && last.question === question };
}
