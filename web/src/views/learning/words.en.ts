/** Words of the view of heads in training. */

const STATISTICS: Readonly<Record<string, readonly [name: string, meaning: string]>> = {
  entropy: ["Entropy", "Mean entropy of the rows, in nats: 0 where all weight lies on one key."],
  entropy_share: [
    "Entropy share",
    "Entropy as a share of its largest possible value: 1 is uniform attention.",
  ],
  peak: ["Largest weight", "Mean of the largest weight of each row."],
  sink: ["Weight on the first key", "Mean weight on the first key: an attention sink has much there."],
  distance: ["Distance", "Mean distance from query to key, in tokens, by weight."],
  induction: ["Induction", "Mean weight on the token that followed the last occurrence of the same token."],
  score: [
    "Largest score",
    "Largest absolute score of an allowed key, before softmax (in logs of version 0.1).",
  ],
  spread: ["Spread of scores", "Largest score less the smallest of a row, before softmax; mean over rows."],
  contribution: ["Contribution", "Mean length of what the head adds to the residual stream."],
  likeness: [
    "Likeness",
    "Cosine of its pattern, less an even one, with that of the most similar head of the same map.",
  ],
  twin: ["Most similar head", "The number of the head of the same map that is most similar."],
};

export const words = {
  title: "Heads in training",
  about: "Every head at every look of the monitor: where attention becomes sharp, dies or turns into a copy.",
  statistic: "Statistic",
  statisticName: (name: string) => STATISTICS[name]?.[0] ?? name,
  meaning: (name: string) => STATISTICS[name]?.[1] ?? "",
  run: "Run",
  grid: "Heads by steps. Arrow keys move from head to head and from step to step.",
  cell: (head: string, step: string, value: string) => `${head}, step ${step}: ${value}`,
  curve: (statistic: string, map: string) => `${statistic} · ${map}`,
  alarms: "Alarms about heads",
  form: "Shown as",
  asCells: "Heat map",
  asCurves: "Small curves",
  allSteps: "All steps",
  loading: "Loading the heads …",
  noHeads: "The monitor has not looked at the heads of this run. Set `monitor.every` in the recipe.",
  watch: "Click, then Enter: its attention at the nearest recorded step",
  none: "not defined",
};
