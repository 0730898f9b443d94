/**
 * Metrics beyond the panel's, by family, to be added to the numbers.
 *
 * In:   what is offered and chosen.
 * Out:  a list of ticks that folds away.
 */

import type { Language, MetricDescription } from "../../api/types";
import { groupBy } from "../../core/maths/group";
import { formatText } from "../../core/messages";
import type { Names } from "../../core/recording_view";
import { tick } from "../../marks/controls";
import { make } from "../../marks/make";
import type { Choices } from "./choices";
import type { Words } from "./words";

export function makeChooser(
  choices: Choices,
  language: () => Language,
  say: Words,
  names: Names,
): HTMLElement {
  const extra = choices.offered.filter((metric) => !metric.panel && choices.allows(metric));
  const line = (metric: MetricDescription) => {
    const on = choices.extras.includes(metric.name);
    const control = tick(
      () => formatText(metric.label, language()),
      on,
      (now) => choices.setMetric(metric.name, now),
    );
    const note = make("small", {}, () => (metric.needs === "weights" ? ` ${say.slow}` : ""));
    return make(
      "div",
      {},
      control.element,
      make("p", {}, () => formatText(metric.caption, language()), note),
    );
  };
  const groups = [...groupBy(extra, ({ family }) => family)].map(([family, members]) =>
    make(
      "fieldset",
      {},
      make("legend", {}, () => names.families(family)),
      ...members.map(line),
    ),
  );
  return make(
    "details",
    { class: "chooser", open: choices.extras.length > 0 },
    make("summary", {}, () => say.more),
    make("div", {}, ...groups),
  );
}
