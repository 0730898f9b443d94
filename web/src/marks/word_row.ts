/**
 * Words in the order they were written, each with a line as long as it was likely.
 *
 * In:   words with their chances.
 * Out:  a list box in running order; one word can be chosen by click or arrow keys.
 */

import { consume, moveInList } from "./keys";
import { make, type Text, uniqueId } from "./make";
import "./word_row.css";

export interface Word {
  readonly text: string;
  readonly share: number;
}

export class WordRow {
  readonly element: HTMLElement;
  private readonly name = uniqueId("words");
  private readonly items: HTMLElement[] = [];
  private chosen = -1;

  constructor(
    label: Text,
    private readonly choose: (place: number) => void,
  ) {
    this.element = make("div", {
      class: "words",
      role: "listbox",
      tabindex: 0,
      "aria-label": label,
      "aria-orientation": "horizontal",
    });
    this.element.addEventListener("click", (event) => {
      const item = (event.target as Element).closest<HTMLElement>("[data-place]");
      if (item !== null) choose(Number(item.dataset.place));
    });
    this.element.addEventListener("keydown", (event) => this.press(event));
  }

  /** Words that are there already are kept: streaming only adds. */
  show(words: readonly Word[]): void {
    while (this.items.length > words.length) this.items.pop()!.remove();
    words.forEach((word, place) => {
      const old = this.items[place];
      if (old?.dataset.text === word.text && old.dataset.share === String(word.share)) return;
      const style = { width: `${100 * word.share}%` };
      const item = make(
        "span",
        {
          class: "words-word",
          role: "option",
          id: `${this.name}-${place}`,
          "aria-selected": String(place === this.chosen),
          "data-place": place,
          "data-text": word.text,
          "data-share": word.share,
        },
        make("bdi", {}, word.text),
        make("span", { class: "words-line", "aria-hidden": "true", style }),
      );
      if (old !== undefined) old.replaceWith(item);
      else this.element.append(item);
      this.items[place] = item;
    });
  }

  mark(place: number, later: number): void {
    this.chosen = place;
    this.items.forEach((item, at) => {
      item.setAttribute("aria-selected", String(at === place));
      item.toggleAttribute("data-later", at > later);
    });
    const item = this.items[place];
    if (item !== undefined) this.element.setAttribute("aria-activedescendant", item.id);
  }

  private press(event: KeyboardEvent): void {
    const to = moveInList(event.key, this.chosen, this.items.length, "across");
    if (to === undefined) return;
    consume(event);
    if (to !== this.chosen) this.choose(to);
  }
}
