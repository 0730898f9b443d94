/** Fields of a form: a label, a control, a hint. */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

export function Field(props: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly children: (id: string, describedBy: string | undefined) => ComponentChildren;
}) {
  const id = useId();
  const hint = `${id}-hint`;
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.children(id, props.hint ? hint : undefined)}
      {props.hint && (
        <p class="hint" id={hint}>
          {props.hint}
        </p>
      )}
    </div>
  );
}

export function NumberField(props: {
  readonly label: string;
  readonly hint?: string;
  readonly name: string;
  readonly value: number | null;
  readonly minimum: number;
  readonly maximum: number;
  readonly none?: string; // what an empty field means; without it a field is never empty
  readonly change: (value: number | null) => void;
}) {
  return (
    <Field label={props.label} hint={props.hint}>
      {(id, describedBy) => (
        <input
          id={id}
          type="number"
          inputMode="numeric"
          data-field={props.name}
          aria-describedby={describedBy}
          min={props.minimum}
          max={props.maximum}
          step={1}
          value={props.value ?? ""}
          placeholder={props.none}
          onChange={(event) => {
            const wish = Math.round(event.currentTarget.valueAsNumber);
            const empty = props.none === undefined ? props.value : null;
            const value = Number.isFinite(wish)
              ? Math.min(Math.max(wish, props.minimum), props.maximum)
              : empty;
            event.currentTarget.value = String(value ?? "");
            props.change(value);
          }}
        />
      )}
    </Field>
  );
}

export function Choices(props: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly choices: readonly (readonly [value: string, title: string])[];
  readonly change: (value: string) => void;
}) {
  const [only, ...others] = props.choices;
  if (only && others.length === 0)
    return (
      <p class="field only" data-field={props.name}>
        <span>{props.label}</span> {only[1]}
      </p>
    );
  return (
    <Field label={props.label}>
      {(id) => (
        <select
          id={id}
          data-field={props.name}
          value={props.value}
          onChange={(event) => props.change(event.currentTarget.value)}
        >
          {props.choices.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Check(props: {
  readonly name: string;
  readonly checked: boolean;
  readonly change: (on: boolean) => void;
  readonly children: ComponentChildren;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        data-field={props.name}
        checked={props.checked}
        onChange={(event) => props.change(event.currentTarget.checked)}
      />
      {props.children}
    </label>
  );
}
