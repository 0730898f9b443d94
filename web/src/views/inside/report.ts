/**
 * What a re-run changed: entropy, scores and outputs, before and after.
 *
 * In:   Rerun.
 * Out:  elements.
 */

import type { Choice } from "../../api/types";
import { digits, exact } from "../../core/formats";
import { button } from "../../marks/controls";
import { drawHistogram } from "../../marks/histogram";
import { draw, make } from "../../marks/make";
import { SCREEN } from "../../marks/paper";
import type { Words } from "./panel";
import type { Rerun } from "./rerun";

export const RERUN_INK = "#c4622d";

const HEIGHT = 190;
const SHOWN = 5; // outputs

export function makeReport(rerun: Rerun, width: number, say: Words, open: () => void): HTMLElement[] {
  const { before, after, entropyBefore, entropyAfter } = rerun;
  const svg = draw("svg", {
    width,
    height: HEIGHT,
    viewBox: `0 0 ${width} ${HEIGHT}`,
    role: "img",
    "aria-label": say.scoreAxis,
  });
  svg.append(
    drawHistogram(before, {
      width,
      height: HEIGHT,
      inks: SCREEN,
      log: false,
      fill: SCREEN.faint,
      outline: after,
      outlineInk: RERUN_INK,
      axis: say.scoreAxis,
    }),
  );
  const entropies = make(
    "dd",
    { title: `${exact(entropyBefore)} → ${exact(entropyAfter)}` },
    digits(entropyBefore),
    make("span", {}, "→"),
    make("b", {}, digits(entropyAfter)),
  );
  return [
    make("dl", {}, make("dt", {}, say.meanEntropy), entropies),
    make("div", {}, makeKey(say), svg),
    makeOutputs(rerun, say),
    button(say.openRerun, open),
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
      draw("text", { x: x + 14, y: 12, "font-size": 11, fill: SCREEN.soft }, name),
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
