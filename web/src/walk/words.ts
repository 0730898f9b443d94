/**
 * The scenes that are no matrix: the text, training beside inference, word by word, the word.
 *
 * In:   tokens, outputs and generation steps of the recording.
 * Out:  parts of the walk.
 */

import { choicesOf, findFirst, probability } from "../generation/paths";
import { type Bar, Bars, percent, writeBars } from "../marks/bars";
import { make, write } from "../marks/make";
import { inks, label } from "../marks/paper";
import type { Choice, SideName } from "../types";
import type { TableData } from "../view";
import { type Drawn, type Home, type Part, rowOf } from "./part";
import { sideOf } from "./script";

const MOST = 32; // positions shown one below the other

/** Text becomes tokens with numbers. */
export class TextScene implements Part {
  readonly element: HTMLElement;
  readonly ready = Promise.resolve();
  private readonly side: SideName;

  constructor(
    private readonly home: Home,
    stack: string | null,
  ) {
    const { description } = home.source;
    this.side = sideOf(stack, description);
    const text = (this.side === "target" ? description.target : description.source)?.text ?? "";
    const slice = home.tokens[this.side];
    const list = make("ol", { class: "walk-tokens", start: 0 });
    slice?.shown.forEach((shown, at) => {
      list.append(
        make(
          "li",
          { "data-special": slice.special[at] ?? false },
          make("small", {}, String(at)),
          make("bdi", { class: "token" }, shown),
          make("span", { class: "walk-id" }, String(slice.ids[at])),
        ),
      );
    });
    this.element = make(
      "div",
      { class: "walk-text" },
      make("blockquote", { dir: "auto" }, text),
      make("p", { class: "walk-down", "aria-hidden": "true" }, "↓"),
      list,
      make("p", { class: "hint" }, `${home.say.place} · ${home.say.token} · ${home.say.id}`),
    );
  }

  follow(): void {}

  picture(): Drawn {
    const ink = inks(this.home.stage.theme);
    const slice = this.home.tokens[this.side];
    let body = "";
    (slice?.shown ?? []).forEach((shown, at) => {
      const [x, y] = [(at % 8) * 96, Math.floor(at / 8) * 64];
      body +=
        `<rect x="${x}" y="${y}" width="88" height="54" rx="4" fill="none" stroke="${ink.line}"/>` +
        label(String(at), x + 6, y + 14, { fill: ink.faint, size: 10 }) +
        label(shown, x + 6, y + 30, { fill: ink.ink, size: 13 }) +
        label(String(slice!.ids[at]), x + 6, y + 46, { fill: ink.soft, size: 11 });
    });
    const count = slice?.shown.length ?? 0;
    return { body, width: 8 * 96, height: Math.ceil(count / 8) * 64 };
  }

  table(): TableData {
    const slice = this.home.tokens[this.side];
    const { say } = this.home;
    return {
      caption: say.text,
      columns: [say.place, say.token, say.id],
      rows: (slice?.shown ?? []).map((shown, at) => [at, shown, slice!.ids[at] ?? null]),
    };
  }

  stop(): void {}
}

interface Line {
  readonly given: string;
  readonly wanted: string | null; // what comes next in the text
  readonly said: Choice | null;
  readonly right: boolean;
}

/** What the model was given and said at each position of the text that it writes. */
export function linesOf(home: Home): Line[] {
  const { description } = home.source;
  const side = sideOf("decoder", description);
  const slice = home.tokens[side];
  if (slice === null) return [];
  const positions = description.output?.stack === "decoder" ? description.output.positions : [];
  return slice.shown.map((given, at) => {
    const said = positions[at]?.[0] ?? null;
    const next = slice.ids[at + 1];
    return {
      given,
      wanted: slice.shown[at + 1] ?? null,
      said,
      right: said !== null && next !== undefined && said.token === next,
    };
  });
}

interface Pass {
  readonly given: readonly string[];
  readonly said: string;
}

/** One pass for each word: as it was written, or what the model says after each true beginning. */
export function passesOf(home: Home): Pass[] {
  const { description } = home.source;
  const slice = home.tokens[sideOf("decoder", description)];
  const steps = description.generation?.steps ?? [];
  const first = slice === null ? null : findFirst(slice.ids, steps);
  if (slice !== null && first !== null && steps.length > 0)
    return steps.map((step, at) => ({ given: slice.shown.slice(0, first + at + 1), said: step.text }));
  const lines = linesOf(home);
  return lines.map((line, at) => ({
    given: lines.slice(0, at + 1).map((each) => each.given),
    said: line.said?.text ?? "–",
  }));
}

