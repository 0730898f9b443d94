/** Words of the embeddings view. */

export const words = {
  title: "Embeddings",
  about:
    "Tokens as points: input embeddings, output embeddings and every layer in between, on a plane or as distributions.",
  as: "Show as",
  points: "Points",
  distributions: "Distributions",
  by: "Plane",
  pca: "PCA",
  umap: "UMAP",
  layer: "Layer",
  input: "Input embeddings",
  output: "Output embeddings",
  play: "Play the layers",
  stop: "Stop",
  axis: (number: number, share: string) => `PC${number}: ${share} of the variance`,
  umapNote:
    "UMAP keeps neighbours together; distances between groups, and directions, mean nothing. 15 neighbours, seeded.",
  pcaNote:
    "Exact principal components of the tokens shown; turned so that points move as little as possible between layers.",
  working: "Computing the plane …",
  shown: (first: string, last: string, count: string) => `Tokens ${first}–${last} of ${count} are shown.`,
  from: "From token",
  plot: "Tokens as points. Arrow keys go from token to token, plus and minus zoom.",
  position: "position in the text",
  nearest: "Nearest tokens",
  nearestMeans: "by the cosine of the angle between states, in all dimensions",
  pick: "Point at a token, or click one, to see it in its context and its nearest neighbours.",
  values: "Values",
  norms: "Norms of tokens",
  valueAxis: "value of a dimension",
  normAxis: "length of a token's state",
  allLayers: "All layers",
  moments: (count: string, mean: string, deviation: string) =>
    `${count} numbers, mean ${mean}, deviation ${deviation}`,
  columnX: "x",
  columnY: "y",
  one: "A single token is a single point.",
};
