/**
 * The sound and its attention as a saved image.
 *
 * In:   samples, numbers of frames, words.
 * Out:  a standalone SVG.
 */

import type { SoundDescription } from "../../api/types";
import { round } from "../../core/formats";
import { outlineWave } from "../../core/maths/wave";
import type { TimeCell } from "../../core/media";
import type { Theme } from "../../core/view";
import { colourScale } from "../../marks/cells";
import { figure, inks, label, sheet } from "../../marks/paper";
import { clip } from "../../marks/text";
import type { HeardWord } from "./alignment";
import { middleOf, ticksOf } from "./chart";

const WIDTH = 640;
const GUTTER = 90;
const [WAVE, STRIP, ROW] = [70, 26, 20];

export interface Sheet {
  readonly samples: Int16Array;
  readonly sound: SoundDescription;
  readonly cells: readonly TimeCell[];
  readonly values: Float32Array | null;
  readonly signed: boolean;
  readonly heard: readonly HeardWord[];
  weight(row: number, key: number): number;
  moment(second: string): string; // as a person reads it
  readonly theme: Theme;
  readonly title: string;
  readonly caption: readonly string[];
}

export function writeSheet(given: Sheet): string {
  const { samples, sound, cells, values, signed, heard, theme } = given;
  const ink = inks(theme);
  const x = (second: number) => GUTTER + ((WIDTH - GUTTER) * second) / sound.seconds;
  const kind = signed ? "diverging" : "sequential";
  const row = (value: (key: number) => number, largest: number, top: number, height: number): string => {
    const scale = colourScale([0, largest], kind, false, theme);
    return cells
      .map(({ row: key, from, to }) => {
        const at = `x="${figure(x(from))}" y="${top}" width="${figure(x(to) - x(from))}" height="${height}"`;
        return `<rect ${at} fill="${scale.css(value(key))}" data-frame="${key}" data-value="${value(key)}"/>`;
      })
      .join("");
  };
  const top = sound.words.length > 0 ? 20 : 0;
  let body = sound.words
    .map(({ text, start, end }) => {
      const box = `x="${figure(x(start))}" y="0" width="${figure(x(end) - x(start))}" height="18"`;
      const name = label(clip(text, 14), (x(start) + x(end)) / 2, 13, { fill: ink.ink, anchor: "middle" });
      return `<rect ${box} fill="${ink.line}"/>${name}`;
    })
    .join("");
  const wave = outlineWave(samples, WIDTH - GUTTER).map(([at, low, high]) => {
    const y = (value: number) => figure(top + (WAVE / 2) * (1 - value));
    return `M${GUTTER + at} ${y(high)}V${y(Math.min(low, high - 0.02))}`;
  });
  body += `<path d="${wave.join("")}" stroke="${ink.soft}" stroke-width="1" fill="none"/>`;
  let height = top + WAVE + 8;
  if (values !== null) {
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    body += row((key) => values[key]!, largest, height, STRIP);
    height += STRIP + 8;
  }
  for (const word of heard) {
    body += row((key) => given.weight(word.row, key), word.largest, height, ROW - 2);
    body += label(clip(word.text, 12), GUTTER - 8, height + 13, { fill: ink.ink, anchor: "end" });
    const spoken = word.spoken === null ? null : sound.words[word.spoken]!;
    if (spoken !== null)
      body += `<rect x="${figure(x(spoken.start))}" y="${height}" width="${figure(x(spoken.end) - x(spoken.start))}" height="${ROW - 2}" fill="none" stroke="${ink.ink}" stroke-width="1.5"/>`;
    if (word.peak !== null)
      body += `<circle cx="${figure(x(middleOf(word.peak)))}" cy="${height + 9}" r="3" fill="#ffffff" stroke="#000000"/>`;
    height += ROW;
  }
  for (const tick of ticksOf(sound.seconds, 10))
    body += label(given.moment(round(tick)), x(tick), height + 14, {
      fill: ink.faint,
      size: 11,
      anchor: tick === 0 ? "start" : "middle",
    });
  return sheet({
    width: WIDTH,
    height: height + 20,
    body,
    title: given.title,
    caption: given.caption,
    theme,
  });
}
