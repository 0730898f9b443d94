/**
 * The settings of a topic: read from the selection, made valid, and written back.
 *
 * In:   options "playground.topic" and "playground.<parameter>".
 * Out:  one value for each parameter; requests and links contain those that differ from the defaults.
 */

import type { PlayParameter, PlayTopic, PlayValue } from "../../api/types";
import type { Message } from "../../core/messages";
import type { Selection } from "../../core/selection";

const PREFIX = "playground.";

export type Settings = Readonly<Record<string, string>>;

export function chosenTopic(topics: readonly PlayTopic[], options: Selection["options"]): PlayTopic | null {
  return topics.find(({ name }) => name === options[`${PREFIX}topic`]) ?? topics[0] ?? null;
}

/** A value for each parameter, as text; the default where a link says nothing or something impossible. */
export function readSettings(topic: PlayTopic, options: Selection["options"]): Settings {
  return Object.fromEntries(
    topic.parameters.map((parameter) => [
      parameter.name,
      validValue(parameter, options[PREFIX + parameter.name]) ?? String(parameter.default),
    ]),
  );
}

export function validValue(parameter: PlayParameter, wish: string | undefined): string | null {
  if (wish === undefined) return null;
  switch (parameter.kind) {
    case "flag":
      return wish === "true" || wish === "false" ? wish : null;
    case "choice":
      return parameter.choices.some(({ value }) => value === wish) ? wish : null;
    case "text":
      return wish.trim() === "" ? null : [...wish].slice(0, parameter.max_length ?? undefined).join("");
    default: {
      const number = Number(wish);
      if (wish.trim() === "" || !Number.isFinite(number)) return null;
      const low = parameter.minimum ?? -Infinity;
      const kept = Math.min(parameter.maximum ?? Infinity, Math.max(low, number));
      return String(parameter.kind === "integer" ? Math.round(kept) : kept);
    }
  }
}

/** Whether a parameter has an effect with these settings. */
export function applies(parameter: PlayParameter, settings: Settings): boolean {
  return Object.entries(parameter.needs).every(([name, values]) => values.includes(settings[name] ?? ""));
}

/** What the server is asked: settings that differ from the defaults and have an effect. */
export function changedSettings(topic: PlayTopic, settings: Settings): Settings {
  const found: Record<string, string> = {};
  for (const parameter of topic.parameters) {
    const value = settings[parameter.name]!;
    if (value !== String(parameter.default) && applies(parameter, settings)) found[parameter.name] = value;
  }
  return found;
}

/** A request as text, to compare it with another. */
export function requestKey(topic: PlayTopic, settings: Settings): string {
  return JSON.stringify([topic.name, changedSettings(topic, settings)]);
}

/** Every setting that has an effect: the server then computes, also where a result ships. */
export function allSettings(topic: PlayTopic, settings: Settings): Settings {
  const used = topic.parameters.filter((parameter) => applies(parameter, settings));
  return Object.fromEntries(used.map(({ name }) => [name, settings[name]!]));
}

/** The options of a selection with this topic and these settings; other views' options stay. */
export function withSettings(
  options: Selection["options"],
  topic: PlayTopic,
  settings: Settings,
): Selection["options"] {
  const others = Object.entries(options).filter(([name]) => !name.startsWith(PREFIX));
  const own = topic.parameters
    .filter(({ name, default: usual }) => settings[name] !== undefined && settings[name] !== String(usual))
    .map(({ name }) => [PREFIX + name, settings[name]!] as const);
  return Object.fromEntries([...others, [`${PREFIX}topic`, topic.name], ...own]);
}

/** A setting in words. */
export function formatSetting(
  parameter: PlayParameter,
  value: PlayValue,
  text: (said: Message) => string,
): string {
  const choice = parameter.choices.find((each) => each.value === String(value));
  const chosen = choice ? text(choice.label) : String(value);
  return `${text(parameter.label)}: ${parameter.kind === "flag" ? (value === "true" ? "✓" : "✗") : chosen}`;
}
