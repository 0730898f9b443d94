/**
 * A text whose tokens are coloured: words as they were written, special tokens as chips.
 *
 * In:   tokens with their places in the text (or without: then as they are shown), and a number for each.
 * Out:  running text for mouse, touch and keyboard; one token can be chosen.
 */

import type { TokenSlice } from "../api/types";
import type { Crop } from "../core/heat";
import type { Theme } from "../core/view";
import { diverging, inkOn, pick, sequential } from "./colours";
import { drawCrop, writeCrop } from "./crop";
import { ARROWS, consume } from "./keys";
import { make, setStyle, type Text, uniqueId } from "./make";
import { escapeText, figure } from "./paper";
import "./passage.css";

const PATCH = 28; // CSS pixels of a patch
const VEIL = 0.7; // how much of a patch its colour covers

/** One token in running text: blanks stay outside of what is coloured. */
export interface Piece {
  readonly before: string;
  readonly text: string;
  readonly after: string;
  readonly chip: boolean; // not part of the text as written
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach the page
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Co}\p{Cn}]/u;

/** Tokens as pieces of the text they were cut from. */
export function cut(slice: TokenSlice, text: string | null): Piece[] {
  const letters = slice.offsets !== null && text !== null ? [...text] : null; // offsets count characters, not UTF-16
  let cursor = -1;
  return slice.shown.map((shown, index) => {
    if (slice.special[index] === true) return { before: " ", text: shown, after: " ", chip: true };
    const span = slice.offsets?.[index];
    if (letters === null || span === undefined || span[1] > letters.length) return fromShown(slice, index);
    const [first, last] = span;
    if (first === last || first < cursor) return { before: "", text: shown, after: "", chip: true };
    const between = cursor < 0 ? "" : letters.slice(cursor, first).join("");
    cursor = last;
    const written = letters.slice(first, last).join("");
    const core = written.trimStart();
    if (core.trim() === "") return { before: between, text: shown, after: written, chip: true };
    const lead = written.slice(0, written.length - core.length);
    return { before: clean(between) + lead, text: HIDDEN.test(core) ? shown : core, after: "", chip: false };
  });
}

function clean(text: string): string {
  return [...text].filter((letter) => !HIDDEN.test(letter)).join("");
}

function fromShown(slice: TokenSlice, index: number): Piece {
  const raw = slice.texts[index] ?? "";
  const shown = slice.shown[index] ?? "";
  const core = raw.trimStart();
  const lead = raw.slice(0, raw.length - core.length);
  if (core === "") return { before: "", text: shown, after: raw, chip: true };
  if (core.startsWith("##") && core.length > 2)
    return { before: "", text: shown.slice(2), after: "", chip: false };
  const spaced = slice.texts.some((text) => text.startsWith(" ")); // then blanks are part of tokens
  return {
    before: spaced ? lead : index === 0 ? "" : " ",
    text: shown.slice(lead.length),
    after: "",
    chip: false,
  };
}

/** Tokens that are patches of a picture: they lie as they do in it. */
export interface PatchLayout {
  readonly columns: number;
  cellOf(token: number): number; // −1: none
  crop(token: number): Crop | null;
}

export interface PassageOptions {
  readonly label: Text;
  readonly theme: () => Theme;
  choose(token: number): void;
  point(token: number | null): void;
}

export class Passage {
  readonly element: HTMLElement;
  private readonly name = uniqueId("passage");
  private spans: HTMLElement[] = [];
  private start = 0;
  private chosen: number | null = null;
  private values: ArrayLike<number> | null = null;
  private maximum = 1;
  private signed = false;
  private patches: PatchLayout | null = null;

  constructor(private readonly options: PassageOptions) {
    this.element = make("div", {
      class: "passage",
      role: "listbox",
      tabindex: 0,
      "aria-label": options.label,
    });
    this.element.addEventListener("click", (event) => {
      const token = this.tokenOf(event.target);
      if (token !== null) options.choose(token);
    });
    this.element.addEventListener("pointerover", (event) => options.point(this.tokenOf(event.target)));
    this.element.addEventListener("pointerleave", () => options.point(null));
    this.element.addEventListener("keydown", (event) => this.press(event));
  }

