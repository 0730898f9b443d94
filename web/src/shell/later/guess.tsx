/** A word that was guessed at a mask: what else could stand there, and the vector that it was guessed from. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { asFloats, tensor } from "../../api/frames";
import { digits } from "../../core/formats";
import { probability } from "../../core/generation";
import type { RecordingSource } from "../../core/source";
import { Bars } from "../../marks/bars";
import { useAnswer } from "../answer";
import { Button } from "../button";
import { useApp } from "../context";
import { asWord } from "../outcome";
import { later } from "./later_words";

const MOST = 6; // words

export function Guess(props: { readonly source: RecordingSource; readonly place: number }) {
  const app = useApp();
  const say = app.words.value;
  const more = later(app.language.value);
  const { source, place } = props;
  const { output, hidden } = source.description;
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const bars = new Bars(say.guessHint);
    const choices = output?.positions[place]?.slice(0, MOST) ?? [];
    bars.show(
      choices.map((each, rank) => ({ text: asWord(each), share: probability(each), chosen: rank === 0 })),
    );
    host.current?.replaceChildren(bars.element);
  }, [place, say]);
  const states = hidden.find(({ stack }) => stack === output?.stack);
  const question = states ? `${states.stack} ${place}` : null;
  const { value } = useAnswer(source, question, async (asked, signal) => {
    const last = (states?.layers ?? 1) - 1;
    const frame = await asked.hidden(states?.stack ?? "", last, [place, place + 1], "float32", signal);
    return [...asFloats(tensor(frame, "states"))];
  });
  return (
    <div class="guess-details" data-part="guess">
      <div class="guess-bars" ref={host} />
      <div>
        <p class="hint">
          {value ? more.embeddingOf(value.length, digits(Math.hypot(...value), 3)) : more.noEmbedding}
        </p>
        {value && (
          <Strip values={value} label={more.embeddingOf(value.length, digits(Math.hypot(...value), 3))} />
        )}
        {value && (
          <Button
            name="open-embeddings"
            look="small"
            act={() => {
              app.store.set({ query: place });
              app.chooseView("embeddings");
            }}
          >
            {more.openEmbeddings} →
          </Button>
        )}
      </div>
    </div>
  );
}

/** A vector as bars above and below zero. */
function Strip({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const most = Math.max(...values.map(Math.abs), 1e-9);
  return (
    <svg
      class="guess-strip"
      viewBox={`0 -1 ${values.length} 2`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {values.map((value, place) => (
        <rect
          key={place}
          x={place}
          y={value > 0 ? -value / most : 0}
          width={0.9}
          height={Math.abs(value) / most}
          class={value > 0 ? "" : "below"}
        />
      ))}
    </svg>
  );
}
