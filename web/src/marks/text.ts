/**
 * Texts where no canvas can measure them: in saved pictures.
 *
 * In:   a text.
 * Out:  its width as a good guess; a text cut to some letters.
 */

const WIDE = "\u2e7f"; // scripts beyond have letters as wide as high

/** Pixels of a text in regular letters of `size`; ask for a larger size where it must not be less. */
export function textWidth(text: string, size: number): number {
  let width = 0;
  for (const letter of text) width += letter > WIDE ? size : 0.536 * size;
  return width;
}

/** Whether letters are squares that can stand one below the other, as in Chinese. */
export function isWide(text: string): boolean {
  return [...text].some((letter) => letter > WIDE);
}

/** At most so many letters, an ellipsis among them. */
export function clip(text: string, most: number): string {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}
