/**
 * Letters with an index: W_Q, set as in a formula; and a step as an equation of them.
 *
 * In:   text in which what follows an underscore is set lower; the panels of a step.
 * Out:  elements.
 */

import type { WalkStep } from "../../api/types";
import { digits } from "../../core/formats";
import { make } from "../../marks/make";
import type { Loaded, Panel } from "./panels";
import { shapeText } from "./values";

/** A letter with an index: W_Q. */
export function symbol(text: string): HTMLElement {
  const [base = "", below] = text.split("_");
  const index = below === undefined ? null : make("sub", {}, below);
  return make("b", { class: "walk-symbol", "data-symbol": text }, base, index);
}

/** What elements say, with indices still written as W_Q. */
export function spell(element: Element): string {
  const letter = element.querySelector<HTMLElement>("[data-symbol]") ?? (element as HTMLElement);
  const said = element.textContent ?? "";
  return said.replace(letter.textContent ?? "", () => letter.dataset.symbol ?? letter.textContent ?? "");
}

/** The indices in the texts of an SVG set lower. */
export function lower(svg: string): string {
  const index = /(?<![a-z\d_])([A-Za-z]\u0302?[⁻′ᵀ]*)_([A-Za-z\d→←]+)(?!\w)/gu;
  const set = '$1<tspan dy="3" font-size="75%">$2</tspan><tspan dy="-3">\u200b</tspan>';
  return svg.replace(
    /(<text[^>]*>)([^<]*)(?=<\/text>)/g,
    (_, tag: string, text: string) => tag + text.replace(index, set),
  );
}

/** Words in which W_Q has its index set lower. */
export function rich(text: string): (HTMLElement | string)[] {
  return text
    .split(/([A-Za-zα][⁻′ᵀ]*_(?:[→←]|[A-Za-z0-9]+\b))/)
    .map((part, at) => (at % 2 === 1 ? symbol(part) : part));
}

/** Q 7 × 64 = X 7 × 256 · W_Q 256 × 64 + b */
export function equationOf(step: WalkStep, { panels, result, bias }: Loaded): HTMLElement[] {
  const parts: HTMLElement[] = [];
  const formula = formulaOf(
    step,
    panels.map((panel) => panel.symbol),
  );
  if (formula !== null)
    return [
      ...rich(formula).map((part) =>
        typeof part === "string" ? make("b", { class: "walk-symbol" }, part) : part,
      ),
      make("span", { class: "walk-shape" }, shapeText(result.shape)),
    ];
  const add = (panel: Panel) =>
    parts.push(symbol(panel.symbol), make("span", { class: "walk-shape" }, shapeText(panel.shape)));
  const sign = (text: string) => parts.push(make("i", {}, text));
  const before = panels.filter((panel) => panel !== result);
  before.forEach((panel, place) => {
    if (place > 0) sign(step.operation === "add" ? "+" : "·");
    add(panel);
  });
  if (bias !== null) {
    sign("+");
    add(bias);
  }
  const own = ownSign(step);
  if (own !== "") sign(own);
  if (parts.length > 0) sign("→");
  add(result);
  return parts;
}

/** Formulas that are more than a chain of factors; `letters`: of the inputs, then of the result. */
function formulaOf(step: WalkStep, letters: readonly string[]): string | null {
  const { operation, words, inputs, shape } = step;
  const made = letters.at(-1) ?? "";
  const [one = "", two = "", three = "", four = ""] = letters;
  switch (operation) {
    case "waves": {
      const half = `${(shape.output?.at(-1) ?? 0) / (words.order === "grid" ? 4 : 2)}`;
      if (words.order === "grid")
        return `${made}[(r, c), 2i] = sin(r ÷ 10000^(i/${half})), ${made}[(r, c), 2i + 1] = cos(r ÷ 10000^(i/${half})), c ⇒ 2i + ${2 * Number(half)}`;
      const [sine, cosine] = words.order === "halves" ? ["i", `i + ${half}`] : ["2i", "2i + 1"];
      return `${made}[p, ${sine}] = sin(p ÷ 10000^(i/${half})), ${made}[p, ${cosine}] = cos(p ÷ 10000^(i/${half}))`;
    }
    case "cut":
      return `${made} = (${one} ÷ 255 − μ) ÷ σ`;
    case "prepend":
      return `${made} = [c; ${one}]`;
    case "fourier":
      return `${made}[t, k] = |Σ s[n] · w[n] · e^(−2πi·k·n/N)|² ÷ (L/4)²`;
    case "mel":
      return `${made} = (log₁₀ max(${one} · Δ, 10⁻⁸) + 8) ÷ 4`;
    case "convolve": {
      const stride = step.numbers.stride ?? 1;
      const middle = stride === 1 ? "t" : `${stride}t`;
      return `${made}[t] = ${one}[${middle} − 1] · W_0 + ${one}[${middle}] · W_1 + ${one}[${middle} + 1] · W_2 + b`;
    }
    case "fall":
      return `${made}[i, j] = −m · |i − j|`;
    case "additive":
      return `${made} = vᵀ tanh(W ${one} + U ${two.replace("ᵀ", "")})`;
    case "bilinear":
      return `${made} = ${one} · W · ${two}`;
    case "cosine":
      return `${made} = cos(${one}, ${two.replace("ᵀ", "")})`;
    case "before":
      return `${made}[t] = ${letters.at(-2)}[t ${words.direction === "backward" ? "+" : "−"} 1]`;
    case "gate": {
      const kept = `U ${two} + c`;
      const state = inputs.length > 2 ? `${three} ⊙ (${kept})` : kept;
      return `${made} = ${words.function === "tanh" ? "tanh" : "σ"}(W ${one} + b + ${state})`;
    }
    case "blend":
      return `${made} = (1 − ${one}) ⊙ ${two} + ${one} ⊙ ${three}`;
    case "remember":
      return `${made} = ${one} ⊙ ${two} + ${three} ⊙ ${four}`;
    case "release":
      return `${made} = ${one} ⊙ tanh(${two})`;
    case "concat":
      return `${made} = [${letters.slice(0, -1).join("; ")}]`;
    case "ends":
      return `${made} = [${letters
        .slice(0, -1)
        .map((letter, at) => `${letter}[${at === 0 ? "n" : "1"}]`)
        .join("; ")}]`;
    case "repeat":
      return `C[t] = ${one}`;
    default:
      return null;
  }
}

/** What is done to a single input. */
function ownSign({ operation, numbers, words }: WalkStep): string {
  if (operation === "scale") return `× ${digits(numbers.factor ?? 1, 4)}`;
  if (operation === "divide") return `÷ √${numbers.head_width ?? "d"}`;
  if (operation === "dot" && numbers.scale !== undefined) {
    const cap = numbers.cap === undefined ? "" : digits(numbers.cap, 4);
    return `× ${digits(numbers.scale, 4)}${cap && `, ${cap} · tanh(… ÷ ${cap})`}`;
  }
  if (operation === "activate") return words.function ?? "";
  if (operation === "norm" && words.over === "squares") return "RMS norm";
  if (operation === "softmax" || operation === "norm" || operation === "mask") return operation;
  return "";
}
