/** One setting of a recipe: its name, a control that fits its type, its help, and what is wrong with it. */

import { useId, useState } from "preact/hooks";
import type { CheckedRecipe, RecipeField } from "../../api/types";
import type { Text } from "../../core/messages";
import { Button } from "../button";
import { defaultOf, foldersOf, pathsBelow, read, type Value, type Values, write } from "./form";
import type { recipeWords } from "./words";

const LISTS = new Set(["texts", "pairs", "integers", "numbers", "columns"]);
const WORDS = new Set(["text", "texts", "pairs", "columns"]);

/** What all fields share. */
export interface Fields {
  readonly files: readonly string[];
  readonly folder: string;
  readonly faults: CheckedRecipe["faults"];
  readonly say: ReturnType<typeof recipeWords>;
  text(message: Text): string;
}

interface Props {
  readonly place: string; // "train.steps"
  readonly field: RecipeField;
  readonly value: Value;
  readonly change: (value: Value) => void;
  readonly fields: Fields;
}

export function FieldControl(props: Props) {
  const { place, field, fields } = props;
  const id = useId();
  if (field.types.includes("tables")) return <TableList {...props} />;
  const fault = fields.faults.find((each) => each.field === place);
  const described = [field.help && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ");
  return (
    <div class="field" data-setting={place}>
      <label for={id}>
        <code>{place}</code>
      </label>
      <Control {...props} id={id} described={described} wrong={fault !== undefined} />
      {fault && (
        <p class="fault" id={`${id}-fault`} role="alert">
          {fields.text(fault.message)}
        </p>
      )}
      {field.help && (
        <p class="hint" id={`${id}-hint`}>
          {fields.text(field.help)}
        </p>
      )}
    </div>
  );
}

function Control(
  props: Props & { readonly id: string; readonly described: string; readonly wrong: boolean },
) {
  const { place, field, value, change, fields, id } = props;
  const { say } = fields;
  const [draft, setDraft] = useState<string | null>(null); // what is being typed: an answer must not undo it
  const usual = defaultOf(field);
  const about = {
    id,
    "data-field": place,
    "aria-describedby": props.described || undefined,
    "aria-invalid": props.wrong,
  };
  const empty = usual === null ? say.leftOut : say.usual(usual);
  const choices = field.types.includes("flag")
    ? ([
        ["true", say.yes],
        ["false", say.no],
      ] as const)
    : (field.choices ?? []).map((each) => [each, each] as const);
  if (choices.length > 0) {
    const known = value === undefined ? "" : String(value);
    return (
      <select
        {...about}
        value={known}
        onChange={({ currentTarget: { value: wish } }) =>
          change(wish === "" ? undefined : field.types.includes("flag") ? wish === "true" : wish)
        }
      >
        <option value="">
          {field.types.includes("flag") && usual !== null
            ? say.usual(usual === "true" ? say.yes : say.no)
            : empty}
        </option>
        {choices.map(([each, title]) => (
          <option key={each} value={each}>
            {title}
          </option>
        ))}
      </select>
    );
  }
  const offered =
    field.use === "data"
      ? pathsBelow(fields.files, fields.folder)
      : field.use === "folder"
        ? foldersOf(fields.files)
        : [];
  const several = field.types.some((type) => LISTS.has(type));
  return (
    <>
      <input
        {...about}
        type="text"
        inputMode={field.types.some((type) => WORDS.has(type)) ? undefined : "decimal"}
        list={offered.length > 0 ? `${id}-list` : undefined}
        placeholder={several ? say.list : empty}
        autocomplete="off"
        spellcheck={false}
        value={draft ?? write(value)}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onChange={(event) => {
          setDraft(null);
          change(read(field, event.currentTarget.value));
        }}
      />
      {offered.length > 0 && (
        <datalist id={`${id}-list`}>
          {offered.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** Several tables, such as files: each with fields of its own. */
function TableList({ place, field, value, change, fields }: Props) {
  const { say } = fields;
  const rows = (Array.isArray(value) ? value : []) as readonly Values[];
  const put = (at: number, row: Values): void =>
    change(rows.map((each, where) => (where === at ? row : each)));
  const fault = fields.faults.find((each) => each.field === place);
  return (
    <fieldset class="recipe-list" data-setting={place}>
      <legend>
        <code>{place}</code>
      </legend>
      {field.help && <p class="hint">{fields.text(field.help)}</p>}
      {fault && (
        <p class="fault" role="alert">
          {fields.text(fault.message)}
        </p>
      )}
      {rows.map((row, at) => (
        <div class="recipe-fields recipe-row" key={at}>
          {(field.fields ?? []).map((inner) => (
            <FieldControl
              key={inner.name}
              place={`${place}.${at}.${inner.name}`}
              field={inner}
              value={row[inner.name]}
              change={(now) => {
                const { [inner.name]: _, ...others } = row;
                put(at, now === undefined ? others : { ...others, [inner.name]: now });
              }}
              fields={fields}
            />
          ))}
          <Button
            name="remove-row"
            look="quiet small"
            act={() => {
              const left = rows.filter((_, where) => where !== at);
              change(left.length > 0 ? left : undefined);
            }}
          >
            {say.removeOne}
          </Button>
        </div>
      ))}
      <Button name="add-row" look="small" act={() => change([...rows, {}])}>
        {say.add}
      </Button>
    </fieldset>
  );
}
