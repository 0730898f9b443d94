/** Words for training runs that several views share. */

const STATES: Readonly<Record<string, string>> = {
  running: "running",
  killed: "killed",
  finished: "finished",
  stopped: "stopped",
  failed: "failed",
};

export const words = {
  state: (name: string) => STATES[name] ?? name,
  step: "step",
  stepIs: (step: string) => `Step ${step}`,
  steps: (first: string, last: string) => (first === last ? `Step ${first}` : `Steps ${first}–${last}`),
  alarms: "Alarms",
  noAlarms: "No alarm so far.",
  open: "still open",
  passed: (step: string) => `passed at step ${step}`,
  headsOf: (map: string, heads: string) => (heads === "" ? map : `${map}: ${heads}`),
  openHeads: "Show these heads at this step",
};
