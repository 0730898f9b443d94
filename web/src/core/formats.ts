/**
 * Every number that is shown: four significant digits on the screen, as in the terminal; the exact value where someone
 * asks (hover, copy, CSV). A test keeps other files from formatting numbers themselves.
 *
 * In:   numbers.
 * Out:  text, with a true minus sign and figures that align (the style sheet asks for tabular ones).
 */

const MINUS = "\u2212";
const THIN = "\u202f"; // narrow no-break space before a per cent sign

/** Four significant digits: 0.01234, 12.34, 1,234, 1.234e−5. Whole numbers have all of theirs. */
export function digits(value: number | null | undefined, significant = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) return sign(value, grouped(String(size)));
  if (size >= 1e7 || size < 1e-4) return sign(value, power(size, significant - 1));
  const exponent = Number(size.toExponential(significant - 1).split("e")[1]); // after rounding
  const places = Math.max(significant - 1 - exponent, 0);
  const [front = "0", back] = size.toFixed(places).split(".");
  return sign(value, back === undefined ? grouped(front) : `${grouped(front)}.${back}`);
}

/**
 * How the numbers of a column are written: four digits each, points under one another. Blanks as wide as a digit fill
 * both sides.
 */
export function aligned(values: Iterable<unknown>): (value: number) => string {
  const cut = (value: number): readonly [string, string] => {
    const text = digits(value);
    const point = text.indexOf(".");
    return point < 0 ? [text, ""] : [text.slice(0, point), text.slice(point)];
  };
  let [left, right] = [0, 0];
  for (const value of values) {
    if (typeof value !== "number") continue;
    const [front, back] = cut(value);
    [left, right] = [Math.max(left, front.length), Math.max(right, back.length)];
  }
  return (value) => {
    const [front, back] = cut(value);
    const blank = back === "" && right > 0 ? "\u2008".padEnd(right, "\u2007") : back.padEnd(right, "\u2007");
    return front.padStart(left, "\u2007") + blank;
  };
}

/** A count: 12,345. */
export function count(value: number): string {
  return sign(value, grouped(String(Math.round(Math.abs(value)))));
}

/** With so many places behind the point: −0.50. What rounds to zero has no sign. */
export function fixed(value: number, places: number): string {
  if (!Number.isFinite(value)) return digits(value);
  const text = Math.abs(value).toFixed(places);
  return Number(text) === 0 ? text : sign(value, text);
}

/** A count in few letters, as a language writes it: 1.23M, 123万. */
export function compact(value: number, language: string): string {
  return new Intl.NumberFormat(language, { notation: "compact", maximumSignificantDigits: 3 }).format(value);
}

/** A share as per cent: 12.3 %; with so many places behind the point where they are given. */
export function percent(share: number, places?: number): string {
  const value = 100 * share;
  return `${places === undefined ? digits(value, 3) : fixed(value, places)}${THIN}%`;
}

/** A probability as per cent: something small is not nothing. */
export function chance(share: number): string {
  if (share > 0 && share < 1e-4) return `<${THIN}${percent(1e-4, 2)}`;
  return percent(share, share === 0 ? 0 : share < 0.09995 ? 2 : 1);
}

/** The shortest decimal that is this very float32, or float64 where it is none; for copying. */
export function exact(value: number | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (Number.isFinite(value) && Math.fround(value) === value) {
    for (let length = 6; length <= 9; length++) {
      const short = significant(value, length);
      if (Math.fround(short) === value) return String(short);
    }
  }
  return String(value);
}

function sign(value: number, text: string): string {
  return value < 0 ? MINUS + text : text;
}

function power(size: number, places: number): string {
  const [front = "", exponent = ""] = size.toExponential(places).split("e");
  return `${front}e${exponent.replace("-", MINUS).replace("+", "")}`;
}

/** Commas between thousands, as messages have them in either language. */
function grouped(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A round number as it is: 0.2, not 0.200; for the labels of axes. */
export function round(value: number): string {
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e5)) return digits(value, 2);
  return sign(value, String(Math.abs(significant(value, 6))));
}

/** The number with so many significant digits: for sliders, links and scales. */
export function significant(value: number, places: number): number {
  return Number(value.toPrecision(places));
}

/** A number for an attribute or a link: short, never in powers of ten. */
export function figure(value: number, places = 3): string {
  return String(Number(value.toFixed(places)));
}

/** Python's format specifications, as far as messages use them: , .1f .0% .2e .3g +.3g d */
export function formatLikePython(value: number, how: string): string {
  if (/^\+[^+]/.test(how) && Number.isFinite(value)) {
    const plain = formatLikePython(value, how.slice(1));
    return plain.startsWith("-") ? plain : `+${plain}`;
  }
  const found = /^(,?)(?:\.(\d))?([%defg]?)$/.exec(how);
  if (!found || !Number.isFinite(value)) return String(value);
  const [, comma, precision, kind] = found;
  const places = precision === undefined ? 6 : Number(precision);
  if (kind === "%") return `${(value * 100).toFixed(places)}%`;
  if (kind === "e") return value.toExponential(places).replace(/e([+-])(\d)$/, "e$10$2");
  const group = (text: string): string => (comma ? text.replace(/^-?\d+/, grouped) : text);
  if (kind === "f") return group(value.toFixed(places));
  if (kind === "g" || (kind === "" && precision !== undefined)) return general(value, places || 1);
  return group(String(value));
}

function general(value: number, places: number): string {
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(significant(value, places))));
  if (exponent < -4 || exponent >= places) {
    const [mantissa = "", exponentText = ""] = value.toExponential(places - 1).split("e");
    return `${trim(mantissa)}e${exponentText.replace(/^([+-])(\d)$/, "$10$2")}`;
  }
  return trim(value.toFixed(Math.max(0, places - 1 - exponent)));
}

function trim(number: string): string {
  return number.includes(".") ? number.replace(/\.?0+$/, "") : number;
}
