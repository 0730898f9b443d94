/**
 * The form of a recipe: what its fields hold, and how that becomes a recipe.
 *
 * In:   the schema of recipes; texts that a person types.
 * Out:  tables for the server, which checks them: a text that is no number stays a text, and the server says so.
 */

import type { RecipeField, RecipeSchema, RecipeTable } from "../../api/types";

export type Value = unknown;
export type Values = Readonly<Record<string, Value>>; // of one table
export type Tables = Readonly<Record<string, Values>>;

/** The tables of a recipe or a run without what says nothing. */
export function tablesOf(recipe: Readonly<Record<string, unknown>>): Tables {
  const tables: Record<string, Values> = {};
  for (const [name, values] of Object.entries(recipe)) {
    if (typeof values !== "object" || values === null) continue;
    tables[name] = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
  }
  return tables;
}

/** What decides the fields of a table: the task's name. */
export function kindOf(table: RecipeTable, values: Values | undefined): string {
  if (table.chosen_by === null) return "";
  const kind = values?.[table.chosen_by];
  return typeof kind === "string" && kind in table.kinds
    ? kind
    : table.default || Object.keys(table.kinds)[0]!;
}

export function fieldsOf(table: RecipeTable, values: Values | undefined): readonly RecipeField[] {
  return table.kinds[kindOf(table, values)] ?? [];
}

/** A table with one value changed; undefined takes it out, so that it is as usual. */
export function withValue(tables: Tables, table: string, name: string, value: Value): Tables {
  const values = { ...tables[table] };
  if (value === undefined) delete values[name];
  else values[name] = value;
  return { ...tables, [table]: values };
}

/** Another kind of table: what it has in common with the one before stays. */
export function withKind(tables: Tables, table: RecipeTable, kind: string): Tables {
  const names = new Set(table.kinds[kind]?.map((field) => field.name));
  const kept = Object.entries(tables[table.name] ?? {}).filter(([name]) => names.has(name));
  return { ...tables, [table.name]: { [table.chosen_by!]: kind, ...Object.fromEntries(kept) } };
}

/** A value as a person may edit it. */
export function write(value: Value): string {
  if (value === undefined || value === null) return "";
  if (!Array.isArray(value)) return String(value);
  return value.some(needsQuotes) ? JSON.stringify(value) : value.join(", ");
}

/** Whether a part of a list would be read as something else without quotes: a pair, a sentence with commas. */
function needsQuotes(part: unknown): boolean {
  return Array.isArray(part) || (typeof part === "string" && /^\[|[,，]|^\s|\s$/.test(part));
}

/** What a person typed, as the setting wants it where that is possible; undefined: nothing. */
export function read(field: Pick<RecipeField, "types">, text: string): Value {
  const clean = text.trim();
  if (clean === "") return undefined;
  const { types } = field;
  const number = Number(clean);
  if (types.includes("texts") || types.includes("pairs")) return readList(clean);
  if (types.includes("columns") || types.includes("integers"))
    return split(clean).map((each) => (/^\d+$/.test(each) ? Number(each) : each));
  if (types.includes("numbers"))
    return split(clean).map((each) => (Number.isFinite(Number(each)) ? Number(each) : each));
  if (types.includes("number") && Number.isFinite(number)) return number;
  if (types.includes("integer") && /^-?\d+$/.test(clean)) return number;
  return clean;
}

function readList(text: string): unknown {
  if (!text.startsWith("[")) return split(text);
  try {
    return JSON.parse(text);
  } catch {
    return split(text);
  }
}

function split(text: string): string[] {
  return text
    .split(/[,，]/)
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

/** By full name: what differs from another recipe, in some tables; null: as usual. */
export function changesTo(before: Tables, now: Tables, names: readonly string[]): Record<string, Value> {
  const changes: Record<string, Value> = {};
  for (const table of names) {
    const [old, values] = [before[table] ?? {}, now[table] ?? {}];
    for (const name of new Set([...Object.keys(old), ...Object.keys(values)]))
      if (JSON.stringify(old[name]) !== JSON.stringify(values[name]))
        changes[`${table}.${name}`] = values[name] ?? null;
  }
  return changes;
}

/** A recipe that can be started: the default of a run that is left out is the schema's. */
export function defaultOf(field: RecipeField): string | null {
  return field.default === null || field.default === undefined ? null : write(field.default) || null;
}

/** The checkpoint to fork at: the last one up to a step, or the newest. */
export function nearestStep(steps: readonly number[], step: number | null): number | null {
  const before = step === null ? [] : steps.filter((each) => each <= step);
  return before.at(-1) ?? (step === null ? steps.at(-1) : steps[0]) ?? null;
}

/** A name that no run has yet: "first", "first-2" … */
export function freeName(wish: string, taken: readonly string[]): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wish : `${wish}-${number}`;
    if (!taken.includes(name)) return name;
  }
}

/** Which files of the data folder are offered for a path: seen from the folder that the recipe names. */
export function pathsBelow(files: readonly string[], folder: string): readonly string[] {
  const start = folder === "" || folder === "." ? "" : `${folder.replace(/\/+$/, "")}/`;
  return files.filter((path) => path.startsWith(start)).map((path) => path.slice(start.length));
}

/** Folders of the data folder. */
export function foldersOf(files: readonly string[]): readonly string[] {
  const folders = new Set(["."]);
  for (const path of files) {
    const parts = path.split("/").slice(0, -1);
    parts.forEach((_, at) => void folders.add(parts.slice(0, at + 1).join("/")));
  }
  return [...folders];
}

/** The tables that a form shows. */
export function tablesShown(schema: RecipeSchema, fork: boolean): readonly RecipeTable[] {
  return fork ? schema.tables.filter(({ name }) => schema.fork.includes(name)) : schema.tables;
}
