// @vitest-environment happy-dom

import { expect, test } from "vitest";
import { nothingSelected } from "../../core/selection";
import { plans } from "../../testing/plans";
import { invent } from "../../testing/recording";
import { Choosers } from "./choosers";
import type { WalkContext } from "./context";
import type { Route } from "./route";
import { writeScript } from "./script";
import { words } from "./words";

test("a token has the name that its row has: in cross-attention, of the word that is written", () => {
  const plan = plans.attention!;
  const tokens = {
    source: { shown: ["I", "am"] },
    target: { shown: ["<s>", "je", "suis"] },
    written: { shown: ["je", "suis", "</s>"] },
  };
  let selection = { ...nothingSelected, query: 1 };
  const stage = { selection: { get: () => selection } };
  const context = { plan, tokens, stage, say: words("en") } as unknown as WalkContext;
  const scenes = writeScript(plan, invent({ target: ["<s>"] }).source.description, 0);
  const choosers = new Choosers({ layerOf: () => 0 } as unknown as Route);
  const named = (id: string) => {
    choosers.show(scenes.find((scene) => scene.id === id)!, context);
    return [...choosers.element.querySelectorAll("select")].at(-1)!.selectedOptions[0]!.textContent;
  };
  expect(named("encoder.0.forward.reset")).toBe("1 am");
  expect(named("decoder.0.forward.reset")).toBe("1 je");
  expect(named("decoder.0.cross.weights")).toBe("1 suis");
  selection = { ...selection, options: { "map.reading": "entered" } };
  expect(named("decoder.0.cross.weights")).toBe("1 je");
});
