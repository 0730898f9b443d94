/**
 * Generation: "Predict output words". How a text was written, what else could have come, where the model looked.
 *
 * In:   the recorded steps (or output distributions), rows of attention of each step; a workbench, where there is one.
 * Out:  words as they come, bars of chances, coloured texts, the tree of a beam search. For models that fill masks or
 *       classify, their distributions.
 */

import { choicesOf, findFirst, findMasks, keptPath, mapOfStep, pathTo, probability } from "../generation";
import { words } from "../i18n/generation";
import { type Bar, Bars, percent, writeBars } from "../marks/bars";
import { Decoding, type Predicts } from "../marks/decoding";
import { make, write } from "../marks/make";
import { inks, label, sheet } from "../marks/paper";
import { Passage } from "../marks/passage";
import { Tree } from "../marks/tree";
import { Words } from "../marks/words";
import { type RecordingSource, Refusal } from "../source";
import type { DecodeRequest, JobRequest, SideName, StepDescription, TokenSlice } from "../types";
import type { Mounted, Stage, TableData, View } from "../view";
import { chooseHead, chooseMap, readRow } from "../weights";

const BEAT = 900; // milliseconds a step when playing
const MOST = 2000; // tokens of a text shown
const NODE_OPTION = "generation.node"; // a hypothesis that was not kept
const STEP_OPTION = "generation.step"; // where the text does not say which row wrote which word
const PREDICT_OPTION = "generation.predict"; // set by others: start at once

export const view: View = {
  name: "generation",
  order: 100,
  title: { en: words("en").title, zh: words("zh").title },
  about: { en: words("en").about, zh: words("zh").about },
  fits: () => true,
  mount: (stage) => new GenerationView(stage),
};

/** What a recording's model can predict. */
export function predictsOf({ description }: RecordingSource): Predicts {
  if (description.output?.kind === "classes") return "classes";
  return description.shape === "encoder" ? "masks" : "words";
}

class GenerationView implements Mounted {
  private readonly word;
  private readonly root = make("div", { class: "generation" });
  private readonly form: Decoding | null;
  private readonly live = make("section", { class: "generation-live", hidden: true });
  private readonly written: Words;
  private readonly streamed: Words;
  private readonly bars: Bars;
  private readonly tree: Tree;
  private readonly texts: {
    side: SideName;
    passage: Passage;
    element: HTMLElement;
    note: HTMLElement;
    slice: TokenSlice | null;
  }[] = [];
  private readonly parts;
  private readonly predicts: Predicts;
  private steps: readonly StepDescription[];
  private nodes: readonly StepDescription[];
  private kept: readonly number[];
  private first: number | null = null; // the position that wrote word 0
  private running: AbortController | null = null;
  private timer: ReturnType<typeof setInterval> | undefined;
  private asked = 0;
  private gone = false;

  constructor(private readonly stage: Stage) {
    const word = words(stage.language);
    this.word = word;
    const { description } = stage.source;
    this.predicts = predictsOf(stage.source);
    this.steps = description.generation?.steps ?? [];
    this.nodes = description.generation?.nodes ?? [];
    this.kept = keptPath(this.nodes, this.steps);
    this.form =
      stage.workbench === null || stage.workbench.again({}) === null
        ? null
        : new Decoding({
            word,
            predicts: this.predicts,
            send: (decode) => this.predict(decode),
            cancel: () => this.running?.abort(),
          });
    this.written = new Words(word.written, (step) => this.goTo(step));
    this.streamed = new Words(word.written, () => {});
    this.bars = new Bars(word.choicesName);
    this.tree = new Tree(word, (node) => this.chooseNode(node));
    const slider = make("input", {
      class: "slider",
      type: "range",
      min: 0,
      max: Math.max(0, this.steps.length - 1),
      "aria-label": word.step,
    });
    slider.addEventListener("input", () => this.goTo(slider.valueAsNumber));
    this.parts = {
      slider,
      play: make(
        "button",
        { type: "button", class: "button small generation-play", onclick: () => this.togglePlay() },
        word.play,
      ),
      where: make("span", { class: "generation-where" }),
      note: make("p", { class: "generation-note" }),
      choices: make("h2", {}),
      looked: make("h2", {}),
      layer: make("span", { class: "generation-layer" }),
      path: make("p", { class: "generation-path", dir: "auto" }),
      mask: make("button", {
        type: "button",
        class: "button generation-mask",
        hidden: true,
        onclick: () => this.maskIt(),
      }),
    };
    this.root.toggleAttribute("data-still", stage.reducedMotion);
    this.build();
    stage.element.replaceChildren(this.root);
    this.openTexts();
    this.follow();
    queueMicrotask(() => this.moveToDecoder());
    this.startIfAsked();
  }

