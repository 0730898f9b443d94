/** Words for what is in focus: maps, heads, layers; shared by views that show numbers. */

export const words = {
  mapName: (stack: string, layer: number, cross: boolean) =>
    `${stack === "encoder" ? "Encoder" : stack === "decoder" ? "Decoder" : stack}, layer ${layer}, ${cross ? "cross-attention" : "self-attention"}`,
  familyName: (stack: string, cross: boolean) =>
    `${stack === "encoder" ? "Encoder" : stack === "decoder" ? "Decoder" : stack} ${cross ? "cross-attention" : "self-attention"}`,
  stackName: (stack: string) => (stack === "encoder" ? "Encoder" : stack === "decoder" ? "Decoder" : stack),
  step: (step: number) => `, step ${step}`,
  head: (head: number) => `head ${head}`,
  headOf: (map: string, head: number) => `${map}, head ${head}`,
  allHeads: "all heads",
  stack: "Stack",
  afterLayers: (layers: number) =>
    layers === 0 ? "embeddings" : layers === 1 ? "after 1 layer" : `after ${layers} layers`,
  states: "hidden states",
  tokensOf: (first: string, last: string, count: string) => `tokens ${first}–${last} of ${count}`,
  betweenSentences: " ",
  copied: "Copied.",
  notCopied: "The clipboard is not open to this page; use Save instead.",
  noMaps: "This recording has no attention maps. Record again with `want` weights.",
  withoutAttention: "Walk shows every step of what it computes instead, Generation the words that it wrote.",
  signed:
    "This recording has maps of signed values (differences, attributions); this view needs attention weights. Open the heat map, the lines, the text or the overview.",
  noHidden:
    "This recording has no hidden states. Record again with hidden states: want=('weights', 'output', 'hidden'), in a terminal --want weights,output,hidden.",
  position: "position",
  token: "token",
  stackColumn: "stack",
  kindColumn: "attention",
  layerColumn: "layer",
  headColumn: "head",
  source: "Source",
  target: "Target",
  part: "Another part",
  picture: "Picture",
  sound: "Sound",
  caption: "Caption",
  transcript: "Transcript",
  beingWritten: (side: string) => `${side}, being written`,
  families: (family: string) =>
    (
      ({
        sparsity: "Sparsity",
        entropy: "Entropy",
        distance: "Distance",
        positions: "Positions",
        repeats: "Repeats",
        similarity: "Similarity of heads",
        sinks: "Sinks",
        alignment: "Alignment",
        words: "Words",
        linkage: "Linkage",
        dependencies: "Dependencies",
      }) as Readonly<Record<string, string>>
    )[family] ?? family,
};
