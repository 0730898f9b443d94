/**
 * The playground: small pages, each with one thing to change and one thing to see. It needs no recording.
 *
 * In:   topics and results of the server, the settings in the URL.
 * Out:  a list of topics, the controls of one, its figures, and one sentence why it matters.
 */

import "./style.css";
import type { PlayResult, PlayTopic } from "../../api/types";
import { digits } from "../../core/formats";
import type { Message } from "../../core/messages";
import { Refusal } from "../../core/source";
import type { Mounted, Stage, TableData, View } from "../../core/view";
import { introduce, liveWords } from "../../i18n/core";
import { make, relabel } from "../../marks/make";
import { explainError, isBusy, showError } from "./errors";
import { FigureElement, figureRows, mostSideBySide, takesWholeRow } from "./figure";
import { makePage, type TopicPage } from "./page";
import { drawTopic } from "./picture";
import {
  allSettings,
  changedSettings,
  chosenTopic,
  options,
  readSettings,
  requestKey,
  type Settings,
  withSettings,
} from "./settings";
import { TopicList } from "./topics";
import { words } from "./words";

export const view: View<"none", { readonly topic: string }> = {
  name: "playground",
  order: 120,
  ...introduce(words),
  needs: "none",
  panel: false,
  transport: false,
  options,
  fits: () => true,
  mount: (stage) => new PlaygroundView(stage), // a training ends with its tab
};

const PAUSE = 90; // ms after a control's last change
const PATIENCE = 300; // ms before saying that it computes
const LONG = 2500; // ms before saying why it takes longer
const COLUMN = 360; // the narrowest figure beside another
const WIDEST = 960;
const GAP = 32;

class PlaygroundView implements Mounted {
  private readonly say: ReturnType<typeof words>;
  private readonly list: TopicList;
  private readonly page = make("section", { class: "play-page" });
  private readonly root: HTMLElement;
  private readonly kept = new Map<string, Settings>(); // of each topic that was open
  private topics: readonly PlayTopic[] = [];
  private topic: PlayTopic | null = null;
  private parts: TopicPage | null = null;
  private wish: Settings = {}; // of the controls; the URL follows
  private timer = 0;
  private asking = new AbortController(); // the last request, or until a running model has ended
  private loading: Promise<unknown> = Promise.resolve();
  private asked = ""; // the last request
  private play: PlayResult | null = null;
  private state: "computing" | "starting" | null = null;
  private unmounted = false;

  constructor(private readonly stage: Stage<"none">) {
    const say = liveWords(words, () => stage.language);
    this.say = say;
    this.list = new TopicList(
      () => say.topics,
      (topic) => this.choose(topic),
    );
    this.root = make("div", { class: "playground-view" }, this.list.element, this.page);
    stage.element.replaceChildren(this.root);
    if (!stage.playground) this.showUnavailable();
    else this.loading = this.load();
  }

  private async load(): Promise<void> {
    try {
      this.topics = await this.stage.playground!.topics();
    } catch (error) {
      if (this.unmounted) return;
      const missing = error instanceof Refusal && (error.status === 404 || error.status === 409);
      if (missing) this.showUnavailable();
      else this.stage.fail(error);
      return;
    }
    if (this.unmounted) return;
    if (this.topics.length === 0) return this.showUnavailable();
    this.list.fill(this.topics, (said) => this.stage.text(said));
    this.update();
  }

  update(): void {
    const topic = chosenTopic(this.topics, this.stage.selection.get().options);
    if (!topic) return;
    // Without models only the first settings are there, whatever a link says.
    const { rerunner, selection } = this.stage;
    const settings = readSettings(topic, rerunner ? selection.get().options : {}, this.language());
    if (topic !== this.topic) this.open(topic, settings);
    else if (this.timer === 0) this.wish = settings;
    this.parts?.controls.set(this.wish);
    this.kept.set(topic.name, this.wish);
    if (this.timer === 0) this.loading = this.ask(topic, settings);
  }

