/** Words of the patching view. */

export const words = {
  title: "Patching",
  about: "Which vectors carry the answer: those of one sentence, put into another.",
  clean: "Clean text",
  corrupted: "Corrupted text",
  answer: "Answer",
  other: "Other answer",
  label: "Class",
  typed: "One token; most begin with a blank.",
  position: "Position",
  part: "Patch",
  residual: "residual stream",
  feed_forward: "feed-forward output",
  heads: "heads",
  measure: "Measure",
  stop: "Stop",
  example: "Use this example",
  exampleHint: "For example (texts and answers):",
  intro:
    "Give a clean text, a corrupted one with the same number of tokens, and the two answers. The model reads the corrupted text; at one place at a time its vector is replaced by that of the clean text. What restores the clean answer carries it.",
  missing: "Fill in both texts and both answers.",
  missingClass: "Fill in both texts and the class.",
  running: "The model is running …",
  progress: (done: number, all: number) => `Layer ${done} of ${all} …`,
  baselines: (outcome: string, clean: string, corrupted: string) =>
    `Outcome: ${outcome}. It is ${clean} for the clean text and ${corrupted} for the corrupted one.`,
  equal: "Both texts are the same, so there is nothing to restore. Change a word of the corrupted text.",
  same: "Both texts have the same outcome, so there is nothing to restore. Choose other texts or answers.",
  noText:
    "Patching puts vectors of one text into another. What a patch of a picture or a moment of a sound does is seen by cutting it out, under Picture and Sound.",
  noModel: "Patching needs the model; there is none behind this page. Start it with `glassformer serve`.",
  noRequest:
    "It is not known how this recording was made, so its model cannot run again. Run the text under Input.",
  legend: "Share of the answer that is restored",
  legendHint:
    "(patched − corrupted) / (clean − corrupted): 0 is the outcome of the corrupted text, 1 that of the clean one.",
  map: "Layer by token: share of the answer that is restored",
  mapOfHeads: "Layer by head: share of the answer that is restored",
  layer: (layer: number) => `Layer ${layer}`,
  head: (head: number) => `head ${head}`,
  changed: (clean: string, corrupted: string) => `${clean} / ${corrupted}`,
  cell: (layer: number, what: string, share: string, value: string) =>
    `Layer ${layer}, ${what}: ${share} restored (outcome ${value})`,
  columns: {
    layer: "layer",
    token: "token",
    head: "head",
    clean: "clean",
    corrupted: "corrupted",
    value: "outcome",
    share: "restored",
  },
};
