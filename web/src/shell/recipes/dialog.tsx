/**
 * The form of a new run: from a recipe, from the recipe of a run, or as a fork of a run.
 *
 * In:   the schema of recipes, and the server, which checks what is typed and writes it as TOML.
 * Out:  a run that begins; the page goes to its curves when there is something to be seen.
 */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import type {
  CheckedRecipe,
  DataFiles,
  RecipeField,
  RecipeSchema,
  RecipeTable,
  RunRecipe,
  ShippedRecipe,
  Training,
} from "../../api/types";
import { count, figure } from "../../core/formats";
import { Button } from "../button";
import { useApp } from "../context";
import { Dialog } from "../later/dialog";
import { Field } from "../panels/fields";
import type { NewRun } from "../state";
import { FieldControl, type Fields } from "./fields";
import {
  changesTo,
  fieldsOf,
  freeName,
  kindOf,
  nearestStep,
  type Tables,
  tablesOf,
  tablesShown,
  withKind,
  withValue,
} from "./form";
import { ask, follow } from "./training";
import { recipeWords } from "./words";

/** What the form needs to know before it can be shown. */
interface Known {
  readonly schema: RecipeSchema;
  readonly recipes: readonly ShippedRecipe[];
  readonly files: readonly string[];
  readonly forked: RunRecipe | null;
}

export function NewRunDialog({ wish }: { readonly wish: NewRun }) {
  const app = useApp();
  const say = recipeWords(app.language.value);
  const [known, setKnown] = useState<Known | null>(null);
  const [trouble, setTrouble] = useState<unknown>(null);
  useEffect(() => {
    void app.refreshTrainingRuns();
    const forked =
      wish.fork === null ? null : ask<RunRecipe>(app, `/${encodeURIComponent(wish.fork)}/recipe`);
    Promise.all([
      ask<RecipeSchema>(app, "/schema"),
      ask<readonly ShippedRecipe[]>(app, "/recipes"),
      ask<DataFiles>(app, "/data"),
      forked,
    ]).then(([schema, recipes, { files }, run]) => {
      setKnown({ schema, recipes, files: files.map(({ path }) => path), forked: run });
    }, setTrouble);
  }, []);
  return (
    <Dialog
      name="new-run"
      title={wish.fork === null ? say.newRun : say.forkOf(wish.fork)}
      close={() => {
        app.newRun.value = null;
      }}
    >
      {trouble !== null && <p role="alert">{app.explain(trouble)}</p>}
      {!known && trouble === null && <p role="status">…</p>}
      {known && <RecipeForm known={known} wish={wish} />}
    </Dialog>
  );
}

