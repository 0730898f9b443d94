/**
 * Pauses in long work, so that the page can breathe.
 *
 * In:   a signal that ends the work.
 * Out:  a pause to await between two pieces of it.
 */

/** Gives way to the page; rejects when the work is no longer wanted. */
export type Pause = () => Promise<void>;

const SLICE = 12; // milliseconds of work between two pauses

/** A pause that gives way when a slice of time is used up, and stops the work when `signal` says so. */
export function pauseFor(signal: AbortSignal): Pause {
  let since = performance.now();
  return async () => {
    signal.throwIfAborted();
    if (performance.now() - since < SLICE) return;
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    signal.throwIfAborted();
    since = performance.now();
  };
}
