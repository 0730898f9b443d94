/**
 * Where in a generation we are: from the selection to a step or a hypothesis, and back.
 *
 * In:   the selection; which position of the text wrote the first word.
 * Out:  steps from 0, nodes of the tree, maps of a step; changes of the selection.
 */

import type { Description, MapDescription, SideName, StepDescription } from "../../api/types";
import { keptPath, mapOfStep } from "../../core/generation";
import { chooseMap } from "../../core/maps";
import type { Selection } from "../../core/selection";
import type { GenerationSetting } from "./panel";

export class Place {
  readonly steps: readonly StepDescription[];
  readonly nodes: readonly StepDescription[];
  readonly kept: readonly number[]; // the nodes of the text that was kept
  readonly side: SideName; // on which the text was written
  first: number | null = null; // the position that wrote word 0
  private readonly description: Description;
  private readonly stack: string;

  private readonly stage;
  private readonly options;

  constructor({ stage, options }: GenerationSetting) {
    this.stage = stage;
    this.options = options;
    this.description = stage.source.description;
    const { generation, target, maps } = this.description;
    this.steps = generation?.steps ?? [];
    this.nodes = generation?.nodes ?? [];
    this.kept = keptPath(this.nodes, this.steps);
    this.side = target === null ? "source" : "target";
    this.stack = maps.some((map) => map.place.stack === "decoder")
      ? "decoder"
      : (maps[0]?.place.stack ?? "decoder");
  }

  /** The position that wrote word 0 is known; a step that was chosen before stays chosen. */
  begin(first: number | null): void {
    const { step } = this.options.now;
    this.first = first;
    if (first !== null && step > 0) this.goTo(step);
  }

  private map(): MapDescription | null {
    return chooseMap(this.description, this.stage.selection.get());
  }

  /** The step of the selection, from 0. */
  step(): number {
    const { query, step } = this.stage.selection.get();
    const map = this.map();
    let found = this.options.now.step;
    if (map !== null && map.place.step !== null) found = step ?? 0;
    else if (this.first !== null)
      found = map?.place.stack === this.stack && query !== null ? query - this.first : 0;
    return Math.max(0, Math.min(this.steps.length - 1, found));
  }

  /** The position whose row wrote a step's word. */
  position(step: number): number | null {
    return this.first === null ? null : this.first + step;
  }

  /** The same step in another text that begins alike. */
  at(step: number): Partial<Selection> {
    if (this.map()?.place.step != null) return { step };
    return { query: this.position(step) };
  }

  goTo(step: number): void {
    const none = { node: null, step: 0 };
    const map = this.map();
    if (map !== null && map.place.step !== null) this.options.set(none, { step });
    else if (this.first === null) this.options.set({ node: null, step });
    else {
      const fitting =
        map?.place.stack === this.stack ? map : (this.mapOf("cross", step) ?? this.mapOf("self", step));
      const turn = fitting === null ? {} : { place: fitting.place };
      this.options.set(none, { ...turn, query: this.first + step });
    }
  }

  /** Choose a map of the stack that writes: layer, head and step then speak of it. */
  turnToWriter(): void {
    const map = this.map();
    if (this.steps.length === 0 || map === null || map.place.stack === this.stack) return;
    const fitting = this.mapOf("cross", 0) ?? this.mapOf("self", 0);
    if (fitting !== null) this.stage.selection.set({ place: fitting.place, query: null, key: null });
  }

  /** The map that was looked at when a word was written, at the selection's layer. */
  mapOf(kind: "self" | "cross", step: number): MapDescription | null {
    return mapOfStep(this.description.maps, {
      kind,
      stack: this.stack,
      layer: this.map()?.place.layer ?? 0,
      step,
    });
  }

  /** The node of the tree that is looked at; null where there is no tree. */
  node(): number | null {
    const { node } = this.options.now;
    if (node !== null && this.nodes[node] !== undefined) return node;
    return this.kept[this.step()] ?? null;
  }

  chooseNode(node: number): void {
    const on = this.kept.indexOf(node);
    if (on >= 0) this.goTo(on);
    else this.options.set({ node });
  }
}
