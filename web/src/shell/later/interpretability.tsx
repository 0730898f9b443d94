/** The interpretability panel: numbers for the selected head, its layer and the whole model. */

import type { MapDescription, MetricDescription, ScoreDescription, ScorePart } from "../../api/types";
import { joinSentences, whyNoMaps } from "../../core/focus";
import { digits, significant } from "../../core/formats";
import { chooseMap } from "../../core/maps";
import { samePlace } from "../../core/place";
import type { Selection } from "../../core/selection";
import type { RecordingSource } from "../../core/source";
import {
  isTooLong,
  LIMITS,
  readThreshold,
  type Threshold,
  thresholdParameters,
  writeRelative,
  writeTau,
} from "../../core/threshold";
import { useAnswer } from "../answer";
import { Button } from "../button";
import { useApp } from "../context";
import { Check } from "../panels/fields";
import type { App } from "../state";

const PAUSE = 80; // ms after the slider's last move
type Level = "head" | "layer" | "model";
const levels: readonly Level[] = ["head", "layer", "model"];

export function InterpretabilityPanel(props: { readonly source: RecordingSource }) {
  const app = useApp();
  const say = app.words.value;
  const selection = app.selection.value;
  const map = chooseMap(props.source.description, selection);
  const { maps } = props.source.description;
  const long = isTooLong(maps);
  const threshold = readThreshold(selection.options, maps);
  const metrics = (app.metrics.value ?? []).filter((metric) => metric.panel);
  const { value: scores, error } = useScores(props.source, map ? metrics : [], threshold);
  if (!map) return <p class="hint">{app.text(whyNoMaps(props.source.description))}</p>;
  if (metrics.length === 0) return <p class="hint">{say.noNumbers}</p>;
  return (
    <div class="panel-content">
      {long ? <p class="hint">{say.thresholdFixed}</p> : <ThresholdFields {...threshold} />}
      <table class="numbers">
        <thead>
          <tr>
            <td />
            <th scope="col">{say.thisHead}</th>
            <th scope="col">{say.thisLayer}</th>
            <th scope="col">{say.wholeModel}</th>
          </tr>
        </thead>
        <tbody>
          {metrics.map((metric) => (
            <MetricRow key={metric.name} metric={metric} map={map} head={selection.head} scores={scores} />
          ))}
        </tbody>
      </table>
      {error !== null && <p class="hint bad-text">{app.explain(error)}</p>}
      <Button name="open-numbers" act={() => app.chooseView("numbers")}>
        {say.openNumbers} →
      </Button>
    </div>
  );
}

function ThresholdFields(props: Threshold) {
  const app = useApp();
  const say = app.words.value;
  const [least, most] = LIMITS[props.relative ? "relative" : "absolute"];
  // The slider moves by ratios: small thresholds matter most.
  const place = Math.log(props.tau / least) / Math.log(most / least);
  return (
    <div class="field">
      <label class="slider-row">
        <span>{say.threshold}</span>
        <output class="number">
          τ = {significant(props.tau, 2)}
          {props.relative ? "/n" : ""}
        </output>
        <input
          type="range"
          class="slider"
          data-field="tau"
          min={0}
          max={1}
          step={0.01}
          value={Math.min(1, Math.max(0, place))}
          onInput={(event) => {
            const tau = least * (most / least) ** Number(event.currentTarget.value);
            app.store.set({ options: writeTau(app.store.get().options, significant(tau, 2)) });
          }}
        />
      </label>
      <Check
        name="relative"
        checked={props.relative}
        change={(on) => app.store.set({ options: writeRelative(app.store.get().options, on) })}
      >
        {say.relative}
      </Check>
    </div>
  );
}

type Scores = ReadonlyMap<string, ScoreDescription>; // by "metric level"

/** All scores of the panel under a threshold; those of an earlier one stay until the new ones are there. */
function useScores(source: RecordingSource, metrics: readonly MetricDescription[], threshold: Threshold) {
  const question = JSON.stringify([metrics.map(({ name }) => name), threshold]);
  const ask = async (asked: RecordingSource, signal: AbortSignal): Promise<Scores> => {
    const score = async (metric: MetricDescription, level: Level) => {
      const parameters = thresholdParameters(metric, threshold);
      return [`${metric.name} ${level}`, await asked.score(metric.name, level, parameters, signal)] as const;
    };
    const questions = metrics.flatMap((metric) =>
      levels.filter((level) => metric.levels.includes(level)).map((level) => score(metric, level)),
    );
    return new Map(await Promise.all(questions));
  };
  return useAnswer(source, question, ask, PAUSE);
}

function MetricRow(props: {
  readonly metric: MetricDescription;
  readonly map: MapDescription;
  readonly head: Selection["head"];
  readonly scores: Scores | null;
}) {
  const app = useApp();
  const { metric } = props;
  const readings = [metric.lower, metric.higher].filter((reading) => reading !== null);
  return (
    <>
      <tr data-metric={metric.name}>
        <th scope="row" title={app.text(metric.caption)}>
          {app.text(metric.label)}
        </th>
        {levels.map((level) => (
          <td key={level} class="number" data-level={level}>
            {number(pick(props.scores?.get(`${metric.name} ${level}`), level, props.map, props.head), app)}
          </td>
        ))}
      </tr>
      <tr class="reading">
        <td colSpan={4} class="hint" data-reading={metric.name}>
          {readings.map((reading) => (
            <div key={reading.code}>{app.text(reading)}</div>
          ))}
        </td>
      </tr>
    </>
  );
}

type Picked = { readonly value: number | null; readonly why: ScorePart["undefined"] } | null;

/** The number of the selection in a score; null where the score has none for it. */
export function pick(
  score: ScoreDescription | undefined,
  level: Level,
  map: MapDescription,
  head: Selection["head"],
): Picked {
  if (!score) return null;
  const wanted = level === "model" ? null : map.place;
  const part = score.parts.find((each) => samePlace(each.place, wanted));
  if (!part) return null;
  if (level === "head" && typeof head !== "number") return null;
  const place = level === "head" ? (head as number) : 0;
  const value = part.values[place];
  return value === undefined ? null : { value, why: part.undefined };
}

function number(picked: Picked, app: App) {
  if (!picked) return <span class="hint">–</span>;
  if (picked.value === null) {
    return (
      <span class="hint" title={joinSentences(picked.why, app.language.value)}>
        {app.words.value.undefinedNumber}
      </span>
    );
  }
  return <span data-value={picked.value}>{digits(picked.value)}</span>;
}
