/** Words of the curves view. */

const CHARTS: Readonly<Record<string, string>> = {
  loss: "Loss",
  norm: "Gradient norm",
  norm_by_layer: "Gradient norm by layer",
  rate: "Learning rate",
  throughput: "Tokens per second",
  memory: "Memory, MB",
  accuracy: "Accuracy",
  macro_f1: "F1, mean of the labels",
  f1_by_layer: "F1 by label",
  span_f1: "F1 of whole names",
  span_precision: "Precision of whole names",
  span_recall: "Recall of whole names",
  relation_accuracy: "Accuracy of the second task",
  perplexity: "Perplexity",
  bits_per_byte: "Bits per byte",
  mse: "Mean squared error",
  mae: "Mean absolute error",
  pearson: "Pearson correlation",
  spearman: "Spearman correlation",
  bleu: "BLEU",
  chrf: "chrF",
};
const SPLITS: Readonly<Record<string, string>> = {
  train: "train",
  dev: "dev",
  test: "test",
  averaged: "averaged weights",
};

export const words = {
  title: "Training curves",
  about:
    "Loss, scores, learning rate and gradient norm over the steps of one or several runs, with their alarms.",
  smoothing: "Smoothing",
  smoothed: (kept: string) => (kept === "0" ? "off" : kept),
  logY: "Log values",
  logX: "Log steps",
  allSteps: "All steps",
  chart: (name: string) => CHARTS[name] ?? name,
  split: (name: string) => SPLITS[name] ?? name,
  atStep: (step: string) => `at step ${step}`,
  charts:
    "Curves. Arrow keys move the step in focus; plus and minus zoom; 0 shows all steps; N and P go to the next and previous alarm.",
  howToZoom: "Drag over a chart to zoom in; Ctrl and the wheel zoom, too; a double click shows all steps.",
  alarmCount: (alarms: string) => (alarms === "1" ? "1 alarm" : `${alarms} alarms`),
  best: (name: string, value: string) => `best ${name} ${value}`,
  leave: "Leave out this run",
  events: "Events",
  recipe: "Recipe",
  environment: "Machine and versions",
  data: "Data",
  dataTable: {
    columns: {
      split: "split",
      examples: "examples",
      tokens: "tokens",
      lengths: "tokens of an example: least / median / most",
      classes: "classes",
    },
    overlap: (split: string, other: string, rows: string, share: string) =>
      `${rows} rows of ${split} (${share}) are also in ${other}.`,
    epochs: (epochs: string) => `The run reads the training data ${epochs} times.`,
    vocabulary: (size: string) => `Vocabulary: ${size} tokens.`,
  },
  samples: "Samples",
  evaluation: "Evaluation",
  sampleInput: "text",
  sampleOutput: "what the network makes of it",
  sampleWanted: "wanted",
  differences: "Settings that differ",
  same: "The recipes do not differ.",
  setting: "Setting",
  loading: "Loading the curves …",
  damaged: (lines: string) =>
    lines === "1"
      ? "1 line of the log could not be read and is left out."
      : `${lines} lines of the log could not be read and are left out.`,
  noCurves:
    "Nothing was logged yet. The page follows the run and shows the first numbers when they are there.",
  none: "–",
  columns: { run: "run", curve: "curve", split: "split", value: "value", low: "lowest", high: "highest" },
  steps: (steps: string) => `${steps} steps`,
};
