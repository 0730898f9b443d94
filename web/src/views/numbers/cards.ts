/**
 * Cards for the whole model: each of the panel's measures with its value and what it means.
 *
 * In:   metrics, the model's readings, those of the head in focus.
 * Out:  elements, and the same as lines of a picture.
 */

import type { Language, MetricDescription } from "../../api/types";
import { joinSentences } from "../../core/focus";
import { digits, exact } from "../../core/formats";
import { formatText } from "../../core/messages";
import { make } from "../../marks/make";
import { type Inks, label, wrap } from "../../marks/paper";
import type { MeasureRow } from "./measures";
import type { Words } from "./words";

/** A share that belongs to a measure stands on its card. */
const COMPANIONS: Readonly<Record<string, string>> = {
  overall_sparsity: "nonzero_share",
  entropy: "entropy_share",
};

export interface Head {
  readonly row: MeasureRow;
  readonly name: string;
}

export function makeCards(
  metrics: readonly MetricDescription[],
  whole: MeasureRow | undefined,
  here: Head | null,
  say: Words,
  language: Language,
): HTMLElement[] {
  const second = Object.values(COMPANIONS);
  return metrics
    .filter(({ name }) => !second.includes(name))
    .map((metric) => {
      const other = metrics.find(({ name }) => name === COMPANIONS[metric.name]);
      const both = other === undefined ? [metric] : [metric, other];
      const own = here === null ? [] : both.map(({ name }) => here.row.readings.get(name)?.value ?? null);
      const told = here !== null && own.some((value) => value !== null);
      return make(
        "section",
        {},
        make("h2", {}, formatText(metric.label, language)),
        ...both.map((each, at) => bigNumber(each, whole, at === 0, say, language)),
        told
          ? make(
              "p",
              { class: "own", title: own.map(exact).join(" · ") },
              `${here.name}: ${own.map((value) => digits(value)).join(" · ")}`,
            )
          : null,
        ...[metric.caption, metric.lower, metric.higher].map(
          (text) => text && make("p", { class: "means" }, formatText(text, language)),
        ),
      );
    });
}

/** One measure a paragraph: label and value, then what it means. */
export function writeCards(
  metrics: readonly MetricDescription[],
  whole: MeasureRow | undefined,
  say: Words,
  { language, ink, width }: { language: Language; ink: Inks; width: number },
): { body: string; height: number } {
  let body = "";
  let y = 14;
  for (const metric of metrics) {
    const value = whole?.readings.get(metric.name)?.value ?? null;
    const words = value === null ? say.undefined : `${digits(value)} ${say.unit(metric.unit)}`;
    body += label(`${formatText(metric.label, language)}: ${words}`, 0, y, {
      fill: ink.ink,
      size: 12,
      weight: 600,
    });
    for (const line of wrap(joinSentences([metric.caption, metric.lower, metric.higher], language), width)) {
      y += 15;
      body += label(line, 0, y, { fill: ink.soft, size: 11 });
    }
    y += 21;
  }
  return { body, height: y };
}

function bigNumber(
  metric: MetricDescription,
  whole: MeasureRow | undefined,
  first: boolean,
  say: Words,
  language: Language,
): HTMLElement {
  const reading = whole?.readings.get(metric.name);
  const value = reading?.value ?? null;
  const why = joinSentences(reading?.why ?? [], language);
  const classes = ["value", first ? "" : "second", value === null ? "none" : ""].join(" ").trim();
  return make(
    "p",
    { class: classes, "data-metric": metric.name, title: value === null ? why : exact(value) },
    value === null ? say.undefined : digits(value),
    make("span", {}, value === null ? why : say.unit(metric.unit)),
  );
}
