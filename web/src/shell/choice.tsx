/** Which attention: family, layer, head, and the tokens in focus with their weight. */

import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { asFloats, tensor } from "../api/frames";
import type { MapDescription } from "../api/types";
import { digits } from "../core/formats";
import { chooseMap, familiesOf, findMap, layersOf } from "../core/maps";
import { partInFocus } from "../core/media";
import { writeOptions } from "../core/options";
import { placeOf } from "../core/place";
import { READING, READINGS, readingOfMap, rowSideOf } from "../core/reading";
import type { Selection } from "../core/selection";
import type { Range, RecordingSource } from "../core/source";
import { moveInCircle } from "../marks/keys";
import { useAnswer } from "./answer";
import { Button } from "./button";
import { useApp } from "./context";
import { useToken } from "./tokens";
import { Transport } from "./transport";

const LONGEST_AVERAGE = 1024; // tokens; the server refuses the model average beyond

/** `short`: layer and head are chosen elsewhere. */
export function Choice({ short, ...props }: { readonly source: RecordingSource; readonly short: boolean }) {
  const app = useApp();
  const map = chooseMap(props.source.description, app.selection.value);
  if (!map) return null;
  return (
    <section class="choice" aria-label={app.words.value.attention}>
      {!short && (
        <>
          <FamilyChoice {...props} map={map} />
          <LayerChoice {...props} map={map} />
          <HeadChoice {...props} map={map} />
        </>
      )}
      <Silence {...props} map={map} />
      <CutOut {...props} map={map} />
      <Usually {...props} map={map} />
      <ReadingChoice map={map} />
      <Focus {...props} map={map} />
      <Predict {...props} />
    </section>
  );
}

/** Where there is an atlas of the model: what the chosen head does over many texts. */
function Usually({ source, map }: OfMap) {
  const app = useApp();
  const { head } = app.selection.value;
  const { evidence, model } = source.description;
  const atlases = app.atlases.value;
  const atlas =
    atlases.find((each) => each.model.identity === evidence?.model_hash) ??
    atlases.find((each) => each.model.name === model);
  if (!atlas || typeof head !== "number") return null;
  const place = { ...placeOf(map.place), step: null };
  return (
    <ButtonRow>
      <Button name="usually" look="small" act={() => void app.goToAtlas(atlas.id, { place, head })}>
        {app.words.value.usually}
      </Button>
    </ButtonRow>
  );
}

/** Time step, layer and head in one place, for views that show the whole model. */
export function ControlBar(props: { readonly source: RecordingSource }) {
  const app = useApp();
  const map = chooseMap(props.source.description, app.selection.value);
  if (!map) return null;
  return (
    <section class="control-bar" aria-label={app.words.value.controlBar}>
      <FamilyChoice {...props} map={map} />
      <LayerChoice {...props} map={map} />
      <Transport {...props} onlySteps={false} />
      <HeadChoice {...props} map={map} />
    </section>
  );
}

interface OfMap {
  readonly source: RecordingSource;
  readonly map: MapDescription;
}

