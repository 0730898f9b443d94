/** Every file in views/ is a view; its order among the tabs is its own. */

import type { View } from "./view";

const files = import.meta.glob<{ readonly view: View }>(["./views/*.ts", "!./views/*.test.ts"], {
  eager: true,
});

export const views: readonly View[] = Object.values(files)
  .map((file) => file.view)
  .sort((a, b) => a.order - b.order);

export function viewNamed(name: string): View | undefined {
  return views.find((view) => view.name === name);
}
