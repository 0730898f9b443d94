/** What the browser remembers for the page; nothing where that is forbidden, or the storage is full. */

import type { PageStorage } from "./state";

function wrap(storage: () => Storage): PageStorage {
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
export const remember = wrap(() => localStorage);

/** Over a reload, for this window alone. */
export const session = wrap(() => sessionStorage);
