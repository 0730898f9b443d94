/**
 * The walk: one sentence followed through the model, step by step, with its real numbers.
 *
 * In:   the plan of a recording, its trace; a rerunner that runs it again where the trace is missing.
 * Out:  the model's diagram, the step as matrices, a transport (src/walk/); the step and the cell are in the link.
 */

import type { WalkPlan } from "../../api/types";
import { evidenceLine, isSigned, signedRefused } from "../../core/focus";
import { formatText } from "../../core/messages";
import { samePlace } from "../../core/place";
import { remounting } from "../../core/remounting";
import type { Selection } from "../../core/selection";
import { errorText, type RecordingSource, Refusal } from "../../core/source";
import type { Kept, Stage, TableData, View } from "../../core/view";
import { canTrace, trace } from "../../data/walk_tracing";
import { introduce } from "../../i18n/core";
import { make, write } from "../../marks/make";
import { sheet } from "../../marks/paper";
import { Choosers } from "./choosers";
import { Contents } from "./contents";
import { type Drawn, headOf, type WalkContext, type WalkScene } from "./context";
import { chapterName, marksOf, sceneName } from "./names";
import { Operation } from "./operation";
import { Player } from "./player";
import { Route } from "./route";
import { Saver } from "./saver";
import { makeScene } from "./scene";
import { type Scene, stepsOf } from "./script";
import { sentences, titles } from "./step_words";
import { lower, rich } from "./symbols";
import { words } from "./words";
import "./style.css";

const LONGEST = 1024; // tokens: of longer texts no matrix is kept

export const view: View = {
  name: "walk",
  order: 15,
  ...introduce(words),
  needs: "recording",
  panel: true,
  transport: true,
  options: {},
  fits({ now: { description } }) {
    const longest = Math.max(description.source.count, description.target?.count ?? 0);
    if (isSigned(description.maps)) return signedRefused;
    return longest <= LONGEST || ((language) => words(language).long(longest));
  },
  mount: (stage) => remounting(stage, (again) => new WalkView(again)),
};

interface KeptWalk extends Kept {
  readonly speed: string;
  readonly playing: boolean;
}

class WalkView {
  private readonly say;
  private readonly title;
  private readonly tell;
  private readonly root: HTMLElement;
  private readonly notice = make("p", { class: "walk-notice", role: "status", hidden: true });
  private readonly heading = make("h2", { class: "walk-title", tabindex: -1 });
  private readonly chapter = make("p", { class: "walk-chapter" });
  private readonly sentence = make("p", { class: "walk-sentence" });
  private readonly body = make("div", { class: "walk-scene" });
  private readonly route: Route;
  private readonly contents: Contents;
  private readonly choosers: Choosers;
  private readonly player: Player;
  private context: WalkContext | null = null;
  private onScreen: WalkScene | null = null;
  private shown = ""; // scene, layer and head on the screen
  private width = 0;
  private awaited = false; // the model runs once more
  private kept: KeptWalk | undefined; // until there is something to play
  private gone = false;
  private frozen: number | null = null; // as wide as it was, for what is still being saved

  constructor(private readonly stage: Stage) {
    this.say = words(stage.language);
    this.title = titles(stage.language);
    this.tell = sentences(stage.language);
    this.route = new Route(stage);
    this.contents = new Contents(this.route, this.title, (at) => this.goTo(at));
    this.choosers = new Choosers(this.route);
    this.player = new Player(
      this.say,
      (at) => this.goTo(at),
      () => this.onScreen?.beat?.() ?? false,
    );
    this.root = this.build();
    this.root.addEventListener("keydown", this.press);
    stage.element.ownerDocument.addEventListener("keydown", this.pressAnywhere);
    stage.element.replaceChildren(this.root);
    this.kept = stage.kept as KeptWalk | undefined;
    if (this.kept) this.player.pace = this.kept.speed;
    void this.open();
  }