  /** Choose a map of the stack that writes: layer, head and step then speak of it. */
  private moveToDecoder(): void {
    const { selection, source } = this.stage;
    const map = chooseMap(source.description, selection.get());
    if (this.gone || this.steps.length === 0 || map === null || map.stack === this.stack()) return;
    const fitting = this.mapOf("cross", 0) ?? this.mapOf("self", 0);
    if (fitting !== null) selection.set({ map: fitting.index, query: null, key: null });
  }

  // What is on the page

  private build(): void {
    const { word, parts, stage } = this;
    const { description } = stage.source;
    this.live.append(make("h2", {}, word.written), this.streamed.element);
    this.root.append(
      this.form?.element ??
        make("p", { class: "generation-note" }, stage.workbench === null ? word.noWorkbench : word.noRequest),
      this.live,
    );
    const decode = description.generation === null ? undefined : stage.workbench?.again({})?.decode;
    if (decode) this.form?.fill(decode); // the server writes null for what was not said
    if (this.steps.length > 0) this.buildSteps();
    else if (description.output !== null && description.output.positions.length > 0) this.buildOutput();
    else this.root.append(make("p", { class: "generation-note" }, word.nothing));
    this.root.append(parts.note);
  }

  private buildSteps(): void {
    const { word, parts, stage } = this;
    const { description } = stage.source;
    if (description.target !== null) this.texts.push(this.makeText("source", word.source));
    this.texts.push(
      this.makeText(this.writtenSide(), description.target === null ? word.text : word.earlier),
    );
    this.root.append(
      make(
        "section",
        { class: "generation-written" },
        make("h2", {}, word.written),
        this.written.element,
        make("div", { class: "generation-transport" }, parts.play, parts.slider, parts.where),
      ),
      make(
        "div",
        { class: "generation-grid" },
        make(
          "section",
          { class: "generation-looked" },
          parts.looked,
          parts.layer,
          ...this.texts.map((text) => text.element),
        ),
        make("section", { class: "generation-choices" }, parts.choices, this.bars.element),
      ),
    );
    this.written.show(this.steps.map((step) => ({ text: step.text, share: probability(step) })));
    if (this.nodes.length > 0) {
      this.root.append(
        make(
          "section",
          { class: "generation-tree" },
          make("h2", {}, word.tree),
          make("p", { class: "hint" }, word.treeHint),
          this.tree.element,
          parts.path,
        ),
      );
      this.tree.show(this.nodes, this.kept);
    }
  }

  private buildOutput(): void {
    const { word, parts, stage } = this;
    const { output } = stage.source.description;
    if (output!.kind === "classes") {
      write(parts.choices, word.classes);
      this.root.append(
        make(
          "section",
          { class: "generation-choices generation-alone" },
          parts.choices,
          make("p", { class: "hint" }, word.classesHint),
          this.bars.element,
        ),
      );
      return;
    }
    const side: SideName =
      output!.stack === "decoder" && stage.source.description.target !== null ? "target" : "source";
    this.texts.push(
      this.makeText(side, stage.source.description.shape === "encoder" ? word.positions : word.nextWord),
    );
    this.root.append(
      make(
        "div",
        { class: "generation-grid" },
        make(
          "section",
          { class: "generation-looked" },
          make("p", { class: "hint" }, word.chooseToken),
          this.texts[0]!.element,
        ),
        make("section", { class: "generation-choices" }, parts.choices, this.bars.element, parts.mask),
      ),
    );
  }

