/** Words of the heat map, its axes and legend. */

export const words = {
  title: "Heat map",
  about: "A row for each query, a column for each key: the stronger the colour, the larger the weight.",
  map: (stack: string, layer: number, kind: string) =>
    `${stack === "encoder" ? "Encoder" : stack === "decoder" ? "Decoder" : stack} layer ${layer}, ${
      kind === "cross" ? "cross-attention" : "self-attention"
    }`,
  step: (step: number) => `step ${step}`,
  head: (head: number) => `head ${head}`,
  layerMean: (heads: number) => `mean of ${heads} heads`,
  modelMean: "mean of all layers",
  queries: "Queries",
  keys: "Keys",
  query: "query",
  written: "written",
  entered: "entered",
  key: "key",
  colours: "Full colour at",
  absolute: "1",
  perMap: "map maximum",
  perRow: "row maximum",
  absoluteHint: "the last colour is a weight of 1",
  perMapHint: "the last colour is the largest weight in the map (of long maps: in view)",
  perRowHint: "the last colour is the largest weight of each row",
  signed: (most: string) => `signed values, blue below zero and red above, full colour at ± ${most}`,
  extreme: "value farthest from zero",
  pool: "Pixels",
  mean: "mean",
  max: "maximum",
  leave: "Leave out",
  leaveNone: "nothing",
  leaveFirst: "first key",
  leaveSpecial: "special keys",
  masked: "masked: cannot be seen",
  leftOut: "left out",
  root: "square-root scale",
  signs: "blue: below zero, red: above zero; the stronger the colour, the farther from zero",
  rowShare: "share of the row’s largest weight",
  legend: (top: string, signed: boolean) =>
    `Colours from ${signed ? `minus ${top}` : 0} to ${top} on a square-root scale.`,
  pixel: (side: number, how: string) => `one pixel: ${how} of ${side} × ${side} weights`,
  coming: (count: number) => (count === 1 ? "1 tile on its way" : `${count} tiles on their way`),
  tileFailed: (why: string) => `A part could not be loaded and is asked for again: ${why}`,
  coarseAverage:
    "Averages of texts longer than 1,024 tokens are shown as a coarse picture. Choose one head to zoom in.",
  coarseStatistics:
    "Only statistics were kept of this map, so this is its coarse picture. Record it with its weights to zoom in.",
  nothing:
    "Point at a cell to read its value; click or press Enter to select it. Ctrl and the wheel zoom, dragging moves the map.",
  exactly: "exact",
  nearly: "about, exact value on its way",
  drawn: "about, as drawn",
  maskedCell: "masked",
  pooled: (side: number, how: string, value: string) => `${how} of ${side} × ${side} here ≈ ${value}`,
  said: (query: string, key: string, value: string) => `${query} looks at ${key}: ${value}`,
  plot: (map: string) =>
    `Heat map of ${map}. Arrow keys move the crosshair, with Shift the map; plus and minus zoom, 0 shows all; Enter selects, Escape clears.`,
  caption: (model: string, queries: number, keys: number) =>
    `${model}: ${queries} queries (rows) × ${keys} keys (columns).`,
  part: (q0: number, q1: number, k0: number, k1: number) =>
    `Queries ${q0}–${q1} and keys ${k0}–${k1} are shown.`,
  scaleCaption: (which: string, left: string) => `Colour: ${which}, square-root scale${left}.`,
  leftCaption: (what: string) => `, ${what} left out`,
  tableCaption: (map: string, signed: boolean) =>
    `${signed ? "Signed values" : "Attention weights"} of ${map}, around the selection`,
};
