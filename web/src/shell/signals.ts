/**
 * Values that notify their readers: a component that reads `.value` while it is drawn is drawn again when it changes.
 *
 * In:   values.
 * Out:  signals, derived values and effects. The smallest thing that does what the shell needs, in Preact's own way:
 *       `options` tells which component is drawing (`__r`, as Preact's hooks use it) and when it has drawn.
 */

import { type Component, options, type VNode } from "preact";

interface Reader {
  readonly sources: Set<Signal<unknown>>;
  changed(): void;
}

let reading: Reader | null = null;

export interface ReadonlySignal<T> {
  readonly value: T;
  /** The value, without subscribing to changes. */
  peek(): T;
}

export class Signal<T> implements ReadonlySignal<T> {
  readonly readers = new Set<Reader>();

  constructor(private now: T) {}

  get value(): T {
    if (reading) {
      reading.sources.add(this as Signal<unknown>);
      this.readers.add(reading);
    }
    return this.now;
  }

  set value(next: T) {
    if (Object.is(next, this.now)) return;
    this.now = next;
    for (const reader of [...this.readers]) reader.changed();
  }

  peek(): T {
    return this.now;
  }
}

export function signal<T>(value: T): Signal<T> {
  return new Signal(value);
}

/** A value made of others; made anew whenever it is read, so it should be cheap. */
export function derived<T>(make: () => T): ReadonlySignal<T> {
  return {
    get value() {
      return make();
    },
    peek: () => track(null, make),
  };
}

/** Runs now, and again after each change of what it has read. */
export function effect(act: () => void): () => void {
  const reader: Reader = {
    sources: new Set(),
    changed() {
      forget(reader);
      track(reader, act);
    },
  };
  reader.changed();
  return () => forget(reader);
}

function track<T>(reader: Reader | null, act: () => T): T {
  const before = reading;
  reading = reader;
  try {
    return act();
  } finally {
    reading = before;
  }
}

function forget(reader: Reader): void {
  for (const source of reader.sources) source.readers.delete(reader);
  reader.sources.clear();
}

type Drawn = VNode & { readonly __c?: Component & { reader?: Reader } };

/** Does something more at a point of Preact's work, before what is done there already. */
function before(name: "__r" | "__e" | "diffed" | "unmount", act: (vnode: Drawn) => void): void {
  const hooks = options as Record<string, ((...given: unknown[]) => void) | undefined>;
  const there = hooks[name];
  hooks[name] = (...given) => {
    act(given[0] as Drawn);
    there?.(...given);
  };
}

before("__r", ({ __c: component }) => {
  if (!component) return;
  component.reader ??= { sources: new Set(), changed: () => component.setState({}) };
  forget(component.reader);
  reading = component.reader;
});

/** Drawn to its end, or not, where it throws: what is read from now on is not read by this component. */
function leave(): void {
  reading = null;
}
before("diffed", leave);
before("__e", leave);

before("unmount", ({ __c: component }) => {
  if (component?.reader) forget(component.reader);
});
