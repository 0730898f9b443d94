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
  /** An address that reopens this; null where there is none. `told`: the server reads it, too, and lets visitors in. */
  link(text: string, told?: boolean): string | null;
}

const NAMED = /[?&](recording|run|study)=/;

/**
 * The part of the address after #: it never leaves the browser, and works in a file too. On a server with users a link has
 * it after ?, since visitors are let in by what it names, and whoever signs in first comes back to it.
 */
export function addressBar(window: Window): SelectionAddress {
  return {
    read() {
      const { hash, search } = window.location;
      return hash.slice(1) || (NAMED.test(search) ? search.slice(1) : "");
    },
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
    link(text, told) {
      const page = window.location.href.split("#")[0]!;
      return told ? `${page.split("?")[0]}?${text}` : `${page}#${text}`;
    },
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
