/**
 * Tokens in a row, each coloured by a number: those that have no place in a picture or a sound.
 *
 * In:   tokens, a number for each.
 * Out:  a list box for mouse, touch and keyboard; which token is pointed at or chosen.
 */

import type { Theme } from "../core/view";
import { type ColourScale, colourScale } from "./cells";
import { consume, moveInList } from "./keys";
import { make, setStyle, type Text, uniqueId } from "./make";
import "./token_list.css";

export interface ListedToken {
  readonly row: number;
  readonly text: string;
  readonly special: boolean;
}

export interface TokenListOptions {
  readonly label: Text;
  readonly theme: () => Theme;
  point(row: number | null): void;
  choose(row: number): void;
}

export class TokenList {
  readonly element: HTMLElement;
  private readonly name = uniqueId("tokens");
  private readonly items = new Map<number, HTMLElement>();
  private rows: readonly number[] = [];
  private chosen: number | null = null;

  constructor(private readonly options: TokenListOptions) {
    this.element = make("div", {
      class: "token-list",
      role: "listbox",
      tabindex: 0,
      "aria-label": options.label,
      "aria-orientation": "horizontal",
    });
    const rowOf = (event: Event): number | null => {
      const item = (event.target as Element).closest<HTMLElement>("[data-row]");
      return item === null ? null : Number(item.dataset.row);
    };
    this.element.addEventListener("pointerover", (event) => options.point(rowOf(event)));
    this.element.addEventListener("pointerleave", () => options.point(null));
    this.element.addEventListener("click", (event) => {
      const row = rowOf(event);
      if (row !== null) options.choose(row);
    });
    this.element.addEventListener("keydown", (event) => {
      const to = moveInList(event.key, this.rows.indexOf(this.chosen ?? -1), this.rows.length, "both");
      if (to === undefined) return;
      consume(event);
      if (this.rows[to] !== this.chosen) options.choose(this.rows[to]!);
    });
  }

  setTokens(tokens: readonly ListedToken[]): void {
    this.rows = tokens.map(({ row }) => row);
    this.items.clear();
    for (const { row, text, special } of tokens) {
      const item = make(
        "span",
        {
          class: special ? "token-list-token special" : "token-list-token",
          role: "option",
          id: `${this.name}-${row}`,
          "data-row": row,
          "aria-selected": "false",
        },
        make("bdi", {}, text),
      );
      this.items.set(row, item);
    }
    this.element.replaceChildren(...this.items.values());
    this.mark(this.chosen);
  }

  /** Colours of numbers, from 0 to a maximum; null takes the colours away. */
  colour(value: ((row: number) => number) | null, maximum: number, signed: boolean): void {
    const kind = signed ? "diverging" : "sequential";
    const scale: ColourScale | null = value && colourScale([0, maximum], kind, false, this.options.theme());
    for (const [row, item] of this.items) {
      const number = value?.(row) ?? 0;
      setStyle(item, {
        "background-color": (number !== 0 && scale?.css(number)) || "",
        color: (number !== 0 && scale?.ink(number)) || "",
      });
    }
  }

  /** Tokens that light up at the moment. */
  light(rows: readonly number[]): void {
    for (const [row, item] of this.items) item.toggleAttribute("data-lit", rows.includes(row));
  }

  mark(row: number | null): void {
    if (this.chosen !== null) this.items.get(this.chosen)?.setAttribute("aria-selected", "false");
    this.chosen = row;
    const now = row === null ? undefined : this.items.get(row);
    now?.setAttribute("aria-selected", "true");
    if (now === undefined) this.element.removeAttribute("aria-activedescendant");
    else this.element.setAttribute("aria-activedescendant", now.id);
  }
}