  private makeText(side: SideName, name: string): GenerationView["texts"][number] {
    const passage = new Passage({
      label: name,
      theme: this.stage.theme,
      choose: (token) => this.chooseToken(side, token),
      point: () => {},
    });
    const note = make("p", { class: "generation-note", hidden: true });
    return {
      side,
      passage,
      note,
      element: make("div", { class: "generation-text" }, make("h3", {}, name), note, passage.element),
      slice: null,
    };
  }

  private writtenSide(): SideName {
    return this.stage.source.description.target === null ? "source" : "target";
  }

  private countOf(side: SideName): number {
    const { description } = this.stage.source;
    return (side === "source" ? description.source : description.target)?.count ?? 0;
  }

  private openTexts(): void {
    const { source } = this.stage;
    for (const text of this.texts) {
      const count = this.countOf(text.side);
      source.tokens(text.side, [Math.max(0, count - MOST), count]).then((slice) => {
        if (this.gone) return;
        text.slice = slice;
        const whole = text.side === "source" ? source.description.source : source.description.target;
        text.passage.setTokens(slice, whole?.text ?? null, count);
        if (text.side === this.writtenSide() && this.steps.length > 0) {
          const first = findFirst(slice.ids, this.steps);
          this.first = first === null ? null : first + slice.start;
          if (first === null) write(this.parts.note, this.word.noText);
        }
        this.follow();
      }, this.failed);
    }
  }

  private readonly failed = (error: unknown): void => {
    if (!this.gone) this.stage.fail(error);
  };

  // Where we are

  /** The step of the selection, from 0. */
  private step(): number {
    const { selection, source } = this.stage;
    const now = selection.get();
    const last = Math.max(0, this.steps.length - 1);
    const map = chooseMap(source.description, now);
    let step = Number(now.options[STEP_OPTION] ?? 0);
    if (map !== null && map.step !== null) step = now.step ?? 0;
    else if (this.first !== null)
      step =
        map?.query_side === this.writtenSide() && map.stack !== "encoder" && now.query !== null
          ? now.query - this.first
          : 0;
    return Math.max(0, Math.min(last, Number.isFinite(step) ? step : 0));
  }

  /** Other maps than the decoder's say nothing about steps. */
  private goTo(step: number): void {
    const { selection, source } = this.stage;
    const now = selection.get();
    const { [NODE_OPTION]: _node, [STEP_OPTION]: _step, ...options } = now.options;
    const map = chooseMap(source.description, now);
    if (map !== null && map.step !== null) {
      selection.set({ step, options });
    } else if (this.first === null) {
      selection.set({ options: { ...options, [STEP_OPTION]: String(step) } });
    } else {
      const fitting =
        map?.stack === this.stack() ? map : (this.mapOf("cross", step) ?? this.mapOf("self", step));
      selection.set({
        ...(fitting === null ? {} : { map: fitting.index }),
        query: this.first + step,
        options,
      });
    }
  }

  private stack(): string {
    const { maps } = this.stage.source.description;
    return maps.some((map) => map.stack === "decoder") ? "decoder" : (maps[0]?.stack ?? "decoder");
  }

  private mapOf(kind: "self" | "cross", step: number) {
    const { description } = this.stage.source;
    const layer = chooseMap(description, this.stage.selection.get())?.layer ?? 0;
    return mapOfStep(description.maps, { kind, stack: this.stack(), layer, step });
  }

  /** The node of the tree that is looked at; null where there is no tree. */
  private node(): number | null {
    const wanted = Number(this.stage.selection.get().options[NODE_OPTION] ?? Number.NaN);
    if (Number.isInteger(wanted) && this.nodes[wanted] !== undefined) return wanted;
    return this.kept[this.step()] ?? null;
  }

