/**
 * Inside: the debugging panel. Distributions and values of what goes through one layer, how a score comes about, and
 * what the score multiplier does.
 *
 * In:   the map and head in focus.
 * Out:  one of four panels, kept in the URL.
 */

import { focusOf, hasOnlyWeights, mapName } from "../../core/focus";
import { recordingView } from "../../core/recording_view";
import { Tasks } from "../../core/tasks";
import type { KeptWork, Mounted } from "../../core/view";
import { make, relabel, write } from "../../marks/make";
import { OptionControls } from "../../marks/option_controls";
import { sheet } from "../../marks/paper";
import { Distributions } from "./distributions";
import { Multiplier } from "./multiplier";
import { type InsidePanel, type InsideSetting, options, type PanelName } from "./panel";
import { Products } from "./products";
import { Values } from "./values";
import { words } from "./words";
import "./style.css";

const PANELS: Record<PanelName, new (setting: InsideSetting, kept: KeptWork | undefined) => InsidePanel> = {
  distributions: Distributions,
  values: Values,
  products: Products,
  multiplier: Multiplier,
};

export const view = recordingView({
  name: "inside",
  order: 90,
  words,
  options,
  fits: hasOnlyWeights,
  mount: mountInside,
});

function mountInside({ stage, say, names, options }: InsideSetting): Mounted {
  const where = make("span", { class: "where" });
  const body = make("div", { class: "part" });
  const controls = new OptionControls(options);
  const parts = controls.choice("part", () => say.part, {
    distributions: () => say.distributions,
    values: () => say.values,
    products: () => say.products,
    multiplier: () => say.multiplier,
  });
  stage.element.replaceChildren(
    make("div", { class: "inside-view drawn" }, make("div", { class: "drawn-bar" }, parts, where), body),
  );
  let shown = "";
  let panel: InsidePanel | null = null;
  let { kept } = stage; // for the panel that left it

  const place = () => {
    const { map, head } = focusOf(stage);
    return `${mapName(map, stage.language)} · ${head === null ? names.allHeads : names.head(head)}`;
  };
  const leave = () => {
    panel?.unmount?.();
    panel?.tasks.end();
  };
  const update = () => {
    const { part } = options.now;
    controls.follow();
    write(where, place());
    // Products and multiplier hold the axes of a map: another map needs another panel.
    const held = part === "products" || part === "multiplier" ? focusOf(stage).map.place.address : "";
    if (`${part} ${held}` === shown) {
      panel?.update();
      return;
    }
    shown = `${part} ${held}`;
    leave();
    if (part !== "multiplier") kept?.stop?.(); // nobody would see what comes of it
    panel = new PANELS[part]({ stage, say, names, options, tasks: new Tasks(stage) }, kept);
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
      write(where, place());
      panel?.restyle();
    },
    async picture() {
      const { width, height, body: drawn, title, lines } = await panel!.picture();
      return sheet({ width, height, body: drawn, title, caption: [place(), ...lines], theme: stage.theme });
    },
    table: () => panel!.table(),
    keep: () => panel?.keep?.() ?? null,
    unmount: leave,
  };
}
