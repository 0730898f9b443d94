/** In the place of a view that an exported file does not have: why. Its code and words would be a sixth of the file. */

import list from "virtual:views";
import type { AnyView } from "../core/view";
import { words } from "../i18n/hosts";

const nothing = (): string => "";

const WHY = {
  canvas: "canvasLeftOut",
  walk: "noWalk",
  playground: "noPlayground",
  runs: "noRuns",
  search: "noRuns",
  curves: "noRuns",
  learning: "noRuns",
} as const;

export function leaveOut(name: keyof typeof WHY): AnyView {
  return {
    order: 0,
    title: nothing,
    about: nothing,
    needs: "recording",
    ...list.find((view) => view.name === name),
    name,
    panel: true,
    transport: false,
    options: {},
    fits: () => (language) => words(language)[WHY[name]],
    mount: () => {
      throw new Error(`This file has no ${name}.`);
    },
  };
}