  private build(): HTMLElement {
    const { stage, say } = this;
    const { map, list } = this.contents;
    list.setAttribute("aria-label", say.narrowDiagram);
    map.setAttribute("aria-label", say.diagram);
    const saver = new Saver(say, stage.theme, {
      scenes: () => this.scenesToSave(),
      draw: (scene) => this.drawAlone(scene),
      model: () => stage.source.description.model,
      over: () => this.gone && this.frozen === null, // what is being saved is saved as it was begun
      saved: () => stage.announce(say.saved),
      failed: (error) => this.notify(stage.text(errorText(error))),
    });
    const step = make(
      "section",
      { class: "walk-step" },
      list,
      this.chapter,
      this.heading,
      this.sentence,
      this.body,
      make("p", { class: "walk-foot hint" }, saver.element, ` ${say.keys}`),
    );
    return make(
      "div",
      { class: "walk", "data-still": stage.reducedMotion },
      this.notice,
      make("div", { class: "walk-top" }, this.player.element, this.choosers.element),
      make("div", { class: "walk-main" }, map, step),
    );
  }

  // Opening

  private async open(): Promise<void> {
    const { stage, say } = this;
    try {
      const plan = await stage.source.walk();
      if (this.gone) return;
      this.awaited = canTrace(plan, stage);
      await this.take(stage.source, plan);
      if (this.gone) return;
      if (this.awaited) {
        this.notify(say.tracing);
        await this.traceAgain(plan);
      } else this.notify(this.lacks(plan));
    } catch (error) {
      if (!this.gone) stage.fail(error);
    }
  }

  /** Run the model once more, keeping every step; what was there stays on the screen until then. */
  private async traceAgain(first: WalkPlan): Promise<void> {
    const { stage, say } = this;
    try {
      const source = await trace(stage, first, (share) => {
        if (!this.gone && share !== null) this.notify(say.tracingStage(Math.round(100 * share)));
      });
      const plan = await source.walk();
      if (this.gone) return;
      this.awaited = false;
      await this.take(source, plan);
      this.notify(this.lacks(plan));
    } catch (error) {
      if (this.gone) return;
      this.awaited = false;
      await this.take(stage.source, first);
      const why = stage.text(errorText(error));
      this.notify(say.traceFailed(why.split(/(?<=[.。？?]) ?(?=[^\d])/u)[0]!), why);
    }
  }

  /** What the recording does not hold; what a step says of itself is not said for all. */
  private lacks(plan: WalkPlan): string {
    const { stage, say } = this;
    const missing = new Set(
      stepsOf(plan).flatMap((step) => (step.missing ? formatText(step.missing, stage.language) : [])),
    );
    const unknown = plan.more && stage.rerunner !== null && stage.rerunner.again({}) === null;
    const notes = plan.notes
      .map((note) => formatText(note, stage.language))
      .filter((note) => !missing.has(note));
    const named = plan.more && missing.size > 0;
    return [named && say.noTrace, unknown && say.noTraceBench, ...notes].filter(Boolean).join(" ");
  }

  private async take(source: RecordingSource, plan: WalkPlan): Promise<void> {
    const { target } = source.description;
    const [first, second] = await Promise.all([
      source.tokens("source"),
      target === null ? null : source.tokens("target"),
    ]);
    if (this.gone) return;
    this.context = {
      stage: this.stage,
      source,
      plan,
      say: this.say,
      awaited: this.awaited,
      tokens: { source: first, target: second },
      width: () => this.frozen ?? Math.max(280, this.body.clientWidth || 960),
      failed: (error) => {
        if (!this.gone) this.stage.fail(error);
      },
    };
    this.shown = "";
    this.route.take(plan, source.description);
    this.show();
    if (this.kept?.playing) this.player.start();
    this.kept = undefined;
  }

  /** `whole`: all of it, where only its first sentence is shown. */
  private notify(sentence: string, whole = ""): void {
    this.notice.hidden = sentence === "";
    this.notice.title = whole;
    write(this.notice, sentence);
  }

  // Where we are

  private goTo(at: number): void {
    const { scenes } = this.route;
    const scene = scenes[at];
    if (scene === undefined) return;
    this.route.goTo(scene);
    this.stage.announce(`${this.say.stepOf(at + 1, scenes.length)}: ${this.title[scene.key]}`);
  }

