/** Every view with all its code, in the order of the tabs: for the build, which lists them, and for tests. */

import type { AnyView } from "./core/view";

const files = import.meta.glob<{ readonly view: AnyView }>("./views/*/view.ts", {
  eager: true,
});

export const allViews: readonly AnyView[] = Object.values(files)
  .map((file) => file.view)
  .sort((a, b) => a.order - b.order);

export { languages } from "./i18n/core";
