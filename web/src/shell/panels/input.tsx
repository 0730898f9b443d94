/** The input panel: model, task, text or random sequence, languages, configuration; and running it. */

import { useEffect, useId } from "preact/hooks";
import type { ModelDescription } from "../../api/types";
import { compact, count as grouped } from "../../core/formats";
import { Button } from "../button";
import { useApp } from "../context";
import {
  type Form,
  missing,
  perceives,
  RANDOM_LENGTH,
  readsPairs,
  type Sequence,
  samplesOf,
  translates,
  withModel,
} from "../form";
import { useMedia } from "../later";
import type { App } from "../state";
import { ConfigurationFields } from "./configuration";
import { Choices, Field, NumberField } from "./fields";
import { LanguageFields, LanguageHint } from "./languages";
import { Progress } from "./progress";

const OTHER = " other"; // no model's name begins with a blank
const withoutModel = {
  other: true,
  model: "",
  task: "",
  target: "",
  sourceLanguage: "",
  targetLanguage: "",
  file: null,
  mediaOf: null,
};

export function InputPanel() {
  const app = useApp();
  const say = app.words.value;
  const about = app.about.value;
  const { form, running } = app.runs;

  const media = useMedia(perceives(app.runs.model()));
  useEffect(() => {
    app.runs.loadModels().catch((error: unknown) => app.complain(error, null));
  }, [app]);

  if (!app.server || about?.workbench === false) {
    return (
      <div class="notice">
        <p class="notice-title">{say.noRerunner}</p>
        <p>{about?.why_no_workbench ? app.text(about.why_no_workbench) : say.noServer}</p>
      </div>
    );
  }
  const now = form.value;
  const model = app.runs.model();
  const { change } = app.runs;
  const lack = missing(now, say, model);
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!lack && !running.peek()) app.runs.start();
      }}
    >
      <ModelFields form={now} model={model} app={app} />
      {perceives(model) ? (
        media && <media.MediaFields key={model.name} form={now} model={model} />
      ) : (
        <SequenceFields
          form={now}
          model={model}
          change={change}
          limit={about?.limits.text_characters}
          mostTokens={about?.limits.tokens}
        />
      )}
      {translates(model) && <LanguageFields form={now} model={model} app={app} />}
      <ConfigurationFields form={now} model={model} change={change} />
      <div class="run-bar">
        <Progress />
        <div class="run">
          <button
            type="submit"
            class="button primary"
            data-action="run"
            disabled={lack !== null || running.value !== null}
          >
            {say.run}
          </button>
          {lack ? <p class="hint">{lack}</p> : <kbd>{say.runHint}</kbd>}
        </div>
      </div>
    </form>
  );
}

function ModelFields(props: {
  readonly form: Form;
  readonly model: ModelDescription | undefined;
  readonly app: App;
}) {
  const { form, model, app } = props;
  const say = app.words.value;
  const models = app.runs.models.value;
  const unknown = !form.other && form.model !== "" && !model;
  return (
    <>
      <Field label={say.model} hint={model ? facts(model, app) : undefined}>
        {(id, describedBy) => (
          <select
            id={id}
            data-field="model"
            aria-describedby={describedBy}
            value={form.other ? OTHER : form.model}
            onChange={(event) => {
              const name = event.currentTarget.value;
              const next = models.find((each) => each.name === name);
              app.runs.change(next ? withModel(form, next, app.language.peek()) : withoutModel);
            }}
          >
            {unknown && <option value={form.model}>{form.model}</option>}
            {(["zoo", "folder", "hub"] as const).map((origin) => {
              const group = models.filter((each) => each.origin === origin);
              if (group.length === 0) return null;
              return (
                <optgroup key={origin} label={say[origin]}>
                  {group.map((each) => (
                    <option key={each.name} value={each.name}>
                      {each.title ? `${each.label} – ${app.text(each.title)}` : each.label}
                    </option>
                  ))}
                </optgroup>
              );
            })}
            <option value={OTHER}>{say.otherModel}</option>
          </select>
        )}
      </Field>
      {form.other && (
        <Field label={say.otherModelLabel} hint={say.otherModelHint}>
          {(id, describedBy) => (
            <input
              id={id}
              aria-describedby={describedBy}
              type="text"
              data-field="other-model"
              value={form.model}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => {
                app.runs.change({ model: event.currentTarget.value });
              }}
            />
          )}
        </Field>
      )}
      {model && (
        <Choices
          label={say.task}
          name="task"
          value={form.task}
          choices={Object.entries(model.tasks).map(([task, title]) => [task, app.text(title)])}
          change={(task) => {
            app.runs.change({ task });
          }}
        />
      )}
    </>
  );
}

