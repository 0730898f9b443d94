/**
 * The page of a topic: its question, its controls, places for figures, and why it matters.
 *
 * In:   a topic and its settings.
 * Out:  elements, still without numbers.
 */

import type { PlayTopic } from "../../api/types";
import type { Message } from "../../core/messages";
import type { Stage } from "../../core/view";
import { liveWords } from "../../i18n/core";
import { make } from "../../marks/make";
import { TopicControls } from "./controls";
import type { FigureElement } from "./figure";
import type { Settings } from "./settings";
import { Training, type TrainingHandlers } from "./training";
import { words } from "./words";

export interface TopicHandlers extends TrainingHandlers {
  readonly changed: ((name: string, value: string) => void) | null; // null: nothing can be changed here
  again(): void;
  /** What was found, how it was computed, and what goes on. */
  found(): string;
  evidence(): string;
  state(): string;
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
  const say = liveWords(words, () => stage.language);
  const text = (said: Message) => stage.text(said);
  const live = (said: Message) => () => text(said);
  const controls = new TopicControls(topic, settings, text, handlers.changed);
  const training = topic.streams ? new Training(stage, topic, handlers) : null;
  const found = make("p", { class: "play-found", "aria-live": "polite" }, handlers.found);
  const state = make("span", { class: "play-state", role: "status" }, handlers.state);
  const trouble = make("p", { class: "play-trouble", role: "alert", hidden: true });
  const figures = make("div", { class: "play-figures" });
  const evidence = make("span", {}, handlers.evidence);
  const again = make(
    "button",
    {
      type: "button",
      class: "button quiet small",
      hidden: handlers.changed === null,
      onclick: handlers.again,
    },
    () => say.computeAgain,
  );
  const head = make(
    "header",
    { class: "play-head" },
    make("h2", {}, live(topic.title)),
    make("p", { class: "play-question" }, live(topic.question)),
    topic.formula === null ? null : make("p", { class: "play-formula", dir: "ltr" }, topic.formula),
    make(
      "dl",
      { class: "play-guide" },
      make("dt", {}, () => say.change),
      make("dd", {}, live(topic.change)),
      make("dt", {}, () => say.see),
      make("dd", {}, live(topic.see)),
    ),
  );
  const whyNot = handlers.changed === null ? make("p", { class: "play-hint" }, () => say.onlyDefaults) : null;
  const desk = make(
    "div",
    { class: "play-desk" },
    controls.element,
    training?.element ?? null,
    state,
    whyNot,
  );
  const why = make(
    "p",
    { class: "play-why" },
    make("strong", {}, () => say.why),
    " ",
    live(topic.why),
  );
  const foot = make("p", { class: "play-evidence" }, evidence, again);
  const elements = [head, desk, found, trouble, figures, why, foot];
  return { elements, controls, training, found, state, trouble, figures, evidence, shown: new Map() };
}
