/**
 * How one number came about: terms, their sum, the bias, the result, and the same again in double precision.
 *
 * In:   CellArithmetic of the server.
 * Out:  a panel below the matrices.
 */

import type { CellArithmetic, CellTerm } from "../../api/types";
import { digits, exact } from "../../core/formats";
import { draw, make, type Text } from "../../marks/make";
import { spell } from "./symbols";
import type { WalkWords } from "./words";

const SHOWN = 5; // terms spelt out
const HIGH = 56; // pixels of the bars
const BARS = 256;

type Chip = readonly [text: string, name: string, value: number | null];

/** Which terms are spelt out: all where they are few, else the largest, in their order. */
export function largest(terms: readonly CellTerm[], count = SHOWN): readonly number[] {
  const order = terms.map((_, at) => at);
  if (terms.length <= count) return order;
  const size = (at: number) => Math.abs(terms[at]!.product ?? 0);
  order.sort((one, other) => size(other) - size(one));
  return order.slice(0, count).sort((one, other) => one - other);
}

export class Arithmetic {
  readonly element: HTMLElement;
  private shown: Parameters<Arithmetic["show"]> | null = null;

  constructor(private readonly say: WalkWords) {
    this.element = make(
      "section",
      { class: "walk-arithmetic" },
      make("p", { class: "hint" }, () => say.pointAt),
    );
  }

  /** Only what the number is, and why there is no more. */
  tell(name: Node, value: number, why: Text): void {
    this.shown = null;
    this.element.replaceChildren(title(name, value), make("p", { class: "hint" }, why));
  }

  restyle(): void {
    if (this.shown !== null) this.show(...this.shown);
  }

  /** `name` is the cell, such as Q [cat, 3]; `drawn` its number on the screen; `letter` what arrays are called. */
  show(cell: CellArithmetic, name: Node, drawn: number, letter = (label: string) => label): void {
    this.shown = [cell, name, drawn, letter];
    const { say } = this;
    const { terms } = cell;
    const shown = largest(terms);
    const all = terms.length + cell.left_out;
    const children: Node[] = [title(name, drawn)];
    if (all > 0) {
      const heading = shown.length < all ? say.largest(shown.length, all) : say.allTerms(all);
      children.push(make("p", { class: "hint walk-largest" }, heading), this.terms(cell, shown, letter));
    }
    children.push(chips(this.result(cell, drawn)));
    if (terms.length > SHOWN) children.push(bars(terms, all));
    if (cell.shown !== null && cell.difference !== null) {
      const sentence = say.again(digits(cell.shown, 6), digits(Math.abs(cell.difference), 2));
      children.push(make("p", { class: "hint walk-again" }, sentence));
    }
    this.element.replaceChildren(...children);
  }

  /** What is on the screen as lines of text: the cell, then its terms. */
  lines(): string[] {
    const terms = [...this.element.querySelectorAll(".walk-terms")].map((line) =>
      [...line.children].map((child) => spellTerm(child, line.matches(".walk-result"))).join(" "),
    );
    const name = this.element.querySelector("h3");
    return [name === null ? "" : spell(name), ...terms];
  }

  private terms(
    cell: CellArithmetic,
    shown: readonly number[],
    letter: (label: string) => string,
  ): HTMLElement {
    const { terms } = cell;
    const soft = cell.operation === "softmax";
    const list = make("div", { class: "walk-terms" });
    let named = 0;
    shown.forEach((at, place) => {
      const term = terms[at]!;
      const added = soft ? term.right : term.product;
      named += added ?? 0;
      if (place > 0) list.append(make("i", {}, "+"));
      list.append(chip([soft ? powerText(cell, term) : productText(term), letter(term.label), added]));
    });
    const others = terms.length + cell.left_out - shown.length;
    if (others > 0) {
      const sum = soft
        ? (cell.sum ?? Number.NaN)
        : terms.reduce((total, term) => total + (term.product ?? 0), cell.rest);
      const rest = chip([digits(sum - named, 3), this.say.rest(others), sum - named]);
      rest.toggleAttribute("data-rest", true);
      list.append(make("i", {}, "+"), rest);
    }
    return list;
  }

