/** What the model answered, on screen in every view: the class, the next word, the translation, the guessed words. */

import { useEffect, useState } from "preact/hooks";
import type { Choice, Description, GenerationDescription, OutputDescription, TokenSlice } from "../api/types";
import { chance, digits } from "../core/formats";
import { findMasks, probability } from "../core/generation";
import type { RecordingSource } from "../core/source";
import { useAnswer } from "./answer";
import { useApp } from "./context";
import { useLater } from "./later";
import { nameLanguages } from "./panels/languages";
import type { App } from "./state";

const SHOWN = 2000; // tokens of a text with masks
const TOLD = /^workbench\.(sample|cut)$/; // what the form promises to tell

type Written = "translation" | "caption" | "transcript" | "continuation";

export type Outcome =
  | { readonly kind: "classes" | "next"; readonly choices: readonly Choice[] }
  | { readonly kind: Written | "given" | "numbers"; readonly text: string }
  | { readonly kind: "masks" | "tags" };

/** What a recording says that its model answered; null where nothing was kept. */
export function outcomeOf({ shape, source, output, generation, target }: Description): Outcome | null {
  const [first] = output?.positions ?? [];
  if (output?.kind === "classes" && first) return { kind: "classes", choices: first };
  if (output?.kind === "numbers") return { kind: "numbers", text: writeNumbers(output.numbers) };
  if (output?.kind === "tags") return first ? { kind: "tags" } : null;
  if (shape === "encoder") return first ? { kind: "masks" } : null;
  if (generation) return { kind: nameWritten(shape, source), text: withoutEnd(generation) };
  if (shape === "encoder-decoder") return target?.text ? { kind: "given", text: target.text } : null;
  return output && output.last.length > 0 ? { kind: "next", choices: output.last } : null;
}

function nameWritten(shape: Description["shape"], source: Description["source"]): Written {
  if (source.picture) return "caption";
  if (source.sound) return "transcript";
  return shape === "decoder" ? "continuation" : "translation";
}

function writeNumbers(numbers: OutputDescription["numbers"]): string {
  return numbers.map(({ name, value }) => `${name} ${value === null ? "–" : digits(value, 4)}`).join(", ");
}

/** What was written, without the token that ends it. */
function withoutEnd({ text, steps }: GenerationDescription): string {
  const last = steps.at(-1)?.text ?? "";
  return /^[<[|].*[>\]|]$/.test(last) && text.endsWith(last) ? text.slice(0, -last.length) : text;
}

/** A text in parts: what stands between the masks, and the places of the masks. */
export function splitAtMasks(slice: TokenSlice): readonly (string | number)[] {
  const letters = [...(slice.text ?? "")];
  const parts: (string | number)[] = [];
  let from = 0;
  for (const place of findMasks(slice)) {
    const [start, stop] = slice.offsets?.[place - slice.start] ?? [from, from];
    parts.push(letters.slice(from, start).join(""), place);
    from = stop;
  }
  return [...parts, letters.slice(from).join("")];
}

/** A piece of a vocabulary as a word: without the marks of blanks and of word ends. */
export function asWord({ text }: Choice): string {
  return text.replace(/^(##|[▁␣Ġ]+)|<\/w>$/g, "") || text;
}

export function OutcomeBar({ source }: { readonly source: RecordingSource }) {
  const app = useApp();
  const say = app.words.value;
  const { description } = source;
  const outcome = outcomeOf(description);
  const later = useLater(outcome?.kind === "tags");
  const notes = description.evidence.messages.notes.filter(({ code }) => TOLD.test(code));
  if (!outcome && notes.length === 0) return null;
  return (
    <section class="outcome" aria-label={say.outcome} data-outcome={outcome?.kind}>
      {outcome?.kind === "masks" && <Guesses source={source} />}
      {outcome?.kind === "tags" && later && <later.Tags source={source} />}
      {outcome && ("text" in outcome || "choices" in outcome) && (
        <p>
          <span class="outcome-label">{label(outcome.kind, description, app)}</span>{" "}
          {"text" in outcome ? (
            <bdi class="outcome-text">{outcome.text}</bdi>
          ) : (
            outcome.choices.slice(0, 3).map((choice, rank) => (
              <span key={choice.token} class={rank === 0 ? "outcome-best" : "hint"}>
                <bdi>{choice.text}</bdi> <span class="number">{chance(probability(choice))}</span>
              </span>
            ))
          )}
        </p>
      )}
      {notes.map((note) => (
        <p key={note.code} class="hint" data-note={note.code}>
          {app.text(note)}
        </p>
      ))}
    </section>
  );
}

function label(kind: Exclude<Outcome["kind"], "masks" | "tags">, { request }: Description, app: App): string {
  const say = app.words.value;
  const language = request?.target_language;
  const title = say.outcomes[kind];
  if (!language || (kind !== "translation" && kind !== "caption")) return title;
  return (kind === "caption" ? say.captionIn : say.translationInto)(title, nameLanguages(app)(language));
}

/** The text with each mask replaced by the likeliest word; one that is chosen shows what else could stand there. */
function Guesses({ source }: { readonly source: RecordingSource }) {
  const app = useApp();
  const say = app.words.value;
  const [chosen, choose] = useState<number | null>(null);
  const later = useLater(chosen !== null);
  const { output, source: side } = source.description;
  const { value, fresh } = useAnswer(source, "source", (asked, signal) =>
    asked.tokens("source", [0, Math.min(SHOWN, side.count)], signal),
  );
  useEffect(() => choose(null), [source]);
  if (!value || !fresh) return null;
  const parts = splitAtMasks(value);
  const open = (place: number): void => {
    choose(place === chosen ? null : place);
    app.store.set({ query: place });
  };
  return (
    <>
      <p>
        <span class="outcome-label">{parts.length > 1 ? say.outcomes.masks : say.noMasks}</span>{" "}
        <bdi class="outcome-text">
          {parts.map((part, index) => {
            const best = typeof part === "number" ? output?.positions[part]?.[0] : undefined;
            if (typeof part === "string" || !best) return part;
            return (
              <button
                key={index}
                type="button"
                class="guess"
                data-guess={part}
                aria-expanded={part === chosen}
                title={say.guessHint}
                onClick={() => open(part)}
              >
                {asWord(best)} <span class="number">{chance(probability(best))}</span>
              </button>
            );
          })}
        </bdi>
      </p>
      {later && chosen !== null && <later.Guess key={chosen} source={source} place={chosen} />}
    </>
  );
}