  resize(): void {
    this.draw();
  }

  restyle(): void {
    relabel(this.root);
    for (const figure of this.parts?.shown.values() ?? []) figure.restyle();
    this.kept.clear();
    if (this.topics.length > 0) this.update(); // a text that nobody has changed is one of the new language
  }

  /** Whose texts are shown at first; where nothing is computed, those of the results that ship. */
  private language(): string {
    return this.stage.rerunner ? this.stage.language : "";
  }

  unmount(): void {
    this.unmounted = true;
    window.clearTimeout(this.timer);
    this.asking.abort();
    this.parts?.training?.leave();
    this.stage.element.replaceChildren();
  }

  async picture(): Promise<string> {
    await this.settled();
    const { topic, play, wish } = this;
    return drawTopic({ topic, play, settings: wish, evidence: this.evidence() }, this.stage, this.say.title);
  }

  async table(): Promise<TableData> {
    await this.settled();
    const text = (said: Message) => this.stage.text(said);
    return {
      caption: this.topic ? text(this.topic.title) : this.say.title,
      columns: this.say.tableColumns.split("|"),
      rows: (this.play?.figures ?? []).flatMap((figure) => figureRows(figure, text)),
    };
  }

  /** Wait for every request; the list of topics is followed by a first one. */
  private async settled(): Promise<void> {
    for (let last: unknown = null; last !== this.loading; ) {
      last = this.loading;
      await last;
    }
  }

  /** Another topic, with the settings it had last. */
  private choose(topic: PlayTopic): void {
    const { options } = this.stage.selection.get();
    window.clearTimeout(this.timer);
    this.timer = 0;
    const settings = this.kept.get(topic.name) ?? readSettings(topic, {}, this.language());
    this.stage.selection.set({ options: withSettings(options, topic, settings, this.language()) });
  }

  private open(topic: PlayTopic, settings: Settings): void {
    this.topic = topic;
    this.wish = settings;
    this.play = null;
    this.state = null;
    this.parts?.training?.leave();
    this.list.choose(topic);
    this.parts = makePage(topic, settings, this.stage, {
      changed: this.stage.rerunner ? (name, value) => this.change(name, value) : null,
      now: () => ({ play: this.play, settings: this.wish }),
      begin: () => this.beginTraining(topic),
      show: (play) => this.showResult(play),
      explain: (error) => explainError(error, this.stage.language),
      found: () => this.found(topic),
      evidence: () => this.evidence(),
      state: () => (this.state === null ? "" : this.say[this.state]),
      again: () => {
        this.loading = this.ask(topic, this.wish, true);
      },
    });
    this.page.replaceChildren(...this.parts.elements);
    this.stage.element.parentElement?.scrollTo?.({ top: 0 });
  }

  private setState(state: typeof this.state): void {
    this.state = state;
    relabel(this.parts!.state);
  }

  /** The sentence of the result; none where it belongs to other settings. */
  private found(topic: PlayTopic): string {
    if (topic.measured && !this.stage.rerunner) return this.say.measured;
    const stale = this.parts?.figures.classList.contains("stale") === true;
    return this.play === null || stale ? "" : this.stage.text(this.play.found);
  }

