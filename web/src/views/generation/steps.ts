/**
 * The steps of a text: words in order, what else could have come, where the model looked, and the tree of a beam search.
 *
 * In:   a recorded generation, rows of attention.
 * Out:  a panel that follows the step of the selection, and can walk through all of them.
 */

import type { MapDescription, StepDescription } from "../../api/types";
import { sideName } from "../../core/focus";
import { chance } from "../../core/formats";
import { choicesOf, findFirst, pathTo, probability, scoreText } from "../../core/generation";
import { chooseHead, type Head } from "../../core/maps";
import { MountedView } from "../../core/recording_view";
import type { TableData } from "../../core/view";
import { readRow } from "../../data/weights";
import { type Bar, Bars } from "../../marks/bars";
import { make, relabel, write } from "../../marks/make";
import { Tree } from "../../marks/tree";
import { WordRow } from "../../marks/word_row";
import { Branches } from "./branches";
import type { Drawing, GenerationOptions, GenerationPanel, GenerationSetting } from "./panel";
import { Place } from "./place";
import { Text } from "./text";
import type { Words } from "./words";

const nothing = (): void => {};
const BEAT = 900; // milliseconds a step when playing

export class Steps extends MountedView<Words, GenerationOptions> implements GenerationPanel {
  readonly element: HTMLElement;
  private readonly place: Place;
  private readonly written: WordRow;
  private readonly bars: Bars;
  private readonly tree: Tree;
  private readonly texts: readonly Text[]; // the last is the one that was written
  private readonly slider: HTMLInputElement;
  private readonly play: HTMLButtonElement;
  private readonly where = make("span", { class: "generation-where" });
  private readonly choices = make("h2");
  private readonly looked = make("h2");
  private readonly layer = make("span", { class: "generation-layer" });
  private readonly path = make("p", { class: "generation-path", dir: "auto" });
  private readonly note: HTMLElement;
  private readonly forced: HTMLElement;
  private readonly branches: Branches;
  private readonly openIt: HTMLButtonElement;
  private readonly asking = this.tasks.asker();

  constructor(setting: GenerationSetting) {
    super(setting);
    const { say: word, stage, tasks } = this;
    this.place = new Place(setting);
    this.note = make("p", { class: "generation-note", hidden: true }, () => word.noText);
    this.forced = make("p", { class: "hint", hidden: true }, () => word.forcedHere);
    const { place } = this;
    this.written = new WordRow(
      () => word.written,
      (step) => place.goTo(step),
    );
    this.branches = new Branches(setting, place);
    this.bars = new Bars(() => word.choicesName, this.branches.runs ? (at) => this.force(at) : null);
    const open = { type: "button", class: "button small", onclick: () => this.openNode() };
    this.openIt = make("button", open, () => word.openHypothesis);
    this.tree = new Tree(word, (node) => this.chooseNode(node));
    const last = Math.max(0, place.steps.length - 1);
    this.slider = make("input", {
      class: "slider",
      type: "range",
      min: 0,
      max: last,
      "aria-label": () => word.step,
    });
    this.slider.addEventListener("input", () => place.goTo(this.slider.valueAsNumber));
    const play = { type: "button", class: "button small generation-play", onclick: () => this.togglePlay() };
    this.play = make("button", play, () => (tasks.waits("play") ? word.pause : word.play));
    const translated = stage.source.description.target !== null;
    const sourceName = () => sideName(stage.source.description, "source", stage.language);
    const own = new Text(
      setting,
      place.side,
      () => (translated ? word.earlier : word.text),
      (token) => this.chooseToken(token),
    );
    this.texts = translated ? [new Text(setting, "source", sourceName, nothing), own] : [own];
    this.element = this.build();
    this.open(own);
  }

  private build(): HTMLElement {
    const { say: word } = this;
    const { steps, nodes, kept } = this.place;
    const { method } = this.stage.source.description.generation!;
    const transport = make("div", { class: "generation-transport" }, this.play, this.slider, this.where);
    const texts = this.texts.map((text) => text.element);
    this.written.show(steps.map((step) => ({ text: step.text, share: probability(step) })));
    this.tree.show(nodes, kept);
    return make(
      "div",
      { class: "generation-part" },
      make(
        "section",
        { class: "generation-written" },
        make("h2", {}, () => word.written),
        this.written.element,
        transport,
      ),
      make(
        "div",
        { class: "generation-grid" },
        make("section", { class: "generation-looked" }, this.looked, this.layer, ...texts),
        make(
          "section",
          { class: "generation-choices" },
          this.choices,
          make("p", { class: "hint" }, () => word.chances(method)),
          this.forced,
          this.bars.element,
        ),
      ),
      this.branches.element,
      nodes.length > 0 &&
        make(
          "section",
          { class: "generation-tree" },
          make("h2", {}, () => word.tree),
          make("p", { class: "hint" }, () => word.treeHint),
          this.tree.element,
          this.path,
          this.branches.runs && this.openIt,
        ),
      this.note,
    );
  }

  private open(own: Text): void {
    for (const text of this.texts) {
      text.open((slice) => {
        if (text === own) {
          const first = findFirst(slice.ids, this.place.steps);
          this.place.begin(first === null ? null : first + slice.start);
          this.note.hidden = first !== null;
        }
        this.follow();
      });
    }
    queueMicrotask(() => {
      if (!this.tasks.over) this.place.turnToWriter();
    });
  }

  /** The step or the dropped hypothesis that is shown. */
  private shown(): { step: StepDescription; dropped: boolean } {
    const { place } = this;
    const node = place.node();
    const dropped = node !== null && !place.kept.includes(node);
    return { dropped, step: dropped ? place.nodes[node]! : place.steps[place.step()]! };
  }

