/**
 * What runs were started with: settings that differ, recipe, machine, and what they learn from.
 *
 * In:   runs.
 * Out:  parts that can be opened; those that were open stay so.
 */

import type { RunDescription } from "../../api/types";
import { make } from "../../marks/make";
import { differences } from "./charts";
import type { Words } from "./words";

export function drawFacts(
  element: HTMLElement,
  runs: readonly RunDescription[],
  say: Words,
  _text: (message: never) => string,
): void {
  const open = new Set(
    [...element.querySelectorAll<HTMLDetailsElement>("details[open]")].map((each) => each.dataset.part),
  );
  const parts: HTMLElement[] = [];
  if (runs.length > 1) parts.push(...drawDifferences(runs, say));
  for (const { id, recipe, environment } of runs) {
    const name = runs.length > 1 ? ` · ${id}` : "";
    const machine = Object.entries(environment).map(([key, value]) => `${key}: ${String(value)}`);
    const bodies = { recipe, environment: machine.join("\n") };
    for (const part of ["recipe", "environment"] as const) {
      const key = `${part} ${id}`;
      parts.push(
        make(
          "details",
          { open: open.has(key), "data-part": key },
          make("summary", {}, say[part] + name),
          make("pre", { tabindex: 0 }, bodies[part]),
        ),
      );
    }
  }
  element.replaceChildren(...parts);
}

function drawDifferences(runs: readonly RunDescription[], say: Words): HTMLElement[] {
  const found = differences(runs.map(({ recipe }) => recipe));
  const heading = make("h2", {}, say.differences);
  if (found.length === 0) return [heading, make("p", {}, say.same)];
  const rows = found.map(({ name, values }) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, name),
      ...values.map((value) => make("td", {}, value ?? say.none)),
    ),
  );
  const head = make("tr", {}, make("th", {}, say.setting), ...runs.map(({ id }) => make("th", {}, id)));
  const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
  return [heading, make("div", { class: "scroll", tabindex: 0 }, table)];
}
