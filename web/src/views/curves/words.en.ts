/** Words of the curves view. */

const CHARTS: Readonly<Record<string, string>> = {
  loss: "Loss",
  norm: "Gradient norm",
  rate: "Learning rate",
  throughput: "Tokens per second",
  memory: "Memory, MB",
  accuracy: "Accuracy",
  perplexity: "Perplexity",
  bleu: "BLEU",
};
const STATES: Readonly<Record<string, string>> = {
  running: "running",
  killed: "killed",
  finished: "finished",
  stopped: "stopped",
  failed: "failed",
};
const SPLITS: Readonly<Record<string, string>> = { train: "train", dev: "dev", test: "test" };

export const words = {
  title: "Training curves",
  about:
    "Loss, scores, learning rate and gradient norm over the steps of one or several runs, with their alarms.",
  smoothing: "Smoothing",
  smoothed: (kept: string) => (kept === "0" ? "off" : kept),
  logY: "Log values",
  logX: "Log steps",
  step: "step",
  stepIs: (step: string) => `Step ${step}`,
  chart: (name: string) => CHARTS[name] ?? name,
  split: (name: string) => SPLITS[name] ?? name,
  state: (name: string) => STATES[name] ?? name,
  run: (state: string, step: string) => `${state}, step ${step}`,
  charts: "Curves. Arrow keys move the step in focus; plus and minus zoom; 0 shows all steps.",
  events: "Alarms and events",
  alarm: "Alarm",
  openHeads: "Show the heads of this map",
  noAlarms: "No alarm so far.",
  recipe: "Recipe",
  environment: "Machine and versions",
  differences: "Settings that differ",
  setting: "Setting",
  thinned:
    "This log has more points than are drawn: each stretch of steps is drawn by its least and its largest value.",
  damaged: (lines: string) => `${lines} lines of the log could not be read and are left out.`,
  noCurves:
    "Nothing was logged yet. The page follows the run and shows the first numbers when they are there.",
  none: "–",
};
