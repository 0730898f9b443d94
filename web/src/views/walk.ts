/**
 * The walk: one sentence followed through the model, step by step, with its real numbers.
 *
 * In:   the plan of a recording, its trace; a workbench that runs it again where the trace is missing.
 * Out:  the model's diagram, the step as matrices, a transport; the step and the cell are in the link.
 */

import { fileName, save, sizeOf } from "../app/saving";
import { inBoth, introduce } from "../i18n/core";
import { words } from "../i18n/walk";
import { sentences, titles } from "../i18n/walk_steps";
import { list } from "../marks/controls";
import { percent } from "../marks/digits";
import { make, write } from "../marks/make";
import { inks, sheet } from "../marks/paper";
import type { Selection } from "../selection";
import { type RecordingSource, Refusal } from "../source";
import type { MapDescription, TokenSlice, WalkPlan } from "../types";
import type { Mounted, Stage, TableData, View } from "../view";
import { Diagram } from "../walk/diagram";
import { Glance } from "../walk/glance";
import { rich } from "../walk/matrix";
import { Operation } from "../walk/operation";
import { type Home, headOf, type Part } from "../walk/part";
import { type Mark, Player } from "../walk/player";
import { makeGif, type Shot } from "../walk/saving";
import { depths, findMap, type Scene, writeScript } from "../walk/script";
import { canTrace, trace } from "../walk/tracing";
import { TreeScene } from "../walk/tree";
import { TextScene, TrainingScene, WordsScene } from "../walk/words";
import "../styles/walk.css";

const LONGEST = 256;

export const view: View = {
  name: "walk",
  order: 15,
  ...introduce(words),
  fits({ description }) {
    const longest = Math.max(description.source.count, description.target?.count ?? 0);
    return longest <= LONGEST || inBoth(words, (word) => word.long(longest));
  },
  mount: (stage) => new WalkView(stage),
};

class WalkView implements Mounted {
  private readonly say;
  private readonly title;
  private readonly tell;
  private readonly root: HTMLElement;
  private readonly notice = make("p", { class: "walk-notice", role: "status", hidden: true });
  private readonly map = make("nav", { class: "walk-map" });
  private readonly jump = make("select", { class: "walk-jump" });
  private readonly controls = make("div", { class: "walk-controls" });
  private readonly heading = make("h2", { class: "walk-title", tabindex: -1 });
  private readonly chapter = make("p", { class: "walk-chapter" });
  private readonly sentence = make("p", { class: "walk-sentence" });
  private readonly body = make("div", { class: "walk-scene" });
  private readonly saveButton: HTMLButtonElement;
  private readonly player: Player;
  private home: Home | null = null;
  private scenes: readonly Scene[] = [];
  private at = 0;
  private part: Part | null = null;
  private diagram: Diagram | null = null;
  private shown = ""; // scene, layer and head on the screen
  private chosen = ""; // what the choosers offer
  private width = 0;
  private gone = false;

  constructor(private readonly stage: Stage) {
    this.say = words(stage.language);
    this.title = titles(stage.language);
    this.tell = sentences(stage.language);
    this.player = new Player(
      this.say,
      (at) => this.goTo(at),
      () => this.part?.beat?.() ?? false,
    );
    this.saveButton = make(
      "button",
      { type: "button", class: "button small walk-save", onclick: () => void this.saveWalk() },
      this.say.save,
    );
    this.jump.setAttribute("aria-label", this.say.narrowDiagram);
    this.map.setAttribute("aria-label", this.say.diagram);
    this.jump.addEventListener("change", () => this.goTo(Number(this.jump.value)));
    this.root = make(
      "div",
      { class: "walk", "data-still": stage.reducedMotion },
      this.notice,
      make("div", { class: "walk-top" }, this.player.element, this.controls),
      make(
        "div",
        { class: "walk-main" },
        this.map,
        make(
          "section",
          { class: "walk-step" },
          this.jump,
          this.chapter,
          this.heading,
          this.sentence,
          this.body,
          make("p", { class: "walk-foot hint" }, this.saveButton, ` ${this.say.keys}`),
        ),
      ),
    );
    this.root.addEventListener("keydown", this.press);
    stage.element.ownerDocument.addEventListener("keydown", this.pressAnywhere);
    stage.element.replaceChildren(this.root);
    void this.open();
  }

