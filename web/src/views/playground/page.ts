/**
 * The page of a topic: its question, its controls, places for figures, and why it matters.
 *
 * In:   a topic and its settings.
 * Out:  elements, still without numbers.
 */

import type { PlayTopic } from "../../api/types";
import type { Message } from "../../core/messages";
import type { Stage } from "../../core/view";
import { make } from "../../marks/make";
import { TopicControls } from "./controls";
import type { FigureElement } from "./figure";
import type { Settings } from "./settings";
import { Training, type TrainingHandlers } from "./training";
import { words } from "./words";

export interface TopicHandlers extends TrainingHandlers {
  readonly changed: ((name: string, value: string) => void) | null; // null: nothing can be changed here
  again(): void;
}

export interface TopicPage {
  readonly elements: readonly HTMLElement[];
  readonly controls: TopicControls;
  readonly training: Training | null;
  readonly found: HTMLElement;
  readonly state: HTMLElement;
  readonly trouble: HTMLElement;
  readonly figures: HTMLElement;
  readonly evidence: HTMLElement;
  readonly shown: Map<string, FigureElement>;
}

/** The page of a topic, still without numbers. */
export function makePage(
  topic: PlayTopic,
  settings: Settings,
  stage: Stage<"none">,
  handlers: TopicHandlers,
): TopicPage {
  const say = words(stage.language);
  const text = (said: Message) => stage.text(said);
  const controls = new TopicControls(topic, settings, text, handlers.changed);
  const training = topic.streams ? new Training(stage, topic, handlers) : null;
  const found = make("p", { class: "play-found", "aria-live": "polite" });
  const state = make("span", { class: "play-state", role: "status" });
  const trouble = make("p", { class: "play-trouble", role: "alert", hidden: true });
  const figures = make("div", { class: "play-figures" });
  const evidence = make("span");
  const again = make(
    "button",
    {
      type: "button",
      class: "button quiet small",
      hidden: handlers.changed === null,
      onclick: handlers.again,
    },
    say.computeAgain,
  );
  const head = make(
    "header",
    { class: "play-head" },
    make("h2", {}, text(topic.title)),
    make("p", { class: "play-question" }, text(topic.question)),
    topic.formula === null ? null : make("p", { class: "play-formula", dir: "ltr" }, topic.formula),
    make(
      "dl",
      { class: "play-guide" },
      make("dt", {}, say.change),
      make("dd", {}, text(topic.change)),
      make("dt", {}, say.see),
      make("dd", {}, text(topic.see)),
    ),
  );
  const whyNot = handlers.changed === null ? make("p", { class: "play-hint" }, say.onlyDefaults) : null;
  const desk = make(
    "div",
    { class: "play-desk" },
    controls.element,
    training?.element ?? null,
    state,
    whyNot,
  );
  const why = make("p", { class: "play-why" }, make("strong", {}, say.why), " ", text(topic.why));
  const foot = make("p", { class: "play-evidence" }, evidence, again);
  const elements = [head, desk, found, trouble, figures, why, foot];
  return { elements, controls, training, found, state, trouble, figures, evidence, shown: new Map() };
}
