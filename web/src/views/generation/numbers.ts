/** What a model of regression says of the whole text: numbers by name. */

import type { OutputDescription } from "../../api/types";
import { digits } from "../../core/formats";
import { MountedView } from "../../core/recording_view";
import type { TableData } from "../../core/view";
import type { Bar } from "../../marks/bars";
import { make } from "../../marks/make";
import type { Drawing, GenerationOptions, GenerationPanel, GenerationSetting } from "./panel";
import type { Words } from "./words";

export class Numbers extends MountedView<Words, GenerationOptions> implements GenerationPanel {
  readonly element: HTMLElement;

  constructor(
    setting: GenerationSetting,
    private readonly output: OutputDescription,
  ) {
    super(setting);
    const { say: word } = this;
    const rows = output.numbers.map(({ name, value }) =>
      make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: "number" }, show(value))),
    );
    this.element = make(
      "div",
      { class: "generation-part" },
      make("h2", {}, () => word.numbers),
      make("p", { class: "hint" }, () => word.numbersHint),
      make("table", { class: "generation-numbers" }, make("tbody", {}, ...rows)),
    );
  }

  follow(): void {}

  chances(): { title: string; bars: Bar[] } {
    const said = this.output.numbers.map(({ name, value }) => `${name} ${show(value)}`);
    return { title: said.join(", "), bars: [] };
  }

  drawings(): { above: Drawing[]; below: Drawing[] } {
    return { above: [], below: [] };
  }

  table(): TableData {
    const { say: word } = this;
    return {
      caption: word.numbers,
      columns: [word.columnName, word.columnNumber],
      rows: this.output.numbers.map(({ name, value }) => [name, value ?? "–"]),
    };
  }
}

function show(value: number | null): string {
  return value === null ? "–" : digits(value, 6);
}
