/** How the model runs and what is kept: folded away until somebody wants it. */

import type { ModelDescription } from "../../api/types";
import { useApp } from "../context";
import { type Form, type Want, wants } from "../form";
import { Check, Field } from "./fields";

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
      {most !== null && most > 1 && (
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
        <Check
          name="keep-auto"
          checked={keep === null}
          change={(on) => change({ keep: on ? null : ["weights", "output", "hidden"] })}
        >
          {say.keepAuto}
        </Check>
        {keep !== null && (
          <div class="checks">
            {wants.map((want) => (
              <Check
                key={want}
                name={`keep-${want}`}
                checked={keep.includes(want)}
                change={(on) => toggle(want, on)}
              >
                {say[want]}
              </Check>
            ))}
          </div>
        )}
        <p class="hint">{say.keepHint}</p>
      </fieldset>
    </details>
  );
}
