/** What hosts say: why there is no answer. */

export const words = {
  notInFile:
    "This file was exported without these numbers. Export it again with more (hidden, vectors, exact), or open the recording in Glassformer.",
  unreachable: "The server does not answer. Trying again …",
  answered: (status: number) => `The server answered ${status}.`,
  unreadable: "The server's answer could not be read: it was cut off or is damaged. Try again.",
  unexpected: (details: string) => `Unexpected error: ${details}`,
  noSameMap: (place: string) =>
    `The second run has no attention map at ${place}, so the two cannot be compared.`,
  noGif: "This browser could not draw the GIF; save the steps one by one as SVG.",
  lost: "The result was lost on the way.",
  noCanvas: "This browser could not draw the PNG; save as SVG.",
  noRuns: "This file has no training runs.",
  noModel:
    "This view runs the model, which a file does not have. Open the recording with `glassformer serve`.",
  noAtlas: "This file has no atlas.",
  noPlayground: "The playground computes, which a file cannot: start glassformer, and open Playground there.",
  canvasLeftOut:
    "This file has no hidden states, and three of the four panels show them. Export the recording again with hidden states (`hidden=True`); the heat map shows the attention weights.",
  leftOutOfRun:
    "A file of a training run leaves this view out, to stay small. Open the run with `glassformer serve` to see it.",
  noWalk:
    "The walk shows the numbers of every step, which this recording did not keep. Record with `want` trace and export again.",
};