/** All positions at once with a mask, beside one at a time. */
export class TrainingScene implements Part {
  readonly element: HTMLElement;
  readonly ready = Promise.resolve();
  private readonly lines: readonly Line[];
  private readonly passes: readonly Pass[];
  private readonly pass = make("div", { class: "walk-pass" });
  private readonly note = make("p", { class: "hint" });
  private at = 0;

  constructor(private readonly home: Home) {
    const { say } = home;
    this.lines = linesOf(home).slice(0, MOST);
    this.passes = passesOf(home).slice(0, MOST);
    this.at = home.stage.reducedMotion ? this.passes.length - 1 : 0;
    const table = make("table", { class: "walk-train" });
    table.append(
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("th", { colspan: this.lines.length, scope: "colgroup" }, say.trainInput),
          make("th", { scope: "col" }, say.trainTarget),
          make("th", { scope: "col" }, say.trainSays),
        ),
      ),
    );
    const body = make("tbody");
    this.lines.forEach((line, row) => {
      const cells = this.lines.map((other, column) =>
        make("td", { "data-hidden": column > row, dir: "auto" }, column > row ? "" : other.given),
      );
      body.append(
        make(
          "tr",
          {},
          ...cells,
          make("td", { class: "walk-next", dir: "auto" }, line.wanted ?? "–"),
          this.answer(line),
        ),
      );
    });
    table.append(body);
    const own = (home.source.description.generation?.steps.length ?? 0) > 0;
    this.element = make(
      "div",
      { class: "walk-training" },
      make(
        "section",
        {},
        make("h3", {}, say.trainTitle),
        make("p", { class: "hint" }, say.trainNote),
        make(
          "div",
          { class: "walk-scroll", tabindex: 0, role: "region", "aria-label": say.trainTitle },
          table,
        ),
      ),
      make(
        "section",
        {},
        make("h3", {}, say.inferTitle),
        this.note,
        this.pass,
        own ? null : make("p", { class: "hint" }, say.noGeneration),
      ),
    );
    this.showPass();
  }

  private answer(line: Line): HTMLElement {
    const { say } = this.home;
    if (line.said === null) return make("td", {}, "–");
    const verdict = line.wanted === null ? "" : line.right ? say.right : say.wrong;
    return make(
      "td",
      {
        class: "walk-said",
        "data-right": line.wanted === null ? null : String(line.right),
        title: verdict,
        dir: "auto",
      },
      line.said.text,
      " ",
      make("small", {}, percent(probability(line.said))),
      verdict === "" ? null : make("span", { class: "unseen" }, ` ${verdict}`),
    );
  }

  private showPass(): void {
    const { say } = this.home;
    write(this.note, say.inferNote(this.at + 1, this.passes.length));
    const rows = this.passes
      .slice(0, this.at + 1)
      .map((pass, row) =>
        make(
          "div",
          { class: "walk-row", "data-now": row === this.at },
          ...pass.given.map((token) => make("bdi", { class: "token" }, token)),
          make("i", {}, "→"),
          make("b", { dir: "auto" }, pass.said),
        ),
      );
    this.pass.replaceChildren(...rows);
  }

  beat(): boolean {
    if (this.at + 1 >= this.passes.length) return false;
    this.at += 1;
    this.showPass();
    return true;
  }

  follow(): void {}

  picture(): Drawn {
    const ink = inks(this.home.stage.theme);
    const { say } = this.home;
    const cell = 56;
    const wide = this.lines.length * cell;
    let body =
      label(say.trainInput, 0, 12, { fill: ink.soft, size: 11 }) +
      label(say.trainTarget, wide + 8, 12, { fill: ink.soft, size: 11 }) +
      label(say.trainSays, wide + 96, 12, { fill: ink.soft, size: 11 });
    this.lines.forEach((line, row) => {
      const y = 20 + row * 22;
      this.lines.forEach((other, column) => {
        body += `<rect x="${column * cell}" y="${y}" width="${cell - 2}" height="20" fill="${column > row ? ink.line : "none"}" stroke="${ink.line}"/>`;
        if (column <= row)
          body += label(other.given.slice(0, 7), column * cell + 4, y + 14, { fill: ink.ink, size: 11 });
      });
      body += label(line.wanted ?? "–", wide + 8, y + 14, { fill: ink.ink, size: 11 });
      body += label(line.said?.text ?? "–", wide + 96, y + 14, {
        fill: line.right ? ink.accent : ink.soft,
        size: 11,
      });
    });
    return { body, width: wide + 200, height: 24 + this.lines.length * 22 };
  }

  table(): TableData {
    const { say } = this.home;
    return {
      caption: say.training,
      columns: [say.trainInput, say.trainTarget, say.trainSays, say.chance],
      rows: this.lines.map((line) => [
        line.given,
        line.wanted,
        line.said?.text ?? null,
        line.said ? probability(line.said) : null,
      ]),
    };
  }

  stop(): void {}
}

