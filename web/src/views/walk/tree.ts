/**
 * Beam search as a tree that grows, step by step.
 *
 * In:   the nodes of a generation; where there are none, a rerunner can search.
 * Out:  a scene of the walk.
 */

import type { GenerationDescription } from "../../api/types";
import { keptPath, pathTo, probability } from "../../core/generation";
import { errorText } from "../../core/source";
import { Asker } from "../../core/tasks";
import type { TableData } from "../../core/view";
import { Run } from "../../data/run";
import { button } from "../../marks/controls";
import { make, relabel, write } from "../../marks/make";
import { Tree } from "../../marks/tree";
import type { Drawn, WalkContext, WalkScene } from "./context";

const ACROSS = 7; // steps to a line of a picture: as wide as other scenes, so that a moving picture shows words in full
const DECODE = { method: "beam", beams: 4, max_new_tokens: 24 } as const;

export class TreeScene implements WalkScene {
  readonly element = make("div", { class: "walk-tree" });
  private readonly tree: Tree;
  private readonly path = make("p", { class: "walk-written", dir: "auto" });
  private readonly slider: HTMLInputElement;
  private readonly note: HTMLElement;
  private readonly opening: Asker; // what a search has found
  private generation: GenerationDescription | null = null;
  private trouble: unknown = null; // why what was found cannot be opened
  private level = 0;
  private chosen = 0;

  constructor(private readonly context: WalkContext) {
    const { say, stage, source } = context;
    const words = {
      get tree() {
        return say.treeName;
      },
      node: (text: string, step: number, score: string) =>
        `${text} ${score}, ${say.stepOf(step, this.last + 1)}`,
    };
    this.tree = new Tree(words, (node) => this.choose(node));
    this.slider = make("input", {
      class: "slider",
      type: "range",
      min: 0,
      "aria-label": () => say.tree,
      oninput: () => this.grow(this.slider.valueAsNumber),
    });
    this.note = make("p", { class: "hint", role: "status" }, () => this.state());
    this.opening = new Asker(stage, (error) => {
      this.trouble = error;
      relabel(this.note);
    });
    const { generation } = source.description;
    if (generation && generation.nodes.length > 0) this.show(generation);
    else this.offer();
  }

  private get last(): number {
    return this.generation?.nodes.reduce((most, node) => Math.max(most, node.index), 0) ?? 0;
  }

  private show(generation: GenerationDescription): void {
    const { say, stage } = this.context;
    this.generation = generation;
    this.slider.max = String(this.last);
    this.element.replaceChildren(
      make("p", { class: "hint" }, () => say.treeHint),
      this.slider,
      this.tree.element,
      this.path,
      this.note,
    );
    this.grow(stage.reducedMotion ? this.last : 0);
    queueMicrotask(() => this.choose(this.chosen)); // once it stands on the page, the newest word is brought into view
  }

  /** There is no tree: a model that can run may search. */
  private offer(): void {
    const { say, stage, runs } = this.context;
    const { rerunner } = stage;
    const request = rerunner?.again({ decode: DECODE }) ?? null;
    const press = () => {
      if (runs.searching?.state === "running") runs.searching.stop();
      else if (rerunner && request) {
        runs.searching = new Run((...heard) => rerunner.run({ ...request, listed: false }, ...heard));
        this.watch(runs.searching);
      }
    };
    const name = () => (runs.searching?.state === "running" ? say.cancel : say.growTree);
    this.element.replaceChildren(
      make("p", { class: "walk-missing" }, () => say.noTree),
      request === null ? "" : button(name, press),
      this.note,
    );
    if (runs.searching) this.watch(runs.searching);
  }

  /** Wait for a search, perhaps one that was begun before another tab was looked at. */
  private watch(run: Run): void {
    const changed = () => {
      relabel(this.element);
      const { rerunner } = this.context.stage;
      if (run.state !== "done" || rerunner === null) return;
      this.opening.ask(
        run.result,
        () => rerunner.open(run.result!),
        ({ description: { generation } }) => generation && this.show(generation),
      );
    };
    run.show(changed);
    changed();
  }

  /** What the line below says: the step of the tree, or how the search goes. */
  private state(): string {
    const { say, stage, runs } = this.context;
    if (this.generation !== null) return say.stepOf(this.level + 1, this.last + 1);
    if (runs.searching?.state === "running") return say.growing;
    const trouble = runs.searching?.state === "failed" ? runs.searching.error : this.trouble;
    return trouble === null ? "" : stage.text(errorText(trouble));
  }

  /** The tree up to a step. */
  private grow(level: number): void {
    const { generation } = this;
    if (generation === null) return;
    this.level = level;
    this.slider.value = String(level);
    const nodes = generation.nodes.filter((node) => node.index <= level);
    const inOrder =
      nodes.length === generation.nodes.findIndex((node) => node.index > level) || level >= this.last;
    // Parents are places in the whole list: nodes of later steps come after those of earlier ones.
    const shown = inOrder ? nodes : generation.nodes;
    const kept = keptPath(generation.nodes, generation.steps).filter((place) => place < shown.length);
    this.tree.show(shown, kept);
    const end = kept.at(-1);
    if (end !== undefined) this.choose(end);
    relabel(this.note);
  }

  private choose(node: number): void {
    this.chosen = node;
    this.tree.mark(node);
    const nodes = this.generation?.nodes ?? [];
    write(
      this.path,
      pathTo(nodes, node)
        .map((place) => nodes[place]!.text)
        .join(" "),
    );
  }

  beat(): boolean {
    if (this.generation === null || this.level >= this.last) return false;
    this.grow(this.level + 1);
    return true;
  }

  finish(): void {
    this.grow(this.last);
  }

  picture(): Drawn {
    return this.generation === null
      ? { body: "", width: 320, height: 24 }
      : this.tree.picture(this.context.stage.theme, ACROSS);
  }

  pictures(): readonly Drawn[] {
    return this.generation === null ? [this.picture()] : this.tree.pictures(this.context.stage.theme, ACROSS);
  }

  table(): TableData {
    const { say } = this.context;
    return {
      caption: say.treeName,
      columns: [say.position, say.token, say.chance, say.sum],
      rows: (this.generation?.nodes ?? []).map((node) => [
        node.index + 1,
        node.text,
        probability(node),
        node.score,
      ]),
    };
  }

  stop(): void {
    this.opening.stop();
    this.context.runs.searching?.show(null);
  }
}
