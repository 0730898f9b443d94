/**
 * The span of training steps that a view shows, as an option: "100-2000".
 *
 * In:   the option's text, all steps; a wish to zoom or to move.
 * Out:  the span; the text of another one, null for all steps.
 */

export type StepSpan = readonly [first: number, last: number];

const SPAN = /^(\d{1,12})-(\d{1,12})$/;
const LEAST = 4; // steps

export function isSpan(text: string): boolean {
  return SPAN.test(text);
}

/** The steps that are shown. */
export function readSpan(text: string | null, [first, last]: StepSpan): StepSpan {
  const [, from, to] = SPAN.exec(text ?? "") ?? [];
  if (from === undefined || Number(from) >= Math.min(Number(to), last)) return [first, last];
  return [Number(from), Math.min(Number(to), last)];
}

/** So many steps from one on, inside of all. */
export function writeSpan(from: number, size: number, [first, last]: StepSpan): string | null {
  if (size >= last - first) return null;
  const start = Math.round(Math.max(first, Math.min(last - size, from)));
  return `${start}-${Math.round(start + Math.max(LEAST, size))}`;
}

/** `factor` times nearer, where `step` stays in its place. */
export function zoomSpan(
  [first, last]: StepSpan,
  step: number,
  factor: number,
  all: StepSpan,
): string | null {
  const size = Math.max(LEAST, (last - first) / factor);
  const share = (step - first) / (last - first);
  return writeSpan(step - share * size, size, all);
}
