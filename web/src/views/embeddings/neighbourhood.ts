/**
 * The token in focus: in its context, and with the tokens nearest to it in all dimensions.
 *
 * In:   states of a layer, tokens.
 * Out:  elements.
 */

import { digits, exact } from "../../core/formats";
import { nearestTokens } from "../../core/maths/nearest";
import type { SideTokens } from "../../data/side_tokens";
import type { States } from "../../data/states";
import { make } from "../../marks/make";
import type { Words } from "./words";

const NEAREST = 10;

export function makeContext(tokens: SideTokens, token: number): HTMLElement {
  const [before, shown, after] = tokens.context(token);
  const number = make("small", {}, ` (${token})`);
  return make(
    "p",
    { class: "context", dir: "auto" },
    `${before} `,
    make("b", {}, shown),
    ` ${after}`,
    number,
  );
}

/** What stands beside the cloud; `start` is the token of the first state. */
export async function makeNeighbourhood(
  tokens: SideTokens,
  states: States,
  token: number,
  start: number,
  say: Words,
  choose: (token: number) => void,
): Promise<HTMLElement[]> {
  const near = nearestTokens(states, token - start, NEAREST);
  await tokens.load(Math.max(0, token - 8), token + 8);
  for (const { token: other } of near) await tokens.load(start + other, start + other + 1);
  const items = near.map(({ token: other, cosine }) =>
    make(
      "li",
      {},
      make(
        "button",
        { type: "button", onclick: () => choose(start + other) },
        make("bdi", { dir: "auto" }, tokens.shown(start + other)),
        make("small", {}, String(start + other)),
      ),
      make("span", { title: exact(cosine) }, digits(cosine, 3)),
    ),
  );
  return [
    makeContext(tokens, token),
    make("h2", {}, say.nearest),
    make("p", { class: "note" }, say.nearestMeans),
    make("ol", {}, ...items),
  ];
}
