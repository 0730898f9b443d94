/** In the place of the walk where its numbers are not: its code and words are a sixth of a file's. */

import list from "virtual:views";
import type { View } from "../../core/view";
import { words } from "../../i18n/hosts";

const nothing = (): string => "";

export const view: View = {
  order: 0,
  title: nothing,
  about: nothing,
  ...list.find(({ name }) => name === "walk"),
  name: "walk",
  needs: "recording",
  panel: true,
  transport: false,
  options: {},
  fits: () => (language) => words(language).noWalk,
  mount: () => {
    throw new Error("The walk is not in this file.");
  },
};
