/**
 * Sources that answer in the language of the page, so that no view has to translate what it passes on.
 *
 * In:   whatever answers with promises: a recording, a rerunner, the playground. Texts of the server are in English
 *       beside their messages: errors, the evidence of a recording, why a metric has no value.
 * Out:  the same, with these texts in one language.
 */

import type { Description, EvidenceDescription, Language, ScoreDescription, ScorePart } from "../api/types";
import { formatText, knowsMessage, type Message } from "../core/messages";
import { explain } from "../core/refusals";
import { Refusal } from "../core/source";
import type { App } from "./state";

const known = new WeakMap<object, Map<Language, object>>(); // who asks twice gets the same

export function speaking<T extends object>(asked: T, language: Language): T {
  if (language === "en") return asked; // as the server wrote it
  const byLanguage = known.get(asked) ?? new Map<Language, object>();
  known.set(asked, byLanguage);
  const before = byLanguage.get(language) as T | undefined;
  if (before) return before;
  let description: Description | null = null;
  const spoken = new Proxy(asked, {
    get(target, name) {
      const part: unknown = Reflect.get(target, name);
      if (name === "description") {
        description ??= withEvidence(part as Description, language);
        return description;
      }
      if (typeof part !== "function") return part;
      return (...given: unknown[]) => {
        const answer: unknown = part.apply(target, given);
        if (name === "within") return speaking(answer as object, language);
        if (!(answer instanceof Promise)) return answer;
        const told =
          name === "score" ? answer.then((score: ScoreDescription) => withReasons(score, language)) : answer;
        return told.catch((error: unknown) => refuse(error, language));
      };
    },
  });
  byLanguage.set(language, spoken);
  return spoken;
}

function withEvidence(description: Description, language: Language): Description {
  return { ...description, evidence: evidenceIn(description.evidence, language) };
}

function evidenceIn(evidence: EvidenceDescription, language: Language): EvidenceDescription {
  const { messages } = evidence;
  if (!messages || !knowsMessage(messages.kernel, language)) return { ...evidence, ...evidence.zh };
  const format = (message: Message): string => formatText(message, language);
  return {
    ...evidence,
    kernel: format(messages.kernel),
    reference: messages.reference && format(messages.reference),
    edits: messages.edits.map(format),
    notes: messages.notes.map(format),
    line: messages.summary.map(format).join(" · "),
  };
}

function withReasons(score: ScoreDescription, language: Language): ScoreDescription {
  const inLanguage = (part: ScorePart): ScorePart => {
    if (!part.undefined?.every((reason) => knowsMessage(reason, language))) return { ...part, ...part.zh };
    const why = part.undefined.map((reason) => formatText(reason, language)).join("");
    return { ...part, why: part.values.map((value) => (value === null ? why : null)) };
  };
  return { ...score, parts: score.parts.map(inLanguage) };
}

function refuse(error: unknown, language: Language): never {
  if (!(error instanceof Refusal)) throw error;
  const said = new Refusal(explain(error, language), error.code, error.status, error.zh, error.said);
  throw Object.assign(said, { cause: error });
}

/** What went wrong, in a sentence of the page's language; whoever draws it draws it again in another language. */
export function sentenceOf(error: unknown, app: App): string {
  const say = app.words.value;
  if (error instanceof Refusal) {
    if (error.code === "unreachable") return say.unreachable;
    return error.code === "not_in_file" ? say.notInFile : explain(error, app.language.value);
  }
  return say.unexpected(error instanceof Error && error.message ? error.message : String(error));
}
