/**
 * Word by word, with what else could have come; or the one word at a position.
 *
 * In:   generation steps of the recording, or its outputs.
 * Out:  a scene of the walk.
 */

import { choicesOf, probability } from "../../core/generation";
import type { TableData } from "../../core/view";
import { type Bar, Bars, writeBars } from "../../marks/bars";
import { make, write } from "../../marks/make";
import { inks, label } from "../../marks/paper";
import { type Drawn, rowOf, type WalkContext, type WalkScene } from "./context";
import { sideOf } from "./script";

interface Moment {
  readonly before: string;
  readonly text: string;
  readonly bars: readonly Bar[];
}

export class WordsScene implements WalkScene {
  readonly element: HTMLElement;
  private readonly moments: readonly Moment[];
  private readonly bars: Bars;
  private readonly written = make("p", { class: "walk-written", dir: "auto" });
  private readonly note = make("p", { class: "hint" });
  private readonly slider: HTMLInputElement;
  private at: number;

  constructor(
    private readonly context: WalkContext,
    private readonly only: "one" | "all",
  ) {
    const { say } = context;
    this.moments = momentsOf(context, only === "one");
    this.bars = new Bars(() => say.chance);
    this.slider = make("input", {
      class: "slider",
      type: "range",
      min: 0,
      max: Math.max(0, this.moments.length - 1),
      "aria-label": () => say.words,
      oninput: () => this.go(this.slider.valueAsNumber),
    });
    this.at = this.wish() ?? 0;
    const own = (context.source.description.generation?.steps.length ?? 0) > 0;
    this.element = make(
      "div",
      { class: "walk-words" },
      this.moments.length === 0 ? make("p", { class: "walk-missing" }, () => say.noOutput) : null,
      this.written,
      this.moments.length > 1 ? this.slider : null,
      this.bars.element,
      this.note,
      own || only === "one" ? null : make("p", { class: "hint" }, () => say.noGeneration),
    );
    this.show();
  }

  private go(at: number): void {
    const { options } = this.context;
    if (this.only === "one") options.set({ cell: [at, 0] }, { query: at });
    else options.set({ word: at });
  }

  follow(): void {
    const wish = this.wish();
    if (wish === null || wish === this.at) return;
    this.at = wish;
    this.show();
  }

  /** The moment that the selection names; null where it names none. */
  private wish(): number | null {
    const { context, moments } = this;
    const { word } = context.options.now;
    const wish = this.only === "one" ? rowOf(context, Math.max(1, moments.length), true) : word;
    return wish === null ? null : Math.max(0, Math.min(moments.length - 1, wish));
  }

  restyle(): void {
    this.show();
  }

  private show(): void {
    const { context, at } = this;
    const moment = this.moments[at];
    if (moment === undefined) return;
    this.slider.value = String(at);
    const before =
      this.only === "one" ? [] : this.moments.slice(0, at).map((each) => make("span", {}, `${each.text} `));
    const start = this.only === "one" ? moment.before : (this.moments[0]?.before ?? "");
    this.written.replaceChildren(
      ...(start === "" ? [] : [make("bdi", { class: "token" }, start), " → "]),
      ...before,
      make("b", {}, moment.text),
    );
    this.bars.show(moment.bars);
    const { generation } = context.source.description;
    const method =
      this.only === "all" && generation !== null ? ` · ${context.say.method(generation.method)}` : "";
    write(this.note, context.say.stepOf(at + 1, this.moments.length) + method);
  }

  beat(): boolean {
    if (this.only === "one" || this.at + 1 >= this.moments.length) return false;
    this.at += 1;
    this.go(this.at);
    this.show();
    return true;
  }

  finish(): void {
    if (this.only === "one") return;
    this.at = Math.max(0, this.moments.length - 1);
    this.show();
  }

  picture(): Drawn {
    const ink = inks(this.context.stage.theme);
    const moment = this.moments[this.at];
    if (moment === undefined) return { body: "", width: 480, height: 24 };
    const bars = writeBars(moment.bars, 480, this.context.stage.theme);
    const body = `${label(this.written.textContent ?? "", 0, 14, { fill: ink.ink, size: 13 })}<g transform="translate(0 32)">${bars.body}</g>`;
    return { body, width: 480, height: bars.height + 40 };
  }

  table(): TableData {
    const { say } = this.context;
    return {
      caption: say.words,
      columns: [say.place, say.token, say.words, say.chance],
      rows: this.moments.flatMap((moment, at) =>
        moment.bars.map((bar) => [at, moment.before, bar.text, bar.share]),
      ),
    };
  }
}

/** The words that were written, or what the model says at each position. */
function momentsOf(context: WalkContext, positions: boolean): Moment[] {
  const { description } = context.source;
  const { generation, output } = description;
  if (!positions && generation !== null && generation.steps.length > 0) {
    return generation.steps.map((step, at) => ({
      before: at === 0 ? "" : generation.steps[at - 1]!.text,
      text: step.text,
      bars: choicesOf(step).map((choice) => ({
        text: choice.text,
        share: probability(choice),
        chosen: choice.chosen,
      })),
    }));
  }
  const shown = context.tokens[sideOf(output?.stack ?? null, description)]?.shown ?? [];
  const classes = output?.kind === "classes";
  return (output?.positions ?? []).map((choices, at) => ({
    before: classes ? "" : (shown[at] ?? ""),
    text: choices[0]?.text ?? "",
    bars: choices.map((choice, rank) => ({
      text: choice.text,
      share: probability(choice),
      chosen: rank === 0,
    })),
  }));
}
