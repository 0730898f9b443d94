/**
 * Numbers for people: three or four digits on the screen, the exact value where someone asks.
 *
 * In:   numbers.
 * Out:  text, with a true minus sign and figures that align (the style sheet asks for tabular ones).
 */

const MINUS = "\u2212";
const THIN = "\u202f"; // narrow no-break space between thousands

/** About four significant digits: 0.0123, 12.3, 1 234, 1.23e−5. */
export function digits(value: number | null | undefined, significant = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) return sign(value, grouped(String(size)));
  if (size >= 1e7 || size < 1e-4) return sign(value, power(size, significant - 1));
  const exponent = Math.floor(Math.log10(size));
  const places = exponent < 0 ? significant - 2 - exponent : Math.max(significant - 1 - exponent, 0);
  const [front = "0", back] = size.toFixed(places).split(".");
  return sign(value, back === undefined ? grouped(front) : `${grouped(front)}.${back}`);
}

/** A count: 12 345. */
export function count(value: number): string {
  return sign(value, grouped(String(Math.round(Math.abs(value)))));
}

/** A share as per cent: 12.3 %. */
export function percent(share: number): string {
  const value = 100 * share;
  return `${digits(value, 3)}\u202f%`;
}

/** The shortest decimal that is this very float32, or float64 where it is none; for copying. */
export function exact(value: number | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (Number.isFinite(value) && Math.fround(value) === value) {
    for (let length = 6; length <= 9; length++) {
      const short = Number(value.toPrecision(length));
      if (Math.fround(short) === value) return String(short);
    }
  }
  return String(value);
}

function sign(value: number, text: string): string {
  return value < 0 ? MINUS + text : text;
}

function power(size: number, places: number): string {
  const [front = "", exponent = ""] = size.toExponential(Math.min(places, 2)).split("e");
  return `${front}e${exponent.replace("-", MINUS).replace("+", "")}`;
}

function grouped(whole: string): string {
  return whole.length < 5 ? whole : whole.replace(/\B(?=(\d{3})+$)/g, THIN);
}

/** A round number as it is: 0.2, not 0.200; for the labels of axes. */
export function round(value: number): string {
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e5)) return digits(value, 2);
  return sign(value, String(Math.abs(Number(value.toPrecision(6)))));
}
