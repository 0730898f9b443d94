/**
 * Measuring every head with one metric at a time: a later wish ends an earlier one.
 *
 * In:   a source, a metric.
 * Out:  numbers, or what went wrong; `ended` is told.
 */

import type { MetricDescription } from "../../api/types";
import type { RecordingSource } from "../../core/source";
import { type Numbers, numbersOf } from "./numbers";

export class Measuring {
  numbers: Numbers | null = null; // of the last metric, once they are here
  private asking: AbortController | null = null;

  constructor(
    private readonly source: RecordingSource,
    private readonly ended: (trouble: unknown) => void, // null: none
  ) {}

  start(metric: MetricDescription | null): void {
    this.stop();
    this.numbers = null;
    if (metric === null) return;
    this.asking = new AbortController();
    const { signal } = this.asking;
    this.source.score(metric.name, "head", {}, signal).then(
      (score) => {
        if (signal.aborted) return;
        this.numbers = numbersOf(score);
        this.ended(null);
      },
      (error: unknown) => {
        if (!signal.aborted) this.ended(error);
      },
    );
  }

  stop(): void {
    this.asking?.abort();
  }
}
