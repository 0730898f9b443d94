/** Words of the control for training time. */

export const training = {
  time: "Training",
  stepOf: (step: string, last: string) => `step ${step} of ${last}`,
  beforeFirst: "before the first step",
  play: "Play the training",
  pause: "Pause",
  previous: "Earlier step of training",
  next: "Later step of training",
  text: "Text",
  run: (run: string) => `Run ${run}`,
  runHint: "The curves and heads of this training run",
  watch: "Watch attention being learnt",
  watchHint: (steps: string) => `A text that was recorded at ${steps} steps of this training`,
};
