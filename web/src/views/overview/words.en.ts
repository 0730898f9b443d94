/** Words of the overview. */

export const words = {
  title: "Overview",
  about: "Every attention head of the model at one glance: a small heat map each. Click one to open it.",
  group: (stack: string, kind: string) =>
    `${stack === "encoder" ? "Encoder" : stack === "decoder" ? "Decoder" : stack} · ${
      kind === "cross" ? "cross-attention" : "self-attention"
    }`,
  groupStep: (step: number) => `step ${step}`,
  measure: "Measure",
  noMeasure: "none",
  order: "Order",
  byLayer: "Layers",
  highFirst: "High first",
  lowFirst: "Low first",
  keep: "Show",
  atLeast: "at least",
  atMost: "at most",
  threshold: (measure: string) => `Threshold of ${measure}`,
  shown: (kept: number, all: number) => `${kept} of ${all} heads`,
  colours: "Colours",
  own: "each head",
  shared: "0–1",
  oneScale: "all heads alike",
  pool: "Pixels",
  mean: "mean",
  max: "maximum",
  measuring: "Measuring …",
  head: (layer: number, head: number) => `Layer ${layer}, head ${head}`,
  open: "Click or Enter: open in the heat map",
  undefined: (why: string) => `not defined: ${why}`,
  unknown: "no number",
  list: (count: number) =>
    `${count} attention heads as small heat maps. Arrow keys move, Enter opens the head in the heat map.`,
  axes: "Rows are queries, columns are keys; the stronger the colour, the more attention.",
  signedAxes: "Rows are queries, columns are keys.",
  reach: (top: string) => `All heads share one scale, from −${top} to ${top}.`,
  hidden: "Grey: masked.",
  caption: (model: string, heads: number) =>
    `${model}: ${heads} attention heads; rows are queries, columns keys.`,
  barCaption: (measure: string, low: string, high: string) => `Bars: ${measure}, from ${low} to ${high}.`,
  coloursOwn: "Colours: each head from 0 to its own largest value, square-root scale.",
  coloursShared: "Colours: weights from 0 to 1, square-root scale.",
  signed: "Signed values: blue below zero, red above; sizes without their sign.",
  tableCaption: "Attention heads",
  empty: "No head passes the filter.",
};
