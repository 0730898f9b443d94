/**
 * What runs were started with: settings that differ, what they learn from, recipe, machine.
 *
 * In:   runs.
 * Out:  parts that can be opened; those that were open stay so.
 */

import type { RunDescription } from "../../api/types";
import { count, digits, percent } from "../../core/formats";
import { make } from "../../marks/make";
import { refill } from "../../marks/refill";
import { differences } from "./charts";
import type { Words } from "./words";

export function drawFacts(element: HTMLElement, runs: readonly RunDescription[], say: Words): void {
  const parts: HTMLElement[] = runs.length > 1 ? drawDifferences(runs, say) : [];
  for (const { id, recipe, environment, data } of runs) {
    const add = (part: "data" | "recipe" | "environment", body: HTMLElement | null): void => {
      if (!body) return;
      const key = `${part} ${id}`;
      const name = runs.length > 1 ? ` · ${id}` : "";
      const summary = make("summary", { "data-key": `${key} summary` }, say[part] + name);
      parts.push(make("details", { "data-key": key }, summary, body));
    };
    const machine = Object.entries(environment).map(([key, value]) => `${key}: ${String(value)}`);
    add("data", drawData(data, say));
    add("recipe", recipe === "" ? null : make("pre", { tabindex: 0 }, recipe));
    add("environment", machine.length === 0 ? null : make("pre", { tabindex: 0 }, machine.join("\n")));
  }
  refill(element, ...parts);
}

function drawDifferences(runs: readonly RunDescription[], say: Words): HTMLElement[] {
  const found = differences(runs.map(({ recipe }) => recipe));
  const heading = make("h2", {}, say.differences);
  if (found.length === 0) return [heading, make("p", {}, say.same)];
  const rows = found.map(({ name, values }) => [name, ...values.map((value) => value ?? say.none)]);
  return [heading, drawTable([say.setting, ...runs.map(({ id }) => id)], rows)];
}

/** The summary that a run writes when it starts; what is not of the form it has today is passed over. */
function drawData(data: RunDescription["data"], say: Words): HTMLElement | null {
  const splits = asObject(data.splits);
  const names = Object.keys(splits);
  if (names.length === 0) return null;
  const rows = names.map((name) => {
    const split = asObject(splits[name]);
    const { least, median, most } = asObject(split.lengths);
    const classes = Object.entries(asObject(split.classes)).map(
      ([label, rows]) => `${label} ${number(rows)}`,
    );
    const lengths = [least, median, most].map(number).join(" / ");
    return [name, number(split.examples), number(split.tokens), lengths, classes.join(", ") || say.none];
  });
  const { columns } = say.dataTable;
  const table = drawTable(
    [columns.split, columns.examples, columns.tokens, columns.lengths, columns.classes],
    rows,
  );
  const overlaps = (Array.isArray(data.overlap) ? data.overlap : []).map(asObject);
  const notes = [
    ...overlaps.flatMap(({ split, other, same, texts }) =>
      typeof same === "number" && typeof texts === "number" && same > 0
        ? [say.dataTable.overlap(String(split), String(other), count(same), percent(same / texts, 1))]
        : [],
    ),
    ...(typeof data.epochs === "number" ? [say.dataTable.epochs(digits(data.epochs))] : []),
    ...(typeof data.vocabulary === "number" ? [say.dataTable.vocabulary(count(data.vocabulary))] : []),
  ];
  return make("div", {}, table, ...notes.map((note) => make("p", {}, note)));
}

function drawTable(names: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  const head = make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name)));
  const body = rows.map(([first = "", ...rest]) =>
    make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((cell) => make("td", {}, cell))),
  );
  const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
  return make("div", { class: "scroll", tabindex: 0 }, table);
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function number(value: unknown): string {
  return typeof value === "number" ? count(Math.round(value)) : "–";
}