  /** What is done with the sum, or with the one number that was read. */
  private result(cell: CellArithmetic, drawn: number): Chip[] {
    const { say } = this;
    const { numbers: found } = cell;
    const end: Chip = [`= ${digits(drawn, 5)}`, say.result, drawn];
    const at = (name: string, text = (value: string) => value): Chip[] =>
      found[name] === undefined
        ? []
        : [[text(digits(found[name], 4)), NAMES[name]?.(say) ?? name, found[name] ?? null]];
    switch (cell.operation) {
      case "norm":
        return [
          ...at("input"),
          ...at("mean", (mean) => `− ${bracket(mean)}`),
          ...at("deviation", (deviation) => `÷ ${deviation}`),
          ...at("root", (root) => `÷ ${root}`),
          ...at("standard", (standard) => `= ${standard}`),
          ...at("gain", (gain) => `× ${bracket(gain)}`),
          ...(cell.bias === null
            ? []
            : [[`+ ${bracket(digits(cell.bias, 4))}`, "β", cell.bias] satisfies Chip]),
          end,
        ];
      case "activate":
        return [...at("input"), end];
      case "gate":
        return [
          [digits(cell.sum, 4), say.sum, cell.sum],
          [`+ ${bracket(digits(cell.bias, 4))}`, say.bias, cell.bias],
          ...at("input", (input) => `${gateName(cell)}(${input})`),
          end,
        ];
      case "mask":
        return [...at("input"), allowed(found.allowed, say), end];
      case "waves": {
        const sine = found.sine === 1 ? "sin" : "cos";
        return [
          ...at("position"),
          ...at("frequency", (frequency) => `× ${frequency}`),
          ...at("angle", (angle) => `${sine}(${angle})`),
          end,
        ];
      }
      case "softmax":
        return [
          ...at("score", (score) => (found.power === 0 && found.score === null ? "−∞" : score)),
          ...at("highest", (highest) => `− ${bracket(highest)}`),
          ...at("power", (power) => `e^… = ${power}`),
          [`÷ ${digits(cell.sum, 4)}`, say.powers, cell.sum],
          end,
        ];
      default: {
        const sum: Chip[] = cell.terms.length > 1 ? [[digits(cell.sum, 5), say.sum, cell.sum]] : [];
        const bias: Chip[] =
          cell.bias === null ? [] : [[`+ ${bracket(digits(cell.bias, 4))}`, say.bias, cell.bias]];
        const more = Object.keys(found).flatMap((name) => {
          if (name === "allowed") return [allowed(found.allowed, say)];
          return at(name, FORMS[name]);
        });
        return [...sum, ...more, ...bias, end];
      }
    }
  }
}

/** A chip in a line of text. In a sum, what a term makes is left out: a chain of equations would be false. */
function spellTerm(part: Element, result: boolean): string {
  const text = part.querySelector("b")?.textContent ?? part.textContent ?? "";
  if (part.matches("[data-rest]")) return `(${part.querySelector("small")?.textContent}: ${text})`;
  return result ? text : text.split(" = ")[0]!.replace(/^−[\d.e−]+/, "($&)");
}

/** 0.86 × (−0.21) = −0.18; a factor of one is not spelt out. */
function productText({ left, right, product }: CellTerm): string {
  if (right === 1) return bracket(digits(left, 3));
  return `${digits(left, 3)} × ${bracket(digits(right, 3))} = ${digits(product, 3)}`;
}

/** e^(1.77 − 7.58) = 0.0030: what is added up below the fraction line. */
function powerText({ numbers }: CellArithmetic, { left, right }: CellTerm): string {
  if (left === null) return right === 0 ? "e^(−∞) = 0" : digits(right, 3);
  return `e^(${digits(left, 3)} − ${bracket(digits(numbers.highest, 3))}) = ${digits(right, 3)}`;
}

/** tanh or σ: a candidate may be negative. */
function gateName({ step }: CellArithmetic): string {
  return step.endsWith(".candidate") ? "tanh" : "σ";
}

function allowed(may: number | null | undefined, say: WalkWords): Chip {
  return may ? ["→", say.visible, null] : ["→ −∞", say.hidden, null];
}

