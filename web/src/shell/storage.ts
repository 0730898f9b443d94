/** What the browser remembers for the page; nothing where that is forbidden, or the storage is full. */

import type { Remembering } from "./state";

function remembering(storage: () => Storage): Remembering {
  return {
    get(name) {
      try {
        return storage().getItem(`glassformer.${name}`);
      } catch {
        return null;
      }
    },
    set(name, value) {
      try {
        storage().setItem(`glassformer.${name}`, value);
      } catch {
        // it is asked again next time
      }
    },
  };
}

/** Over visits, for all windows. */
export const remember = remembering(() => localStorage);

/** Over a reload, for this window alone. */
export const session = remembering(() => sessionStorage);
