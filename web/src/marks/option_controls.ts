/**
 * Controls that stand for options of a view: they show what the URL says, and change it.
 *
 * In:   the options, a label, the words of each value as the URL writes it.
 * Out:  elements; `follow` brings them up to date.
 */

import type { Options } from "../core/options";
import { choice, list, type Option } from "./controls";
import type { Text } from "./make";

type Texts = Readonly<Record<string, Text>>; // by value

export class OptionControls<O extends object> {
  private readonly followers: (() => void)[] = [];

  constructor(private readonly options: Options<O>) {}

  /** One of a few, side by side; `shown`: what stands for an option that is not chosen. */
  choice(name: keyof O, label: Text, texts: Texts, shown = () => this.options.text(name)): HTMLElement {
    const control = choice(label, optionsOf(texts), shown(), (value) => this.options.setText(name, value));
    return this.keep(control, shown);
  }

  /** One of many, in a list. */
  list(
    name: keyof O,
    label: Text,
    groups: readonly { readonly label: Text | null; readonly options: readonly Option<string>[] }[],
    shown = () => this.options.text(name),
  ): HTMLElement {
    return this.keep(
      list(label, groups, shown(), (value) => this.options.setText(name, value)),
      shown,
    );
  }

  follow(): void {
    for (const show of this.followers) show();
  }

  private keep(
    control: { readonly element: HTMLElement; set(value: string): void },
    shown: () => string,
  ): HTMLElement {
    this.followers.push(() => control.set(shown()));
    return control.element;
  }
}

/** Values of an option with their words. */
export function optionsOf(texts: Texts): Option<string>[] {
  return Object.entries(texts).map(([value, text]) => ({ value, text }));
}
