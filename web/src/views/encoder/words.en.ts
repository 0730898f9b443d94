/** Words of the encoder view. */

export const words = {
  title: "Encoder",
  about:
    "Every token after every layer, coloured by how much the layer changed it, by its norm, or by one neuron.",
  by: "Colour by",
  norm: "Norm",
  normMeans: "The length of a token's hidden state.",
  change: "Change",
  changeMeans: "How far the hidden state moved in a layer; embeddings have no layer before them.",
  neuron: "Neuron",
  neuronMeans: (neuron: number) => `The value of dimension ${neuron} of the hidden state.`,
  neuronNumber: "Number",
  range: "Colours",
  eachLayer: "Each layer",
  allLayers: "All layers",
  eachMeans:
    "In each layer, colours go from its smallest to its largest value; the bar is that of the layer in focus.",
  allMeans: "One scale of colours for all layers.",
  scale: "Scale",
  linear: "Linear",
  logarithmic: "Logarithmic",
  layers: "Layers passed (0: embeddings)",
  grid: "Activation of each token after each layer. Arrow keys move; Enter focuses the token.",
  profile: "Along the layers",
  median: "median of all tokens",
  band: "middle 80 %",
  readout: (token: string, index: string, layers: string, value: string) =>
    `${token} (${index}), ${layers}: ${value}`,
  idle: "Point at a cell to read its value; click to focus the token.",
  undefined: "undefined",
  loading: "Loading activations …",
  whole: "whole text, mean of neighbouring tokens",
  columnLayer: (layer: number) => `layer ${layer}`,
};