function facts(model: ModelDescription, app: App): string {
  const count = model.parameters === null ? null : compact(model.parameters, app.language.value);
  const said = model.note ?? model.needs;
  const note = said && app.text(said);
  const { layers, decoder_layers: decoderLayers = null, heads } = model;
  const say = app.words.value;
  const facts = say.modelFacts(layers, decoderLayers, heads, count);
  return note ? say.factsAndNote(facts, note) : facts;
}

function SequenceFields(props: {
  readonly form: Form;
  readonly model: ModelDescription | undefined;
  readonly change: (part: Partial<Form>) => void;
  readonly limit: number | undefined;
  readonly mostTokens: number | undefined;
}) {
  const app = useApp();
  const say = app.words.value;
  const name = useId();
  const { form, change, limit, model } = props;
  const samples = samplesOf(form, model);
  const random = form.sequence === "random";
  const choices: readonly (readonly [Sequence, string])[] = [
    ["text", say.ownText],
    ...(samples.length > 0 ? [["task", say.taskText] as const] : []),
    ["random", say.random],
  ];
  const long = Math.min(model?.max_tokens ?? 100_000, props.mostTokens ?? 100_000);
  return (
    <>
      <fieldset class="field">
        <legend>{say.sequence}</legend>
        <div class="segments">
          {choices.map(([sequence, title]) => (
            <label key={sequence} class="segment">
              <input
                type="radio"
                name={name}
                data-sequence={sequence}
                checked={form.sequence === sequence}
                onChange={() => change({ sequence, length: null })}
              />
              <span>{title}</span>
            </label>
          ))}
        </div>
      </fieldset>
      {form.sequence === "text" && <TextFields form={form} model={model} change={change} limit={limit} />}
      {form.sequence === "task" && (
        <div class="field" data-part="sample">
          <div class="sample-row">
            <span>{say.sampleOf((form.sample % samples.length) + 1, samples.length)}</span>
            <Button name="next-sample" look="small" act={() => change({ sample: form.sample + 1 })}>
              {say.nextSample}
            </Button>
          </div>
          <p class="sample" dir="auto">
            {samples[form.sample % samples.length]}
          </p>
          <p class="hint">{say.sampleHint}</p>
        </div>
      )}
      <div class="pair">
        <NumberField
          label={say.length}
          hint={random ? say.lengthHint : say.cutHint}
          name="length"
          value={form.length ?? (random ? RANDOM_LENGTH : null)}
          minimum={1}
          maximum={long}
          {...(random ? {} : { none: say.wholeText })}
          change={(length) => change({ length })}
        />
        {random && (
          <NumberField
            label={say.seed}
            hint={say.seedHint}
            name="seed"
            value={form.seed}
            minimum={0}
            maximum={2 ** 31 - 1}
            change={(seed) => change({ seed: seed ?? 0 })}
          />
        )}
      </div>
    </>
  );
}

function TextFields(props: {
  readonly form: Form;
  readonly model: ModelDescription | undefined;
  readonly change: (part: Partial<Form>) => void;
  readonly limit: number | undefined;
}) {
  const say = useApp().words.value;
  const { form, model, change, limit } = props;
  const hint = form.task === "masked_language_modelling" ? say.maskHint : undefined;
  const close = limit !== undefined && form.text.length > limit / 2;
  return (
    <>
      <Field
        label={say.text}
        hint={close ? say.textCharacters(grouped(form.text.length), grouped(limit)) : hint}
      >
        {(id, describedBy) => (
          <textarea
            id={id}
            rows={4}
            dir="auto"
            data-field="text"
            aria-describedby={describedBy}
            maxLength={limit}
            value={form.text}
            onInput={(event) => change({ text: event.currentTarget.value })}
          />
        )}
      </Field>
      <LanguageHint form={form} model={model} of="text" />
      {translates(model) && (
        <Field label={say.target} hint={say.targetHint}>
          {(id, describedBy) => (
            <input
              id={id}
              type="text"
              dir="auto"
              data-field="target"
              aria-describedby={describedBy}
              value={form.target}
              onInput={(event) => change({ target: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
      {readsPairs(model) && (
        <Field label={say.secondText} hint={say.secondTextHint}>
          {(id, describedBy) => (
            <input
              id={id}
              type="text"
              dir="auto"
              data-field="second-text"
              aria-describedby={describedBy}
              value={form.secondText}
              onInput={(event) => change({ secondText: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
    </>
  );
}