  // Opening

  private async open(): Promise<void> {
    const { stage, say } = this;
    try {
      const plan = await stage.source.walk();
      if (this.gone) return;
      await this.take(stage.source, plan);
      if (this.gone) return;
      if (canTrace(plan, stage)) {
        this.notify(say.tracing);
        await this.traceAgain();
      } else if (!plan.traced) {
        const unknown = stage.workbench !== null && stage.workbench.again({}) === null;
        const notes = plan.notes.map((note) => note[stage.language]);
        this.notify([say.noTrace, unknown && say.noTraceBench, ...notes].filter(Boolean).join(" "));
      }
    } catch (error) {
      if (!this.gone) stage.fail(error);
    }
  }

  /** Run the model once more, keeping every step; what was there stays on the screen until then. */
  private async traceAgain(): Promise<void> {
    const { stage, say } = this;
    try {
      const source = await trace(stage, (share) => {
        if (!this.gone && share !== null) this.notify(say.tracingStage(percent(share)));
      });
      const plan = await source.walk();
      if (this.gone) return;
      await this.take(source, plan);
      this.notify("");
    } catch (error) {
      if (this.gone) return;
      this.notify(say.traceFailed(error instanceof Refusal ? error.sentence : String(error)));
    }
  }

  private async take(source: RecordingSource, plan: WalkPlan): Promise<void> {
    const { target } = source.description;
    const [first, second] = await Promise.all([
      source.tokens("source"),
      target === null ? null : source.tokens("target"),
    ]);
    if (this.gone) return;
    const tokens: Record<"source" | "target", TokenSlice | null> = { source: first, target: second };
    this.home = {
      stage: this.stage,
      source,
      plan,
      say: this.say,
      tokens,
      width: () => Math.max(280, this.body.clientWidth || 960),
      failed: (error) => {
        if (!this.gone) this.stage.fail(error);
      },
    };
    this.shown = "";
    this.diagram = null;
    this.turnToStep();
    this.rewrite();
    this.show();
  }

  private notify(sentence: string): void {
    this.notice.hidden = sentence === "";
    write(this.notice, sentence);
  }

  // Where we are

  private layer(): number {
    const { map } = this.stage.selection.get();
    return this.stage.source.description.maps[map]?.layer ?? 0;
  }

  /** A link to a step opens its layer. */
  private turnToStep(): void {
    const { selection, source } = this.stage;
    const named = /^(\w+)\.(\d{1,4})\.(\w+)/.exec(selection.get().options["walk.step"] ?? "");
    if (named === null) return;
    const [, stack = "", layer, kind = ""] = named;
    const now = source.description.maps[selection.get().map];
    if (now?.stack === stack && now.layer === Number(layer)) return;
    const map = findMap(source.description.maps, stack, kind, Number(layer));
    if (map !== null) selection.set({ map: map.index, query: selection.get().query });
  }

  /** Scenes for the layer that is open, and the scene that the link names. */
  private rewrite(): void {
    const { home } = this;
    if (home === null) return;
    this.scenes = writeScript(home.plan, home.source.description, this.layer());
    const wish = this.stage.selection.get().options["walk.step"];
    const found = wish === undefined ? -1 : this.scenes.findIndex((scene) => same(scene.id, wish));
    this.at = found >= 0 ? found : Math.max(0, Math.min(this.at, this.scenes.length - 1));
  }