  private chooseNode(node: number): void {
    const on = this.kept.indexOf(node);
    if (on >= 0) this.goTo(on);
    else this.stage.selection.option(NODE_OPTION, String(node));
    const shown = this.nodes[node]!;
    this.stage.announce(
      this.word.node(shown.text, shown.index + 1, (shown.score ?? shown.log_probability ?? 0).toFixed(2)),
    );
  }

  private chooseToken(side: SideName, token: number): void {
    if (this.steps.length === 0) {
      this.stage.selection.set({ query: token });
      return;
    }
    const step = this.first === null || side !== this.writtenSide() ? -1 : token - this.first - 1; // the word at that place
    if (step >= 0 && step < this.steps.length) this.goTo(step);
  }

  update(): void {
    this.follow();
    this.startIfAsked();
  }

  resize(): void {}

  zoom(direction: -1 | 0 | 1): void {
    this.tree.zoom(direction);
  }

  // Drawing

  private follow(): void {
    if (this.steps.length > 0) this.showStep();
    else this.showOutput();
  }

  private showStep(): void {
    const { word, parts } = this;
    const step = this.step();
    const node = this.node();
    const dropped = node !== null && !this.kept.includes(node);
    const shown = dropped ? this.nodes[node]! : this.steps[step]!;
    this.written.mark(dropped ? -1 : step, step);
    parts.slider.value = String(step);
    parts.slider.setAttribute("aria-valuetext", word.stepOf(step + 1, this.steps.length));
    write(parts.where, word.stepOf(step + 1, this.steps.length));
    write(parts.choices, word.choices(shown.index + 1));
    this.bars.show(this.barsOf(shown));
    if (node !== null) this.showPath(node);
    write(parts.looked, dropped ? word.dropped : word.looked(shown.text));
    for (const text of this.texts) text.element.hidden = dropped;
    parts.layer.hidden = dropped;
    if (!dropped) this.showAttention(step);
  }

  private showPath(node: number): void {
    this.tree.mark(node);
    const { score, log_probability } = this.nodes[node]!;
    const path = pathTo(this.nodes, node).map((place) => this.nodes[place]!.text);
    const value = (score ?? log_probability)?.toFixed(3) ?? "−∞";
    this.parts.path.replaceChildren(make("b", {}, this.word.soFar(value)), " ", path.join(" "));
  }

  private barsOf(step: StepDescription): Bar[] {
    return choicesOf(step).map((choice) => ({
      text: choice.text,
      share: probability(choice),
      chosen: choice.chosen,
    }));
  }

  /** Colour the texts by the attention of the step. */
  private showAttention(step: number): void {
    const asked = ++this.asked;
    const layers: string[] = [];
    for (const text of this.texts) {
      const { slice, passage } = text;
      const cross = this.texts.length === 2 && text.side === "source";
      const map = this.mapOf(cross ? "cross" : "self", step);
      const position = this.first === null ? null : this.first + step;
      if (!cross && position !== null) {
        passage.fade(position + 2);
        passage.mark(position + 1);
        if (step > 0) passage.reveal(position + 1, false);
      }
      const row =
        map === null || position === null
          ? -1
          : map.step === null
            ? position - map.query_start
            : map.queries - 1;
      const missing = map === null || row < 0 || row >= map.queries;
      text.note.hidden = !missing || slice === null || position === null;
      write(text.note, this.word.noRow);
      if (slice === null || map === null || missing) {
        passage.colour(null, 1);
        continue;
      }
      const head = chooseHead(map, this.stage.selection.get().head);
      layers.push(
        this.word.layerHead(map.layer, typeof head === "number" ? this.word.head(head) : this.word[head]),
      );
      readRow(this.stage.source, map, head, row).then((weights) => {
        if (this.gone || asked !== this.asked) return;
        const from = slice.start - map.key_start;
        const part = Float32Array.from(slice.shown, (_, index) => weights[from + index] ?? 0);
        passage.colour(
          part,
          part.reduce((one, other) => Math.max(one, other), 0),
        );
      }, this.failed);
    }
    write(this.parts.layer, layers[0] ?? "");
  }

