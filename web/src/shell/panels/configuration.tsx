/** How the model runs and what is kept: folded away until somebody wants it. */

import type { ModelDescription } from "../../api/types";
import { useApp } from "../context";
import { type Form, type Want, wants } from "../form";
import { Field } from "./fields";

export function ConfigurationFields(props: {
  readonly form: Form;
  readonly model: ModelDescription | undefined;
  readonly change: (part: Partial<Form>) => void;
}) {
  const say = useApp().words.value;
  const { form, change } = props;
  const most = props.model?.layers ?? null;
  const keep = form.keep;
  const toggle = (want: Want, on: boolean): void => {
    const others = (keep ?? []).filter((each) => each !== want);
    change({ keep: on ? [...others, want] : others });
  };
  return (
    <details class="configuration" data-part="configuration">
      <summary>{say.configuration}</summary>
      {most !== null && (
        <Field label={say.firstLayers}>
          {(id) => (
            <div class="slider-row">
              <input
                id={id}
                type="range"
                class="slider"
                data-field="layers"
                min={1}
                max={most}
                value={form.layers ?? most}
                onInput={(event) => {
                  const layers = Number(event.currentTarget.value);
                  change({ layers: layers === most ? null : layers });
                }}
              />
              <output class="number">{form.layers === null ? say.allLayers(most) : form.layers}</output>
            </div>
          )}
        </Field>
      )}
      <fieldset class="field">
        <legend>{say.keep}</legend>
        <label class="check">
          <input
            type="checkbox"
            data-field="keep-auto"
            checked={keep === null}
            onChange={(event) =>
              change({ keep: event.currentTarget.checked ? null : ["weights", "output", "hidden"] })
            }
          />
          {say.keepAuto}
        </label>
        {keep !== null && (
          <div class="checks">
            {wants.map((want) => (
              <label key={want} class="check">
                <input
                  type="checkbox"
                  data-field={`keep-${want}`}
                  checked={keep.includes(want)}
                  onChange={(event) => toggle(want, event.currentTarget.checked)}
                />
                {say[want]}
              </label>
            ))}
          </div>
        )}
        <p class="hint">{say.keepHint}</p>
      </fieldset>
    </details>
  );
}
