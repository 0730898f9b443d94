/**
 * Small controls for views: one of several, a slider, a list, a switch, a button. All are native inputs underneath,
 * so keyboard and screen readers know them.
 *
 * In:   words, a value, what to do when it changes.
 * Out:  an element, and `set` to show another value without calling back.
 */

import { make, relabel, type Text, uniqueId } from "./make";
import "./controls.css";

export interface Control<Value> {
  readonly element: HTMLElement;
  set(value: Value): void;
}

export interface Option<Value extends string> {
  readonly value: Value;
  readonly text: Text;
  readonly disabled?: Text | undefined; // why it cannot be chosen
  readonly title?: Text | undefined; // more about it
}

/** One of a few, side by side. */
export function choice<Value extends string>(
  label: Text,
  options: readonly Option<Value>[],
  value: Value,
  chosen: (value: Value) => void,
): Control<Value> {
  const name = uniqueId("choice");
  const inputs = new Map<Value, HTMLInputElement>();
  const parts = options.map((option) => {
    const input = make("input", {
      type: "radio",
      name,
      value: option.value,
      disabled: option.disabled !== undefined,
      onchange: () => chosen(option.value),
    });
    input.checked = option.value === value;
    inputs.set(option.value, input);
    return make(
      "label",
      { class: "segment", title: option.disabled ?? option.title },
      input,
      make("span", {}, option.text),
    );
  });
  const element = make(
    "fieldset",
    { class: "control choice" },
    make("legend", {}, label),
    make("div", { class: "segments" }, ...parts),
  );
  return {
    element,
    set(now) {
      const input = inputs.get(now);
      if (input !== undefined) input.checked = true;
    },
  };
}

/** The same; null where there is nothing to choose. */
export function choiceOfSeveral(
  { label, options }: { readonly label: Text; readonly options: readonly Option<string>[] },
  value: string,
  chosen: (value: string) => void,
): Control<string> | null {
  return options.length < 2 ? null : choice(label, options, value, chosen);
}

/** One of many, in a list; groups where there are several. */
export function list<Value extends string>(
  label: Text,
  groups: readonly { readonly label: Text | null; readonly options: readonly Option<Value>[] }[],
  value: Value,
  chosen: (value: Value) => void,
): Control<Value> {
  const select = make("select", { onchange: (): void => chosen(select.value as Value) });
  for (const group of groups) {
    const options = group.options.map((option) =>
      make(
        "option",
        { value: option.value, disabled: option.disabled !== undefined, title: option.disabled },
        option.text,
      ),
    );
    if (group.label === null) select.append(...options);
    else select.append(make("optgroup", { label: group.label }, ...options));
  }
  select.value = value;
  const element = make("label", { class: "control list" }, make("span", {}, label), select);
  return {
    element,
    set(now) {
      select.value = now;
    },
  };
}

export interface Slide {
  readonly label: Text;
  readonly minimum: number;
  readonly maximum: number;
  readonly step: number | "any";
  readonly value: number;
  text(value: number): string; // the value in words, beside the slider
}

/** A slider; `moved` hears every step, `settled` the last one. */
export function slider(
  slide: Slide,
  moved: (value: number) => void,
  settled: (value: number) => void = () => {},
): Control<number> & { readonly input: HTMLInputElement } {
  let now = slide.value;
  const said = (): string => slide.text(now);
  const input = make("input", {
    type: "range",
    min: slide.minimum,
    max: slide.maximum,
    step: slide.step,
    value: slide.value,
    "aria-label": slide.label,
    "aria-valuetext": said,
    oninput: () => {
      tell();
      moved(now);
    },
    onchange: (): void => settled(Number(input.value)),
  });
  const element = make(
    "div",
    { class: "control slide" },
    make("span", {}, slide.label),
    input,
    make("output", {}, said),
  );
  const tell = (): void => {
    now = Number(input.value);
    relabel(element);
  };
  return {
    element,
    input,
    set(value) {
      input.value = String(value);
      tell();
    },
  };
}

/** On or off. */
export function tick(label: Text, value: boolean, chosen: (value: boolean) => void): Control<boolean> {
  const input = make("input", { type: "checkbox", onchange: (): void => chosen(input.checked) });
  input.checked = value;
  const element = make("label", { class: "control tick" }, input, make("span", {}, label));
  return {
    element,
    set(now) {
      input.checked = now;
    },
  };
}

/** A whole number between bounds, which may be changed later: `input.max`. */
export function whole(
  label: Text,
  { minimum, maximum, value }: { minimum: number; maximum: number; value: number },
  chosen: (value: number) => void,
): Control<number> & { readonly input: HTMLInputElement } {
  const input = make("input", {
    type: "number",
    min: minimum,
    max: maximum,
    step: 1,
    value,
    inputmode: "numeric",
    onchange: () => {
      const wish = Math.round(Number(input.value));
      const now = Math.min(Number(input.max), Math.max(minimum, Number.isFinite(wish) ? wish : minimum));
      input.value = String(now);
      chosen(now);
    },
  });
  const element = make("label", { class: "control whole" }, make("span", {}, label), input);
  return {
    element,
    input,
    set(now) {
      input.value = String(now);
    },
  };
}

export function button(text: Text, pressed: () => void, title?: Text): HTMLButtonElement {
  return make("button", { type: "button", class: "button", title, onclick: pressed }, text);
}