  setTokens(slice: TokenSlice, text: string | null, count: number, patches: PatchLayout | null = null): void {
    this.start = slice.start;
    this.values = null;
    this.spans = [];
    this.patches = patches;
    this.element.toggleAttribute("data-patches", patches !== null);
    if (patches !== null) {
      this.layPatches(slice, count, patches);
      return;
    }
    const parts: (Node | string)[] = [];
    cut(slice, text).forEach((piece, index) => {
      const span = make(
        "span",
        {
          class: piece.chip ? "passage-token passage-chip" : "passage-token",
          role: "option",
          id: `${this.name}-${slice.start + index}`,
          "aria-setsize": count,
          "aria-posinset": slice.start + index + 1,
          "aria-selected": "false",
          "data-token": slice.start + index,
        },
        piece.text,
      );
      this.spans.push(span);
      parts.push(piece.before, span, piece.after);
    });
    this.element.dir = "auto";
    this.element.replaceChildren(...parts.filter((part) => part !== ""));
    this.mark(this.chosen);
  }

  /** Patches in rows and columns; tokens that are none above them. */
  private layPatches(slice: TokenSlice, count: number, { columns, cellOf, crop }: PatchLayout): void {
    const others = make("div", { class: "passage-others", role: "presentation" });
    const parts: Node[] = [];
    setStyle(this.element, { "--columns": String(columns) });
    slice.shown.forEach((shown, index) => {
      const token = slice.start + index;
      const cell = cellOf(token);
      const part = cell < 0 ? null : crop(token);
      const span = make(
        "span",
        {
          class: cell < 0 ? "passage-token passage-chip" : "passage-token passage-patch",
          role: "option",
          id: `${this.name}-${token}`,
          "aria-setsize": count,
          "aria-posinset": token + 1,
          "aria-selected": "false",
          "aria-label": shown,
          title: shown,
          "data-token": token,
        },
        part === null ? shown : drawCrop(part, PATCH, false),
      );
      this.spans.push(span);
      if (cell < 0) {
        others.append(span);
        return;
      }
      setStyle(span, {
        "grid-row": String(Math.floor(cell / columns) + 2),
        "grid-column": String((cell % columns) + 1),
      });
      parts.push(span);
    });
    this.element.dir = "ltr";
    this.element.replaceChildren(others, ...parts);
    this.mark(this.chosen);
  }

  /** Colour tokens by numbers (for the tokens of the slice), on both sides of zero if signed; null takes the colour away. */
  colour(values: ArrayLike<number> | null, maximum: number, signed = false): void {
    this.values = values;
    this.maximum = maximum;
    this.signed = signed;
    const { table } = this;
    this.spans.forEach((span, index) => {
      const place = this.placeOf(index);
      const [ground, ink] = place > 0 ? [pick(table, place), inkOn(table, place)] : ["", ""];
      if (span.classList.contains("passage-patch")) setStyle(span, { "--veil": ground || "transparent" });
      else setStyle(span, { "background-color": ground, color: ink });
    });
  }

  /** Ring the chosen token. */
  mark(token: number | null): void {
    const before = this.chosen === null ? undefined : this.spans[this.chosen - this.start];
    before?.setAttribute("aria-selected", "false");
    this.chosen = token;
    const now = token === null ? undefined : this.spans[token - this.start];
    now?.setAttribute("aria-selected", "true");
    if (now === undefined) this.element.removeAttribute("aria-activedescendant");
    else this.element.setAttribute("aria-activedescendant", now.id);
  }

  /** Tokens from there on are not written yet. */
  fade(from: number): void {
    this.spans.forEach((span, index) => {
      span.toggleAttribute("data-later", this.start + index >= from);
    });
  }

  reveal(token: number, smooth: boolean): void {
    const span = this.spans[token - this.start];
    if (typeof span?.scrollIntoView === "function")
      span.scrollIntoView({ block: "nearest", behavior: smooth ? "smooth" : "auto" });
  }

