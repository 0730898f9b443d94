/** The time step: a generation step, or for a text that was read at once the token in focus. Slider and play. */

import { useEffect, useId } from "preact/hooks";
import type { MapDescription } from "../api/types";
import { chooseMap, stepsOf } from "../core/maps";
import { rowSideOf } from "../core/reading";
import type { RecordingSource } from "../core/source";
import { Button } from "./button";
import { useApp } from "./context";
import type { App } from "./state";
import { useToken } from "./tokens";

const BEAT = 700; // ms a step when playing

interface Timeline {
  readonly stepped: boolean; // steps of generation; otherwise every token of the query axis
  readonly count: number;
  readonly at: number; // place on the slider; -1: nowhere yet
  number(place: number): number; // of the step or token at a place
}

function timelineOf(source: RecordingSource, app: App): Timeline {
  const { query } = app.store.get();
  const map = chooseMap(source.description, app.store.get());
  if (!map) return { stepped: false, count: 0, at: -1, number: (place) => place };
  const { step } = map.place;
  const steps = step === null ? [] : stepsOf(source.description.maps, map.place);
  const stepped = steps.length > 0;
  return {
    stepped,
    count: stepped ? steps.length : map.queries,
    at: stepped ? steps.indexOf(step ?? 0) : query === null ? -1 : query - map.query_start,
    number: (place) => (stepped ? (steps[place] ?? 0) : map.query_start + place),
  };
}

/** Move to a place of the slider. */
function seek(source: RecordingSource, app: App, place: number): void {
  const line = timelineOf(source, app);
  if (place >= 0 && place < line.count) app.store.set({ step: line.number(place) });
}

export function Transport(props: { readonly source: RecordingSource; readonly onlySteps: boolean }) {
  const app = useApp();
  const say = app.words.value;
  const id = useId();
  const { source } = props;
  const selection = app.selection.value;
  const map = chooseMap(source.description, selection);
  const line = timelineOf(source, app);
  const playing = app.playing.value;

  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => {
      const now = timelineOf(source, app);
      if (now.at + 1 >= now.count) app.playing.value = false;
      else seek(source, app, now.at + 1);
    }, BEAT);
    return () => clearInterval(timer);
  }, [playing, source, app]);

  const idle = app.mounted.value?.moves === false;
  if (!map || line.count === 0 || idle || (props.onlySteps && !line.stepped)) return null;
  return (
    <fieldset class="transport">
      <legend class="unseen">{say.step}</legend>
      <Button
        name="play"
        icon={playing ? "pause" : "play"}
        label={playing ? say.pause : say.play}
        look="plain"
        disabled={line.count < 2}
        act={() => togglePlay(app, source)}
      />
      <label for={id} class="transport-label">
        {say.step}
      </label>
      <Button
        name="previous-step"
        icon="left"
        label={say.previousStep}
        disabled={line.at <= 0}
        act={() => seek(source, app, line.at - 1)}
      />
      <input
        id={id}
        class="slider"
        type="range"
        min={0}
        max={Math.max(0, line.count - 1)}
        value={Math.max(0, line.at)}
        data-action="step"
        aria-valuetext={line.at < 0 ? say.everything : String(line.number(line.at))}
        onInput={(event) => seek(source, app, Number(event.currentTarget.value))}
      />
      <Button
        name="next-step"
        icon="right"
        label={say.nextStep}
        disabled={line.at + 1 >= line.count}
        act={() => seek(source, app, line.at + 1)}
      />
      <Where source={source} map={map} line={line} />
    </fieldset>
  );
}

function Where(props: {
  readonly source: RecordingSource;
  readonly map: MapDescription;
  readonly line: Timeline;
}) {
  const app = useApp();
  const say = app.words.value;
  const { source, map, line } = props;
  const query = app.selection.value.query;
  const token = useToken(source, rowSideOf(map, app.selection.value), query);
  if (line.at < 0) return <output class="transport-where">{say.everything}</output>;
  const where = [line.number(line.at), line.number(line.count - 1)] as const;
  return (
    <output class="transport-where">
      <span class="number">{line.stepped ? say.stepAt(...where) : say.tokenAt(...where)}</span>
      {token && (
        <span class="token" dir="auto">
          {token}
        </span>
      )}
    </output>
  );
}

export function togglePlay(app: App, source: RecordingSource): void {
  if (app.playing.peek()) {
    app.playing.value = false;
    return;
  }
  const line = timelineOf(source, app);
  if (line.count < 2) return;
  if (line.at < 0 || line.at + 1 >= line.count) seek(source, app, 0);
  app.playing.value = true;
}