  private goTo(at: number): void {
    const scene = this.scenes[at];
    if (scene === undefined) return;
    const { selection, source } = this.stage;
    const { "walk.cell": _cell, ...options } = selection.get().options;
    const now = this.scenes[this.at];
    const keepRow = now?.stack === scene.stack;
    const map = scene.stack === null ? null : this.mapFor(scene, source.description.maps);
    selection.set({
      ...(map === null ? {} : { map: map.index }),
      ...(keepRow || map === null ? {} : { query: null }),
      options: { ...options, "walk.step": scene.id },
    });
    this.stage.announce(`${this.say.stepOf(at + 1, this.scenes.length)}: ${this.title[scene.key]}`);
  }

  /** The attention map that belongs to a scene: other views then show the same. */
  private mapFor(scene: Scene, maps: readonly MapDescription[]): MapDescription | null {
    const kind = scene.step?.kind === "cross" ? "cross" : "self";
    return findMap(maps, scene.stack ?? "", kind, scene.layer ?? this.openLayer(scene.stack ?? ""));
  }

  private openLayer(stack: string): number {
    const depth = this.home === null ? 1 : (depths(this.home.plan).get(stack) ?? 1);
    return Math.max(0, Math.min(this.layer(), depth - 1));
  }

  update(now: Selection, before: Selection): void {
    if (this.home === null) return;
    if (now.map !== before.map || now.options["walk.step"] !== before.options["walk.step"]) this.rewrite();
    this.show();
  }

  // What is shown

  private show(): void {
    const scene = this.scenes[this.at];
    const { home, say } = this;
    if (home === null) return;
    if (scene === undefined) {
      this.notify(say.empty);
      return;
    }
    const marks = this.marks();
    this.player.show(this.at, this.scenes.length, marks, this.title[scene.key]);
    this.showDiagram(scene);
    this.showChoosers(scene);
    const row = scene.step?.axes.at(-1) === "vocabulary" ? this.stage.selection.get().query : null;
    const key = [scene.id, headOf(this.stage), row].join(" ");
    if (key === this.shown && this.part !== null) {
      this.part.follow();
      return;
    }
    const jumped = this.shown.split(" ")[0] !== scene.id;
    this.shown = key;
    this.part?.stop();
    this.part = this.makePart(scene, home, jumped && this.width > 0);
    this.width = this.body.clientWidth;
    write(this.chapter, this.chapterName(scene));
    this.heading.replaceChildren(...rich(this.title[scene.key]));
    this.sentence.replaceChildren(...rich(this.tell[scene.key]));
    this.root.dataset.scene = scene.id;
    this.body.replaceChildren(this.part.element);
  }

  private makePart(scene: Scene, home: Home, animated: boolean): Part {
    switch (scene.kind) {
      case "text":
        return new TextScene(home, scene.stack);
      case "glance":
        return new Glance(home, scene.stack ?? "", (map, head) => this.openHead(map, head));
      case "training":
        return new TrainingScene(home);
      case "words":
        return new WordsScene(home, "all");
      case "tree":
        return new TreeScene(home);
      default:
        return scene.step!.operation === "choose"
          ? new WordsScene(home, "one")
          : new Operation(home, scene.step!, animated);
    }
  }

  private chapterName({ stack, layer, chapter, kind }: Scene): string {
    const { say, home } = this;
    const both = home?.plan.shape === "encoder-decoder";
    const parts: string[] = [];
    if (stack !== null && both && chapter !== "output")
      parts.push(stack === "encoder" ? say.encoder : say.decoder);
    if (layer !== null) parts.push(say.layerNumber(layer));
    if (kind === "step") parts.push(this.partName(chapter, stack));
    return parts.join(" · ");
  }

  private partName(chapter: Scene["chapter"], stack: string | null): string {
    const causal = this.home?.plan.stacks.find((each) => each.stack === stack)?.causal === true;
    return chapter === "attention" && causal ? this.say.masked : this.say[chapter];
  }

  private marks(): Mark[] {
    const marks: (Mark & { key: string })[] = [];
    this.scenes.forEach((scene, at) => {
      const key = `${scene.chapter} ${scene.stack ?? ""}`;
      if (marks.at(-1)?.key !== key) marks.push({ at, name: this.partName(scene.chapter, scene.stack), key });
    });
    return marks;
  }

