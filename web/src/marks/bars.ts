/**
 * Bars of probability: what could have come, likeliest first.
 *
 * In:   choices with their chances.
 * Out:  a list with a bar and a number for each; as long as the chance, 1 being the whole width. Also as SVG.
 */

import { chance } from "../core/formats";
import type { Theme } from "../core/view";
import { make, type Text } from "./make";
import { figure, inks, label } from "./paper";
import "./bars.css";

export interface Bar {
  readonly text: string;
  readonly share: number; // 0 … 1
  readonly chosen: boolean;
}

export class Bars {
  readonly element: HTMLElement;

  /** With `choose`, each text is a button, and a click on its row presses it. */
  constructor(
    name: Text,
    private readonly choose: ((place: number) => void) | null = null,
  ) {
    this.element = make("ol", { class: "bars", "aria-label": name });
  }

  show(bars: readonly Bar[]): void {
    this.element.replaceChildren(
      ...bars.map(({ text, share, chosen }, place) =>
        make(
          "li",
          {
            class: "bars-row",
            "data-chosen": chosen,
            "data-share": share,
            onclick: () => this.choose?.(place),
          },
          this.choose === null
            ? make("span", { class: "bars-text", dir: "auto" }, text)
            : make("button", { type: "button", class: "bars-text", dir: "auto" }, text),
          make(
            "span",
            { class: "bars-track", "aria-hidden": "true" },
            make("span", { class: "bars-fill", style: { width: `${100 * share}%` } }),
          ),
          make("span", { class: "bars-number" }, chance(share)),
        ),
      ),
    );
  }
}

/** The same as SVG, from (0, 0), with its height. */
export function writeBars(
  bars: readonly Bar[],
  width: number,
  theme: Theme,
): { body: string; height: number } {
  const ink = inks(theme);
  const [text, number, row] = [120, 64, 20];
  const track = width - text - number - 16;
  const rows = bars.map((bar, index) => {
    const y = index * row;
    const look = { fill: bar.chosen ? ink.ink : ink.soft, ...(bar.chosen ? { weight: 700 } : {}) };
    return (
      label(bar.text, text, y + 13, { ...look, anchor: "end" }) +
      `<rect x="${text + 8}" y="${y + 4}" width="${figure(track)}" height="12" fill="${ink.line}" fill-opacity="0.5"/>` +
      `<rect x="${text + 8}" y="${y + 4}" width="${figure(track * bar.share)}" height="12" fill="${bar.chosen ? ink.accent : ink.faint}" data-share="${figure(bar.share)}"/>` +
      label(chance(bar.share), width, y + 13, { fill: ink.soft, size: 11, anchor: "end" })
    );
  });
  return { body: rows.join(""), height: bars.length * row };
}
