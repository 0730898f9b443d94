/** Words of the playground; what belongs to a topic comes with it from the server. */

export const words = {
  title: "Playground",
  about:
    "Small pages, each with one thing to change and one thing to see, computed live by this project's own code.",
  topics: "Topics",
  change: "Change",
  see: "See",
  why: "Why it matters",
  none: "nothing: masked or undefined",
  figure: "figure",
  keys: "Arrow keys move from number to number.",
  computing: "Computing…",
  starting: "Starting the models; the first answer takes a few seconds.",
  train: "Train it now",
  trainAgain: "Train again",
  stop: "Stop",
  training: (step: number, loss: string) => `Step ${step}, loss ${loss}`,
  waiting: "Waiting for a free place…",
  stopped: (step: number) => `Stopped after step ${step}.`,
  trained: (step: number) => `Trained: ${step} steps.`,
  tryAgain: "Try again",
  waitsForModel: "A model is running. This is computed as soon as it has ended.",
  computeAgain: "Compute again",
  computed: (model: string, seconds: string) => `Computed with ${model} in ${seconds} s.`,
  computedPlain: (seconds: string) => `Answered in ${seconds} s by the project's own code.`,
  shipped: "Computed beforehand by the project's own code.",
  shippedWith: (model: string) => `Computed beforehand with ${model}.`,
  noServer:
    "This page has no models behind it (a saved file or a notebook), so nothing can be computed here.",
  noServerHint: "Open Glassformer with “glassformer” in a terminal to play with it.",
  onlyDefaults:
    "Without a model behind the page there are only the first settings of each topic. Open Glassformer with “glassformer” in a terminal to change them.",
  measured: "These numbers are measured on the spot, on the machine behind the page; here there is none.",
  tableColumns: "figure|of|at|value",
};
