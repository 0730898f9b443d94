/** Speaking: start, the level, stop at the latest when the model could hear no more, and playing it. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ModelDescription } from "../../api/types";
import { fixed } from "../../core/formats";
import { Button } from "../button";
import { useApp } from "../context";
import { listen, MicrophoneError, type Speaking } from "./microphone";
import { EXAMPLES, speak, timeWords } from "./voice";
import { encodeWav } from "./wav";
import { words } from "./words";

const USUAL_RATE = 16_000; // samples per second, where a model does not say
const LONGEST = 60; // seconds, where a model does not say
const TICK = 100; // ms between two looks at the level

export function Speech({ model }: { readonly model: ModelDescription }) {
  const app = useApp();
  const say = words(app.language.value);
  const [speaking, setSpeaking] = useState<Speaking | null>(null);
  const [[level, seconds], measure] = useState<readonly [number, number]>([0, 0]);
  const [said, tell] = useState("");
  const starting = useRef(false);
  const current = useRef<Speaking | null>(null);
  const gone = useRef(false); // another model, another panel
  const examples = useRef(0); // that were heard
  const most = Math.min(LONGEST, model.max_seconds ?? LONGEST);
  const shown = (value: number): string => fixed(value, 1);

  const complain = (error: unknown): void => {
    const known = error instanceof MicrophoneError;
    tell(known ? say[error.hindrance] : say.failed(error instanceof Error ? error.message : String(error)));
  };
  const end = async (reached = false): Promise<void> => {
    const now = current.current;
    current.current = null;
    setSpeaking(null);
    tell(reached ? say.reached(shown(most)) : "");
    if (!now) return;
    try {
      const wav = await now.stop();
      if (gone.current) return;
      void app.runs.glance(new File([wav], say.recordingName, { type: wav.type }));
    } catch (error) {
      complain(error);
    }
  };
  const begin = async (): Promise<void> => {
    if (starting.current) return;
    starting.current = true;
    tell("");
    try {
      const now = await listen(model.sample_rate ?? USUAL_RATE, most);
      if (gone.current) return now.discard(); // the person was asked, and left meanwhile
      current.current = now;
      setSpeaking(now);
    } catch (error) {
      complain(error);
    } finally {
      starting.current = false;
    }
  };
  const example = (): Promise<void> => {
    tell("");
    const rate = model.sample_rate ?? USUAL_RATE;
    const text = EXAMPLES[examples.current++ % EXAMPLES.length]!;
    const wav = encodeWav(speak(text, rate), rate, timeWords(text)); // what it says when is known
    return app.runs.glance(new File([wav], `${text}.wav`, { type: wav.type }));
  };
  useEffect(() => {
    if (!speaking) return;
    const timer = setInterval(() => {
      const now = speaking.seconds();
      measure([speaking.level(), Math.min(now, most)]);
      if (now >= most) void end(true);
    }, TICK);
    return () => clearInterval(timer);
  }, [speaking]);
  useEffect(() => {
    gone.current = false;
    return () => {
      gone.current = true;
      current.current?.discard();
    };
  }, []);

  return (
    <div class="field">
      <div class="row">
        {/* One button, so that whoever starts by keys finds the end of it in focus. */}
        <Button
          name={speaking ? "stop-speaking" : "speak"}
          {...(speaking ? { icon: "pause" } : {})}
          act={() => void (speaking ? end() : begin())}
        >
          {speaking ? say.stop : say.speak}
        </Button>
        {!speaking && (
          <Button name="sound-example" hint={say.voiceHint} act={() => void example()}>
            {say.example}
          </Button>
        )}
        {speaking && (
          <>
            <meter class="level" min={0} max={1} value={level} aria-label={say.level} />
            <span class="hint">{say.listening(shown(seconds), shown(most))}</span>
          </>
        )}
      </div>
      <p class="hint" role="status" data-part="microphone">
        {said}
      </p>
    </div>
  );
}
