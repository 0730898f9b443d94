/** In the place of a view that an exported file does not have: why. Its code and words would be a sixth of the file. */

import list from "virtual:views";
import type { View } from "../core/view";
import { words } from "../i18n/hosts";

const nothing = (): string => "";

const WHY = { canvas: "canvasLeftOut", walk: "noWalk", playground: "noPlayground" } as const;

export function leaveOut(name: keyof typeof WHY): View {
  return {
    order: 0,
    title: nothing,
    about: nothing,
    ...list.find((view) => view.name === name),
    name,
    needs: "recording",
    panel: true,
    transport: false,
    options: {},
    fits: () => (language) => words(language)[WHY[name]],
    mount: () => {
      throw new Error(`This file has no ${name}.`);
    },
  };
}