  private showOutput(): void {
    const { output } = this.stage.source.description;
    if (output === null || output.positions.length === 0) return;
    if (output.kind === "classes") {
      this.bars.show(this.outputBars(0));
      return;
    }
    const text = this.texts[0];
    if (!text?.slice) return;
    const position = this.position(text.slice);
    const name = text.slice.shown[position - text.slice.start] ?? "";
    text.passage.mark(position);
    write(
      this.parts.choices,
      this.stage.source.description.shape === "encoder"
        ? this.word.atToken(name, position)
        : this.word.afterToken(name, position),
    );
    this.bars.show(this.outputBars(position));
    this.parts.mask.hidden =
      this.form === null || this.predicts !== "masks" || this.masked(text.slice, position) === null;
    write(this.parts.mask, this.word.maskIt(name));
  }

  /** The text with one token masked; null where the token is no part of the text. */
  private masked(slice: TokenSlice, position: number): string | null {
    const index = position - slice.start;
    const { text } = this.stage.source.description.source;
    const span = slice.offsets?.[index];
    const masks = findMasks(slice);
    if (
      text === null ||
      span === undefined ||
      slice.special[index] ||
      span[0] === span[1] ||
      masks.includes(position)
    )
      return null;
    const mask = masks.length > 0 ? slice.texts[masks[0]! - slice.start]!.trim() : "[MASK]";
    const letters = [...text];
    return letters.slice(0, span[0]).join("") + mask + letters.slice(span[1]).join("");
  }

  private maskIt(): void {
    const slice = this.texts[0]?.slice;
    const text = slice ? this.masked(slice, this.position(slice)) : null;
    if (text !== null) this.predict(null, { text });
  }

  /** The token whose prediction is shown: chosen, else the first mask, else the last. */
  private position(slice: TokenSlice): number {
    const { query } = this.stage.selection.get();
    const count = this.stage.source.description.output?.positions.length ?? 0;
    if (query !== null && query < count) return query;
    return findMasks(slice)[0] ?? count - 1;
  }

  private outputBars(position: number): Bar[] {
    const choices = this.stage.source.description.output?.positions[position] ?? [];
    return choices.map((choice, rank) => ({
      text: choice.text,
      share: probability(choice),
      chosen: rank === 0,
    }));
  }

  // Walking through the steps

  private togglePlay(): void {
    if (this.timer !== undefined) {
      this.pause();
      return;
    }
    if (this.step() + 1 >= this.steps.length) this.goTo(0);
    write(this.parts.play, this.word.pause);
    this.timer = setInterval(() => {
      const next = this.step() + 1;
      if (next < this.steps.length) this.goTo(next);
      if (next + 1 >= this.steps.length) this.pause();
    }, BEAT);
  }

  private pause(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    write(this.parts.play, this.word.play);
  }

  // Predicting

  private startIfAsked(): void {
    const { selection } = this.stage;
    if (selection.get().options[PREDICT_OPTION] === undefined) return;
    queueMicrotask(() => {
      selection.option(PREDICT_OPTION, null);
      if (!this.gone && this.form !== null && this.running === null) this.predict(this.form.read());
    });
  }

  /** What made this recording, with another way of writing; null where that is not known. */
  private request(decode: DecodeRequest | null): JobRequest | null {
    const known = this.stage.workbench?.again(decode === null ? {} : { decode }) ?? null;
    return known === null ? null : { ...known, kind: "generate" };
  }

