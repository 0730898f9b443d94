/**
 * The strongest examples of a head as little maps that open in the heat map.
 *
 * In:   the examples of a head; recordings of an atlas, each opened once.
 * Out:  a button for each: the map of this head over the text, and the text with the two words marked.
 */

import type { AtlasHead } from "../../api/types";
import { percent } from "../../core/formats";
import { findMap } from "../../core/maps";
import { readPlace } from "../../core/place";
import type { StudySource } from "../../core/source";
import type { Theme } from "../../core/view";
import { type OpenedExample, openExample } from "../../data/examples";
import type { HeadPictures } from "../../data/thumbnails";
import { pick, sequential } from "../../marks/colours";
import { make } from "../../marks/make";
import { inks } from "../../marks/paper";
import type { Words } from "./words";

const MOST = 4;
const AROUND = 7; // tokens that are shown before and after the two words
const BLANK = "␣"; // as tokens show it
const SIDE = 84; // pixels of a little map

type Example = AtlasHead["examples"][number];

export class Examples {
  private readonly opened = new Map<number, OpenedExample | null>(); // by the number of the text; null: there is none
  private readonly asked = new Set<number>();

  constructor(
    private readonly study: StudySource,
    private readonly changed: () => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** What is shown of a head now; what is missing is fetched. */
  draw(
    head: AtlasHead,
    say: Words,
    theme: Theme,
    open: (recording: string, example: Example) => void,
  ): readonly Element[] {
    const shown = head.examples.slice(0, MOST);
    const elements = shown.flatMap((example) => {
      const found = this.opened.get(example.bundle);
      if (found === undefined) {
        void this.load(example.bundle);
        return [make("p", { class: "hint" }, say.loading)];
      }
      const drawn = found && drawExample(found, head, example, say, theme, open);
      return drawn ? [drawn] : [];
    });
    return elements.length > 0 ? elements : [make("p", { class: "hint" }, say.noExamples)];
  }

  private async load(number: number): Promise<void> {
    if (this.asked.has(number)) return;
    this.asked.add(number);
    try {
      this.opened.set(number, await openExample(this.study, number));
    } catch (error) {
      this.asked.delete(number);
      this.failed(error);
      return;
    }
    this.changed();
  }
}

function drawExample(
  { source, pictures, tokens }: OpenedExample,
  head: AtlasHead,
  example: Example,
  say: Words,
  theme: Theme,
  open: (recording: string, example: Example) => void,
): HTMLElement | null {
  const place = readPlace(head.place);
  const map = place && findMap(source.description.maps, place);
  const word = (side: string, at: number): string =>
    (tokens.get(side)?.shown[at] ?? "?").replaceAll(BLANK, "") || BLANK;
  if (!map || map.place.layer !== place.layer) return null;
  const [query, key] = [word(map.query_side, example.query), word(map.key_side, example.key)];
  const looks = say.looks(query, key, percent(example.value, 0));
  const texts = [...new Set([map.query_side, map.key_side])].map((side) =>
    drawText(
      tokens.get(side)?.shown ?? [],
      side === map.query_side ? example.query : null,
      side === map.key_side ? example.key : null,
    ),
  );
  const canvas = make("canvas", { width: SIDE, height: SIDE, "aria-hidden": "true" });
  paint(
    canvas,
    pictures(map),
    head.head,
    [example.query - map.query_start, example.key - map.key_start],
    theme,
  );
  return make(
    "button",
    {
      type: "button",
      class: "example",
      "aria-label": say.openExample(looks),
      title: say.openExample(looks),
      "data-key": `example ${example.bundle} ${example.query} ${example.key}`,
      onclick: () => open(source.description.id, example),
    },
    canvas,
    make("span", { class: "example-words" }, ...texts, make("span", { class: "hint" }, looks)),
  );
}

/** The words around the two; the query in bold, the key marked. */
function drawText(shown: readonly string[], query: number | null, key: number | null): HTMLElement {
  const marks = [query, key].filter((each) => each !== null);
  const first = Math.max(0, Math.min(...marks) - AROUND);
  const last = Math.min(shown.length, Math.max(...marks) + AROUND + 1);
  const spaced = shown.some((text) => text.startsWith(BLANK)); // tokens that say where words begin
  const words = shown.slice(first, last).flatMap((text, index) => {
    const at = first + index;
    const kind = at === query ? "query" : at === key ? "key" : null;
    const word = text.replaceAll(BLANK, "") || text;
    const gap = spaced ? (text.startsWith(BLANK) ? " " : "") : " ";
    return [gap, kind === null ? word : make("mark", { class: kind }, word)];
  });
  const line = make("span", { class: "text", dir: "auto" });
  line.append(first > 0 ? "… " : "", ...words, last < shown.length ? "…" : "");
  return line;
}

/** The map of a head, and a ring around one cell. */
function paint(
  canvas: HTMLCanvasElement,
  { bytes, height, width, level }: HeadPictures,
  head: number,
  [row, column]: readonly [number, number],
  theme: Theme,
): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const table = sequential(theme);
  const side = SIDE / Math.max(height, width);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      context.fillStyle = pick(table, bytes[(head * height + y) * width + x] ?? 0);
      context.fillRect(x * side, y * side, side + 0.5, side + 0.5);
    }
  const ring = Math.max(6, side);
  const middle = (at: number): number => ((at >> level) + 0.5) * side - ring / 2;
  context.strokeStyle = inks(theme).accent;
  context.lineWidth = 2;
  context.strokeRect(middle(column), middle(row), ring, ring);
}
