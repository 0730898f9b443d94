// @vitest-environment happy-dom

import { describe, expect, test } from "vitest";
import type { WalkPlan } from "../../api/types";
import { plans } from "../../testing/plans";
import type { WalkContext } from "./context";
import { TrainingScene } from "./training";
import { words } from "./words";

const END = 3; // end_id of the plans

function train(plan: WalkPlan, ids: readonly number[], shown: readonly string[], said: readonly number[]) {
  const positions = said.map((token) => [{ token, text: token === END ? "</s>" : `#${token}` }]);
  const description = {
    target: {},
    maps: [],
    generation: null,
    output: { kind: "tokens", stack: "decoder", positions },
  };
  const slice = { ids, shown };
  return new TrainingScene({
    stage: { reducedMotion: true, theme: "light" },
    say: words("en"),
    plan,
    source: { description },
    tokens: { source: slice, target: slice },
  } as unknown as WalkContext);
}

describe("training beside inference", () => {
  test("after the last word of a translation the end has to be said", () => {
    const { element } = train(plans.marian!, [2, 6, 10], ["<s>", "le", "chat"], [6, 9, END]);
    const wanted = [...element.querySelectorAll(".walk-next")].map((cell) => cell.textContent);
    expect(wanted).toEqual(["le", "chat", "</s>"]);
    const right = [...element.querySelectorAll<HTMLElement>(".walk-said")].map((cell) => cell.dataset.right);
    expect(right).toEqual(["true", "false", "true"]);
  });

  test("a text that holds its end has no row for what comes after", () => {
    const { element } = train(plans.marian!, [2, 6, END], ["<s>", "le", "</s>"], [6, END, 7]);
    const wanted = [...element.querySelectorAll(".walk-next")].map((cell) => cell.textContent);
    expect(wanted).toEqual(["le", "</s>"]);
  });

  test("a recurrent network is not said to be trained all at once, and hides nothing by a mask", () => {
    const said = train(plans.attention!, [2, 6], ["<s>", "le"], [6, END]).element.textContent!;
    expect(said).toContain("one after another");
    expect(said).not.toMatch(/all at once|mask/);
    const other = train(plans.marian!, [2, 6], ["<s>", "le"], [6, END]).element.textContent!;
    expect(other).toContain("all at once");
  });
});
