/**
 * What a re-run changed: entropy, scores and outputs, before and after.
 *
 * In:   Rerun.
 * Out:  elements.
 */

import type { Choice, Distribution } from "../../api/types";
import { digits, exact } from "../../core/formats";
import type { Rerun } from "../../data/comparison";
import { button } from "../../marks/controls";
import { drawHistogram } from "../../marks/histogram";
import { draw, drawChart, drawText, make } from "../../marks/make";
import { type Inks, SCREEN } from "../../marks/paper";
import type { Words } from "./panel";

export const RERUN_INK = "#c4622d";

const HEIGHT = 190;
const SHOWN = 5; // outputs

export function makeReport(rerun: Rerun, width: number, say: Words, open: () => void): HTMLElement[] {
  const { before, after, entropyBefore, entropyAfter } = rerun;
  const histogram = drawHistogram(before, { ...rerunLook(after, say, SCREEN), width, height: HEIGHT });
  return [
    make("dl", {}, ...makeChange(say.meanEntropy, entropyBefore, entropyAfter)),
    make("div", {}, makeKey(say), drawChart(width, HEIGHT, say.scoreAxis, histogram)),
    makeOutputs(rerun, say),
    button(say.openRerun, open),
  ];
}

/** Scores before a re-run, with an outline of those after it. */
export function rerunLook(after: Distribution, say: Words, ink: Inks) {
  return {
    inks: ink,
    log: false,
    fill: ink.faint,
    outline: after,
    outlineInk: RERUN_INK,
    axis: say.scoreAxis,
  };
}

/** A number before and after, in a list of terms. */
export function makeChange(name: string, before: number | null, after: number | null): HTMLElement[] {
  const title = `${exact(before)} → ${exact(after)}`;
  return [
    make("dt", {}, name),
    make("dd", { title }, digits(before), make("span", {}, "→"), make("b", {}, digits(after))),
  ];
}

/** Which ink is which in the histogram. */
function makeKey(say: Words): SVGSVGElement {
  const svg = draw("svg", { width: 200, height: 16, "aria-hidden": "true" });
  for (const [name, fill, x] of [
    [say.before, SCREEN.faint, 0],
    [say.rerun, RERUN_INK, 90],
  ] as const) {
    svg.append(
      draw("rect", { x, y: 3, width: 10, height: 10, fill }),
      drawText(name, x + 14, 12, SCREEN.soft),
    );
  }
  return svg;
}

function makeOutputs({ outputBefore, outputAfter, classes }: Rerun, say: Words): HTMLElement {
  if (outputBefore === null && outputAfter === null) return make("div");
  const item = ({ text, log_probability }: Choice) => {
    const chance = Math.exp(log_probability ?? -Infinity); // JSON has no infinity
    return make(
      "li",
      {},
      make("bdi", { dir: "auto" }, text),
      make("span", { title: exact(chance) }, digits(chance, 3)),
    );
  };
  const side = (name: string, choices: readonly Choice[] | null) =>
    make("div", {}, make("h3", {}, name), make("ol", {}, ...(choices ?? []).slice(0, SHOWN).map(item)));
  return make(
    "section",
    { class: "outputs" },
    make("h2", {}, classes ? say.outputsClasses : say.outputs),
    make("div", {}, side(say.before, outputBefore), side(say.after, outputAfter)),
  );
}
