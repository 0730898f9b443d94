/**
 * What was read, above the panels: what is looked at is shaded, and a word can be pointed at.
 *
 * In:   tokens of both sides.
 * Out:  a line of words for each side, or the patches of a picture as they lie in it; none where there are too many.
 */

import type { SideName } from "../../api/types";
import { sideName } from "../../core/focus";
import type { Crop } from "../../core/heat";
import type { Setting } from "../../core/recording_view";
import type { Stage } from "../../core/view";
import { readCrops } from "../../data/media";
import { drawCrop } from "../../marks/crop";
import { make, setStyle, write } from "../../marks/make";
import type { CanvasOptions } from "./cameras";
import type { Looking } from "./looking";
import type { Words } from "./words";

const MOST = 80; // words of a side
const MOST_PATCHES = 260; // of a picture: they take little room
const SPACE = "␣"; // as tokens show theirs
const [PATCH, HIGH] = [20, 130]; // CSS pixels of a patch, and of a picture, at most

export class Sentences {
  readonly element = make("div", { class: "canvas-text" });
  private readonly lines = new Map<SideName, readonly HTMLElement[]>();
  private readonly pictured = new Set<HTMLElement>(); // words that are parts of a picture

  private readonly say: Words;
  private readonly stage: Stage;

  constructor(
    { say, stage, tasks }: Setting<Words, CanvasOptions>,
    private readonly looking: Looking,
  ) {
    [this.say, this.stage] = [say, stage];
    const { description } = stage.source;
    const both = (description.target?.count ?? 0) > 0;
    for (const side of ["source", "target"] as const) {
      const count = description[side]?.count ?? 0;
      if (count === 0 || count > (description[side]?.picture ? MOST_PATCHES : MOST)) continue;
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
        make("small", {}, () => this.name(side, both)),
        make("span", { dir: "auto" }, ...words),
      );
      this.element.append(line);
      if (description[side]?.picture) {
        const loading = tasks.asker(() => {}); // a file without the picture: names remain
        loading.ask(
          null,
          (source) => readCrops(source, side),
          (crop) => this.layPatches(side, crop, line, words),
        );
      }
    }
  }

  private name(side: SideName, both: boolean): string {
    const { language, source } = this.stage;
    const { picture, sound } = source.description.source;
    return both || picture || sound ? sideName(source.description, side, language) : this.say.text;
  }

  private layPatches(
    side: SideName,
    crop: (token: number) => Crop | null,
    line: HTMLElement,
    words: readonly HTMLElement[],
  ): void {
    const picture = this.stage.source.description[side]!.picture!;
    line.toggleAttribute("data-patches", true);
    setStyle(line, { "--columns": String(picture.columns) });
    const size = Math.min(PATCH, Math.floor(HIGH / picture.rows));
    words.forEach((word, token) => {
      const part = crop(token);
      if (part === null) return;
      const cell = picture.cells[token]!;
      word.replaceChildren(drawCrop(part, size));
      word.setAttribute("role", "img"); // with the name of the patch
      setStyle(word, {
        "grid-row": String(Math.floor(cell / picture.columns) + 2),
        "grid-column": String((cell % picture.columns) + 1),
      });
      this.pictured.add(word);
    });
    this.show();
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
        const pictured = this.pictured.has(word);
        if (pictured) {
          word.title = text;
          word.setAttribute("aria-label", text);
        } else write(word, text === SPACE ? text : text.replace(SPACE, ""));
        word.className = [
          pictured ? "patch" : "",
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
