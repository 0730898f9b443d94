/** The playground as tests open it: two topics, answers of one's own, and what was asked. */

import { afterEach } from "vitest";
import type { Language, PlayResult } from "../api/types";
import type { Playground } from "../core/source";
import type { Mounted, Rerunner, Stage } from "../core/view";
import { view } from "../views/playground/view";
import { aParameter, aPlay, aTopic, figures } from "./playground";
import { invent, setStage, withoutSubject } from "./recording";

export const TOPICS = [
  aTopic("masks", [aParameter("mask", { kind: "flag", default: false })]),
  aTopic("output", [aParameter("steps", { default: 2, minimum: 0, maximum: 9 })], true),
];

let mounted: Mounted | null = null;
afterEach(() => mounted?.unmount());

/** The view on two topics; `answer` says what a question finds. It is unmounted after the test. */
export function openPlayground(
  options: Record<string, string> = {},
  answer: (topic: string, settings: Readonly<Record<string, string>>) => Promise<PlayResult> = async (
    topic,
    settings,
  ) => aPlay(topic, figures, `Found with ${JSON.stringify(settings)}.`),
  rerunner: Rerunner | null = {} as Rerunner,
  language: Language = "en",
) {
  const asked: string[] = [];
  const playground: Playground = {
    topics: async () => TOPICS,
    ask: (topic, settings) => {
      asked.push(`${topic} ${JSON.stringify(settings)}`);
      return answer(topic, settings);
    },
  };
  const { stage, element, selection, failures } = setStage(
    invent().source,
    { view: "playground", options },
    rerunner,
  );
  const playing: Stage<"none"> = { ...withoutSubject(stage), playground, language };
  const mine = view.mount(playing);
  mounted = mine;
  selection.subscribe((now, before) => mine.update(now, before));
  return { element, selection, asked, failures, mine, stage: playing };
}

export const text = (element: Element, name: string) => element.querySelector(name)?.textContent ?? "";
