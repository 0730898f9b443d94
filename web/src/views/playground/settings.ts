/**
 * The settings of a topic: read from the selection, made valid, and written back.
 *
 * In:   options "playground.topic" and "playground.<parameter>".
 * Out:  one value for each parameter; requests and links contain those that differ from the defaults.
 */

import type { PlayParameter, PlayTopic, PlayValue } from "../../api/types";
import type { Message } from "../../core/messages";
import { type OptionTexts, readOptions, type Schema, text, writeOptions } from "../../core/options";

const VIEW = "playground";

export type Settings = Readonly<Record<string, string>>;

/** The options of every topic; each topic adds its parameters. */
export const options: Schema<{ readonly topic: string }> = { topic: text() };

function schemaOf(topic: PlayTopic, language: string): Schema<Settings> {
  const option = (parameter: PlayParameter) => ({
    ...text(parameter.by_language[language] ?? String(parameter.default)),
    parse: (wish: string) => validValue(parameter, wish) ?? undefined,
  });
  return Object.fromEntries(topic.parameters.map((parameter) => [parameter.name, option(parameter)]));
}

export function chosenTopic(topics: readonly PlayTopic[], texts: OptionTexts): PlayTopic | null {
  const { topic } = readOptions(VIEW, options, texts);
  return topics.find(({ name }) => name === topic) ?? topics[0] ?? null;
}

/** A value for each parameter, as text; the default in a language where a link says nothing or something impossible. */
export function readSettings(topic: PlayTopic, texts: OptionTexts, language = ""): Settings {
  return readOptions(VIEW, schemaOf(topic, language), texts);
}

export function validValue(parameter: PlayParameter, wish: string): string | null {
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
  texts: OptionTexts,
  topic: PlayTopic,
  settings: Settings,
  language = "",
): OptionTexts {
  const others = Object.entries(texts).filter(([name]) => !name.startsWith(`${VIEW}.`));
  const named = writeOptions(VIEW, options, Object.fromEntries(others), { topic: topic.name });
  return writeOptions(VIEW, schemaOf(topic, language), named, settings);
}

/** A setting in words. */
export function formatSetting(
  parameter: PlayParameter,
  value: PlayValue,
  say: (said: Message) => string,
): string {
  const choice = parameter.choices.find((each) => each.value === String(value));
  const chosen = choice ? say(choice.label) : String(value);
  return `${say(parameter.label)}: ${parameter.kind === "flag" ? (value === "true" ? "✓" : "✗") : chosen}`;
}
