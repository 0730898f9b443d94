/**
 * What it costs to read one word after another: a recurrent network beside one layer of a Transformer.
 *
 * In:   the plan and the tokens of the source.
 * Out:  a scene of the walk: a small table, counted from this text.
 */

import type { TableData } from "../../core/view";
import { make } from "../../marks/make";
import { inks, label } from "../../marks/paper";
import type { Drawn, WalkContext, WalkScene } from "./context";

export class SequenceScene implements WalkScene {
  readonly element: HTMLElement;

  constructor(private readonly context: WalkContext) {
    const { say } = context;
    const rows = this.rows().map(([name], at) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, name),
        make("td", {}, () => this.rows()[at]![1]()),
        make("td", {}, () => this.rows()[at]![2]()),
      ),
    );
    const heading = make(
      "tr",
      {},
      make("td"),
      make("th", { scope: "col" }, () => say.thisNetwork),
      make("th", { scope: "col" }, () => say.transformerLayer),
    );
    this.element = make(
      "div",
      { class: "walk-scroll" },
      make("table", { class: "walk-sequence" }, make("thead", {}, heading), make("tbody", {}, ...rows)),
    );
  }

  private rows(): (readonly [name: () => string, here: () => string, there: () => string])[] {
    const { say, plan, tokens } = this.context;
    const count = tokens.source?.ids.length ?? 0;
    const width = plan.stacks[0]?.width ?? 0;
    const { context, layers = 1, bidirectional } = plan.architecture ?? {};
    const fixed = context === "fixed";
    const more = Number(layers) - 1; // a layer above waits for the word below, or for the end that both directions need
    const chain = count + more * (bidirectional ? count : 1);
    const number = (value: number) => () => String(value);
    return [
      [() => say.stepsInRow, number(chain), number(1)],
      [() => say.farthest, number(count - 1), number(1)],
      [
        () => say.handedOver,
        () => (fixed ? say.oneVector(count, width) : say.manyStates(count, width)),
        () => say.vectors(count),
      ],
    ];
  }

  private texts(): string[][] {
    return this.rows().map((row) => row.map((text) => text()));
  }

  picture(): Drawn {
    const ink = inks(this.context.stage.theme);
    const { say } = this.context;
    const lines = [["", say.thisNetwork, say.transformerLayer], ...this.texts()];
    const body = lines
      .flatMap((line, row) =>
        line.map((text, column) =>
          label(text, column * 400, 14 + row * 24, { fill: row === 0 ? ink.soft : ink.ink, size: 12 }),
        ),
      )
      .join("");
    return { body, width: 1200, height: 24 * lines.length };
  }

  table(): TableData {
    const { say } = this.context;
    return {
      caption: say.sequence,
      columns: ["", say.thisNetwork, say.transformerLayer],
      rows: this.texts(),
    };
  }
}
