/**
 * The text itself, above the panels: what is looked at is shaded, and a word can be pointed at.
 *
 * In:   tokens of both sides.
 * Out:  a line for each side; none where a text is too long to stand there.
 */

import type { SideName } from "../../api/types";
import type { Stage } from "../../core/view";
import { make, write } from "../../marks/make";
import type { Looking } from "./looking";
import type { Words } from "./words";

const MOST = 80; // tokens of a side
const SPACE = "␣"; // as tokens show theirs

export class Sentences {
  readonly element = make("div", { class: "canvas-text" });
  private readonly lines = new Map<SideName, readonly HTMLElement[]>();

  constructor(
    say: Words,
    private readonly looking: Looking,
    stage: Stage,
  ) {
    const { description } = stage.source;
    const both = (description.target?.count ?? 0) > 0;
    for (const side of ["source", "target"] as const) {
      const count = description[side]?.count ?? 0;
      if (count === 0 || count > MOST) continue;
      const words = Array.from({ length: count }, (_, token) => make("bdi", { "data-token": token }, "…"));
      this.lines.set(side, words);
      const tokenAt = (event: Event): number | null => {
        const word = (event.target as Element).closest<HTMLElement>("[data-token]");
        return word === null ? null : Number(word.dataset.token);
      };
      const line = make(
        "p",
        {
          "data-side": side,
          onpointermove: (event: PointerEvent) => {
            if (event.pointerType !== "touch") looking.point(side, tokenAt(event));
          },
          onpointerleave: () => looking.point(side, null),
          onclick: (event: Event) => {
            const token = tokenAt(event);
            const stack = description.hidden.find((each) => each.side === side)?.stack ?? "";
            if (token !== null) looking.choose({ side, stack }, token);
          },
        },
        make("small", {}, () => (both ? say[side] : say.text)),
        make("span", { dir: "auto" }, ...words),
      );
      this.element.append(line);
    }
  }

  show(): void {
    const { looking } = this;
    for (const [side, words] of this.lines) {
      const [focus, mark, tokens] = [looking.focus(side), looking.mark(side), looking.tokens(side)];
      const shown = words.map((_, token) => tokens.shown(token));
      const spaced = shown.some((text) => text.startsWith(SPACE)); // then pieces without one belong to a word
      const isPiece = (token: number): boolean =>
        token > 0 &&
        !shown[token]!.startsWith(SPACE) &&
        ![token - 1, token].some((at) => tokens.isSpecial(at));
      words.forEach((word, token) => {
        const text = shown[token]!;
        write(word, text === SPACE ? text : text.replace(SPACE, ""));
        word.className = [
          spaced && isPiece(token) ? "piece" : "",
          token === focus ? "focus" : "",
          token === mark ? "mark" : "",
          tokens.isSpecial(token) ? "special" : "",
        ].join(" ");
        word.style.setProperty("--weight", `${Math.round(100 * looking.weight(side, token))}%`);
      });
    }
  }
}
