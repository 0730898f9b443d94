/**
 * A picture on a sheet: a standalone SVG with a title above and a caption below, in inks of its own.
 *
 * In:   SVG elements as text, their size, words.
 * Out:  one SVG file that needs no style sheet, script or font from elsewhere.
 */

import { figure } from "../core/formats";
import type { Theme } from "../core/view";
import { textWidth } from "./text";

export interface Inks {
  readonly ground: string;
  readonly ink: string;
  readonly soft: string;
  readonly faint: string;
  readonly line: string;
  readonly accent: string;
}

export interface Sheet {
  readonly width: number; // of the body
  readonly height: number;
  readonly body: string; // SVG elements
  readonly title: string;
  readonly caption: readonly string[];
  readonly theme: Theme;
}

const INKS: Readonly<Record<Theme, Inks>> = {
  light: {
    ground: "#ffffff",
    ink: "#1a1c23",
    soft: "#474c58",
    faint: "#656b78",
    line: "#e0e2e7",
    accent: "#4a41c4",
  },
  dark: {
    ground: "#161920",
    ink: "#e9ebf0",
    soft: "#bac0cc",
    faint: "#9098a7",
    line: "#2b303a",
    accent: "#aaa6ff",
  },
};

const MARGIN = 24;
const FONT =
  "system-ui, 'Segoe UI', 'Helvetica Neue', 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif";

export function inks(theme: Theme): Inks {
  return INKS[theme];
}

/** Text for SVG; what XML forbids is left out. */
export function escapeText(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no way to write these
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
      .replace(/&/g, "&amp;")
      .replace(/</g, "&lt;")
      .replace(/>/g, "&gt;")
      .replace(/"/g, "&quot;")
  );
}

export { figure };

/** One line of text at a place. */
export function label(
  text: string,
  x: number,
  y: number,
  look: { size?: number; fill: string; anchor?: "start" | "middle" | "end"; weight?: number },
): string {
  const anchor = look.anchor === undefined ? "" : ` text-anchor="${look.anchor}"`;
  const weight = look.weight === undefined ? "" : ` font-weight="${look.weight}"`;
  return (
    `<text x="${figure(x)}" y="${figure(y)}" font-size="${look.size ?? 12}" fill="${look.fill}"${anchor}${weight}` +
    ` xml:space="preserve">${escapeText(text)}</text>`
  );
}

export function sheet({ width, height, body, title, caption, theme }: Sheet): string {
  const { ground, ink, soft } = inks(theme);
  const full = Math.max(width, 320) + 2 * MARGIN;
  const lines = caption.flatMap((line) => wrap(line, full - 2 * MARGIN));
  const top = MARGIN + 28;
  const bottom = top + height + 24;
  const tall = bottom + lines.length * 16 + MARGIN - 8;
  const words = lines
    .map((line, index) => label(line, MARGIN, bottom + index * 16, { fill: soft, size: 11 }))
    .join("");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(full)}" height="${Math.ceil(tall)}"` +
    ` viewBox="0 0 ${Math.ceil(full)} ${Math.ceil(tall)}" font-family="${FONT}" role="img">` +
    `<title>${escapeText(title)}</title><desc>${escapeText(caption.join(" "))}</desc>` +
    `<rect width="100%" height="100%" fill="${ground}"/>` +
    label(title, MARGIN, MARGIN + 12, { fill: ink, size: 15, weight: 600 }) +
    `<g transform="translate(${MARGIN} ${top})">${body}</g>${words}</svg>`
  );
}

/** Lines that fit a width at 11 px, by a guess at letter widths. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  let used = 0;
  for (const part of text.match(/[\u2e80-\uffef]|[^\s\u2e80-\uffef]+|\s+/gu) ?? []) {
    const size = textWidth(part, 11);
    if (used + size > width && line !== "" && part.trim() !== "") {
      lines.push(line.trimEnd());
      line = "";
      used = 0;
    }
    line += part;
    used += size;
  }
  if (line.trim() !== "") lines.push(line.trimEnd());
  return lines;
}

/** The page's own inks, as CSS variables: for SVG drawn on the page. */
export const SCREEN: Inks = {
  ground: "var(--panel)",
  ink: "var(--ink)",
  soft: "var(--ink-soft)",
  faint: "var(--ink-faint)",
  line: "var(--line)",
  accent: "var(--accent)",
};
