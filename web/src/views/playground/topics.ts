/**
 * The list of topics: on the left, or as chips above where the page is narrow. One is in the tab order.
 *
 * In:   topics, what to do when one is chosen.
 * Out:  an element.
 */

import type { PlayTopic } from "../../api/types";
import type { Message } from "../../core/messages";
import { consume, moveInCircle } from "../../marks/keys";
import { make, type Text } from "../../marks/make";

export class TopicList {
  readonly element: HTMLElement;
  private topics: readonly PlayTopic[] = [];
  private buttons: readonly HTMLButtonElement[] = [];

  constructor(
    name: Text,
    private readonly chosen: (topic: PlayTopic) => void,
  ) {
    this.element = make("nav", { class: "play-topics", "aria-label": name });
    this.element.addEventListener("keydown", (event) => this.move(event));
  }

  fill(topics: readonly PlayTopic[], text: (said: Message) => string): void {
    this.topics = topics;
    this.buttons = topics.map((topic) =>
      make("button", { type: "button", "data-topic": topic.name, onclick: () => this.chosen(topic) }, () =>
        text(topic.title),
      ),
    );
    this.element.replaceChildren(...this.buttons);
  }

  choose(topic: PlayTopic): void {
    this.topics.forEach(({ name }, at) => {
      const button = this.buttons[at]!;
      const here = name === topic.name;
      button.tabIndex = here ? 0 : -1;
      if (here) {
        button.setAttribute("aria-current", "page");
        const middle = button.offsetLeft - (this.element.clientWidth - button.offsetWidth) / 2;
        this.element.scrollLeft = middle; // chips: the chosen one in sight
      } else button.removeAttribute("aria-current");
    });
  }

  private move(event: KeyboardEvent): void {
    const at = this.buttons.indexOf(event.target as HTMLButtonElement);
    const to = moveInCircle(event.key, at, this.buttons.length, "both");
    if (at < 0 || to === undefined) return;
    consume(event);
    this.chosen(this.topics[to]!);
    this.buttons[to]!.focus();
  }
}
