/**
 * Where the selection is written: the address bar, or nowhere (a notebook cell has none).
 *
 * In:   the selection as text.
 * Out:  the same text again after a reload, through a link or by the back button.
 */

export interface SelectionAddress {
  /** What is written there now. */
  read(): string;
  /** "push" makes a step that the back button undoes. */
  write(text: string, how: "push" | "replace"): void;
  /** `heard` is called when it changes from outside (back button, typed address). */
  listen(heard: () => void): () => void;
  /** An address that reopens this; null where there is none. */
  link(text: string): string | null;
}

/** The part of the address after #: it never leaves the browser, and works in a file too. */
export function addressBar(window: Window): SelectionAddress {
  return {
    read: () => window.location.hash.slice(1),
    write(text, how) {
      const hash = `#${text}`;
      if (how === "push") window.history.pushState(null, "", hash);
      else window.history.replaceState(null, "", hash);
    },
    listen(heard) {
      const stop = new AbortController();
      for (const event of ["popstate", "hashchange"])
        window.addEventListener(event, heard, { signal: stop.signal });
      return () => stop.abort();
    },
    link: (text) => `${window.location.href.split("#")[0]}#${text}`,
  };
}

/** A place of its own, for a host without an address. */
export function noAddress(text = ""): SelectionAddress {
  let now = text;
  return {
    read: () => now,
    write: (next) => {
      now = next;
    },
    listen: () => () => {},
    link: () => null,
  };
}
