/**
 * Every trial of a search in a table, sorted by any column.
 *
 * In:   a search; the order and the ranges that are chosen.
 * Out:  a section of the view, and the same rows as plain data.
 */

import type { SearchTrial } from "../../api/types";
import type { TableData } from "../../core/view";
import { make } from "../../marks/make";
import { type Shown, writeEstimate, writeValue } from "./parts";
import { axesOf, meanOf, passes, readBrush, sortTrials } from "./shapes";

/** The column that sorts, and which way: the first objective, the best first, where none was chosen. */
function orderOf({ search, options }: Shown): { readonly column: string; readonly up: boolean } {
  const { sort, up } = options.now;
  const { name, direction } = search.objectives[0]!;
  return sort === "" ? { column: name, up: direction === "minimize" } : { column: sort, up };
}

function sorted(shown: Shown): SearchTrial[] {
  const { search, options } = shown;
  const axes = axesOf(search);
  const ranges = readBrush(options.now.brush);
  const { column, up } = orderOf(shown);
  const rows = sortTrials(
    search.trials.filter((trial) => passes(trial, axes, ranges)),
    column,
    up,
  );
  if (options.now.sort !== "") return rows;
  // pruned trials were measured earlier: they come after those that were trained to the end
  const rank = (trial: SearchTrial): number => Number(trial.state !== "complete");
  return rows.sort((a, b) => rank(a) - rank(b));
}

export function drawTrials(shown: Shown): HTMLElement {
  const { search, say } = shown;
  const names = search.objectives.map(({ name }) => name);
  const settings = search.parameters.map(({ name }) => name);
  const rows = sorted(shown).map((trial) =>
    make(
      "tr",
      { "data-state": trial.state, "data-best": trial.number === search.best_trial },
      make("td", {}, drawNumber(shown, trial)),
      make("td", {}, say.state(trial.state)),
      ...names.map((name) => make("td", {}, writeEstimate(shown, trial.values[name]))),
      ...settings.map((name) => make("td", {}, writeValue(say, trial.parameters[name]))),
      make("td", { class: "reason" }, trial.reason ? shown.text(trial.reason) : ""),
    ),
  );
  const headings = ["trial", "state", ...names, ...settings].map((name) => drawHeading(shown, name));
  const header = make("tr", {}, ...headings, make("th", {}, say.reason));
  return make(
    "section",
    { class: "trials" },
    make("h3", {}, say.trials),
    make(
      "div",
      { class: "scroll", tabindex: 0, "data-key": "trials", role: "region", "aria-label": say.trials },
      make("table", { "aria-label": say.trials }, make("thead", {}, header), make("tbody", {}, ...rows)),
    ),
  );
}

/** The number of a trial; it opens its run where that is here. */
function drawNumber({ search, say, open }: Shown, trial: SearchTrial): HTMLElement {
  const label = `${trial.number}${trial.baseline ? ` (${say.own})` : ""}`;
  const run = trial.runs[0]?.run;
  if (!run || search.shipped) return make("span", {}, label);
  const look = {
    type: "button",
    class: "run-name",
    title: say.open(run),
    "data-key": `trial ${trial.number}`,
  };
  return make("button", { ...look, onclick: () => open(run) }, label);
}

function drawHeading(shown: Shown, name: string): HTMLElement {
  const { say, options } = shown;
  const { column, up } = orderOf(shown);
  const isSorted = column === name;
  const label = name === "trial" ? say.trial : name === "state" ? say.stateColumn : name;
  const sort = (): void => options.set({ sort: name, up: isSorted ? !up : true });
  const sorter = make(
    "button",
    { type: "button", "data-key": `sort ${name}`, onclick: sort },
    label,
    isSorted && make("span", { "aria-hidden": "true" }, up ? " ▲" : " ▼"),
  );
  const order = isSorted ? (up ? "ascending" : "descending") : "none";
  return make("th", { scope: "col", "aria-sort": order }, sorter);
}

/** The same rows as data. */
export function tableOf(shown: Shown): Pick<TableData, "columns" | "rows"> {
  const { search, say } = shown;
  const names = search.objectives.map(({ name }) => name);
  const settings = search.parameters.map(({ name }) => name);
  const rows = sorted(shown).map((trial) => [
    trial.number,
    trial.state,
    ...names.map((name) => meanOf(trial, name)),
    ...settings.map((name) => {
      const value = trial.parameters[name] ?? null;
      return typeof value === "boolean" ? String(value) : value;
    }),
    trial.reason ? shown.text(trial.reason) : null,
    trial.runs.map(({ run }) => run).join(" "),
  ]);
  return { columns: [say.trial, say.stateColumn, ...names, ...settings, say.reason, say.runsColumn], rows };
}
