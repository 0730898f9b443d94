/**
 * The walk: one sentence followed through the model, step by step, with its real numbers.
 *
 * In:   the plan of a recording, its trace; a rerunner that runs it again where the trace is missing.
 * Out:  the model's diagram, the step as matrices, a transport (src/walk/); the step and the cell are in the link.
 */

import type { WalkPlan } from "../../api/types";
import { evidenceLine, isSigned, signedRefused } from "../../core/focus";
import { significant } from "../../core/formats";
import { formatText } from "../../core/messages";
import { samePlace } from "../../core/place";
import { readingOf } from "../../core/reading";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import type { Selection } from "../../core/selection";
import { errorText, Refusal } from "../../core/source";
import type { TableData } from "../../core/view";
import { Run } from "../../data/run";
import { readWalk, tracingRequest, type Walk } from "../../data/walk_tracing";
import { button } from "../../marks/controls";
import { make, relabel, setStyle, write } from "../../marks/make";
import { inks, sheet } from "../../marks/paper";
import { Choosers } from "./choosers";
import { Contents } from "./contents";
import { type Drawn, headOf, type WalkContext, WalkRuns, type WalkScene } from "./context";
import { chapterName, marksOf, sceneName } from "./names";
import { options, type WalkOptions } from "./options";
import { Player } from "./player";
import { Route } from "./route";
import { type SavedWalk, Saver } from "./saver";
import { makeScene } from "./scene";
import { type Scene, stepsOf } from "./script";
import { sentences, titles } from "./step_words";
import { lower, rich } from "./symbols";
import { type WalkWords, words } from "./words";
import "./style.css";

const STEP = 1.25; // of the zoom
const LONGEST = 1024; // tokens: of longer texts no matrix is kept

const SLACK = 8; // pixels below what is drawn

export const view = recordingView({
  name: "walk",
  order: 15,
  words,
  options,
  transport: false, // it has steps of its own
  fits({ now: { description } }) {
    const longest = Math.max(description.source.count, description.target?.count ?? 0);
    if (isSigned(description.maps)) return signedRefused;
    return longest <= LONGEST || ((language) => words(language).long(longest));
  },
  mount: (setting) => new WalkView(setting),
});

class WalkView extends MountedView<WalkWords, WalkOptions> {
  private readonly root: HTMLElement;
  private readonly message = make("span");
  private readonly again: HTMLButtonElement; // cancels the second run, or begins it once more
  private readonly notice = make("p", { class: "walk-notice", role: "status", hidden: true }, this.message);
  private readonly heading = make("h2", { class: "walk-title", tabindex: -1 });
  private readonly chapter = make("p", { class: "walk-chapter" });
  private readonly sentence = make("p", { class: "walk-sentence" });
  private readonly body = make("div", { class: "walk-scene" });
  private readonly route: Route;
  private readonly contents: Contents;
  private readonly choosers: Choosers;
  private readonly player: Player;
  private readonly loading = this.tasks.asker();
  private readonly runs: WalkRuns;
  private context: WalkContext | null = null;
  private onScreen: WalkScene | null = null;
  private shown = ""; // scene, layer and head on the screen
  private size = ""; // of the page
  private zoomed = 1; // as it is drawn
  private kept = false; // the runs go on
  private told: () => readonly [sentence: string, whole: string] = () => ["", ""]; // what the notice says

  constructor(setting: Setting<WalkWords, WalkOptions>) {
    super(setting);
    const { stage, say } = this;
    this.runs = (stage.kept as WalkRuns | undefined) ?? new WalkRuns();
    this.route = new Route(stage, this.options);
    this.contents = new Contents(this.route, say, (at) => this.goTo(at));
    this.choosers = new Choosers(this.route);
    this.player = new Player(
      say,
      (at) => this.goTo(at),
      () => this.onScreen?.beat?.() ?? false,
    );
    this.again = button(
      () => (this.runs.tracing?.state === "running" ? say.cancel : say.traceAgain),
      () => (this.runs.tracing?.state === "running" ? this.runs.tracing.stop() : this.open()),
    );
    this.root = this.build();
    stage.element.replaceChildren(this.root);
    stage.page?.addEventListener("keydown", this.pressAnywhere);
    this.open();
  }

  private build(): HTMLElement {
    const { stage, say } = this;
    const { map, list } = this.contents;
    const saver = new Saver(say, {
      begin: () => this.walkToSave(),
      over: () => this.tasks.over,
      saved: () => stage.announce(say.saved),
      failed: (error) => this.notify(() => [stage.text(errorText(error)), ""]),
    });
    const step = make(
      "section",
      { class: "walk-step" },
      list,
      this.chapter,
      this.heading,
      this.sentence,
      this.body,
      make("p", { class: "walk-foot hint" }, saver.element, () => ` ${say.keys}`),
    );
    return make(
      "div",
      { class: "walk", "data-still": stage.reducedMotion, onkeydown: this.press, onwheel: this.wheel },
      this.notice,
      make("div", { class: "walk-top" }, this.player.element, this.choosers.element),
      make("div", { class: "walk-main" }, map, step),
    );
  }

