/**
 * Beam search as a tree that grows, step by step.
 *
 * In:   the nodes of a generation; where there are none, a rerunner can search.
 * Out:  a scene of the walk.
 */

import type { GenerationDescription, JobRequest } from "../../api/types";
import { keptPath, pathTo, probability } from "../../core/generation";
import { errorText } from "../../core/source";
import { isAbort } from "../../core/tasks";
import type { Rerunner, TableData } from "../../core/view";
import { make, write } from "../../marks/make";
import { Tree } from "../../marks/tree";
import type { Drawn, WalkContext, WalkScene } from "./context";

const ACROSS = 7; // steps to a line of a picture: as wide as other scenes, so that a moving picture shows words in full
const DECODE = { method: "beam", beams: 4, max_new_tokens: 24 } as const;

// By recording: a tree is grown once, and goes on growing where the walk is drawn anew in another language.
const searched = new Map<string, GenerationDescription>();
const searching = new Map<string, Promise<GenerationDescription | null>>();

export class TreeScene implements WalkScene {
  readonly element = make("div", { class: "walk-tree" });
  private readonly tree: Tree;
  private readonly path = make("p", { class: "walk-written", dir: "auto" });
  private readonly slider: HTMLInputElement;
  private readonly note = make("p", { class: "hint", role: "status" });
  private generation: GenerationDescription | null;
  private gone = false;
  private level = 0;
  private chosen = 0;

  constructor(private readonly context: WalkContext) {
    const { say, stage, source } = context;
    const words = {
      tree: say.treeName,
      node: (text: string, step: number, score: string) =>
        `${text} ${score}, ${say.stepOf(step, this.last + 1)}`,
    };
    this.tree = new Tree(words, (node) => this.choose(node));
    this.slider = make("input", { class: "slider", type: "range", min: 0, "aria-label": say.tree });
    this.slider.addEventListener("input", () => this.grow(this.slider.valueAsNumber));
    const { generation } = source.description;
    this.generation =
      generation && generation.nodes.length > 0
        ? generation
        : (searched.get(stage.source.description.id) ?? null);
    this.build();
    if (this.generation === null && searching.has(stage.source.description.id)) void this.search();
  }

  private get last(): number {
    return this.generation?.nodes.reduce((most, node) => Math.max(most, node.index), 0) ?? 0;
  }

  private build(): void {
    const { say, stage } = this.context;
    if (this.generation !== null) {
      this.slider.max = String(this.last);
      this.element.replaceChildren(
        make("p", { class: "hint" }, say.treeHint),
        this.slider,
        this.tree.element,
        this.path,
        this.note,
      );
      this.grow(stage.reducedMotion ? this.last : 0);
      queueMicrotask(() => this.choose(this.chosen)); // once it stands on the page, the newest word is brought into view
      return;
    }
    const request = stage.rerunner?.again({ decode: DECODE }) ?? null;
    this.element.replaceChildren(
      make("p", { class: "walk-missing" }, say.noTree),
      request === null
        ? ""
        : make(
            "button",
            { type: "button", class: "button", onclick: () => void this.search() },
            say.growTree,
          ),
      this.note,
    );
  }

  /** Search, or wait for the search that is under way. */
  private async search(): Promise<void> {
    const { stage, say } = this.context;
    const { rerunner } = stage;
    const { id } = stage.source.description;
    const request = rerunner?.again({ decode: DECODE }) ?? null;
    if (rerunner === null || request === null) return;
    write(this.note, say.growing);
    try {
      const found = searching.get(id) ?? searchOnce(rerunner, request, id);
      const generation = await found;
      if (this.gone || generation === null) return;
      this.generation = generation;
      write(this.note, "");
      this.build();
    } catch (error) {
      if (this.gone) return;
      write(this.note, isAbort(error) ? "" : stage.text(errorText(error)));
    }
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
    write(this.note, this.context.say.stepOf(level + 1, this.last + 1));
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
    this.gone = true;
  }
}

function searchOnce(
  rerunner: Rerunner,
  request: JobRequest,
  id: string,
): Promise<GenerationDescription | null> {
  const { signal } = new AbortController(); // whoever comes back to the tree finds it grown
  const found = rerunner
    .run({ ...request, listed: false }, () => {}, signal)
    .then(async (made) => {
      const { generation } = (await rerunner.open(made)).description;
      if (generation !== null) searched.set(id, generation);
      return generation;
    });
  searching.set(id, found);
  const forget = (): void => void searching.delete(id);
  found.then(forget, forget);
  return found;
}
