/**
 * The legend of a heat map: which colour is which weight, and what hatched cells are.
 *
 * In:   a colour table, the weight of the last colour, words.
 * Out:  an element that can be told another scale, and the same as SVG for saved pictures.
 */

import { digits, round, significant } from "../core/formats";
import { drawRamp, spell } from "./cells";
import { make, write } from "./make";
import { figure, label } from "./paper";
import "./legend.css";

export interface Key {
  readonly text: string;
  readonly falling: boolean; // which way the hatch runs
}

export interface LegendWords {
  readonly note: string; // "square-root scale"
  readonly said: string; // for screen readers
  readonly keys: readonly Key[];
  readonly signed?: boolean; // from −top through zero to top
}

const LETTER = 7.5; // px of a figure, at most, in either legend
const NARROWEST = 200; // px of the bar on the screen

export interface Tick {
  readonly value: number;
  readonly at: number; // share of the bar
  readonly text: string;
}

/** Weights to be written under a square-root scale: 0, the top, and round ones whose labels do not touch others. */
export function ticksOf(top: number, percent: boolean, width = NARROWEST): readonly Tick[] {
  const tick = (value: number): Tick => ({
    value,
    at: Math.sqrt(value / top),
    text: tickText(value, percent),
  });
  const found = [tick(0), tick(top)];
  const power = 10 ** Math.floor(Math.log10(top));
  for (const factor of [5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01]) {
    const wish = tick(significant(factor * power, 1));
    const [start, stop] = spanOf(wish, width);
    const free = found.every((each) => {
      const [left, right] = spanOf(each, width);
      return stop + LETTER <= left || right + LETTER <= start;
    });
    if (wish.at < 1 && free) found.push(wish);
  }
  return found.sort((a, b) => a.at - b.at);
}

/** The ticks of a scale; of signed values its ends and its middle. */
function ticksFor(top: number, percent: boolean, signed = false, width = NARROWEST): readonly Tick[] {
  const most = percent ? 1 : top;
  if (!signed) return ticksOf(most, percent, width);
  return [-most, 0, most].map((value, place) => ({ value, at: place / 2, text: tickText(value, percent) }));
}

/** From where to where a label goes, in px of the bar: the first begins with it, the last ends with it. */
export function spanOf({ at, text }: Tick, width: number): readonly [start: number, stop: number] {
  const long = text.length * LETTER;
  const start = at === 0 ? 0 : at === 1 ? width - long : at * width - long / 2;
  return [start, start + long];
}

/** A tick in few letters: 0.05, 1 %, 2e−5. */
function tickText(value: number, percent: boolean): string {
  if (percent) return `${round(significant(100 * value, 2))} %`;
  return value === 0 || Math.abs(value) >= 1e-3 ? round(significant(value, 2)) : digits(value, 2);
}

export class Legend {
  readonly element: HTMLElement;
  private readonly bar = make("canvas", { class: "legend-bar", width: 256, height: 1 });
  private readonly ticks = make("div", { class: "legend-ticks" });
  private readonly note = make("div", { class: "legend-note" });
  private readonly keys = make("ul", { class: "legend-keys" });
  private shown = "";

  constructor() {
    const scale = make("div", { class: "legend-scale", role: "img" }, this.bar, this.ticks);
    this.element = make("div", { class: "legend" }, scale, this.note, this.keys);
  }

  /** `percent`: the ticks are shares of a top that differs from row to row. */
  show(table: Uint8Array, top: number, percent: boolean, words: LegendWords): void {
    const name = JSON.stringify([top, percent, words, table[0]]);
    if (name === this.shown) return;
    this.shown = name;
    this.paint(table);
    const marks = ticksFor(top, percent, words.signed);
    this.ticks.replaceChildren(
      ...marks.map(({ at, text }) => make("span", { style: { "inset-inline-start": `${100 * at}%` } }, text)),
    );
    this.element.querySelector(".legend-scale")?.setAttribute("aria-label", words.said);
    write(this.note, words.note);
    this.keys.replaceChildren(
      ...words.keys.map(({ text, falling }) => {
        const hatch = falling ? "hatch falling" : "hatch";
        return make("li", {}, make("i", { class: hatch, "aria-hidden": "true" }), text);
      }),
    );
  }

  private paint(table: Uint8Array): void {
    const context = this.bar.getContext("2d");
    if (context === null) return;
    const image = context.createImageData(256, 1);
    for (let place = 0; place < 256; place++) {
      image.data.set([table[3 * place]!, table[3 * place + 1]!, table[3 * place + 2]!, 255], 4 * place);
    }
    context.putImageData(image, 0, 0);
  }
}

/** The legend in a saved picture: steps of colour, ticks below, hatched keys beside their words. */
export function writeLegend(
  {
    table,
    top,
    percent,
    words,
    width,
  }: { table: Uint8Array; top: number; percent: boolean; words: LegendWords; width: number },
  ink: { soft: string; line: string; ground: string },
): string {
  const parts = drawRamp(table, width, 10).map(spell);
  parts.push(`<rect x="0" y="0" width="${figure(width)}" height="10" fill="none" stroke="${ink.line}"/>`);
  for (const { at, text } of ticksFor(top, percent, words.signed, width)) {
    const anchor = at === 0 ? "start" : at === 1 ? "end" : "middle";
    parts.push(label(text, at * width, 24, { size: 11, fill: ink.soft, anchor }));
  }
  let x = width + 20;
  for (const { text, falling } of words.keys) {
    const lines = [3, 8, 13].map((at) =>
      falling ? `M${x + at - 3} 0l${13 - at} ${13 - at}` : `M${x + at} 0L${x} ${at}`,
    );
    parts.push(
      `<rect x="${figure(x)}" y="0" width="13" height="13" fill="${ink.ground}" stroke="${ink.line}"/>`,
    );
    parts.push(`<path d="${lines.join("")}" stroke="${ink.soft}" stroke-width="0.7" fill="none"/>`);
    parts.push(label(text, x + 19, 11, { size: 11, fill: ink.soft }));
    x += 19 + text.length * 7 + 16;
  }
  return parts.join("");
}
