/**
 * A topic as a saved picture: its figures below one another, with the question, the settings and the result.
 *
 * In:   what is shown.
 * Out:  a standalone SVG.
 */

import type { PlayResult, PlayTopic } from "../../api/types";
import type { Stage } from "../../core/view";
import { spell } from "../../marks/cells";
import { inks, label, sheet, wrap } from "../../marks/paper";
import { drawForSaving, lookOf } from "./figure";
import { formatSetting, type Settings } from "./settings";

const WIDTH = 640;

export interface Shown {
  readonly topic: PlayTopic | null;
  readonly play: PlayResult | null;
  readonly settings: Settings;
  readonly evidence: string;
}

export function drawTopic(shown: Shown, stage: Stage<"none">, title: string): string {
  const { topic, play, settings, evidence } = shown;
  const look = lookOf(stage, inks(stage.theme), WIDTH);
  const { text } = look;
  let [body, height] = ["", 0];
  for (const figure of play?.figures ?? []) {
    const drawn = drawForSaving(figure, look);
    body += label(text(figure.title), 0, height + 14, { fill: look.inks.ink, size: 13, weight: 600 });
    body += `<g transform="translate(0 ${height + 26})">${spell(drawn.element)}</g>`;
    height += drawn.height + 26;
    for (const line of wrap(figure.note ? text(figure.note) : "", WIDTH)) {
      body += label(line, 0, height + 14, { fill: look.inks.soft, size: 11 });
      height += 16;
    }
    height += 20;
  }
  const chosen = topic?.parameters.map((each) => formatSetting(each, settings[each.name] ?? "", text));
  const lines = [
    topic ? text(topic.question) : "",
    chosen?.join(" · ") ?? "",
    play ? text(play.found) : "",
    topic ? text(topic.why) : "",
    evidence,
  ];
  return sheet({
    width: WIDTH,
    height,
    body,
    title: topic ? text(topic.title) : title,
    caption: lines.filter((line) => line !== ""),
    theme: stage.theme,
  });
}
