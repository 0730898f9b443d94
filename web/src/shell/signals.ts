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

type Drawing = Component & { reader?: Reader };
type Drawn = VNode & { readonly __c?: Drawing };
interface Hooks {
  __r?: (vnode: Drawn) => void;
  __e?: (...thrown: readonly unknown[]) => void;
  diffed?: (vnode: Drawn) => void;
  unmount?: (vnode: Drawn) => void;
}

/** Does something more at a point of Preact's work, after what is done there already. */
function also(name: "__r" | "diffed" | "unmount", act: (vnode: Drawn) => void): void {
  const hooks = options as Hooks;
  const before = hooks[name];
  hooks[name] = (vnode) => {
    before?.(vnode);
    act(vnode);
  };
}

also("__r", (vnode) => {
  const component = vnode.__c;
  if (!component) return;
  component.reader ??= { sources: new Set(), changed: () => component.setState({}) };
  forget(component.reader);
  reading = component.reader;
});

also("diffed", () => {
  reading = null;
});

/** A component that throws is not drawn to its end: what is read from now on is not read by it. */
const caught = (options as Hooks).__e;
(options as Hooks).__e = (...thrown) => {
  reading = null;
  caught?.(...thrown);
};

also("unmount", (vnode) => {
  if (vnode.__c?.reader) forget(vnode.__c.reader);
});
