/**
 * The controls of a topic, made from its parameters. The first one is drawn large.
 *
 * In:   a topic, its settings, what to do when one changes.
 * Out:  an element; `set` shows other settings and hides controls without effect, `limit` shortens sliders to what
 *       the text and the model have, and labels their values.
 */

import type { PlayParameter, PlayRange, PlayTopic } from "../../api/types";
import { round } from "../../core/formats";
import type { Message } from "../../core/messages";
import { type Control, choice, list, type Slide, slider, tick, whole } from "../../marks/controls";
import { make, type Text } from "../../marks/make";
import { textWidth } from "../../marks/text";
import { applies, type Settings } from "./settings";

const SEGMENTS = 460; // pixels for choices side by side; wider ones become a list
const MANY = 200; // values of a slider; more are typed

interface TopicControl extends Control<string> {
  limit?(range: PlayRange): void;
}

export class TopicControls {
  readonly element: HTMLElement;
  private readonly controls: readonly (readonly [PlayParameter, TopicControl])[];

  constructor(
    topic: PlayTopic,
    settings: Settings,
    text: (said: Message) => string,
    changed: ((name: string, value: string) => void) | null, // null: nothing can be changed here
  ) {
    this.controls = topic.parameters.map((parameter, at) => {
      const control = makeControl(parameter, settings[parameter.name]!, text, (value) =>
        changed?.(parameter.name, value),
      );
      control.element.classList.toggle("main", at === 0);
      control.element.dataset.parameter = parameter.name;
      return [parameter, control] as const;
    });
    const elements = this.controls.map(([, control]) => control.element);
    this.element = make("fieldset", { class: "play-controls", disabled: changed === null }, ...elements);
    this.set(settings);
  }

  set(settings: Settings): void {
    for (const [parameter, control] of this.controls) {
      control.set(settings[parameter.name]!);
      control.element.hidden = !applies(parameter, settings);
    }
  }

  limit(ranges: Readonly<Record<string, PlayRange>>): void {
    for (const [{ name }, control] of this.controls) {
      const range = ranges[name];
      if (range) control.limit?.(range);
    }
  }
}

function makeControl(
  parameter: PlayParameter,
  value: string,
  text: (said: Message) => string,
  changed: (value: string) => void,
): TopicControl {
  const label = () => text(parameter.label);
  const { minimum, maximum, step } = parameter;
  switch (parameter.kind) {
    case "flag": {
      const control = tick(label, value === "true", (now) => changed(String(now)));
      return { element: control.element, set: (now) => control.set(now === "true") };
    }
    case "choice": {
      const options = parameter.choices.map((each) => ({ value: each.value, text: () => text(each.label) }));
      const width = options.reduce((sum, option) => sum + textWidth(option.text(), 13) + 20, 0);
      return width <= SEGMENTS
        ? choice(label, options, value, changed)
        : list(label, [{ label: null, options }], value, changed);
    }
    case "text":
      return makeTextField(label, value, parameter.max_length, changed);
    default: {
      const ends = { minimum: minimum ?? 0, maximum: maximum ?? 100, value: Number(value) };
      const integer = parameter.kind === "integer";
      if (!integer || ends.maximum - ends.minimum <= MANY)
        return makeSlider({ ...ends, label, step: step ?? (integer ? 1 : "any") }, changed);
      const control = whole(label, ends, (now) => changed(String(now))); // a seed
      return { element: control.element, set: (now) => control.set(Number(now)) };
    }
  }
}

/** A slider whose end and labels may change with the text and the model. */
function makeSlider(slide: Omit<Slide, "text">, changed: (value: string) => void): TopicControl {
  let labels: readonly string[] = [];
  let wanted = slide.value; // also beyond the end: a longer text may follow
  const format = (now: number) => (labels[now] === undefined ? round(now) : `${round(now)}: ${labels[now]}`);
  const control = slider({ ...slide, text: format }, (now) => {
    wanted = now;
    changed(String(now));
  });
  const { element, input } = control;
  const show = () => control.set(Math.min(wanted, Number(input.max)));
  return {
    element,
    set(now) {
      wanted = Number(now);
      show();
    },
    limit(range) {
      input.max = String(range.maximum);
      labels = range.labels;
      show();
    },
  };
}

function makeTextField(
  label: Text,
  value: string,
  maxlength: number | null,
  changed: (value: string) => void,
): TopicControl {
  const input = make("input", {
    type: "text",
    maxlength,
    spellcheck: "false",
    dir: "auto",
    onchange: (): void => changed(input.value),
  });
  input.value = value;
  return {
    element: make("label", { class: "control phrase" }, make("span", {}, label), input),
    set(now) {
      if (input !== input.ownerDocument.activeElement) input.value = now;
    },
  };
}