  private showDiagram(scene: Scene): void {
    const { home } = this;
    if (home === null) return;
    const layer = this.layer();
    if (this.diagram === null || this.map.dataset.layer !== String(layer)) {
      this.map.dataset.layer = String(layer);
      this.diagram = new Diagram(
        home.plan,
        layer,
        this.say,
        (step, block) => {
          const at = this.scenes.findIndex((each) =>
            block.kind === "tokens" ? each.block === block.id : each.id === step,
          );
          if (at >= 0) this.goTo(at);
        },
        (stack, other) => this.chooseLayer(stack, other),
      );
      this.map.replaceChildren(this.diagram.element);
    }
    this.diagram.mark(scene.block);
    const key = this.scenes.map((each) => each.id).join();
    if (this.jump.dataset.key !== key) {
      this.jump.dataset.key = key;
      this.jump.replaceChildren(
        ...this.scenes.map((each, at) =>
          make(
            "option",
            { value: at },
            [this.chapterName(each), this.title[each.key]].filter(Boolean).join(" · "),
          ),
        ),
      );
    }
    this.jump.value = String(this.at);
  }

  private chooseLayer(stack: string, layer: number): void {
    const scene = this.scenes[this.at];
    const { selection, source } = this.stage;
    const kind = scene?.step?.kind === "cross" && stack === "decoder" ? "cross" : "self";
    const map = findMap(source.description.maps, stack, kind, layer);
    if (map === null) return;
    // The same step of the other layer, where this one is in that stack; its first step otherwise.
    const inside = scene?.layer !== null && scene?.stack === stack;
    const id = inside
      ? scene!.id.replace(`${stack}.${scene!.layer}.`, `${stack}.${layer}.`)
      : `${stack}.${layer}.`;
    const options = selection.get().options;
    selection.set({ map: map.index, options: { ...options, "walk.step": id } });
  }

  private openHead(map: MapDescription, head: number): void {
    const { selection } = this.stage;
    const id = `${map.stack}.${map.layer}.${map.kind}.weights`;
    selection.set({ map: map.index, head, options: { ...selection.get().options, "walk.step": id } });
  }

  private showChoosers(scene: Scene): void {
    const { home, say, stage } = this;
    if (home === null) return;
    const stack = scene.stack ?? (home.plan.shape === "encoder" ? "encoder" : "decoder");
    const about = home.plan.stacks.find((each) => each.stack === stack);
    const key = `${stack} ${scene.layer !== null} ${about?.layers} ${about?.heads}`;
    const head = headOf(stage);
    const row = stage.selection.get().query;
    if (this.chosen !== key) {
      this.chosen = key;
      const numbers = (count: number) => [
        {
          label: null,
          options: Array.from({ length: count }, (_, at) => ({ value: String(at), text: String(at) })),
        },
      ];
      const names = home.tokens[about?.side ?? "source"]?.shown ?? [];
      const tokens = [
        {
          label: null,
          options: [
            { value: "", text: "–" },
            ...names.map((text, at) => ({ value: String(at), text: `${at} ${text}` })),
          ],
        },
      ];
      this.choosers = [
        list(say.layer, numbers(about?.layers ?? 1), "0", (value) => this.chooseLayer(stack, Number(value))),
        list(say.head, numbers(about?.heads ?? 1), "0", (value) =>
          stage.selection.set({ head: Number(value) }),
        ),
        list(say.token, tokens, "", (value) => this.chooseToken(value)),
      ];
      this.controls.replaceChildren(...this.choosers.map((chooser) => chooser.element));
    }
    const [layers, heads, tokens] = this.choosers;
    layers?.set(String(this.openLayer(stack)));
    heads?.set(String(head));
    tokens?.set(row === null ? "" : String(row));
  }

  private choosers: ReturnType<typeof list>[] = [];

