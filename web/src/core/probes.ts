/**
 * Probes of a training run: recordings of one text at several steps, with ids "run:step:text".
 *
 * In:   ids and steps.
 * Out:  which of them belong together, and which is nearest.
 */

/** What the probes of one text of one run have in common; null for a recording that is none. */
export function seriesOf(id: string): string | null {
  const parts = /^(.+):\d+:(\d+)$/.exec(id);
  return parts && `${parts[1]}:${parts[2]}`;
}

/** Whether two recordings show the same text at two steps of one run. */
export function areOneSeries(one: string, other: string): boolean {
  const series = seriesOf(one);
  return series !== null && series === seriesOf(other);
}

/** Where in a list, in order, the step is that is nearest to another; -1 in an empty one. */
export function nearestStep(steps: readonly { readonly step: number }[], wanted: number): number {
  let best = -1;
  steps.forEach(({ step }, at) => {
    if (best < 0 || Math.abs(step - wanted) < Math.abs(steps[best]!.step - wanted)) best = at;
  });
  return best;
}
