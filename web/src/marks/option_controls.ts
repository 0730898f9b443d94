/**
 * Controls that stand for options of a view: they show what the URL says, and change it.
 *
 * In:   the options, a label, the words of each value as the URL writes it.
 * Out:  elements; `follow` brings them up to date.
 */

import { type Control, choice, list, type Option } from "./controls";
import type { Text } from "./make";

/** Options as the URL writes them: core/options. */
interface OptionTexts<O> {
  text(name: keyof O): string;
  setText(name: keyof O, text?: string): void;
}

export class OptionControls<O extends object> {
  private readonly followers: (() => void)[] = [];

  constructor(private readonly options: OptionTexts<O>) {}

  /** One of a few, side by side; `usual`: what an option that is not chosen stands for. */
  choice(
    name: keyof O,
    label: Text,
    texts: Readonly<Record<string, Text>>, // by value
    usual = () => "",
  ): HTMLElement {
    const values = Object.entries(texts).map(([value, text]) => ({ value, text }));
    return this.keep(name, usual, (now, chosen) => choice(label, values, now, chosen));
  }

  /** One of many, in a list. */
  list(
    name: keyof O,
    label: Text,
    groups: readonly { readonly label: Text | null; readonly options: readonly Option<string>[] }[],
    usual = () => "",
  ): HTMLElement {
    return this.keep(name, usual, (now, chosen) => list(label, groups, now, chosen));
  }

  follow(): void {
    for (const show of this.followers) show();
  }

  private keep(
    name: keyof O,
    usual: () => string,
    build: (now: string, chosen: (value: string) => void) => Control<string>,
  ): HTMLElement {
    const { options } = this;
    const now = (): string => options.text(name) || usual();
    const control = build(now(), (value) => options.setText(name, value === usual() ? undefined : value));
    this.followers.push(() => control.set(now()));
    return control.element;
  }
}