  private chooseToken(value: string): void {
    const { selection } = this.stage;
    const { "walk.cell": cell, ...options } = selection.get().options;
    const column = cell?.split(",")[1];
    const kept = value !== "" && column !== undefined ? { "walk.cell": `${value},${column}` } : {};
    selection.set({ query: value === "" ? null : Number(value), options: { ...options, ...kept } });
  }

  // Keys

  private readonly press = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as Element;
    if (target.closest("select, input, textarea")) return;
    if (event.key === " " && target.closest("button, [role=button]")) return;
    if (this.player.press(event.key)) {
      event.preventDefault();
      event.stopPropagation();
    }
  };

  /** Right after a click on the tab, keys should do, too. */
  private readonly pressAnywhere = (event: KeyboardEvent): void => {
    const { body } = this.stage.element.ownerDocument;
    if (event.target === body) this.press(event);
  };

  // Leaving the page

  private sheetOf(scene: Scene, part: Part): string {
    const { stage, home } = this;
    const drawn = part.picture();
    const { description } = home!.source;
    return sheet({
      ...drawn,
      title: [this.chapterName(scene), this.title[scene.key]].filter(Boolean).join(" · "),
      caption: [this.tell[scene.key], `${description.model}`, description.evidence.line],
      theme: stage.theme,
    });
  }

  async picture(): Promise<string> {
    const scene = this.scenes[this.at];
    if (scene === undefined || this.part === null) throw new Refusal(this.say.empty, "empty", 0);
    await this.part.ready;
    return this.sheetOf(scene, this.part);
  }

  async table(): Promise<TableData> {
    if (this.part === null) return { caption: this.say.empty, columns: [], rows: [] };
    await this.part.ready;
    return this.part.table();
  }

  /** Every step of the stack that is looked at, with the open layer, as one moving picture. */
  private async saveWalk(): Promise<void> {
    const { home, say } = this;
    if (home === null) return;
    this.saveButton.disabled = true;
    const stack = this.scenes[this.at]?.stack ?? this.scenes.findLast((scene) => scene.layer !== null)?.stack;
    const scenes = this.scenes.filter((scene) => scene.kind === "step" && scene.stack === stack);
    try {
      const shots: Shot[] = [];
      for (const [at, scene] of scenes.entries()) {
        write(this.saveButton, say.saving(at + 1, scenes.length));
        const part = this.makePart(scene, home, false);
        await part.ready;
        const svg = this.sheetOf(scene, part);
        part.stop();
        shots.push({ svg, ...sizeOf(svg) });
        if (this.gone) return;
      }
      const bytes = await makeGif(shots, inks(this.stage.theme).ground, (at) =>
        write(this.saveButton, say.saving(at + 1, scenes.length)),
      );
      if (this.gone) return;
      save(
        new Blob([bytes], { type: "image/gif" }),
        fileName(["walk", home.source.description.model], "gif"),
      );
      this.stage.announce(say.saved);
    } catch (error) {
      if (!this.gone) this.notify(error instanceof Refusal ? error.sentence : String(error));
    } finally {
      this.saveButton.disabled = false;
      write(this.saveButton, say.save);
    }
  }

  resize(): void {
    if (Math.abs(this.body.clientWidth - this.width) < 8) return;
    this.width = this.body.clientWidth;
    if (this.part instanceof Operation) this.part.resize();
  }

  unmount(): void {
    this.gone = true;
    this.player.pause();
    this.part?.stop();
    this.stage.element.ownerDocument.removeEventListener("keydown", this.pressAnywhere);
    this.stage.element.replaceChildren();
  }
}

/** The same step in whichever layer is open; "encoder.1." is the first step of a layer. */
function same(id: string, wish: string): boolean {
  const anyLayer = (name: string) => name.replace(/^(\w+)\.\d+\./, "$1.*.");
  const [one, other] = [anyLayer(id), anyLayer(wish)];
  return one === other || (other.endsWith(".") && one.startsWith(other));
}
