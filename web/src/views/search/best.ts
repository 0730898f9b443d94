/**
 * The best configuration of a search: beside the recipe's own, with its evidence, and what can be opened of it.
 *
 * In:   a search; what is known of the attention of its best trial.
 * Out:  a section of the view.
 */

import type { SearchDescription } from "../../api/types";
import { count } from "../../core/formats";
import { button } from "../../marks/controls";
import { make } from "../../marks/make";
import type { BestAttention } from "./attention";
import { drawTable, findTrial, type Shown, writeEstimate, writeValue } from "./parts";

export function describeBest(shown: Shown): string {
  const { search, say } = shown;
  const { name } = search.objectives[0]!;
  const best = findTrial(search, search.best_trial);
  return best ? say.bestOf(String(best.number), name, writeEstimate(shown, best.values[name])) : "";
}

export function drawBest(shown: Shown, attention: BestAttention): HTMLElement {
  const { search, say } = shown;
  const best = findTrial(search, search.best_trial);
  if (!best) return make("section", { hidden: true });
  const rows = search.parameters.map(({ name, own }) => {
    const [value, before] = [best.parameters[name] ?? own, own].map((each) => writeValue(say, each));
    return { cells: [name, value!, before!], changed: value !== before };
  });
  return make(
    "section",
    { class: "best" },
    make("h3", {}, say.best),
    make("p", {}, make("strong", {}, describeBest(shown))),
    make(
      "div",
      { class: "pair" },
      drawTable([say.setting, say.bestValue, say.ownValue], rows),
      make("div", {}, ...drawEvidence(shown), drawActions(shown, attention)),
    ),
  );
}

/** Why to believe that it is the best. */
function drawEvidence(shown: Shown): HTMLElement[] {
  const { search, say } = shown;
  const [best, own] = search.confirmed;
  const title = make("h4", {}, say.evidence);
  if (!best || !own) {
    const single = (findTrial(search, search.best_trial)?.runs.length ?? 0) < 2;
    return single ? [title, make("p", { class: "note" }, say.oneSeed)] : [];
  }
  const rows = Object.keys(search.gains).map((name) => {
    const found = [best.values[name], own.values[name], search.gains[name]];
    return { cells: [nameMeasure(shown, name), ...found.map((each) => writeEstimate(shown, each))] };
  });
  const diverged = [best, own]
    .filter((each) => each.diverged > 0)
    .map((each) => {
      const numbers = [each.trial, each.diverged, each.runs.length].map(count);
      return make("p", { class: "note" }, say.diverged(numbers[0]!, numbers[1]!, numbers[2]!));
    });
  if (diverged.length > 0) return [title, ...diverged]; // means without the worst runs would mislead
  return [
    title,
    make("p", {}, say.confirmed(count(best.runs.length))),
    drawTable([say.measure, say.bestValue, say.ownValue, say.difference], rows),
  ];
}

/** "test_loss" in words; the names of scores themselves stay. */
function nameMeasure({ search, say }: Shown, name: string): string {
  const known = new Set(["parameters", "seconds", "tokens", ...search.objectives.map((each) => each.name)]);
  const [split, ...rest] = name.split("_");
  return known.has(name) || rest.length === 0 ? name : say.tested(split!, rest.join("_"));
}

/** Buttons for its attention and its runs, and its recipe. */
function drawActions(shown: Shown, attention: BestAttention): HTMLElement {
  const { search, say } = shown;
  const recipe =
    search.best_recipe !== "" &&
    make(
      "details",
      { "data-key": "recipe" },
      make("summary", { "data-key": "recipe summary" }, say.showRecipe),
      make("pre", { tabindex: 0, "data-key": "recipe text" }, search.best_recipe),
    );
  const openers = search.shipped
    ? [make("p", { class: "note" }, say.runsElsewhere)]
    : [...attention.draw(), ...drawOpeners(shown, search)];
  return make("div", { class: "actions" }, ...openers, recipe);
}

function drawOpeners({ say, open }: Shown, search: SearchDescription): HTMLElement[] {
  const opener = (run: string, label: string): HTMLElement => {
    const made = button(label, () => open(run));
    made.dataset.key = `open ${run}`;
    return made;
  };
  const best = findTrial(search, search.best_trial)?.runs[0]?.run;
  const own = findTrial(search, search.baseline_trial)?.runs[0]?.run;
  return [
    ...(best ? [opener(best, say.openRun)] : []),
    ...(own && own !== best ? [opener(own, say.openOwn)] : []),
  ];
}
