/**
 * Inside: the debugging panel. Distributions and values of what goes through one layer, how a score comes about, and
 * what the score multiplier does.
 *
 * In:   the map and head in focus.
 * Out:  one of four panels, kept in the URL.
 */

import { mapName } from "../../core/focus";
import type { Mounted, Stage, View } from "../../core/view";
import { inBoth, introduce, liveWords } from "../../i18n/core";
import { words as focusWords } from "../../i18n/focus";
import { type Control, choice } from "../../marks/controls";
import { make, relabel, write } from "../../marks/make";
import { sheet } from "../../marks/paper";
import { Distributions } from "./distributions";
import { Multiplier } from "./multiplier";
import { focusOf, type InsidePanel, type Words } from "./panel";
import { Products } from "./products";
import { Values } from "./values";
import { words } from "./words";

const PANELS = ["distributions", "values", "products", "multiplier"] as const;
type PanelName = (typeof PANELS)[number];

export const view: View = {
  name: "inside",
  order: 90,
  ...introduce(words),
  needs: "recording",
  panel: true,
  transport: true,
  options: {},
  fits: ({ now: { description } }) => description.maps.length > 0 || inBoth(words, (word) => word.noMaps),
  mount: (stage) => mountInside(stage),
};

function mountInside(stage: Stage): Mounted {
  const say = liveWords(words, () => stage.language);
  const where = make("span", { class: "where" });
  const body = make("div", { class: "part" });
  const chosen = (): PanelName =>
    PANELS.find((name) => name === stage.selection.get().options["inside.part"]) ?? "distributions";
  const options = PANELS.map((value) => ({ value, text: () => say[value] }));
  const control: Control<PanelName> = choice(
    () => say.part,
    options,
    chosen(),
    (name) => stage.selection.option("inside.part", name === "distributions" ? null : name),
  );
  stage.element.replaceChildren(
    make("div", { class: "inside-view" }, make("div", { class: "controls" }, control.element, where), body),
  );
  let shown = "";
  let panel: InsidePanel | null = null;
  let { kept } = stage; // for the panel that left it

  const place = () => {
    const { map, head } = focusOf(stage);
    const names = focusWords(stage.language);
    return `${mapName(map, stage.language)} · ${head === null ? names.allHeads : names.head(head)}`;
  };
  const update = () => {
    control.set(chosen());
    write(where, place());
    // Products and multiplier hold the axes of a map: another map needs another panel.
    const key = `${chosen()} ${chosen() === "products" || chosen() === "multiplier" ? focusOf(stage).map.index : ""}`;
    if (key === shown) {
      panel?.update();
      return;
    }
    shown = key;
    panel?.unmount();
    if (chosen() !== "multiplier") kept?.stop?.(); // nobody would see what comes of it
    panel = makePanel(chosen(), { ...stage, kept }, say);
    kept = undefined;
    body.replaceChildren(panel.element);
    panel.resize();
  };
  update();
  return {
    update,
    resize: () => panel?.resize(),
    restyle() {
      relabel(stage.element);
      kept = panel?.keep?.() ?? undefined; // what runs goes on in the same panel, made again in the new language
      shown = "";
      update();
    },
    async picture() {
      const { width, height, body: drawn, title, lines } = await panel!.picture();
      return sheet({ width, height, body: drawn, title, caption: [place(), ...lines], theme: stage.theme });
    },
    table: () => panel!.table(),
    keep: () => panel?.keep?.() ?? null,
    unmount() {
      panel?.unmount();
      stage.element.replaceChildren();
    },
  };
}

function makePanel(name: PanelName, stage: Stage, say: Words): InsidePanel {
  const makers = {
    distributions: () => new Distributions(stage, say),
    values: () => new Values(stage, say),
    products: () => new Products(stage, say),
    multiplier: () => new Multiplier(stage, say),
  };
  return makers[name]();
}
