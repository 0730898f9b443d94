/**
 * Cells that leave for a spreadsheet.
 *
 * In:   a value, which may be a token that somebody wrote.
 * Out:  its text, which no spreadsheet runs.
 */

/** A leading = + - @, also a wide one, would be a formula, quoted or not. Numbers keep their sign. */
export function harmless(value: string | number | null): string {
  const text = value === null ? "" : String(value);
  return typeof value === "string" && /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/u.test(text) ? `'${text}` : text;
}