  private predict(decode: DecodeRequest | null, change: Partial<JobRequest> = {}): void {
    const { workbench } = this.stage;
    const { form, word } = this;
    if (workbench === null || form === null) return;
    const request = this.request(decode);
    if (request === null) {
      form.say(word.noRequest);
      return;
    }
    const running = new AbortController();
    const heard: StepDescription[] = [];
    this.running = running;
    this.pause();
    form.setBusy(true);
    this.live.hidden = false;
    this.streamed.show([]);
    workbench
      .run(
        { ...request, ...change },
        (event) => {
          if (this.gone) return;
          if ("job" in event) form.tell(event.job);
          else this.hear(heard, event.step);
        },
        running.signal,
      )
      .then(
        (id) => {
          if (!this.gone) workbench.go(id);
        },
        (error: unknown) => {
          if (this.gone) return;
          this.live.hidden = true;
          if (running.signal.aborted) form.say(word.cancelled);
          else form.say(error instanceof Refusal ? error.sentence : String(error));
        },
      )
      .finally(() => {
        this.running = null;
        if (!this.gone) form.setBusy(false);
      });
  }

  /** A word has come, or one more hypothesis; shown is the best text so far. */
  private hear(heard: StepDescription[], step: StepDescription): void {
    heard.push(step);
    let best = heard.length - 1;
    while (best > 0 && heard[best]!.beam !== 0) best--;
    const tree = heard.some((each) => each.parent !== null);
    const path = tree
      ? pathTo(heard, best).map((place) => heard[place]!)
      : heard.filter((each) => each.beam === 0);
    this.streamed.show(path.map((each) => ({ text: each.text, share: probability(each) })));
    this.streamed.mark(path.length - 1, path.length);
  }

  // Taking it along

  async picture(): Promise<string> {
    const { word, stage } = this;
    const { theme, source } = stage;
    const look = inks(theme);
    const { description } = source;
    const step = this.step();
    const shown = this.steps[step];
    const output =
      description.output?.kind === "classes"
        ? 0
        : this.texts[0]?.slice
          ? this.position(this.texts[0].slice)
          : 0;
    const bars =
      shown === undefined
        ? this.outputBars(output)
        : this.barsOf(this.node() === null ? shown : (this.nodes[this.node()!] ?? shown));
    let height = 0;
    let width = 480;
    const parts: string[] = [];
    const add = (title: string, body: { body: string; width?: number; height: number }) => {
      parts.push(
        label(title, 0, height + 14, { fill: look.ink, weight: 600, size: 13 }),
        `<g transform="translate(0 ${height + 28})">${body.body}</g>`,
      );
      height += 28 + body.height + 20;
      width = Math.max(width, body.width ?? 0);
    };
    for (const text of this.texts)
      add(text.element.querySelector("h3")?.textContent ?? "", text.passage.picture(look));
    add(this.parts.choices.textContent ?? "", writeBars(bars, 480, theme));
    if (this.nodes.length > 0) add(word.tree, this.tree.picture(theme));
    return sheet({
      width,
      height,
      body: parts.join(""),
      title: `${word.title} · ${description.model}`,
      caption: [
        `${description.model}. ${description.generation === null ? "" : word.captionMethod(description.generation.method)} ` +
          `${shown === undefined ? "" : word.captionStep(step + 1, shown.text, percent(probability(shown)))} ${this.parts.layer.textContent ?? ""}`,
        description.evidence.line,
      ],
      theme,
    });
  }

  async table(): Promise<TableData> {
    const { word } = this;
    const { output } = this.stage.source.description;
    if (this.steps.length > 0) {
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
        rows: this.steps.flatMap((step, index) =>
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
    const slice = this.texts[0]?.slice;
    return {
      caption: output?.kind === "classes" ? word.classes : word.positions,
      columns: [word.columnPosition, word.columnToken, word.columnRank, word.columnChoice, word.columnShare],
      rows: (output?.positions ?? []).flatMap((choices, position) =>
        choices.map((choice, rank) => [
          position,
          slice?.shown[position - slice.start] ?? "",
          rank + 1,
          choice.text,
          probability(choice),
        ]),
      ),
    };
  }

  unmount(): void {
    this.gone = true;
    this.running?.abort();
    clearInterval(this.timer);
    this.stage.element.replaceChildren();
  }
}
