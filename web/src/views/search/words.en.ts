/** Words of the view of searches. */

const STATES: Readonly<Record<string, string>> = {
  running: "running",
  complete: "complete",
  pruned: "pruned",
  infeasible: "not possible",
  failed: "failed",
  finished: "finished",
  stopped: "stopped",
};

export const words = {
  title: "Searches",
  about:
    "Searches for the best configuration: every trial, what mattered, and the best one with its evidence.",
  choose: "Search",
  example: (id: string) => `${id} (example)`,
  state: (name: string) => STATES[name] ?? name,
  head: (state: string, trained: string, wanted: string, minutes: string) =>
    `${state}: ${trained} of ${wanted} configurations trained in ${minutes} minutes.`,
  best: "Best attention configuration",
  bestOf: (trial: string, name: string, value: string) => `Trial ${trial}, ${name} ${value}`,
  setting: "Setting",
  bestValue: "Best",
  ownValue: "Recipe",
  evidence: "Evidence",
  confirmed: (seeds: string) => `Both were trained again with ${seeds} new seeds each (95 % intervals):`,
  diverged: (trial: string, bad: string, all: string) =>
    `Trial ${trial}: ${bad} of ${all} confirming runs diverged. The configuration is not safe, whatever the mean of its other runs.`,
  oneSeed: "Each configuration was trained once: a small difference may be chance.",
  measure: "Measure",
  difference: "Difference",
  interval: (mean: string, half: string) => `${mean} ± ${half}`,
  attention: "Its attention",
  runningModel: "Running its checkpoint …",
  noCheckpoint: "Its run kept no recording and no checkpoint: there is no attention to show.",
  noModels:
    "Its run made no recordings. Its checkpoint can be run where the server runs models (without --no-models).",
  runGone: "Its run is not on this machine any more.",
  openRun: "Open its run",
  openOwn: "Open the recipe's own run",
  showRecipe: "Its recipe",
  runsElsewhere: "This is an example: its runs are not on this machine.",
  history: "Trials in order, and the best so far",
  front: (first: string, second: string) =>
    `${first} against ${second}: no trial is better in both than those on the line`,
  importance: (name: string) => `What matters for ${name}`,
  importanceNote: "Share of what separates the best trials from the others (PED-ANOVA).",
  parallel: "All settings of all trials",
  parallelHelp:
    "Each line is a trial; the best are at the top of the last axis. Drag along an axis to keep the trials that pass there. Keys on an axis: up and down move the choice, Escape clears it.",
  axis: (name: string, from: string, to: string) => `${name}, from ${from} to ${to}`,
  range: (from: string, to: string) => `from ${from} to ${to} of the axis`,
  wholeRange: "the whole axis",
  kept: (kept: string, all: string) => `${kept} of ${all} trials`,
  clear: "Keep all",
  trials: "Trials",
  trial: "Trial",
  stateColumn: "State",
  reason: "Why",
  own: "recipe",
  open: (run: string) => `Open the run ${run}`,
  runsColumn: "Runs",
  none: "There are no searches yet. Start one in a terminal, in the folder where this server was started:",
  notHere: "Searches are shown by a server: start `glassformer serve`.",
  noValue: "–",
  tested: (split: string, name: string) => `${name} on ${split}`,
};