function FamilyChoice({ source, map }: OfMap) {
  const app = useApp();
  const say = app.words.value;
  const name = useId();
  const families = familiesOf(source.description.maps);
  if (families.length < 2) return null;
  const title = (stack: string, kind: string): string => {
    if (kind === "cross")
      return families.filter((each) => each.kind === "cross").length > 1
        ? `${say.cross} (${stack})`
        : say.cross;
    return stack === "encoder" ? say.encoderSelf : stack === "decoder" ? say.decoderSelf : stack;
  };
  return (
    <fieldset class="row">
      <legend>{say.attention}</legend>
      <div class="segments">
        {families.map((family) => {
          const chosen = family.stack === map.place.stack && family.kind === map.place.kind;
          return (
            <label
              key={`${family.stack} ${family.kind}`}
              class="segment"
              title={family.kind === "cross" ? say.crossOf(family.stack) : say.selfOf(family.stack)}
            >
              <input
                type="radio"
                name={name}
                data-family={`${family.stack}-${family.kind}`}
                checked={chosen}
                onChange={() => {
                  const next = findMap(source.description.maps, { ...map.place, ...family });
                  if (next) app.store.set({ place: next.place });
                }}
              />
              <span>{title(family.stack, family.kind)}</span>
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}

function LayerChoice({ source, map }: OfMap) {
  const app = useApp();
  const say = app.words.value;
  const id = useId();
  const layers = layersOf(source.description.maps, map.place);
  if (layers.length < 2) return null;
  const at = layers.indexOf(map.place.layer);
  const choose = (layer: number | undefined): void => {
    const next = layer === undefined ? undefined : findMap(source.description.maps, { ...map.place, layer });
    if (next) app.store.set({ place: next.place });
  };
  return (
    <div class="row">
      <label for={id}>{say.layer}</label>
      <div class="stepper">
        <Button
          name="previous-layer"
          icon="left"
          label={say.previousLayer}
          disabled={at <= 0}
          act={() => choose(layers[at - 1])}
        />
        <select
          id={id}
          data-action="layer"
          value={map.place.layer}
          onChange={(event) => choose(Number(event.currentTarget.value))}
        >
          {layers.map((layer) => (
            <option key={layer} value={layer}>
              {layer}
            </option>
          ))}
        </select>
        <Button
          name="next-layer"
          icon="right"
          label={say.nextLayer}
          disabled={at + 1 >= layers.length}
          act={() => choose(layers[at + 1])}
        />
        <span class="hint number">{say.rangeTo(layers[0] ?? 0, layers[layers.length - 1] ?? 0)}</span>
      </div>
    </div>
  );
}

function HeadChoice({ source, map }: OfMap) {
  const app = useApp();
  const say = app.words.value;
  const group = useRef<HTMLDivElement>(null);
  const { head } = app.selection.value;
  const tooLong = Math.max(map.queries, map.keys) > LONGEST_AVERAGE;
  const several = layersOf(source.description.maps, map.place).length > 1;
  const choices: readonly Selection["head"][] = [
    ...Array(map.heads).keys(),
    ...(map.heads > 1 ? (["mean"] as const) : []),
    ...(tooLong || !several ? [] : (["model"] as const)),
  ];
  if (choices.length < 2) return <p class="hint">{say.oneHead}</p>;
  const move = (event: KeyboardEvent): void => {
    const to = moveInCircle(event.key, choices.indexOf(head), choices.length, "both");
    const next = to === undefined ? undefined : choices[to];
    if (next === undefined) return;
    event.preventDefault();
    app.store.set({ head: next });
    group.current?.querySelector<HTMLElement>(`[data-head="${next}"]`)?.focus();
  };
  const title = (choice: Selection["head"]): string =>
    choice === "mean" ? say.layerAverage : choice === "model" ? say.modelAverage : String(choice);
  return (
    <div class="row">
      <span class="row-label" id={`head-label-${map.place.address}`}>
        {say.head}
      </span>
      <div
        class="heads"
        role="radiogroup"
        aria-labelledby={`head-label-${map.place.address}`}
        ref={group}
        onKeyDown={move}
      >
        {choices.map((choice) => (
          <button
            key={choice}
            type="button"
            role="radio"
            class={typeof choice === "number" ? "head" : "head wide"}
            style={typeof choice === "number" ? { "--head": `var(--head-${choice % 12})` } : {}}
            data-head={choice}
            aria-checked={choice === head}
            aria-label={typeof choice === "number" ? say.headNumber(choice) : title(choice)}
            tabIndex={choice === head || (choice === 0 && !choices.includes(head)) ? 0 : -1}
            onClick={() => app.store.set({ head: choice })}
          >
            {title(choice)}
          </button>
        ))}
        {tooLong && several && <span class="hint">{say.modelAverageTooLong}</span>}
      </div>
    </div>
  );
}

/** Which word names a row of cross-attention; not shown where there is only one. */
function ReadingChoice({ map }: Pick<OfMap, "map">) {
  const app = useApp();
  const say = app.words.value;
  const name = useId();
  const now = readingOfMap(map, app.selection.value);
  if (now === null) return null;
  return (
    <fieldset class="row" title={say.rowsHint}>
      <legend>{say.rows}</legend>
      <div class="segments">
        {READINGS.map((reading) => (
          <label key={reading} class="segment">
            <input
              type="radio"
              name={name}
              data-reading={reading}
              checked={reading === now}
              onChange={() => {
                const { options } = app.store.get();
                app.store.set({ options: writeOptions("map", READING, options, { reading }) });
              }}
            />
            <span>{reading === "written" ? say.rowsWritten : say.rowsEntered}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The same run without this head, or without the edge in focus; where that is what is shown, with it again. */
function Silence({ source, map }: OfMap) {
  const app = useApp();
  const say = app.words.value;
  const { head } = app.selection.value;
  app.presets.value; // the request behind a shipped recording is a preset's
  if (typeof head !== "number" || map.content === "signed") return null;
  const again = app.runs.edit(source, map.place, head);
  if (!again) return null;
  const edge = edgeInFocus(map, app.selection.value);
  const cut = edge && app.runs.edit(source, map.place, head, edge);
  return (
    <ButtonRow>
      <EditButton name="silence" hint={say.silenceHint} act={again.start}>
        {again.edited ? say.unsilence : say.silence}
      </EditButton>
      {cut && (
        <EditButton name="cut" hint={say.cutHint} act={cut.start}>
          {cut.edited ? say.uncut : say.cut}
        </EditButton>
      )}
    </ButtonRow>
  );
}

function ButtonRow({ children }: { readonly children: ComponentChildren }) {
  return (
    <div class="row">
      <span class="row-label" />
      <div class="edit-buttons">{children}</div>
    </div>
  );
}

/** Runs the model again with another edit; one run at a time. */
function EditButton(
  props: Pick<Parameters<typeof Button>[0], "name" | "act" | "children"> & { readonly hint: string },
) {
  const app = useApp();
  return <Button {...props} look="small" disabled={app.runs.running.value !== null} />;
}

/** The same run without the patch or the moment that is kept: no other token, and no word, sees it. */
function CutOut({ source, map }: OfMap) {
  const app = useApp();
  const say = app.words.value;
  app.presets.value; // as above
  const { description } = source;
  const part = partInFocus(description, map, app.selection.value);
  const again = part && map.content !== "signed" && app.runs.cutOut(source, part.side, part.token);
  if (!again) return null;
  return (
    <ButtonRow>
      <EditButton name="cut-out" hint={say.cutOutHint} act={again.start}>
        {again.edited ? say.putBack : part.kind === "picture" ? say.cutPatch : say.cutMoment}
      </EditButton>
    </ButtonRow>
  );
}

/** The edge in focus; null where none is, or where it cannot be cut: hidden by the mask, or the only one. */
export function edgeInFocus(map: MapDescription, { query, key }: Selection) {
  if (query === null || key === null || map.keys < 2) return null;
  return map.causal && (key > query || query === 0) ? null : { query, key };
}

function Focus({ source, map }: OfMap) {
  const app = useApp();
  const say = app.words.value;
  const { query, key, head } = app.selection.value;
  const queryText = useToken(source, rowSideOf(map, app.selection.value), query);
  const keyText = useToken(source, map.key_side, key);
  const weight = useWeight(source, map, head, query, key);
  return (
    <div class="row">
      <span class="row-label">{say.focus}</span>
      <div class="focus">
        {query === null && key === null ? (
          <span class="hint">{say.noFocus}</span>
        ) : (
          <>
            <FocusToken label={say.query} number={query} text={queryText} />
            <span aria-hidden="true">→</span>
            <FocusToken label={say.key} number={key} text={keyText} />
            {weight !== null && (
              <span class="focus-weight">
                <span class="unseen">{say.weight} </span>
                <span class="number" data-weight={weight}>
                  {digits(weight)}
                </span>
              </span>
            )}
            <Button
              name="clear-focus"
              look="quiet small"
              act={() => app.store.set({ query: null, key: null })}
            >
              {say.clearFocus}
            </Button>
          </>
        )}
      </div>
    </div>
  );
}

function FocusToken(props: {
  readonly label: string;
  readonly number: number | null;
  readonly text: string;
}) {
  return (
    <span class="focus-token" title={props.number === null ? props.label : `${props.label} ${props.number}`}>
      <span class="unseen">{props.label} </span>
      {props.number === null ? <span class="hint">·</span> : <bdi class="token">{props.text}</bdi>}
    </span>
  );
}

/** The exact weight in focus; null while it is not known, and where only one token is in focus. */
function useWeight(
  source: RecordingSource,
  map: MapDescription,
  head: Selection["head"],
  query: number | null,
  key: number | null,
): number | null {
  const known = query !== null && key !== null && head !== "model" && (map.has_weights || map.has_queries);
  const { value, fresh } = useAnswer(
    source,
    known ? `${map.place.address} ${head} ${query} ${key}` : null,
    async (asked, signal) => {
      const at = (token: number): Range => [token, token + 1];
      const where = { queries: at(query! - map.query_start), keys: at(key! - map.key_start) };
      const one = { head: head as Exclude<typeof head, "model">, ...where };
      return asFloats(tensor(await asked.weights(map.place, one, "float32", signal), "weights"))[0] ?? 0;
    },
    60, // not while the pointer is on its way
  );
  return fresh ? value : null;
}

function Predict({ source }: { readonly source: RecordingSource }) {
  const app = useApp();
  const say = app.words.value;
  if (!app.server || app.about.value?.workbench === false) return null;
  const { shape, output, model, probe } = source.description;
  if (shape === "encoder" && !output) return null; // nothing that predicts was recorded
  if (probe) return null; // the network of a step of training, which is not kept
  app.presets.value; // the request behind a shipped recording is a preset's
  const possible = app.runs.originalRequest(source) !== null;
  return (
    <div class="row">
      <span class="row-label" />
      <div>
        <Button
          name="predict"
          icon="words"
          disabled={!possible}
          act={() => {
            app.store.set({
              view: "generation",
              options: { ...app.store.get().options, "generation.predict": "1" },
            });
          }}
        >
          {output && output.kind !== "tokens"
            ? say.predictClass
            : shape === "encoder"
              ? say.predictMasks
              : say.predict}
        </Button>
        {!possible && <p class="hint">{say.predictNoModel(model)}</p>}
      </div>
    </div>
  );
}