const FORMS: Readonly<Record<string, (value: string) => string>> = {
  slope: (slope) => `−${slope}`,
  distance: (distance) => `× ${distance}`,
  scale: (scale) => `× ${bracket(scale)}`,
  byte: (byte) => `${byte} ÷ 255`,
  pixel_mean: (mean) => `− ${mean}`,
  pixel_deviation: (deviation) => `÷ ${deviation}`,
  cosine: (cosine) => `(${cosine})²`,
  sine: (sine) => `+ (${sine})²`,
  cap: (cap) => `${cap} · tanh(… ÷ ${cap})`,
};

const NAMES: Readonly<Record<string, (say: WalkWords) => string>> = {
  byte: (say) => say.byte,
  pixel_mean: () => "μ",
  pixel_deviation: () => "σ",
  picture_row: (say) => say.pictureRow,
  picture_column: (say) => say.pictureColumn,
  channel: (say) => say.channel,
  hertz: (say) => say.hertz,
  cosine: (say) => say.cosineSum,
  sine: (say) => say.sineSum,
  from_second: (say) => say.fromSecond,
  to_second: (say) => say.toSecond,
  from_hertz: (say) => say.fromHertz,
  to_hertz: (say) => say.toHertz,
  input: (say) => say.input,
  mean: (say) => say.mean,
  deviation: (say) => say.deviation,
  root: (say) => say.root,
  slope: (say) => say.slope,
  distance: (say) => say.distance,
  standard: (say) => say.standard,
  gain: () => "γ",
  row: (say) => say.tableRow,
  head: (say) => say.head,
  position: (say) => say.place,
  frequency: (say) => say.frequency,
  angle: (say) => say.angle,
  score: (say) => say.score,
  power: (say) => say.power,
  highest: (say) => say.highest,
  sum: (say) => say.sum,
  scale: (say) => say.factor,
  cap: (say) => say.cap,
  probability: (say) => say.chance,
  rank: (say) => say.rank,
  query_length: (say) => say.queryLength,
  key_length: (say) => say.keyLength,
};

function title(name: Node, value: number): HTMLElement {
  return make("h3", {}, name, make("b", { title: exact(value) }, ` = ${digits(value, 5)}`));
}

function chip([text, name, value]: Chip): HTMLElement {
  const title = value === null ? undefined : exact(value);
  return make(
    "span",
    { class: "walk-term", title },
    make("b", {}, text),
    make("small", {}, make("bdi", {}, name)),
  );
}

function chips(list: readonly Chip[]): HTMLElement {
  return make("div", { class: "walk-terms walk-result" }, ...list.map(chip));
}

function bracket(text: string): string {
  return text.startsWith("−") ? `(${text})` : text;
}

/** All terms as bars, in their order; where they are too many, the largest of each few: those are sent. */
export function bars(terms: readonly CellTerm[], all: number): SVGSVGElement {
  const step = Math.ceil(all / BARS);
  const size = ({ product }: CellTerm) => Math.abs(product ?? 0);
  const most = terms.reduce((high, term) => Math.max(high, size(term)), 1e-30);
  const count = Math.ceil(all / step);
  const highest = new Map<number, CellTerm>(); // by bar
  for (const term of terms) {
    const at = Math.floor(term.index / step);
    const known = highest.get(at);
    if (!known || size(term) > size(known)) highest.set(at, term);
  }
  const svg = draw("svg", {
    class: "walk-bars",
    viewBox: `0 0 ${count} ${HIGH}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  for (const [at, term] of highest) {
    const product = term.product ?? 0;
    const high = Math.max(0.5, (Math.abs(product) / most) * (HIGH / 2));
    const bar = draw("rect", {
      x: at + 0.1,
      y: product < 0 ? HIGH / 2 : HIGH / 2 - high,
      width: 0.8,
      height: high,
      class: product < 0 ? "walk-less" : "walk-more",
    });
    bar.append(
      draw("title", {}, `${term.label}: ${exact(term.left)} × ${exact(term.right)} = ${exact(term.product)}`),
    );
    svg.append(bar);
  }
  return svg;
}
