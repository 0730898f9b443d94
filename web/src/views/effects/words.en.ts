/** Words of the effects view. */

export const words = {
  title: "Effects",
  about: "What each head, layer and edge does to a word that the model could write.",
  position: "After",
  at: "At",
  word: "Word",
  against: "Against",
  label: "Class",
  alone: "nothing: its log-probability",
  other: "another word …",
  typed: "Type one token; most begin with a blank.",
  apply: "Use this word",
  own: (word: string) => `${word}: the text itself`,
  measure: "Measure",
  stop: "Stop",
  intro:
    "Choose a word that the model could write, or press Measure: every head is silenced in turn, and the change of the word's log-probability is shown. With a word to compare with, it is the change of the difference of their logits.",
  introClass:
    "Choose a class, or press Measure: every head is silenced in turn, and the change of the class's probability is shown.",
  loading: "Reading the text …",
  estimating: "Estimating …",
  confirming: (done: number, all: number) => `Confirmed by real passes: ${done} of ${all} heads.`,
  complete: (count: number) => `All ${count} heads are confirmed by a real pass each.`,
  stopped: (done: number, all: number) =>
    `Stopped. ${done} of ${all} heads are confirmed, the others are estimates.`,
  edited: "The model is edited already: effects are measured on top of its edits, without estimates.",
  noModel: "Effects need the model; there is none behind this page. Start it with `glassformer serve`.",
  noRequest:
    "It is not known how this recording was made, so its model cannot run again. Run the text under Input.",
  branchEdits:
    "Heads were blocked while this branch was written. Effects would be those of the model without these blocks, so they are not measured. Open a branch without them.",
  tooLong: (most: number) => `Effects are measured for texts of at most ${most} tokens.`,
  baseline: (outcome: string, value: string) => `Without edits: ${outcome} = ${value}.`,
  editedBaseline: (outcome: string, value: string) =>
    `With the edits of this recording: ${outcome} = ${value}.`,
  legend: "Change of the outcome without the head",
  legendHint:
    "Blue: the outcome falls without it, so it works for the word. Red: it rises, so it works against it.",
  estimated: "hatched: estimate, from one backward pass",
  confirmed: "plain: confirmed by a real pass",
  beyond: "framed: beyond the range of the colours, which is that of single heads",
  layerColumn: "all",
  layerRow: (layer: number) => `Layer ${layer}`,
  cell: (name: string, value: string, confirmed: boolean) =>
    `${name}: ${value} (${confirmed ? "real pass" : "estimate"})`,
  wholeLayer: (map: string) => `${map}, all heads`,
  both: (measured: string, estimate: string) => `real pass ${measured}, estimate ${estimate}`,
  onlyEstimate: (estimate: string) => `estimate ${estimate}, not confirmed`,
  onlyMeasured: (measured: string) => `real pass ${measured}`,
  edges: (count: number) => `The ${count} edges with the largest estimates`,
  edgesHint:
    "An edge is one token looking at another in one head. Each of these was cut in a real pass; edges with smaller estimates were not. Cutting it changes the outcome by:",
  cross: "Cross",
  edge: (query: string, key: string) => `${query} → ${key}`,
  everyEdge: "Estimates of every edge in:",
  overview: "Overview",
  heatmap: "Heat map",
  lines: "Lines",
  text: "Text",
  columns: { estimate: "estimate", measured: "real pass", query: "query", key: "key" },
  captionMark:
    "Hatched cells are estimates from one backward pass; the others are real passes without the head.",
};
