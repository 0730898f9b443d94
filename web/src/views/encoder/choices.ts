/**
 * What a person chose in the encoder view, as it stands in the URL.
 *
 * In:   the stage's selection.
 * Out:  which stack, what colours the cells, which layer is in focus.
 */

import type { HiddenDescription } from "../../api/types";
import type { Stage } from "../../core/view";
import { chosenHidden } from "../../marks/stacks";

export type By = "norm" | "change" | "neuron";

export class Choices {
  constructor(private readonly stage: Stage) {}

  get hidden(): HiddenDescription {
    return chosenHidden(this.stage, this.option("stack"));
  }

  get by(): By {
    const by = this.option("by");
    return by === "change" || by === "neuron" ? by : "norm";
  }

  get neuron(): number {
    return within(this.option("neuron"), this.hidden.width, 0);
  }

  /** The number of layers passed, 0 for embeddings. */
  get layer(): number {
    return within(this.option("layer"), this.hidden.layers, this.hidden.layers - 1);
  }

  get log(): boolean {
    return this.option("scale") === "log";
  }

  set(name: string, value: string | null): void {
    this.stage.selection.option(`encoder.${name}`, value);
  }

  private option(name: string): string | undefined {
    return this.stage.selection.get().options[`encoder.${name}`];
  }
}

function within(wish: string | undefined, count: number, standard: number): number {
  const number = Number(wish ?? standard);
  return Number.isInteger(number) ? Math.max(0, Math.min(count - 1, number)) : standard;
}
