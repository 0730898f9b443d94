/**
 * The colours of numbers: tables of 256 colours for weights and differences, and one colour for each head.
 *
 * In:   a theme.
 * Out:  bytes (red, green, blue) and CSS colours. Lightness runs evenly from end to end of a table, so that nobody
 *       has to tell hues apart: the order of values survives colour blindness and a grey printer.
 */

import type { Theme } from "../core/view";

type Lch = readonly [lightness: number, chroma: number, hue: number]; // OKLCh, hue in degrees

// Lightness is even between the first and the last stop; the stops in between only lead chroma and hue.
const SEQUENTIAL: Readonly<Record<Theme, readonly Lch[]>> = {
  light: [
    [0.985, 0.006, 220],
    [0.9, 0.045, 222],
    [0.74, 0.11, 238],
    [0.58, 0.16, 262],
    [0.42, 0.19, 281],
    [0.25, 0.13, 290],
  ],
  dark: [
    [0.2, 0.012, 260],
    [0.32, 0.11, 278],
    [0.46, 0.17, 310],
    [0.62, 0.18, 10],
    [0.78, 0.145, 55],
    [0.97, 0.075, 102],
  ],
};

// From a blue through the ground to a red, as in figures (render/figures/parts.py); both arms leave the ground evenly.
const DIVERGING: Readonly<Record<Theme, readonly [Lch, Lch, Lch]>> = {
  light: [
    [0.4, 0.15, 262],
    [0.975, 0.003, 240],
    [0.42, 0.16, 22],
  ],
  dark: [
    [0.82, 0.12, 235],
    [0.24, 0.006, 260],
    [0.8, 0.13, 20],
  ],
};

// Twelve hues that go round in steps of five twelfths: neighbours in number are far apart in hue, and differ in lightness.
const HEADS = 12;
const HUE_STEP = 150;

const tables = new Map<string, Uint8Array>();

/** 256 colours (red, green, blue) from nothing to everything: near-white to deep violet, or near-black to pale yellow. */
export function sequential(theme: Theme): Uint8Array {
  return remember(`sequential ${theme}`, (share) => along(SEQUENTIAL[theme], share));
}

/** 256 colours from the least (blue) through zero (the ground, at place 128) to the most (red). */
export function diverging(theme: Theme): Uint8Array {
  const [low, middle, high] = DIVERGING[theme];
  return remember(`diverging ${theme}`, (share) => {
    const step = 255 * share - 128;
    const side = Math.min(1, Math.abs(step) / 127); // 0 at zero
    const [end, chroma, hue] = step < 0 ? low : high;
    if (step === 0) return middle;
    return [middle[0] + (end - middle[0]) * side, middle[1] + (chroma - middle[1]) * Math.sqrt(side), hue];
  });
}

/** The colour of a head, the same in every view: twelve that are easily told apart, then paler turns of them. */
export function headColour(index: number, theme: Theme): string {
  const turn = Math.floor(index / HEADS);
  const place = index % HEADS;
  const hue = (255 + place * HUE_STEP + turn * 13) % 360;
  const swing = [0, 0.09, -0.06][place % 3] ?? 0;
  const lightness = (theme === "light" ? 0.55 : 0.74) + swing;
  const [red, green, blue] = toBytes([lightness, Math.max(0.05, 0.15 - 0.03 * (turn % 4)), hue]);
  return css(red, green, blue);
}

export function css(red: number, green: number, blue: number): string {
  return `rgb(${red} ${green} ${blue})`;
}

/** The CSS colour of place 0 … 255 in a table. */
export function pick(table: Uint8Array, place: number): string {
  const at = 3 * Math.max(0, Math.min(255, Math.round(place)));
  return css(table[at] ?? 0, table[at + 1] ?? 0, table[at + 2] ?? 0);
}

/** Ink that can be read on place 0 … 255 of a table. */
export function inkOn(table: Uint8Array, place: number): string {
  const at = 3 * Math.round(place);
  return inkOver(table[at]!, table[at + 1]!, table[at + 2]!);
}

/** Black or white, whichever has more contrast: at least 4.58 on any colour. With dark grey for black it is less than 4.5 on some. */
export function inkOver(red: number, green: number, blue: number): "#000000" | "#ffffff" {
  return luminance(red, green, blue) > 0.179 ? "#000000" : "#ffffff";
}

/** Relative luminance (WCAG), 0 to 1. */
export function luminance(red: number, green: number, blue: number): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function remember(name: string, colour: (share: number) => Lch): Uint8Array {
  let table = tables.get(name);
  if (table === undefined) {
    table = new Uint8Array(256 * 3);
    for (let place = 0; place < 256; place++) table.set(toBytes(colour(place / 255)), 3 * place);
    tables.set(name, table);
  }
  return table;
}

function along(stops: readonly Lch[], share: number): Lch {
  const first = stops[0] as Lch;
  const last = stops[stops.length - 1] as Lch;
  const at = share * (stops.length - 1);
  const index = Math.min(Math.floor(at), stops.length - 2);
  const [, chroma, hue] = stops[index] as Lch;
  const [, nextChroma, nextHue] = stops[index + 1] as Lch;
  const way = at - index;
  const turn = ((nextHue - hue + 540) % 360) - 180; // the short way round
  return [first[0] + (last[0] - first[0]) * share, chroma + (nextChroma - chroma) * way, hue + turn * way];
}

/** sRGB bytes of an OKLCh colour; chroma that the screen cannot show is taken back, lightness and hue stay. */
function toBytes([lightness, chroma, hue]: Lch): [number, number, number] {
  let low = 0;
  let high = chroma;
  if (inGamut(toLinear(lightness, chroma, hue))) low = chroma;
  else
    for (let round = 0; round < 20; round++) {
      const middle = (low + high) / 2;
      if (inGamut(toLinear(lightness, middle, hue))) low = middle;
      else high = middle;
    }
  return toLinear(lightness, low, hue).map(gamma) as [number, number, number];
}

function toLinear(lightness: number, chroma: number, hue: number): [number, number, number] {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
}

function inGamut(rgb: readonly number[]): boolean {
  return rgb.every((part) => part >= -1e-6 && part <= 1 + 1e-6);
}

function gamma(part: number): number {
  const clipped = Math.max(0, Math.min(1, part));
  return Math.round(255 * (clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055));
}

function linear(byte: number): number {
  const part = byte / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}
