/** Topics and plays made up for tests. */

import type { PlayFigure, PlayParameter, PlayResult, PlayTopic } from "../api/types";

export const word = (text: string) => ({ code: `testing.${text}`, parameters: {}, default: text });

export function aParameter(name: string, change: Partial<PlayParameter> = {}): PlayParameter {
  return {
    name,
    label: word(name),
    kind: "integer",
    default: 0,
    minimum: null,
    maximum: null,
    step: null,
    choices: [],
    max_length: null,
    needs: {},
    by_language: {},
    ...change,
  };
}

export function aTopic(name: string, parameters: readonly PlayParameter[], streams = false): PlayTopic {
  return {
    name,
    title: word(`Title of ${name}`),
    question: word("A question?"),
    change: word("A slider."),
    see: word("A picture."),
    why: word("A reason."),
    parameters,
    streams,
    measured: false,
    formula: null,
  };
}

export function aPlay(topic: string, figures: readonly PlayFigure[], found = "Found."): PlayResult {
  return { topic, parameters: {}, found: word(found), figures, ranges: {}, model: null, seconds: 0.01 };
}

/** One figure of each kind. */
export const figures: readonly PlayFigure[] = [
  {
    kind: "matrix",
    id: "weights",
    title: word("Weights"),
    note: null,
    rows: { title: word("query"), labels: ["a", "b"] },
    columns: { title: word("key"), labels: ["0", "1", "2"] },
    values: [
      [0.25, 0.75, null],
      [0.5, 0.125, 0.375],
    ],
    scale: "sequential",
    low: 0,
    high: 1,
    mark: [[0, 1]],
  },
  {
    kind: "bars",
    id: "shares",
    title: word("Shares"),
    note: word("A note."),
    labels: ["x", "y"],
    label_title: null,
    value_title: word("share"),
    series: [
      { name: word("plain"), values: [0.5, -0.25], dashed: false },
      { name: word("scaled"), values: [0.1, null], dashed: true },
    ],
    high: 1,
  },
  {
    kind: "lines",
    id: "loss",
    title: word("Loss"),
    note: null,
    x: [0, 1, 2],
    x_title: word("step"),
    y_title: word("loss"),
    x_scale: "linear",
    y_scale: "linear",
    series: [{ name: word("loss"), values: [2, 1, 0.5], dashed: false }],
    mark: null,
  },
  {
    kind: "points",
    id: "circle",
    title: word("Circle"),
    note: null,
    arrows: [
      { label: "0", x: 1, y: 0, group: 0 },
      { label: "1", x: 0, y: 1, group: 1 },
    ],
    groups: [word("before"), word("after")],
    reach: 1,
  },
  {
    kind: "table",
    id: "table",
    title: word("Table"),
    note: null,
    columns: [word("key"), word("weight")],
    rows: [
      ["段誉的生父", 0.75],
      [word("other"), null],
    ],
    marked: [0],
  },
  {
    kind: "numbers",
    id: "numbers",
    title: word("Numbers"),
    note: null,
    items: [{ name: word("entropy"), value: 1.5, unit: "nats", good: true }],
  },
];
