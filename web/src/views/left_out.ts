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
  atlas: "noAtlas",
  picture: "notInFile",
  sound: "notInFile",
  effects: "noModel",
  patching: "noModel",
} as const;

/** `inRun`: the file is that of a training run. */
export function leaveOut(name: keyof typeof WHY, inRun: boolean): AnyView {
  const why = inRun && !["playground", "effects", "patching"].includes(name) ? "leftOutOfRun" : WHY[name];
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
    fits: () => (language) => words(language)[why],
    mount: () => {
      throw new Error(`This file has no ${name}.`);
    },
  };
}