  /** A control was moved: the URL follows after a pause. */
  private change(name: string, value: string): void {
    this.wish = { ...this.wish, [name]: value };
    this.parts?.controls.set(this.wish);
    this.parts?.training?.stop();
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.settle(), PAUSE);
  }

  private settle(): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
    const { selection } = this.stage;
    const before = selection.get();
    selection.set({ options: withSettings(before.options, this.topic!, this.wish, this.language()) });
    if (selection.get() === before) this.update(); // back where it was
  }

  /** Training brings its own result: abort the request, and hide an error. */
  private beginTraining(topic: PlayTopic): void {
    this.asking.abort();
    this.asked = requestKey(topic, this.wish);
    this.root.classList.remove("asking");
    this.setState(null);
    this.parts!.trouble.hidden = true;
  }

  private async ask(topic: PlayTopic, settings: Settings, anew = false): Promise<void> {
    const asked = requestKey(topic, settings);
    if (asked === this.asked && !anew) return this.loading as Promise<void>;
    this.asked = asked;
    if (topic.measured && !this.stage.rerunner) return;
    this.asking.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    this.root.classList.add("asking");
    const slow = window.setTimeout(() => signal.aborted || this.setState("computing"), PATIENCE);
    const slower = window.setTimeout(() => signal.aborted || this.setState("starting"), LONG);
    try {
      const words = anew ? allSettings(topic, settings) : changedSettings(topic, settings);
      const play = await this.stage.playground!.ask(topic.name, words, signal, anew);
      if (signal.aborted) return;
      this.setState(null);
      this.showResult(play);
    } catch (error) {
      if (signal.aborted) return;
      this.asked = "";
      this.showFailure(error, signal, () => {
        this.loading = this.ask(topic, this.wish, anew);
      });
    } finally {
      window.clearTimeout(slow);
      window.clearTimeout(slower);
      if (this.asking.signal === signal) this.root.classList.remove("asking");
    }
  }

  private showResult(play: PlayResult): void {
    const { controls, trouble, figures, found, evidence } = this.parts!;
    this.play = play;
    figures.classList.remove("stale");
    for (const element of [found, evidence]) relabel(element);
    controls.limit(play.ranges);
    trouble.hidden = true;
    this.draw();
  }

  private draw(): void {
    const { parts, play } = this;
    if (!parts || !play) return;
    const whole = Math.max(240, parts.figures.clientWidth || 720);
    const fitting = Math.floor((whole + GAP) / (COLUMN + GAP));
    const columns = Math.max(1, Math.min(fitting, mostSideBySide(play.figures), 3));
    const narrow = Math.floor((whole - (columns - 1) * GAP) / columns);
    const wide = takesWholeRow(play.figures, columns);
    const elements = play.figures.map((figure, at) => {
      const key = `${figure.id} ${figure.kind}`;
      const element = parts.shown.get(key) ?? new FigureElement(figure, this.stage);
      parts.shown.set(key, element);
      element.show(figure, wide[at] ? Math.min(whole, WIDEST) : narrow, wide[at]);
      return element.element;
    });
    parts.figures.style.setProperty("--columns", String(columns));
    const now = [...parts.figures.children];
    if (now.length !== elements.length || elements.some((element, at) => element !== now[at]))
      parts.figures.replaceChildren(...elements); // otherwise the focus stays where it is
  }

  private evidence(): string {
    if (!this.play) return "";
    if (this.play.seconds === null)
      return this.play.model ? this.say.shippedWith(this.play.model) : this.say.shipped;
    const seconds = digits(this.play.seconds, 2);
    return this.play.model ? this.say.computed(this.play.model, seconds) : this.say.computedPlain(seconds);
  }

  /** Say why there is no result. While a model runs, ask again when it has ended. */
  private showFailure(error: unknown, signal: AbortSignal, askAgain: () => void): void {
    const { say, stage } = this;
    const parts = this.parts!;
    const free = isBusy(error) ? stage.rerunner?.whenFree : undefined;
    void free?.(signal).then(() => signal.aborted || askAgain());
    this.setState(null);
    parts.figures.classList.add("stale"); // of other settings
    relabel(parts.found);
    const sentence = () => (free ? say.waitsForModel : explainError(error, stage.language));
    const shown = showError(parts.trouble, sentence, () => say.tryAgain, askAgain);
    if (shown) stage.announce(sentence());
  }

  private showUnavailable(): void {
    this.page.replaceChildren(
      make("p", { class: "play-refusal" }, () => this.say.noServer),
      make("p", { class: "play-refusal" }, () => this.say.noServerHint),
    );
  }
}
