/**
 * One text on the page: its heading, its passage, and for a long text a pager with a strip that shows the whole.
 *
 * In:   tokens of a window, a number for each token of the axis.
 * Out:  which token is pointed at or chosen, where the window should go.
 */

import type { TokenSlice } from "../../api/types";
import type { Theme } from "../../core/view";
import { make, write } from "../../marks/make";
import { Passage } from "../../marks/passage";
import { paintStrip } from "../../marks/strip";
import { type Axis, WINDOW } from "./settings";
import type { Words } from "./words";

export interface PaneActs {
  choose(token: number): void;
  point(token: number | null): void;
  page(direction: 1 | -1): void;
  /** To a place of the whole text, from 0 to 1. */
  jump(share: number): void;
}

export class Pane {
  readonly element: HTMLElement;
  readonly passage: Passage;
  slice: TokenSlice | null = null;
  private readonly heading = make("h2", { class: "text-heading" });
  private readonly pager: HTMLElement;
  private readonly range = make("span", { class: "text-range" });
  private readonly strip: HTMLCanvasElement;

  /** `axis`: of the map; for self-attention one pane is both. */
  constructor(
    readonly axis: Axis,
    private readonly word: Words,
    private readonly theme: () => Theme,
    { choose, point, page, jump }: PaneActs,
  ) {
    const label = (): string => (axis === "query" ? word.queries : word.keys);
    this.passage = new Passage({ label, theme, choose, point });
    const whole = (): string => word.strip;
    const look = { class: "text-strip", height: 14, role: "img", "aria-label": whole, title: whole };
    const strip = make("canvas", look);
    strip.addEventListener("click", (event) => jump(event.offsetX / Math.max(1, strip.clientWidth)));
    this.strip = strip;
    this.pager = make(
      "div",
      { class: "text-pager" },
      make("button", { type: "button", onclick: () => page(-1) }, () => word.earlier),
      this.range,
      make("button", { type: "button", onclick: () => page(1) }, () => word.later),
      strip,
    );
    this.element = make("section", { class: "text-pane" }, this.heading, this.pager, this.passage.element);
  }

  get title(): string {
    return this.heading.textContent ?? "";
  }

  /** Its side where two texts stand beside each other; null for one alone. */
  name(side: string | null): void {
    const { word } = this;
    const role = this.axis === "query" ? word.queries : word.keys;
    this.heading.replaceChildren(make("b", {}, side ?? word.text), side === null ? "" : ` ${role}`);
    this.heading.hidden = side === null;
  }

  /** Which tokens are in the window, of so many up to `stop`. */
  showRange([first, last]: readonly [number, number], start: number, stop: number): void {
    this.pager.hidden = stop - start <= WINDOW;
    write(this.range, this.word.windowed(String(first), String(last - 1), String(stop)));
  }

  /** The whole text in a line of colour, with a frame round the window (from 0 to 1). */
  paintStrip(values: ArrayLike<number> | null, frame: () => readonly [number, number]): void {
    if (!this.pager.hidden) paintStrip(this.strip, values, frame(), this.theme());
  }
}
