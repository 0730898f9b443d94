/** The words of a text with the tag that the model gives each above it; a word that is chosen is selected everywhere. */

import type { Choice, TokenSlice } from "../../api/types";
import { chance } from "../../core/formats";
import { probability } from "../../core/generation";
import type { RecordingSource } from "../../core/source";
import { useAnswer } from "../answer";
import { useApp } from "../context";

const SHOWN = 2000; // tokens

export interface TaggedWord {
  readonly place: number; // of its first token
  readonly text: string;
  readonly tag: Choice;
}

/** The words of a text, each with the likeliest tag at its first token; special tokens are no words. */
export function tagWords(slice: TokenSlice, positions: readonly (readonly Choice[])[]): TaggedWord[] {
  const letters = [...(slice.text ?? "")];
  const found: (TaggedWord & { readonly word: number | null })[] = [];
  slice.shown.forEach((shown, index) => {
    const place = slice.start + index;
    const tag = positions[place]?.[0];
    if (slice.special[index] || !tag) return;
    const word = slice.words?.[index] ?? null;
    const [start, stop] = slice.offsets?.[index] ?? [0, 0];
    const text = slice.offsets ? letters.slice(start, stop).join("").trim() : shown;
    const last = found.at(-1);
    if (last && word !== null && word === last.word)
      found[found.length - 1] = { ...last, text: last.text + text };
    else found.push({ place, text, tag, word });
  });
  return found.map(({ place, text, tag }) => ({ place, text, tag }));
}

export function Tags({ source }: { readonly source: RecordingSource }) {
  const app = useApp();
  const say = app.words.value;
  const { output, source: side, target } = source.description;
  const name = output?.stack === "decoder" && target ? "target" : "source";
  const { value, fresh } = useAnswer(source, name, (asked, signal) =>
    asked.tokens(name, [0, Math.min(SHOWN, (name === "target" ? target : side)?.count ?? 0)], signal),
  );
  if (!value || !fresh || !output) return null;
  return (
    <p>
      <span class="outcome-label">{say.outcomes.tags}</span>{" "}
      <bdi class="outcome-text tagged-text">
        {tagWords(value, output.positions).map(({ place, text, tag }) => (
          <button
            key={place}
            type="button"
            class="tagged-word"
            data-tag={tag.text}
            title={`${tag.text} ${chance(probability(tag))}`}
            onClick={() => app.store.set({ query: place })}
          >
            <span class="tag">{tag.text}</span>
            <span>{text}</span>
          </button>
        ))}
      </bdi>
    </p>
  );
}