  follow(): void {
    const { say: word } = this;
    const { place } = this;
    const at = place.step();
    const { step, dropped } = this.shown();
    const where = word.stepOf(at + 1, place.steps.length);
    this.written.mark(dropped ? -1 : at, at);
    this.slider.value = String(at);
    this.slider.setAttribute("aria-valuetext", where);
    write(this.where, where);
    const { title, bars } = this.chances();
    write(this.choices, title);
    this.bars.show(bars);
    this.forced.hidden = dropped || !this.stage.source.description.generation!.forced?.includes(at);
    this.branches.follow(dropped);
    this.showPath(place.node());
    write(this.looked, dropped ? word.dropped : word.looked(step.text));
    for (const text of this.texts) text.element.hidden = dropped;
    this.layer.hidden = dropped;
    if (!dropped) this.showAttention(at);
  }

  private showPath(node: number | null): void {
    if (node === null) return;
    const { nodes } = this.place;
    this.tree.mark(node);
    const value = scoreText(nodes[node]!, 3);
    const texts = pathTo(nodes, node).map((place) => nodes[place]!.text);
    this.path.replaceChildren(make("b", {}, this.say.soFar(value)), " ", texts.join(" "));
  }

  /** Colour the texts by the attention of the step. */
  private showAttention(step: number): void {
    const { say: word, stage } = this;
    const position = this.place.position(step);
    const rows: { text: Text; map: MapDescription; head: Head; row: number }[] = [];
    for (const text of this.texts) {
      const own = text === this.texts.at(-1);
      const map = this.place.mapOf(own ? "self" : "cross", step);
      if (own && position !== null) {
        text.passage.fade(position + 2);
        text.passage.mark(position + 1);
        if (step > 0) text.passage.reveal(position + 1, false);
      }
      const row =
        map === null || position === null
          ? -1
          : map.place.step === null
            ? position - map.query_start
            : map.queries - 1;
      const there = map !== null && row >= 0 && row < map.queries;
      text.say(there || map === null || position === null ? "" : word.noRow);
      if (there) rows.push({ text, map, head: chooseHead(map, stage.selection.get().head), row });
      else text.passage.colour(null, 1);
    }
    this.asking.ask(
      null,
      (source) => Promise.all(rows.map(({ map, head, row }) => readRow(source, map, head, row))),
      (weights) => {
        rows.forEach(({ text, map }, at) => {
          text.colour(weights[at]!, map.key_start);
        });
      },
    );
    const names = rows.map(({ map, head }) =>
      word.layerHead(map.place.layer, typeof head === "number" ? word.head(head) : word[head]),
    );
    write(this.layer, names[0] ?? "");
  }

  /** Another word for the step that is shown. */
  private force(at: number): void {
    const { step, dropped } = this.shown();
    const choice = choicesOf(step)[at];
    if (!dropped && choice) this.branches.force(choice);
  }

  private openNode(): void {
    const node = this.place.node();
    if (node !== null) this.branches.openNode(node);
  }

  private chooseNode(node: number): void {
    const { nodes } = this.place;
    const { text, index } = nodes[node]!;
    this.place.chooseNode(node);
    this.stage.announce(this.say.node(text, index + 1, scoreText(nodes[node]!, 2)));
  }

  /** A word of the text: the step that wrote it. */
  private chooseToken(token: number): void {
    const { first, steps } = this.place;
    const step = first === null ? -1 : token - first - 1;
    if (step >= 0 && step < steps.length) this.place.goTo(step);
  }

  togglePlay(): void {
    const { place } = this;
    const { tasks } = this;
    if (tasks.waits("play")) tasks.cancel("play");
    else {
      if (place.step() + 1 >= place.steps.length) place.goTo(0);
      this.playOn();
    }
    relabel(this.play);
  }

  /** One step more after a while, until the last. */
  private playOn(): void {
    const { place } = this;
    this.tasks.later("play", BEAT, () => {
      const next = place.step() + 1;
      if (next < place.steps.length) place.goTo(next);
      if (next + 1 < place.steps.length) this.playOn();
      relabel(this.play);
    });
  }

  chances(): { title: string; bars: Bar[] } {
    const { step } = this.shown();
    const bars = choicesOf(step).map((choice) => ({
      text: choice.text,
      share: probability(choice),
      chosen: choice.chosen,
    }));
    return { title: this.say.choices(step.index + 1), bars };
  }

  drawings(): { above: Drawing[]; below: Drawing[] } {
    const { say: word, stage } = this;
    const above = this.shown().dropped ? [] : this.texts.map((text) => text.drawing());
    const tree = { title: word.tree, ...this.tree.picture(stage.theme) };
    return { above, below: this.place.nodes.length > 0 ? [tree] : [] };
  }

  caption(): string {
    const { say: word, stage } = this;
    const { step } = this.shown();
    const method = word.captionMethod(stage.source.description.generation!.method);
    return `${method} ${word.chances(stage.source.description.generation!.method)} ${word.captionStep(step.index + 1, step.text, chance(probability(step)))} ${this.layer.textContent}`;
  }

  table(): TableData {
    const { say: word } = this;
    return {
      caption: word.written,
      columns: [
        word.columnStep,
        word.columnWord,
        word.columnShare,
        word.columnRank,
        word.columnChoice,
        word.columnShare,
      ],
      rows: this.place.steps.flatMap((step, index) =>
        choicesOf(step).map((choice, rank) => [
          index + 1,
          step.text,
          probability(step),
          rank + 1,
          choice.text,
          probability(choice),
        ]),
      ),
    };
  }
}
