/** Words of the list of training runs. */

const COLUMNS: Readonly<Record<string, string>> = {
  name: "Run",
  state: "State",
  loss: "Loss",
  score: "Best score",
  steps: "Steps",
  started: "Started",
  time: "Time",
  alarms: "Alarms",
};

export const words = {
  title: "Training runs",
  about: "All training runs of this server: how each stands, its loss, its best score and its alarms.",
  column: (name: string) => COLUMNS[name] ?? name,
  search: "Search runs",
  states: "State",
  anyState: "all",
  found: (shown: string, all: string) => {
    const runs = all === "1" ? "1 run" : `${all} runs`;
    return shown === all ? runs : `${shown} of ${runs}`;
  },
  choose: (run: string) => `Choose ${run}`,
  overlay: (runs: string) => (runs === "1" ? "Open the chosen run" : `Overlay ${runs} runs`),
  clear: "Choose none",
  example: (run: string) => `${run} (example)`,
  more: (runs: string) => `Show ${runs} more`,
  score: (name: string, value: string) => `${name} ${value}`,
  sparkline: (run: string, last: string) => `Loss of ${run}, ${last} at the end`,
  indexing: (share: string) => `reading the log: ${share}`,
  none: "There are no training runs yet. Start one in a terminal, in the folder where this server was started:",
  notHere: "Training runs are shown by a server: start `glassformer serve`.",
  nothingFound: "No run is called so.",
  seconds: (seconds: string) => `${seconds} s`,
  minutes: (minutes: string) => `${minutes} min`,
  hours: (hours: string, minutes: string) => `${hours} h ${minutes} min`,
  days: (days: string, hours: string) => `${days} d ${hours} h`,
  noValue: "–",
};