  update(now: Selection, before: Selection): void {
    if (this.context === null) return;
    if (!samePlace(now.place, before.place) || now.options["walk.step"] !== before.options["walk.step"])
      this.route.rewrite();
    this.show();
  }

  // What is shown

  private show(): void {
    const { context, say, route } = this;
    const { scene, scenes } = route;
    if (context === null) return;
    if (scene === undefined) {
      this.notify(say.empty);
      return;
    }
    this.player.show(route.at, scenes.length, marksOf(scenes, context.plan, say), this.title[scene.key]);
    this.contents.show(context);
    this.choosers.show(scene, context);
    const row = scene.step?.axes.at(-1) === "vocabulary" ? this.stage.selection.get().query : null;
    const key = [scene.id, headOf(this.stage), row].join(" ");
    if (key === this.shown && this.onScreen !== null) {
      this.onScreen.follow?.();
      return;
    }
    const jumped = this.shown.split(" ")[0] !== scene.id;
    this.shown = key;
    this.onScreen?.stop?.();
    this.onScreen = this.makeScene(scene, context, jumped && this.width > 0);
    this.width = this.body.clientWidth;
    write(this.chapter, chapterName(scene, context.plan, say));
    this.heading.replaceChildren(...rich(this.title[scene.key]));
    this.sentence.replaceChildren(...rich(this.tell[scene.key]));
    this.root.dataset.scene = scene.id;
    this.body.replaceChildren(this.onScreen.element);
  }

  private makeScene(scene: Scene, context: WalkContext, animated: boolean): WalkScene {
    return makeScene(scene, context, animated, (map, head) => this.route.openHead(map, head));
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

  private sheetOf(scene: Scene, picture: Drawn, part = ""): string {
    const { plan, source } = this.context!;
    const { model, evidence } = source.description;
    const drawn = sheet({
      ...picture,
      title: sceneName(scene, plan, this.say, this.title) + part,
      caption: [this.tell[scene.key], model, evidenceLine(evidence, this.stage.language)],
      theme: this.stage.theme,
    });
    return lower(drawn);
  }

  /** A scene that is not on the screen. */
  private async drawAlone(scene: Scene): Promise<readonly string[]> {
    const drawn = this.makeScene(scene, this.context!, false);
    await drawn.ready;
    drawn.finish?.();
    const pictures = drawn.pictures?.() ?? [drawn.picture()];
    drawn.stop?.();
    const count = pictures.length;
    return pictures.map((each, at) => this.sheetOf(scene, each, count > 1 ? ` · ${at + 1} / ${count}` : ""));
  }

  /** Every scene that has something to show, with the open layer of each stack. */
  private scenesToSave(): readonly Scene[] {
    const grown = (this.context?.source.description.generation?.nodes.length ?? 0) > 0;
    return this.route.scenes.filter(({ kind, step }) => step?.missing == null && (kind !== "tree" || grown));
  }

  async picture(): Promise<string> {
    const { scene } = this.route;
    if (scene === undefined || this.onScreen === null) throw new Refusal(this.say.empty, "empty", 0);
    await this.onScreen.ready;
    return this.sheetOf(scene, this.onScreen.picture());
  }

  async table(): Promise<TableData> {
    if (this.onScreen === null) return { caption: this.say.empty, columns: [], rows: [] };
    await this.onScreen.ready;
    return this.onScreen.table();
  }

  resize(): void {
    if (Math.abs(this.body.clientWidth - this.width) < 8) return;
    this.width = this.body.clientWidth;
    if (this.onScreen instanceof Operation) this.onScreen.resize();
  }

  keep(): KeptWalk {
    this.frozen = this.context?.width() ?? null;
    return { speed: this.player.pace, playing: this.kept?.playing || this.player.playing };
  }

  unmount(): void {
    this.gone = true;
    this.player.pause();
    this.onScreen?.stop?.();
    this.stage.element.ownerDocument.removeEventListener("keydown", this.pressAnywhere);
    this.stage.element.replaceChildren();
  }
}
