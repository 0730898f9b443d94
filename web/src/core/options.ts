/**
 * Options of a view: declared once, and read and written by view, panel and URL alike.
 *
 * In:   a schema, and the texts that a URL states ("heatmap.scale=row").
 * Out:  typed values; a text that is missing or wrong gives the default, and defaults are left out of URLs.
 */

import type { Selection, SelectionStore } from "./selection";

export interface Option<T> {
  readonly initial: T;
  /** The value of a text; undefined where the text is not one. */
  parse(text: string): T | undefined;
  write(value: T): string;
}

export type Schema<O> = { readonly [K in keyof O]: Option<O[K]> };
export type OptionTexts = Readonly<Record<string, string>>; // "heatmap.scale" → "row"

export function oneOf<const T extends string>(values: readonly T[], initial: T): Option<T> {
  return { initial, parse: (text) => values.find((value) => value === text), write: (value) => value };
}

/** "1" where it is on, or what the URL says instead. */
export function flag(initial = false, on = "1", off = "0"): Option<boolean> {
  return {
    initial,
    parse: (text) => (text === on ? true : text === off ? false : undefined),
    write: (value) => (value ? on : off),
  };
}

export function integer(initial: number, minimum = 0, maximum = Number.MAX_SAFE_INTEGER): Option<number> {
  return {
    initial,
    parse: (text) => within(/^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN, minimum, maximum),
    write: String,
  };
}

export function real(initial: number, minimum = -Infinity, maximum = Infinity): Option<number> {
  return {
    initial,
    parse: (text) => within(text.trim() === "" ? Number.NaN : Number(text), minimum, maximum),
    write: String,
  };
}

/** Any text, or one that a check lets pass. */
export function text(initial = "", allows: (value: string) => boolean = () => true): Option<string> {
  return { initial, parse: (value) => (allows(value) ? value : undefined), write: (value) => value };
}

/** A value, or null where the URL states none. */
export function optional<T>(option: Option<T>): Option<T | null> {
  return {
    initial: null,
    parse: option.parse,
    write: (value) => (value === null ? "" : option.write(value)),
  };
}

/** The options of one view in the selection that all views share. */
export class Options<O extends object> {
  constructor(
    private readonly view: string,
    private readonly schema: Schema<O>,
    private readonly store: SelectionStore,
  ) {}

  get now(): O {
    return this.in(this.store.get());
  }

  in({ options }: Pick<Selection, "options">): O {
    return readOptions(this.view, this.schema, options);
  }

  /** Change some options, and the rest of the selection with them: listeners hear of it once. */
  set(change: Partial<O>, rest: Partial<Selection> = {}): void {
    const { options } = this.store.get();
    this.store.set({ ...rest, options: writeOptions(this.view, this.schema, options, change) });
  }

  /** These options alone, as a link to another recording has them. */
  write(change: Partial<O>): OptionTexts {
    return writeOptions(this.view, this.schema, {}, change);
  }

  /** One option as the URL has it, for controls. */
  text(name: keyof O): string {
    return this.schema[name].write(this.now[name]);
  }

  /** Undefined, or what is no value of it: the default. */
  setText(name: keyof O, text?: string): void {
    const { parse, initial } = this.schema[name];
    const value = text === undefined ? undefined : parse(text);
    this.set({ [name]: value === undefined ? initial : value } as Partial<O>);
  }
}

/** The values of a view's options. */
export function readOptions<O>(view: string, schema: Schema<O>, texts: OptionTexts): O {
  const values: Partial<O> = {};
  for (const name of Object.keys(schema) as (keyof O & string)[]) {
    const stated = texts[`${view}.${name}`];
    const option = schema[name];
    const value = stated === undefined ? undefined : option.parse(stated);
    values[name] = value === undefined ? option.initial : value;
  }
  return values as O;
}

/** The texts with some options changed; a default is left out. */
export function writeOptions<O>(
  view: string,
  schema: Schema<O>,
  texts: OptionTexts,
  change: Partial<O>,
): OptionTexts {
  const result: Record<string, string> = { ...texts };
  for (const name of Object.keys(change) as (keyof O & string)[]) {
    const option = schema[name];
    const value = change[name] as O[typeof name];
    const key = `${view}.${name}`;
    const written = option.write(value);
    if (written === option.write(option.initial)) delete result[key];
    else result[key] = written;
  }
  return result;
}

function within(value: number, minimum: number, maximum: number): number | undefined {
  return value >= minimum && value <= maximum ? value : undefined;
}