  /** The passage as it stands, as SVG from its own top left; with its size. */
  picture(look: { ink: string; faint: string; accent: string }): {
    body: string;
    width: number;
    height: number;
  } {
    const box = this.element.getBoundingClientRect();
    const { table } = this;
    const size = Number.parseFloat(getComputedStyle(this.element).fontSize) || 16;
    let height = 0;
    const body = this.spans.map((span, index) => {
      const place = this.placeOf(index);
      const chosen = this.chosen === this.start + index;
      const ring = chosen ? ` stroke="${look.accent}" stroke-width="2"` : "";
      const rectangles = [...span.getClientRects()];
      const boxes = rectangles.map((rectangle) => {
        height = Math.max(height, rectangle.bottom - box.top);
        if (place <= 0 && !chosen) return "";
        const at = `x="${figure(rectangle.left - box.left)}" y="${figure(rectangle.top - box.top)}"`;
        const fill = place > 0 ? pick(table, place) : "none";
        return `<rect ${at} width="${figure(rectangle.width)}" height="${figure(rectangle.height)}" rx="3" fill="${fill}"${ring}/>`;
      });
      const first = rectangles[0];
      if (first === undefined) return "";
      const crop = this.patches?.crop(this.start + index) ?? null;
      if (crop !== null) {
        const picture = writeCrop(crop, first.left - box.left, first.top - box.top, first.width);
        return `${picture}<g opacity="${VEIL}">${boxes.join("")}</g>`;
      }
      const chip = span.classList.contains("passage-chip");
      const ink = place > 0 ? inkOn(table, place) : chip ? look.faint : look.ink;
      const small = chip ? 0.8 * size : size;
      const y = first.top - box.top + first.height / 2 + 0.35 * small;
      const text =
        `<text x="${figure(first.left - box.left + first.width / 2)}" y="${figure(y)}" text-anchor="middle"` +
        ` font-size="${figure(small)}" fill="${ink}" data-token="${this.start + index}"` +
        ` data-value="${this.values?.[index] ?? ""}">${escapeText(span.textContent ?? "")}</text>`;
      return boxes.join("") + text;
    });
    return { body: body.join(""), width: box.width, height };
  }

  private get table(): Uint8Array {
    return (this.signed ? diverging : sequential)(this.options.theme());
  }

  private placeOf(index: number): number {
    const value = this.values?.[index] ?? 0;
    if (this.signed && value !== 0 && this.maximum > 0)
      return Math.round(128 + 127 * Math.max(-1, Math.min(1, value / this.maximum)));
    return value > 0 && this.maximum > 0
      ? Math.max(1, Math.min(255, Math.round((255 * value) / this.maximum)))
      : 0;
  }

  private tokenOf(target: EventTarget | null): number | null {
    const span = target instanceof Element ? target.closest<HTMLElement>("[data-token]") : null;
    return span === null ? null : Number(span.dataset.token);
  }

  private press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.start + this.spans.length - 1;
    const now = this.chosen ?? this.start;
    const right = getComputedStyle(this.element).direction === "rtl" ? -1 : 1;
    const [down, across] = ARROWS[event.key] ?? [0, 0];
    const ends: Readonly<Record<string, number>> = { Home: this.start, End: last };
    const wish =
      down !== 0 ? this.lineAway(now, down) : across !== 0 ? now + right * across : ends[event.key];
    if (wish === undefined) return;
    const to = Math.max(this.start, Math.min(last, wish));
    consume(event);
    this.options.choose(to);
  }

  /** The token above or below, on the screen. */
  private lineAway(token: number, direction: number): number {
    const here = this.spans[token - this.start]?.getBoundingClientRect();
    if (here === undefined) return token;
    let best = token;
    let distance = Number.POSITIVE_INFINITY;
    let line: number | null = null;
    for (let at = token - this.start + direction; at >= 0 && at < this.spans.length; at += direction) {
      const box = this.spans[at]!.getBoundingClientRect();
      if (Math.abs(box.top - here.top) < here.height / 2) continue;
      line ??= box.top;
      if (Math.abs(box.top - line) > here.height / 2) break;
      const away = Math.abs(box.left + box.width / 2 - here.left - here.width / 2);
      if (away < distance) [best, distance] = [at + this.start, away];
    }
    return best;
  }
}
