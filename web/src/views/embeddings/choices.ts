/**
 * What a person chose in the embeddings view, as it stands in the URL.
 *
 * In:   the stage's selection.
 * Out:  stack, layer, projection, and which tokens of a long text are shown.
 */

import type { HiddenDescription } from "../../api/types";
import type { Stage } from "../../core/view";
import { chosenHidden } from "../../marks/stacks";
import { type By, MOST } from "./projections";

export class Choices {
  constructor(private readonly stage: Stage) {}

  get hidden(): HiddenDescription {
    return chosenHidden(this.stage, this.option("stack"));
  }

  get by(): By {
    return this.option("by") === "umap" ? "umap" : "pca";
  }

  get as(): "points" | "distributions" {
    return this.option("as") === "distributions" ? "distributions" : "points";
  }

  get layer(): number {
    return this.within("layer", this.hidden.layers);
  }

  /** The first token shown: more than fits has to be looked at part by part. */
  get start(): number {
    const { tokens } = this.hidden;
    return tokens <= MOST ? 0 : this.within("from", tokens);
  }

  /** A choice; the standard is not written down. */
  set(name: string, value: string, standard = ""): void {
    this.stage.selection.option(`embeddings.${name}`, value === standard ? null : value);
  }

  private within(name: string, count: number): number {
    const wish = Number(this.option(name) ?? 0);
    return Number.isInteger(wish) ? Math.max(0, Math.min(count - 1, wish)) : 0;
  }

  private option(name: string): string | undefined {
    return this.stage.selection.get().options[`embeddings.${name}`];
  }
}
