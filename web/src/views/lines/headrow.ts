/**
 * A row of heads to switch on and off: click for one alone, shift-click for several, all, none.
 *
 * In:   how many heads, their colours, which are on.
 * Out:  a toolbar for mouse and keyboard (arrow keys move, Enter chooses, Shift-Enter adds).
 */

import { consume, moveInCircle } from "../../marks/keys";
import { make } from "../../marks/make";

export interface HeadRowWords {
  readonly heads: string;
  readonly headHint: string;
  readonly all: string;
  readonly none: string;
  head(number: number): string;
}

export class HeadRow {
  readonly element: HTMLElement;
  private readonly buttons: HTMLButtonElement[] = [];
  private on: ReadonlySet<number> = new Set();
  private readonly row: HTMLElement;

  constructor(
    private readonly words: HeadRowWords,
    private readonly choose: (heads: readonly number[]) => void,
  ) {
    this.row = make("div", { class: "headrow-heads", role: "toolbar", "aria-label": () => words.heads });
    this.row.addEventListener("keydown", (event) => this.press(event));
    this.element = make(
      "div",
      { class: "headrow" },
      make("span", { class: "headrow-title" }, () => words.heads),
      this.row,
      make(
        "button",
        { type: "button", class: "headrow-word", onclick: () => choose(this.every()) },
        () => words.all,
      ),
      make("button", { type: "button", class: "headrow-word", onclick: () => choose([]) }, () => words.none),
    );
  }

  /** As many buttons as heads. */
  setHeads(colours: readonly string[]): void {
    this.row.replaceChildren();
    this.buttons.length = 0;
    colours.forEach((colour, head) => {
      const button = make(
        "button",
        {
          type: "button",
          class: "headrow-head",
          "aria-label": () => this.words.head(head),
          title: () => `${this.words.head(head)}. ${this.words.headHint}`,
          tabindex: head === 0 ? 0 : -1,
          style: { "--colour": colour },
          onclick: (event: MouseEvent) => this.click(head, event.shiftKey || event.ctrlKey || event.metaKey),
        },
        head,
      );
      this.buttons.push(button);
      this.row.append(button);
    });
    this.setOn([...this.on]);
  }

  setOn(heads: readonly number[]): void {
    this.on = new Set(heads);
    this.buttons.forEach((button, head) => {
      button.setAttribute("aria-pressed", String(this.on.has(head)));
    });
  }

  private every(): number[] {
    return this.buttons.map((_, head) => head);
  }

  private click(head: number, together: boolean): void {
    const heads = new Set(together ? this.on : []);
    if (!heads.delete(head)) heads.add(head);
    this.choose([...heads].sort((one, other) => one - other));
  }

  private press(event: KeyboardEvent): void {
    const at = this.buttons.indexOf(event.target as HTMLButtonElement);
    if (at < 0) return;
    const to = moveInCircle(event.key, at, this.buttons.length, "across");
    if (to !== undefined) {
      const next = this.buttons[to]!;
      for (const button of this.buttons) button.tabIndex = button === next ? 0 : -1;
      next.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      this.click(at, event.shiftKey);
    } else return;
    consume(event);
  }
}
