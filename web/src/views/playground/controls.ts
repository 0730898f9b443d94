/**
 * The controls of a topic, made from its parameters. The first is the one to play with, and is drawn large.
 *
 * In:   a topic, its settings, what to do when one changes.
 * Out:  an element; `set` shows other settings and hides what does nothing now, `limit` shortens sliders to what
 *       the text and the model have, and names their places.
 */

import type { PlayParameter, PlayRange, PlayTopic } from "../../api/types";
import { round } from "../../core/formats";
import type { Message } from "../../core/messages";
import { choice, list, slider, tick, whole } from "../../marks/controls";
import { make } from "../../marks/make";
import { lengthOf } from "./drawing";
import { applies, type Settings } from "./settings";

const SEGMENTS = 460; // pixels for choices side by side; more become a list

const MANY = 200; // values of a slider; more are typed

interface Knob {
  readonly element: HTMLElement;
  set(value: string): void;
  limit?(range: PlayRange): void;
}

export class TopicControls {
  readonly element: HTMLElement;
  private readonly knobs: readonly (readonly [PlayParameter, Knob])[];

  constructor(
    topic: PlayTopic,
    settings: Settings,
    text: (said: Message) => string,
    changed: ((name: string, value: string) => void) | null, // null: nothing can be changed here
  ) {
    this.knobs = topic.parameters.map((parameter, at) => {
      const knob = makeKnob(parameter, settings[parameter.name]!, text, (value) =>
        changed?.(parameter.name, value),
      );
      knob.element.classList.toggle("main", at === 0);
      knob.element.dataset.parameter = parameter.name;
      return [parameter, knob] as const;
    });
    const elements = this.knobs.map(([, knob]) => knob.element);
    this.element = make("fieldset", { class: "play-controls", disabled: changed === null }, ...elements);
    this.set(settings);
  }

  set(settings: Settings): void {
    for (const [parameter, knob] of this.knobs) {
      knob.set(settings[parameter.name]!);
      knob.element.hidden = !applies(parameter, settings);
    }
  }

  limit(ranges: Readonly<Record<string, PlayRange>>): void {
    for (const [{ name }, knob] of this.knobs) {
      const range = ranges[name];
      if (range) knob.limit?.(range);
    }
  }
}

function makeKnob(
  parameter: PlayParameter,
  value: string,
  text: (said: Message) => string,
  changed: (value: string) => void,
): Knob {
  const label = text(parameter.label);
  switch (parameter.kind) {
    case "flag": {
      const control = tick(label, value === "true", (now) => changed(String(now)));
      return { element: control.element, set: (now) => control.set(now === "true") };
    }
    case "choice": {
      const options = parameter.choices.map((each) => ({ value: each.value, text: text(each.label) }));
      const length = options.reduce((sum, option) => sum + lengthOf(option.text, 13) + 20, 0);
      return length <= SEGMENTS
        ? choice(label, options, value, changed)
        : list(label, [{ label: null, options }], value, changed);
    }
    case "integer":
      if ((parameter.maximum ?? 0) - (parameter.minimum ?? 0) > MANY)
        return numberField(parameter, label, value, changed);
      return makeSlider(parameter, label, value, changed);
    case "number":
      return makeSlider(parameter, label, value, changed);
    case "text":
      return textField(parameter, label, value, changed);
  }
}

function makeSlider(
  parameter: PlayParameter,
  label: string,
  value: string,
  changed: (value: string) => void,
): Knob {
  let names: readonly string[] = [];
  let wish = Number(value); // kept for a longer text
  const control = slider(
    {
      label,
      minimum: parameter.minimum ?? 0,
      maximum: parameter.maximum ?? 100,
      step: parameter.step ?? (parameter.kind === "integer" ? 1 : "any"),
      value: wish,
      text: (now) => (names[now] === undefined ? round(now) : `${round(now)}: ${names[now]}`),
    },
    (now) => {
      wish = now;
      changed(String(now));
    },
  );
  const { element, input } = control;
  const show = () => control.set(Math.min(wish, Number(input.max)));
  return {
    element,
    set(now) {
      wish = Number(now);
      show();
    },
    limit({ maximum, labels }) {
      input.max = String(maximum);
      names = labels;
      show();
    },
  };
}

/** A seed: one of so many that a slider would not do. */
function numberField(
  parameter: PlayParameter,
  label: string,
  value: string,
  changed: (value: string) => void,
): Knob {
  const control = whole(
    label,
    { minimum: parameter.minimum ?? 0, maximum: parameter.maximum ?? 0, value: Number(value) },
    (now) => changed(String(now)),
  );
  return { element: control.element, set: (now) => control.set(Number(now)) };
}

function textField(
  parameter: PlayParameter,
  label: string,
  value: string,
  changed: (value: string) => void,
): Knob {
  const input = make("input", {
    type: "text",
    maxlength: parameter.max_length,
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
