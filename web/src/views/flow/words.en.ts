/** Words of the flow view. */

export const words = {
  title: "Flow",
  about: "Rollout: where the information of a token at the top came from, through the layers.",
  input: "input",
  layer: (layer: number) => String(layer),
  afterLayer: (layer: number) => `after layer ${layer}`,
  atInput: "in the input",
  inputs: "Input tokens",
  tops: "Tokens after the last layer",
  idle: (token: string, index: number) => `${token} (${index}) at the top comes from these input tokens:`,
  share: (token: string, index: number, where: string, share: string) =>
    `${token} (${index}) ${where}: ${share}`,
  through: (token: string, index: number, share: string) =>
    `${share} come from ${token} (${index}) of the input; the part of each band in the stronger colour.`,
  note: (share: string, least: string) =>
    `Residual connection 0.5. Bands below ${least} are not drawn (at most ${share} of a layer).`,
  loading: "Loading layers …",
  noMaps:
    "This recording has no whole self-attention map. A recurrent network has none; of any other, record a whole text, with `want` weights.",
  noWeights: "Some self-attention maps of this recording have no weights. Record with `want` weights.",
  gaps: "Not every layer was recorded, so attention cannot be followed down to the input. Record every layer.",
  tooLong: (count: string, most: string) =>
    `The text has ${count} tokens; rollout multiplies whole matrices and is drawn up to ${most}. Record a part of the text.`,
  caption: (token: string, index: number) =>
    `Rollout of ${token} (${index}): the width of a band is the share of its information that goes that way.`,
  columnPlane: (layer: number) => `after layer ${layer}`,
  columnInput: "input",
};