function RecipeForm({ known, wish }: { readonly known: Known; readonly wish: NewRun }) {
  const app = useApp();
  const say = recipeWords(app.language.value);
  const { schema, recipes, files, forked } = known;
  const first = forked?.tables ?? recipes[0]?.tables ?? {};
  const taken = app.trainingRuns.value.filter(({ shipped }) => !shipped).map(({ id }) => id);
  const [from, setFrom] = useState(forked ? "" : (recipes[0]?.name ?? ""));
  const [tables, setTables] = useState<Tables>(() => tablesOf(first));
  const [name, setName] = useState<string | null>(null); // null: as it is proposed
  const [step, setStep] = useState(() => nearestStep(forked?.steps ?? [], wish.step));
  const [checked, setChecked] = useState<CheckedRecipe | null>(null);
  const [trouble, setTrouble] = useState<unknown>(null);
  const [begun, setBegun] = useState<Training | null>(null);
  const turn = useRef(0);
  const named = name?.trim() ?? freeName(forked?.id ?? from.replace(/^run:/, ""), taken);

  useEffect(() => {
    const mine = ++turn.current;
    ask<CheckedRecipe>(app, "/check", "POST", { recipe: tables }).then((answer) => {
      if (mine === turn.current) setChecked(answer);
    }, setTrouble);
  }, [tables]);
  useEffect(() => {
    if (begun?.state !== "starting") return;
    const stop = new AbortController();
    follow(app, begun.id, stop.signal, (now) => {
      if (now.state === "starting") return;
      setBegun(now);
      if (now.state === "failed") return setTrouble(now.problem);
      app.newRun.value = null;
      void app.refreshTrainingRuns();
      void app.goToRun(now.id).then(() => {
        if (app.views.titles.find(({ name: view }) => view === app.view.peek())?.needs !== "runs")
          app.chooseView("curves"); // the list of all runs, where one can stay, too
      });
    }).catch(setTrouble);
    return () => stop.abort();
  }, [begun?.id, begun?.state]);

  const start = async (): Promise<void> => {
    setTrouble(null);
    try {
      const body = forked
        ? { name: named, step, changes: changesTo(tablesOf(forked.tables), tables, schema.fork) }
        : { name: named, recipe: tables };
      const path = forked ? `/${encodeURIComponent(forked.id)}/fork` : "";
      setBegun(await ask<Training>(app, path, "POST", body));
      app.announce(say.starting);
    } catch (error) {
      setTrouble(error);
    }
  };
  const choose = async (wanted: string): Promise<void> => {
    setFrom(wanted);
    setTrouble(null);
    try {
      const run = wanted.startsWith("run:") ? wanted.slice(4) : null;
      const recipe = run
        ? (await ask<RunRecipe>(app, `/${encodeURIComponent(run)}/recipe`)).tables
        : recipes.find((each) => each.name === wanted)?.tables;
      if (recipe) setTables(tablesOf(recipe));
    } catch (error) {
      setTrouble(error);
    }
  };
  const faults = checked?.faults ?? [];
  const shown = tablesShown(schema, forked !== null);
  const fields: Fields = {
    files,
    folder: String(tables.task?.folder ?? "."),
    faults,
    text: (message) => app.text(message),
    say,
  };
  const control = (table: RecipeTable, field: RecipeField) => (
    <FieldControl
      key={`${table.name}.${field.name}`}
      place={`${table.name}.${field.name}`}
      field={field}
      value={tables[table.name]?.[field.name]}
      change={(value) => setTables(withValue(tables, table.name, field.name, value))}
      fields={fields}
    />
  );
  const general = faults.filter(({ field }) => !isShown(shown, tables, field));
  const busy = begun?.state === "starting";
  return (
    <form
      class="recipe-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (faults.length === 0 && !busy) void start();
      }}
    >
      <div class="recipe-fields">
        {!forked && (
          <Field label={say.from}>
            {(id) => (
              <select
                id={id}
                data-field="from"
                value={from}
                onChange={(event) => void choose(event.currentTarget.value)}
              >
                <optgroup label={say.shipped}>
                  {recipes.map((each) => (
                    <option key={each.name} value={each.name} title={each.title}>
                      {each.name}
                    </option>
                  ))}
                </optgroup>
                {taken.length > 0 && (
                  <optgroup label={say.runs}>
                    {taken.map((id) => (
                      <option key={id} value={`run:${id}`}>
                        {id}
                      </option>
                    ))}
                  </optgroup>
                )}
              </select>
            )}
          </Field>
        )}
        <Field label={say.name} hint={say.nameHint}>
          {(id, hint) => (
            <input
              id={id}
              type="text"
              data-field="name"
              aria-describedby={hint}
              value={name ?? named}
              maxLength={80}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        {forked && (
          <Field label={say.step} hint={say.forkHint}>
            {(id, hint) => (
              <select
                id={id}
                data-field="step"
                aria-describedby={hint}
                value={step ?? ""}
                onChange={(event) => setStep(Number(event.currentTarget.value))}
              >
                {forked.steps.map((each) => (
                  <option key={each} value={each}>
                    {count(each)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
      </div>
      {files.length === 0 && !forked && (
        <p role="alert" class="fault">
          {say.noData}
        </p>
      )}
      <fieldset>
        <legend>{say.main}</legend>
        <div class="recipe-fields">
          {shown.flatMap((table) => [
            ...(table.chosen_by === null
              ? []
              : [
                  <KindControl
                    key={table.name}
                    table={table}
                    tables={tables}
                    set={setTables}
                    fields={fields}
                  />,
                ]),
            ...fieldsOf(table, tables[table.name])
              .filter(({ main }) => main)
              .map((field) => control(table, field)),
          ])}
        </div>
      </fieldset>
      {shown.map((table) => (
        <details key={table.name} data-table={table.name}>
          <summary>
            {say.other(table.name)}: {app.text(table.help)}
          </summary>
          <div class="recipe-fields">
            {fieldsOf(table, tables[table.name])
              .filter(({ main }) => !main)
              .map((field) => control(table, field))}
          </div>
        </details>
      ))}
      <details data-part="preview">
        <summary>{say.preview}</summary>
        <pre>{checked?.toml}</pre>
      </details>
      <footer class="recipe-end">
        {checked?.parameters != null && (
          <p class="hint" data-part="size">
            {say.size(count(checked.parameters), gigabytes(checked.memory), gigabytes(checked.disk))}
          </p>
        )}
        {general.map(({ field, message }) => (
          <p key={field} role="alert" class="fault">
            {field && `${field}: `}
            {app.text(message)}
          </p>
        ))}
        {trouble !== null && (
          <p role="alert" class="fault" data-part="trouble">
            {isText(trouble) ? app.text(trouble) : app.explain(trouble)}
          </p>
        )}
        {faults.length > 0 && <p role="status">{say.faults(faults.length)}</p>}
        {busy && <p role="status">{say.starting}</p>}
        <div class="dialog-ways">
          <button
            type="submit"
            class="button primary"
            data-action="start-run"
            disabled={faults.length > 0 || busy || !checked}
          >
            {say.start}
          </button>
          {busy && (
            <Button
              name="cancel-run"
              act={() => void ask(app, `/${encodeURIComponent(named)}/stop`, "POST").catch(setTrouble)}
            >
              {say.cancel}
            </Button>
          )}
        </div>
      </footer>
    </form>
  );
}

/** Which task, which kind of network: it decides what else there is to set. */
function KindControl(props: {
  readonly table: RecipeTable;
  readonly tables: Tables;
  readonly set: (tables: Tables) => void;
  readonly fields: Fields;
}) {
  const { table, tables, fields } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        <code>
          {table.name}.{table.chosen_by}
        </code>
      </label>
      <select
        id={id}
        data-field={`${table.name}.${table.chosen_by}`}
        value={kindOf(table, tables[table.name])}
        onChange={(event) => props.set(withKind(tables, table, event.currentTarget.value))}
      >
        {Object.keys(table.kinds).map((kind) => (
          <option key={kind} value={kind}>
            {kind}
          </option>
        ))}
      </select>
      <p class="hint">{fields.text(table.help)}</p>
    </div>
  );
}

function isShown(tables: readonly RecipeTable[], values: Tables, name: string): boolean {
  return tables.some((table) =>
    fieldsOf(table, values[table.name]).some((field) => {
      const place = `${table.name}.${field.name}`;
      return name === place || name.startsWith(`${place}.`);
    }),
  );
}

function isText(trouble: unknown): trouble is NonNullable<Training["problem"]> {
  return typeof trouble === "object" && trouble !== null && "code" in trouble && "parameters" in trouble;
}

function gigabytes(bytes: number | null): string {
  return bytes === null ? "?" : figure(bytes / 1e9, 2);
}
