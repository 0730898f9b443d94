/**
 * Training beside inference: all positions at once with a mask, beside one at a time.
 *
 * In:   tokens and outputs of the recording, generation steps where there are some.
 * Out:  a scene of the walk; each beat writes one more word.
 */

import type { Choice } from "../../api/types";
import { chance } from "../../core/formats";
import { findFirst, probability } from "../../core/generation";
import type { TableData } from "../../core/view";
import { make, write } from "../../marks/make";
import { inks, label } from "../../marks/paper";
import type { Drawn, WalkContext, WalkScene } from "./context";
import { sideOf } from "./script";

const MOST = 32; // positions shown one below the other

interface Line {
  readonly given: string;
  readonly wanted: string | null; // what comes next in the text; after the last word, the end
  readonly said: Choice | null;
  readonly right: boolean;
}

/** What the model was given and said at each position of the text that it writes. */
function linesOf(context: WalkContext): Line[] {
  const { description } = context.source;
  const side = sideOf("decoder", description);
  const slice = context.tokens[side];
  if (slice === null) return [];
  const positions = description.output?.stack === "decoder" ? description.output.positions : [];
  const end = endOf(context);
  const ids = slice.ids.at(-1) === end?.id ? slice.ids.slice(0, -1) : slice.ids;
  return ids.map((_, at) => {
    const said = positions[at]?.[0] ?? null;
    const next = slice.ids[at + 1] ?? end?.id;
    return {
      given: slice.shown[at]!,
      wanted: slice.shown[at + 1] ?? end?.text ?? null,
      said,
      right: said !== null && said.token === next,
    };
  });
}

/** What has to be said after the last word of a translation; null: a text that may go on. */
function endOf({ plan, source, tokens }: WalkContext): { readonly id: number; readonly text: string } | null {
  const id = plan.architecture?.end_id;
  const { description } = source;
  if (plan.shape !== "encoder-decoder" || typeof id !== "number") return null;
  const read = (plan.architecture?.reads ?? "text") === "text" ? tokens.source : null; // patches are no words
  const known = [read, tokens.target].flatMap((slice) => {
    const at = slice?.ids.indexOf(id) ?? -1;
    return at < 0 ? [] : [slice!.shown[at]!];
  });
  const said = description.output?.positions.flat().find((choice) => choice.token === id)?.text;
  return { id, text: known[0] ?? said ?? "</s>" };
}

interface Pass {
  readonly given: readonly string[];
  readonly said: string;
}

/** One pass for each word: as it was written, or what the model says after each true beginning. */
function passesOf(context: WalkContext): Pass[] {
  const { description } = context.source;
  const slice = context.tokens[sideOf("decoder", description)];
  const steps = description.generation?.steps ?? [];
  const first = slice === null ? null : findFirst(slice.ids, steps);
  if (slice !== null && first !== null && steps.length > 0)
    return steps.map((step, at) => ({ given: slice.shown.slice(0, first + at + 1), said: step.text }));
  const lines = linesOf(context);
  return lines.map((line, at) => ({
    given: lines.slice(0, at + 1).map((each) => each.given),
    said: line.said?.text ?? "–",
  }));
}

export class TrainingScene implements WalkScene {
  readonly element: HTMLElement;
  private readonly lines: readonly Line[];
  private readonly passes: readonly Pass[];
  private readonly pass = make("div", { class: "walk-pass" });
  private readonly note = make("p", { class: "hint" });
  private at = 0;

  constructor(private readonly context: WalkContext) {
    const { say, plan } = context;
    this.lines = linesOf(context).slice(0, MOST);
    this.passes = passesOf(context).slice(0, MOST);
    this.at = context.stage.reducedMotion ? this.passes.length - 1 : 0;
    const heading = make(
      "tr",
      {},
      make("th", { colspan: this.lines.length, scope: "colgroup" }, () => say.trainInput),
      make("th", { scope: "col" }, () => say.trainTarget),
      make("th", { scope: "col" }, () => say.trainSays),
    );
    const rows = this.lines.map((line, row) => {
      const cells = this.lines.map((other, column) =>
        make("td", { "data-hidden": column > row, dir: "auto" }, column > row ? "" : other.given),
      );
      const next = make("td", { class: "walk-next", dir: "auto" }, line.wanted ?? "–");
      return make("tr", {}, ...cells, next, this.answer(line));
    });
    const parts = [make("thead", {}, heading), make("tbody", {}, ...rows)];
    const table = make("table", { class: "walk-train" }, ...parts);
    const own = (context.source.description.generation?.steps.length ?? 0) > 0;
    this.element = make(
      "div",
      { class: "walk-training" },
      make(
        "section",
        {},
        make("h3", {}, () => (plan.recurrent ? say.trainOneByOne : say.trainTitle)),
        make("p", { class: "hint" }, () => (plan.recurrent ? say.trainOneByOneNote : say.trainNote)),
        make(
          "div",
          { class: "walk-scroll", tabindex: 0, role: "region", "aria-label": () => say.training },
          table,
        ),
      ),
      make(
        "section",
        {},
        make("h3", {}, () => say.inferTitle),
        this.note,
        this.pass,
        own ? null : make("p", { class: "hint" }, () => say.noGeneration),
      ),
    );
    this.showPass();
  }

  private answer(line: Line): HTMLElement {
    const { say } = this.context;
    if (line.said === null) return make("td", {}, "–");
    const verdict = line.wanted === null ? null : () => (line.right ? say.right : say.wrong);
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
      make("small", {}, chance(probability(line.said))),
      verdict && make("span", { class: "unseen" }, () => ` ${verdict()}`),
    );
  }

  private showPass(): void {
    const { say } = this.context;
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

  restyle(): void {
    this.showPass();
  }

  beat(): boolean {
    if (this.at + 1 >= this.passes.length) return false;
    this.at += 1;
    this.showPass();
    return true;
  }

  picture(): Drawn {
    const ink = inks(this.context.stage.theme);
    const { say } = this.context;
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
    const { say } = this.context;
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
}
