/**
 * What a window remembers over a reload, and no other window knows.
 *
 * In:   names and values.
 * Out:  the same values in the same window; nothing where the browser keeps nothing.
 */

import type { Remembering } from "./state";

export const session: Remembering = {
  get(name) {
    try {
      return sessionStorage.getItem(`glassformer.${name}`);
    } catch {
      return null; // storage is forbidden here
    }
  },
  set(name, value) {
    try {
      sessionStorage.setItem(`glassformer.${name}`, value);
    } catch {
      // forbidden, or full: then a reload finds the job as one of another window
    }
  },
};
