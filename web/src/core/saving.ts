/**
 * Files for a person: the picture as SVG or PNG, a table as CSV.
 *
 * In:   a standalone SVG, or a table.
 * Out:  blobs, and a download in this browser.
 */

import { words } from "../i18n/hosts";
import { harmless } from "./csv";
import { exact } from "./formats";
import { Refusal } from "./source";
import type { TableData } from "./view";

const LARGEST_SIDE = 8192; // of a canvas, with room to spare in every browser

export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A text file for the browser's download folder. */
export function saveText(name: string, text: string, type: string): void {
  save(new Blob([text], { type }), name);
}

export function svgBlob(svg: string): Blob {
  return new Blob([svg], { type: "image/svg+xml;charset=utf-8" });
}

/** Width and height of an SVG, from its attributes or its view box. */
export function sizeOf(svg: string): { readonly width: number; readonly height: number } {
  const root = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const box = (root.getAttribute("viewBox") ?? "").split(/[\s,]+/).map(Number);
  const side = (name: string, fallback: number | undefined): number => {
    const stated = Number.parseFloat(root.getAttribute(name) ?? "");
    return Number.isFinite(stated) && stated > 0 ? stated : (fallback ?? 300);
  };
  return { width: side("width", box[2]), height: side("height", box[3]) };
}

/** A picture with a line of text below it, as wide as it has room. */
export function withCaption(svg: string, text: string, colour: string): string {
  if (!text) return svg;
  const { width, height } = sizeOf(svg);
  const escaped: Record<string, string> = { "&": "&amp;", "<": "&lt;" };
  const letters = Math.max(20, Math.floor(width / 12)); // Chinese ones are as wide as the type is high
  const lines = text.match(new RegExp(`.{1,${letters}}(?:\\s|$)|.{1,${letters}}`, "gu")) ?? [];
  const spans = lines.map(
    (line, place) =>
      `<tspan x="6" y="${height + 14 * (place + 1)}">${line.replace(/[&<]/g, (sign) => escaped[sign] ?? sign)}</tspan>`,
  );
  const whole = height + 14 * lines.length + 8;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${whole}" viewBox="0 0 ${width} ${whole}">${svg.replace(/^<\?xml[^>]*\?>\s*/, "")}<text font-family="sans-serif" font-size="11" fill="${colour}">${spans.join("")}</text></svg>`;
}

/** The SVG on a canvas, twice as fine as on the screen (less where it would be too large). */
export async function pngBlob(svg: string, ground: string): Promise<Blob> {
  const { width, height } = sizeOf(svg);
  const scale = Math.min(2, LARGEST_SIDE / width, LARGEST_SIDE / height);
  const url = URL.createObjectURL(svgBlob(svg));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(width * scale));
    canvas.height = Math.max(1, Math.round(height * scale));
    const context = canvas.getContext("2d");
    if (!context) throw unpaintable();
    context.fillStyle = ground;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise<Blob>((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(unpaintable())), "image/png");
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

type Rows = Pick<TableData, "columns" | "rows">;

/** A table whose every row says that the model was edited, if it was: a row may be copied without its caption. */
export function markTable<T extends Rows>(table: T, mark: string): T {
  if (!mark) return table;
  return {
    ...table,
    columns: [...table.columns, "edited"],
    rows: table.rows.map((row) => [...row, mark]),
  };
}

/** RFC 4180 with exact numbers; a byte-order mark lets spreadsheets read a file as UTF-8. */
export function csv(table: Rows, mark = "\uFEFF"): string {
  const cell = (value: string | number | null): string => {
    const safe = typeof value === "number" ? exact(value) : harmless(value);
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return `${mark}${[table.columns, ...table.rows].map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}

/** For pasting into a spreadsheet. */
export function tabSeparated(table: TableData): string {
  const cell = (value: string | number | null): string => harmless(value).replace(/[\t\r\n]+/g, " ");
  return [table.columns, ...table.rows].map((row) => row.map(cell).join("\t")).join("\n");
}

/** A file name that every system takes. */
export function fileName(parts: readonly string[], ending: string): string {
  const stem = parts
    .join("-")
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}._-]+/gu, "-")
    .replace(/-{2,}/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, 100);
  return `${stem || "picture"}.${ending}`;
}

function unpaintable(): Refusal {
  return new Refusal((language) => words(language).noCanvas, "no_canvas", 0);
}
