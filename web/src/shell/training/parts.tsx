/**
 * Training time: a recording that a run made while it trained has others before and after it, of the same text.
 *
 * In:   the probe series of the open recording, or the runs that are open.
 * Out:  a slider over the steps of training that opens the recording of a step and keeps the place; a way from a run to
 *       its recordings and back.
 */

import { useEffect, useId, useRef } from "preact/hooks";
import type { Description, ProbeDescription, RunDescription } from "../../api/types";
import { count } from "../../core/formats";
import { nearestStep } from "../../core/probes";
import type { RecordingSource } from "../../core/source";
import { Button } from "../button";
import { useApp } from "../context";
import type { App } from "../state";
import { words } from "./words";
import "./style.css";

const BEAT = 600; // ms a step when playing, or longer where it takes longer to fetch
const AHEAD = [1, -1, 2]; // neighbours whose answers are fetched before they are wanted

type Step = ProbeDescription["texts"][number]["steps"][number];

function stepsOf({ texts, number }: ProbeDescription): readonly Step[] {
  return texts.find((text) => text.number === number)?.steps ?? [];
}

/** Open a recording of the series; view, place, head, tokens and options stay. */
async function goTo(app: App, id: string): Promise<void> {
  const { query, key, step, options } = app.store.get();
  await app.go(id, { query, key, step, options });
}

function probeOf(app: App): ProbeDescription | null {
  return app.open.peek()?.description.probe ?? null;
}

/** Some steps earlier or later; false at the end. */
async function moveInTraining(app: App, by: number): Promise<boolean> {
  const probe = probeOf(app);
  if (!probe) return false;
  const steps = stepsOf(probe);
  const next = steps[steps.findIndex(({ step }) => step === probe.step) + by];
  if (!next) return false;
  await goTo(app, next.id);
  return true;
}

export function TrainingTime({ source }: { readonly source: RecordingSource }) {
  const app = useApp();
  const say = words(app.language.value);
  const id = useId();
  const wanted = useRef<string | null>(null); // what the slider was moved to while another step is opened
  const { probe } = source.description as Description & { probe: ProbeDescription };
  const steps = stepsOf(probe);
  const at = steps.findIndex(({ step }) => step === probe.step);
  const playing = app.playing.value;

  useEffect(() => {
    if (!playing) return;
    let over = false;
    let timer: ReturnType<typeof setTimeout>;
    const beat = async (): Promise<void> => {
      if (over) return;
      const moved = await moveInTraining(app, 1);
      if (over) return;
      if (moved) timer = setTimeout(beat, BEAT);
      else app.playing.value = false;
    };
    timer = setTimeout(beat, BEAT);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [playing, app]);
  useEffect(
    () => () => {
      app.playing.value = false;
    },
    [app],
  );
  useEffect(() => {
    // When the picture is there, what it asked is asked about its neighbours.
    let over = false;
    void app.questions.settled().then(async () => {
      for (const by of AHEAD) {
        const next = steps[at + by];
        if (over || !next) continue;
        const other = await app.source.open(next.id).catch(() => null);
        if (other && !over) await app.questions.repeat(other);
      }
    });
    return () => {
      over = true;
    };
  }, [source]);

  const seek = async (place: number): Promise<void> => {
    const next = steps[place];
    if (!next) return;
    const busy = wanted.current !== null;
    wanted.current = next.id;
    if (busy) return; // one after the other, and only the last of those that were passed
    for (let id: string | null = next.id; id !== null; ) {
      await goTo(app, id);
      id = wanted.current === id ? null : wanted.current;
    }
    wanted.current = null;
  };
  const toggle = (): void => {
    if (!playing && at + 1 >= steps.length) void seek(0);
    app.playing.value = !playing;
  };
  const where = describeStep(say, probe.step, steps.at(-1)?.step ?? probe.step);
  return (
    <fieldset class="transport training-time">
      <legend class="unseen">{say.time}</legend>
      <Button
        name="play-training"
        icon={playing ? "pause" : "play"}
        label={playing ? say.pause : say.play}
        look="plain"
        disabled={steps.length < 2}
        act={toggle}
      />
      <label for={id} class="transport-label">
        {say.time}
      </label>
      <Button
        name="previous-training-step"
        icon="left"
        label={say.previous}
        disabled={at <= 0}
        act={() => void seek(at - 1)}
      />
      <input
        id={id}
        class="slider"
        type="range"
        min={0}
        max={Math.max(0, steps.length - 1)}
        value={Math.max(0, at)}
        data-action="training-step"
        aria-valuetext={where}
        onInput={(event) => void seek(Number(event.currentTarget.value))}
      />
      <Button
        name="next-training-step"
        icon="right"
        label={say.next}
        disabled={at + 1 >= steps.length}
        act={() => void seek(at + 1)}
      />
      <output class="transport-where number">{where}</output>
      <TextChoice probe={probe} />
      <Button name="open-run" look="small" hint={say.runHint} act={() => openRun(app, probe)}>
        {say.run(probe.run)}
      </Button>
    </fieldset>
  );
}

function describeStep(say: ReturnType<typeof words>, step: number, last: number): string {
  return step === 0 ? say.beforeFirst : say.stepOf(count(step), count(last));
}

/** The other texts of the run, at the step nearest to this one. */
function TextChoice({ probe }: { readonly probe: ProbeDescription }) {
  const app = useApp();
  const say = words(app.language.value);
  if (probe.texts.length < 2) return null;
  return (
    <select
      class="training-text"
      aria-label={say.text}
      data-action="training-text"
      value={String(probe.number)}
      onChange={(event) => {
        const text = probe.texts.find(({ number }) => number === Number(event.currentTarget.value));
        const next = text?.steps[nearestStep(text.steps, probe.step)];
        if (next) void app.go(next.id, { options: app.store.get().options });
      }}
    >
      {probe.texts.map(({ number, excerpt }) => (
        <option key={number} value={String(number)}>
          {excerpt}
        </option>
      ))}
    </select>
  );
}

/** The run that a recording was made by, at the same head and step. */
function openRun(app: App, { run, step }: ProbeDescription): void {
  const { place, head } = app.store.get();
  app.store.set({
    recording: "",
    beside: "",
    run,
    view: "learning",
    place,
    head,
    step,
    query: null,
    key: null,
  });
}

/** From runs to what they recorded: the last step, which has the most to show. */
export function ProbeLinks({ runs }: { readonly runs: readonly RunDescription[] }) {
  const app = useApp();
  const say = words(app.language.value);
  const probed = runs.filter((run) => run.probes.length > 0);
  if (probed.length === 0) return null;
  return (
    <p class="probe-links">
      {probed.map((run) => (
        <Button
          key={run.id}
          name="watch-training"
          icon="play"
          hint={say.watchHint(count(run.probes.length))}
          act={() => watch(app, run)}
        >
          {probed.length > 1 ? `${say.watch}: ${run.id}` : say.watch}
        </Button>
      ))}
    </p>
  );
}

/** At the place in focus, or where most is learnt: the last cross-attention, else the last attention. */
function watch(app: App, { probes, maps }: RunDescription): void {
  const { step, head, place: chosen } = app.store.get();
  const told = maps.findLast((map) => map.place.kind === "cross") ?? maps.at(-1);
  const place = chosen ?? told?.place ?? null;
  const last = probes.length - 1;
  const next = probes[step === null ? last : nearestStep(probes, step)];
  if (next)
    app.store.set({ recording: next.id, beside: "", run: "", view: "heatmap", place, head, step: null });
}
