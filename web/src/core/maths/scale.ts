/**
 * Straight and logarithmic scales, and their round ticks.
 *
 * In:   the ends of the data and of the paper.
 * Out:  a function from value to place, its way back, and round values to label.
 */

import { significant } from "../formats";

export interface Scale {
  (value: number): number;
  back(place: number): number;
  ticks(about: number): number[];
  readonly domain: readonly [number, number];
}

export function linear(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [low, high] = domain;
  const size = high - low || 1;
  const scale = (value: number) => range[0] + ((value - low) / size) * (range[1] - range[0]);
  return Object.assign(scale, {
    domain,
    back: (place: number) => low + ((place - range[0]) / (range[1] - range[0] || 1)) * size,
    ticks: (about: number) => ticks(low, high, about),
  });
}

/** Equal factors lie equally far apart; the ends are above zero. Marked at powers of ten where there are two or more. */
export function logarithmic(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [low, high] = domain.map(Math.log10) as [number, number];
  const straight = linear([low, high], range);
  const powers = (about: number): number[] => {
    const first = Math.ceil(low - 1e-9);
    const every = Math.max(1, Math.ceil((high - first + 1e-9) / Math.max(1, about)));
    const found: number[] = [];
    for (let power = first; power <= high + 1e-9; power += every) found.push(significant(10 ** power, 12));
    return found.length > 1 ? found : ticks(domain[0], domain[1], about);
  };
  return Object.assign((value: number) => straight(Math.log10(value)), {
    domain,
    back: (place: number) => 10 ** straight.back(place),
    ticks: powers,
  });
}

/** Round values between two ends, 1, 2 or 5 times a power of ten apart. */
export function ticks(low: number, high: number, about: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    [1, 2, 5, 10].map((times) => times * power).find((each) => each >= rough * 0.999) ?? 10 * power;
  const found: number[] = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at++) {
    found.push(significant(at * step, 12));
  }
  return found;
}