interface Moment {
  readonly before: string;
  readonly text: string;
  readonly bars: readonly Bar[];
}

/** One word after the other, with what else could have come. */
export class WordsScene implements Part {
  readonly element: HTMLElement;
  readonly ready = Promise.resolve();
  private readonly moments: readonly Moment[];
  private readonly bars: Bars;
  private readonly written = make("p", { class: "walk-written", dir: "auto" });
  private readonly note = make("p", { class: "hint" });
  private readonly slider: HTMLInputElement;
  private at: number;

  constructor(
    private readonly home: Home,
    private readonly only: "one" | "all",
  ) {
    const { say, stage } = home;
    this.moments = momentsOf(home, only === "one");
    this.bars = new Bars(say.chance);
    this.slider = make("input", {
      class: "slider",
      type: "range",
      min: 0,
      max: Math.max(0, this.moments.length - 1),
      "aria-label": say.words,
    });
    this.slider.addEventListener("input", () => this.go(this.slider.valueAsNumber));
    const wish = Number(stage.selection.get().options["walk.word"] ?? Number.NaN);
    this.at =
      this.only === "one"
        ? rowOf(home, Math.max(1, this.moments.length), true)
        : Number.isInteger(wish)
          ? wish
          : 0;
    this.at = Math.max(0, Math.min(this.moments.length - 1, this.at));
    const own = (home.source.description.generation?.steps.length ?? 0) > 0;
    this.element = make(
      "div",
      { class: "walk-words" },
      this.moments.length === 0 ? make("p", { class: "walk-missing" }, say.noOutput) : null,
      this.written,
      this.moments.length > 1 ? this.slider : null,
      this.bars.element,
      this.note,
      own || only === "one" ? null : make("p", { class: "hint" }, say.noGeneration),
    );
    this.show();
  }

  private go(at: number): void {
    const { selection } = this.home.stage;
    if (this.only === "one")
      selection.set({ query: at, options: { ...selection.get().options, "walk.cell": `${at},0` } });
    else selection.option("walk.word", String(at));
  }

  follow(): void {
    const { options } = this.home.stage.selection.get();
    const wish =
      this.only === "one"
        ? rowOf(this.home, this.moments.length, true)
        : Number(options["walk.word"] ?? this.at);
    if (!Number.isInteger(wish) || wish === this.at) return;
    this.at = Math.max(0, Math.min(this.moments.length - 1, wish));
    this.show();
  }

  private show(): void {
    const { home, at } = this;
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
    const { generation } = home.source.description;
    const method =
      this.only === "all" && generation !== null ? ` · ${home.say.method(generation.method)}` : "";
    write(this.note, home.say.stepOf(at + 1, this.moments.length) + method);
  }

  beat(): boolean {
    if (this.only === "one" || this.at + 1 >= this.moments.length) return false;
    this.at += 1;
    this.go(this.at);
    this.show();
    return true;
  }

  picture(): Drawn {
    const ink = inks(this.home.stage.theme);
    const moment = this.moments[this.at];
    if (moment === undefined) return { body: "", width: 480, height: 24 };
    const bars = writeBars(moment.bars, 480, this.home.stage.theme);
    const body = `${label(this.written.textContent ?? "", 0, 14, { fill: ink.ink, size: 13 })}<g transform="translate(0 32)">${bars.body}</g>`;
    return { body, width: 480, height: bars.height + 40 };
  }

  table(): TableData {
    const { say } = this.home;
    return {
      caption: say.words,
      columns: [say.place, say.token, say.words, say.chance],
      rows: this.moments.flatMap((moment, at) =>
        moment.bars.map((bar) => [at, moment.before, bar.text, bar.share]),
      ),
    };
  }

  stop(): void {}
}

/** The words that were written, or what the model says at each position. */
function momentsOf(home: Home, positions: boolean): Moment[] {
  const { description } = home.source;
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
  const shown = home.tokens[sideOf(output?.stack ?? null, description)]?.shown ?? [];
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