  // Opening

  private open(): void {
    this.loading.ask(
      null,
      (source) => readWalk(source, this.stage.source),
      (walk) => {
        const { rerunner } = this.stage;
        const request = tracingRequest(walk.plan, rerunner);
        if (request === null || rerunner === null) {
          this.take(walk);
          return;
        }
        if (this.runs.tracing === null || mayTryAgain(this.runs.tracing))
          this.runs.tracing = new Run((...heard) => rerunner.run(request, ...heard));
        const run = this.runs.tracing;
        this.take(walk, true);
        run.show(() => this.follow(run, walk));
        this.follow(run, walk);
      },
    );
  }

  /** The model runs once more and keeps every step; what was there stays on the screen until then. */
  private follow(run: Run, first: Walk): void {
    const { rerunner, signal } = this.stage;
    if (run.state === "done")
      this.loading.ask(
        run.result,
        async (_, asking) => {
          const source = await rerunner!.open(run.result!);
          return readWalk(source.within(asking), source.within(signal));
        },
        (walk) => this.take(walk),
        (error) => this.failTracing(first, error),
      );
    else if (run.state === "failed") this.failTracing(first, run.error);
    else if (run.state === "cancelled") this.take(first);
    else
      this.notify(() => {
        const share = run.job?.share ?? null;
        return [share === null ? this.say.tracing : this.say.tracingStage(Math.round(100 * share)), ""];
      });
  }

  private failTracing(first: Walk, error: unknown): void {
    this.take(first);
    this.notify(() => {
      const why = this.stage.text(errorText(error));
      return [this.say.traceFailed(why.split(/(?<=[.。？?]) ?(?=[^\d])/u)[0]!), why];
    });
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
    if (stage.source.description.probe) return named ? say.noTrace : ""; // a step of training cannot be run again
    return [named && say.noTrace, unknown && say.noTraceBench, ...notes].filter(Boolean).join(" ");
  }

  /** Show a walk; `awaited`: the model runs again, and more is on its way. */
  private take(walk: Walk, awaited = false): void {
    const { stage, say, options, runs } = this;
    this.context = {
      ...walk,
      ...{ stage, say, options, runs, awaited },
      width: () => Math.max(280, this.body.clientWidth || 960),
      height: () => this.roomBelow(),
      openHead: (map, head) => this.route.openHead(map, head),
      failed: this.tasks.fail,
    };
    this.shown = "";
    this.route.take(walk.plan, walk.source.description);
    this.notify(() => [this.lacks(walk.plan), ""]);
    this.show();
  }

  /** `whole`: all of a text of which only the first sentence is shown. */
  private notify(told: typeof this.told): void {
    this.told = told;
    const [sentence, whole] = told();
    const run = this.runs.tracing;
    const offered = run !== null && (run.state === "running" || mayTryAgain(run));
    if (!offered) this.again.remove();
    else if (!this.again.parentNode) this.notice.append(this.again); // once, so that it keeps the focus
    relabel(this.again);
    this.notice.hidden = sentence === "" && !offered;
    this.notice.title = whole;
    write(this.message, sentence);
  }

  // Where we are

  private goTo(at: number): void {
    const { scenes } = this.route;
    const scene = scenes[at];
    if (scene === undefined) return;
    this.route.goTo(scene);
    this.stage.announce(
      `${this.say.stepOf(at + 1, scenes.length)}: ${titles(this.stage.language)[scene.key]}`,
    );
  }

  update(now: Selection, before: Selection): void {
    if (this.context === null) return;
    if (!samePlace(now.place, before.place) || this.options.in(now).step !== this.options.in(before).step)
      this.route.rewrite();
    this.show();
  }

  // What is shown

  private show(): void {
    const { context, say, route } = this;
    const { scene, scenes } = route;
    if (context === null) return;
    if (scene === undefined) {
      this.notify(() => [say.empty, ""]);
      return;
    }
    const { language } = this.stage;
    const title = titles(language)[scene.key];
    this.player.show(route.at, scenes.length, marksOf(scenes, context.plan, say), title);
    this.contents.show(context);
    this.choosers.show(scene, context);
    write(this.chapter, chapterName(scene, context.plan, say));
    this.heading.replaceChildren(...rich(title));
    this.sentence.replaceChildren(...rich(sentences(language)[scene.key]));
    const row = scene.step?.axes.at(-1) === "vocabulary" ? this.stage.selection.get().query : null;
    const selection = this.stage.selection.get();
    const key = [
      scene.id,
      headOf(this.stage),
      row,
      scene.step?.kind === "cross" && readingOf(selection),
    ].join(" ");
    if (key === this.shown && this.onScreen !== null) {
      this.showZoom();
      this.onScreen.follow?.();
      return;
    }
    const jumped = this.shown.split(" ")[0] !== scene.id;
    this.body.style.setProperty("--room", `${this.roomBelow()}px`);
    this.shown = key;
    this.onScreen?.stop?.();
    this.zoomed = this.options.now.zoom;
    this.onScreen = makeScene(scene, context, jumped && this.size !== "");
    this.size = `${this.body.clientWidth} ${this.stage.element.clientHeight}`;
    this.scaleBody();
    this.root.dataset.scene = scene.id;
    this.body.replaceChildren(this.onScreen.element);
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
    if (event.target === this.stage.page?.body) this.press(event);
  };

  // Leaving the page

  private sheetOf(
    scene: Scene,
    picture: Drawn,
    { plan, source, say, stage: { language, theme } }: WalkContext,
    part = "",
  ): string {
    const { model, evidence } = source.description;
    const drawn = sheet({
      ...picture,
      title: sceneName(scene, plan, say, language) + part,
      caption: [sentences(language)[scene.key], model, evidenceLine(evidence, language)],
      theme,
    });
    return lower(drawn);
  }

  /** Every scene that has something to show, with the open layer of each stack. */
  private walkToSave(): SavedWalk | null {
    const { language, theme } = this.stage;
    if (this.context === null) return null;
    const { description } = this.context.source;
    const grown = (description.generation?.nodes.length ?? 0) > 0;
    const width = this.context.width();
    const context: WalkContext = {
      ...this.context,
      stage: Object.create(this.stage, { language: { value: language }, theme: { value: theme } }),
      say: words(language),
      width: () => width,
      height: () => 960,
    };
    return {
      scenes: this.route.scenes.filter(
        ({ kind, step }) => step?.missing == null && (kind !== "tree" || grown),
      ),
      ground: inks(theme).ground,
      model: description.model,
      draw: (scene) => this.drawAlone(scene, context),
    };
  }

  /** A scene that is not on the screen. */
  private async drawAlone(scene: Scene, context: WalkContext): Promise<readonly string[]> {
    const drawn = makeScene(scene, context, false);
    await drawn.ready;
    drawn.finish?.();
    const pictures = drawn.pictures?.() ?? [drawn.picture()];
    drawn.stop?.();
    const count = pictures.length;
    const part = (at: number) => (count > 1 ? ` · ${at + 1} / ${count}` : "");
    return pictures.map((each, at) => this.sheetOf(scene, each, context, part(at)));
  }

  async picture(): Promise<string> {
    const { scene } = this.route;
    if (scene === undefined || this.onScreen === null) throw new Refusal(this.say.empty, "empty", 0);
    await this.onScreen.ready;
    return this.sheetOf(scene, this.onScreen.picture(), this.context!);
  }

  async table(): Promise<TableData> {
    if (this.onScreen === null) return { caption: this.say.empty, columns: [], rows: [] };
    await this.onScreen.ready;
    return this.onScreen.table();
  }

  /** Pixels from the scene's upper edge to the lower one of the page. */
  private roomBelow(): number {
    const { element } = this.stage;
    const above = this.body.getBoundingClientRect().top - element.getBoundingClientRect().top;
    return element.clientHeight === 0 ? 960 : Math.max(200, element.clientHeight - above - SLACK);
  }

  resize(): void {
    const size = `${this.body.clientWidth} ${this.stage.element.clientHeight}`;
    if (size === this.size) return;
    this.size = size;
    this.onScreen?.resize?.();
  }

  togglePlay(): void {
    this.player.press(" ");
  }

  /** In steps; matrices get larger cells, other pictures grow as they are. Plain scrolling is left to the page. */
  zoom(direction: -1 | 0 | 1): void {
    const { zoom } = this.options.now;
    const wish = direction === 0 ? 1 : zoom * STEP ** direction;
    this.options.set({ zoom: Math.max(0.5, Math.min(8, significant(wish, 4))) });
  }

  private readonly wheel = (event: WheelEvent): void => {
    if (event.defaultPrevented || (!event.ctrlKey && !event.metaKey) || event.deltaY === 0) return;
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 1 : -1);
  };

  private showZoom(): void {
    const { zoom } = this.options.now;
    if (zoom === this.zoomed) return;
    this.zoomed = zoom;
    this.scaleBody();
    this.onScreen?.resize?.();
  }

  /** A scene that is no drawing of ours is enlarged as a whole. */
  private scaleBody(): void {
    const zoom = this.onScreen?.resize === undefined ? this.zoomed : 1;
    this.body.toggleAttribute("data-zoomed", zoom !== 1);
    setStyle(this.body, { zoom: String(zoom), "--zoom": String(zoom) });
  }

  restyle(): void {
    relabel(this.root);
    this.notify(this.told);
    this.onScreen?.restyle?.();
    this.show();
  }

  /** The second run and a search go on; on another tab nothing plays. */
  keep(): WalkRuns {
    this.kept = true;
    return this.runs;
  }

  unmount(): void {
    this.player.pause();
    this.onScreen?.stop?.();
    this.runs.tracing?.show(null);
    if (!this.kept) this.runs.stop();
    this.stage.page?.removeEventListener("keydown", this.pressAnywhere);
  }
}

/** A run that was cancelled or out of reach is asked for again; a model that cannot be followed is not. */
function mayTryAgain({ state, error }: Run): boolean {
  return state === "cancelled" || (state === "failed" && !(error instanceof Refusal && error.status > 0));
}
