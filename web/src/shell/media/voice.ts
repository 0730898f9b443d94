/**
 * A synthetic voice that says digits: an example where nobody speaks.
 *
 * In:   words, samples per second.
 * Out:  samples, and when each word is said. Glottal pulses, and hiss, through four resonances that move from sound to sound, as in formant
 *       synthesis since Klatt (1980); frequencies are those of textbooks, roughly.
 */

import type { SaidWord } from "./wav";

interface Sound {
  readonly seconds: number;
  readonly formants: readonly [number, number, number]; // hertz
  readonly voice: number;
  readonly hiss: readonly [number, number]; // loudness, hertz
}

function sound(
  milliseconds: number,
  formants: Sound["formants"],
  voice: number,
  loud = 0,
  hertz = 2500,
): Sound {
  return { seconds: milliseconds / 1000, formants, voice, hiss: [loud, hertz] };
}

const SOUNDS: Readonly<Record<string, Sound>> = {
  w: sound(70, [300, 650, 2200], 0.6),
  ʌ: sound(120, [640, 1200, 2400], 1),
  n: sound(110, [270, 1500, 2500], 0.35),
  a: sound(110, [750, 1300, 2500], 1),
  ɪ: sound(90, [380, 2000, 2600], 0.8),
  i: sound(120, [280, 2250, 2900], 0.7),
  e: sound(110, [480, 1950, 2550], 0.9),
  ɔ: sound(130, [560, 850, 2400], 1),
  o: sound(110, [430, 800, 2300], 0.8),
  r: sound(90, [340, 1100, 1500], 0.6),
  f: sound(110, [400, 1300, 2400], 0, 0.12, 3000),
  v: sound(60, [300, 1100, 2300], 0.3, 0.06, 3000),
  z: sound(90, [280, 1600, 2500], 0.25, 0.15, 3600),
  s: sound(130, [300, 1700, 2500], 0, 0.35, 3700),
  θ: sound(100, [350, 1400, 2500], 0, 0.1, 3000),
  k: sound(50, [300, 2000, 2500], 0),
  t: sound(40, [350, 1800, 2600], 0),
  ʰ: sound(25, [350, 1800, 2600], 0, 0.4, 3200), // behind a closed mouth
};

/** Words that it can say: others were not understood. */
export const SPELT: Readonly<Record<string, string>> = {
  zero: "zɪro",
  one: "wʌn",
  three: "θri",
  four: "fɔr",
  five: "faɪv",
  six: "sɪkʰs",
  eight: "eɪtʰ",
  nine: "naɪn",
};

export const EXAMPLES = ["three one four", "zero six eight", "four nine one"] as const;

const GAP = 0.15; // seconds around words
const PITCH = 115; // hertz, in the middle
const FALLS = 0.2; // share of the pitch, from beginning to end
const HIGHEST = 3400; // hertz of the fourth resonance
const WIDTHS = [70, 100, 150, 250] as const; // hertz of the resonances
const HISS_WIDTH = 900;
const TILT = 0.9; // of the pulses: high frequencies are softer
const LOUDEST = 0.7;

/** A resonance whose middle may change with each sample (Klatt 1980, equation 1). */
class Resonance {
  private last = 0;
  private before = 0;
  private readonly radius: number;

  constructor(
    width: number,
    private readonly rate: number,
  ) {
    this.radius = Math.exp((-Math.PI * width) / rate);
  }

  pass(sample: number, hertz: number, flat: boolean): number {
    const turn = (2 * Math.PI * Math.min(hertz, 0.475 * this.rate)) / this.rate;
    const [first, second] = [2 * this.radius * Math.cos(turn), -(this.radius ** 2)];
    const gain = flat ? 1 - first - second : 1 - this.radius; // of silence at 0 hertz: 1
    const passed = gain * sample + first * this.last + second * this.before;
    [this.before, this.last] = [this.last, passed];
    return passed;
  }
}

type Knot = readonly [seconds: number, ...values: number[]]; // formants, voice, hiss, its frequency

/** What is set at which moment, in between it changes evenly; and when each word is said. */
function plan(text: string): readonly [knots: readonly Knot[], words: readonly SaidWord[]] {
  const knots: Knot[] = [];
  const words: SaidWord[] = [];
  let now = 0;
  for (const word of text.split(" ")) {
    const sounds = [...SPELT[word]!].map((name) => SOUNDS[name]!);
    const silent = ({ formants, hiss }: Sound): number[] => [...formants, 0, 0, hiss[1]];
    if (now === 0) knots.push([0, ...silent(sounds[0]!)]);
    now += GAP;
    const start = now;
    knots.push([now, ...silent(sounds[0]!)]);
    for (const { seconds, formants, voice, hiss } of sounds) {
      for (const part of [0.3, 0.7]) knots.push([now + part * seconds, ...formants, voice, ...hiss]);
      now += seconds;
    }
    now += 0.03;
    knots.push([now, ...silent(sounds.at(-1)!)]);
    words.push({ text: word, start, end: now });
  }
  return [[...knots, [now + GAP, ...knots.at(-1)!.slice(1)]], words];
}

/** When each word is said. */
export function timeWords(text: string): readonly SaidWord[] {
  return plan(text)[1];
}

/** The words, spoken one after another. */
export function speak(text: string, rate: number): Float32Array {
  const [knots] = plan(text);
  const samples = new Float32Array(Math.floor(knots.at(-1)![0] * rate));
  const resonances = WIDTHS.map((width) => new Resonance(width, rate));
  const hissing = new Resonance(HISS_WIDTH, rate);
  let [at, phase, pulse, last, seed, most] = [0, 0, 0, 0, 1, 0];
  samples.forEach((_, place) => {
    const now = place / rate;
    while (knots[at + 1]![0] <= now) at++;
    const [from, to] = [knots[at]!, knots[at + 1]!];
    const share = (now - from[0]) / (to[0] - from[0]);
    const [first, second, third, voice, loud, hertz] = from
      .slice(1)
      .map((value, which) => value + share * (to[which + 1]! - value)) as [number, ...number[]];
    phase += (PITCH * (1 + FALLS / 2 - (FALLS * place) / samples.length)) / rate;
    pulse = TILT * pulse + (phase >= 1 ? 1 : 0);
    phase %= 1;
    const middles = [first, second!, third!, HIGHEST];
    const voiced = resonances.reduce(
      (sample, resonance, which) => resonance.pass(sample, middles[which]!, true),
      pulse * voice!,
    );
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0; // the same hiss each time
    const hiss = hissing.pass((seed / 2 ** 31 - 1) * Math.sqrt(3) * loud!, hertz!, false);
    samples[place] = 3 * (voiced - 0.9 * last) + 0.25 * hiss; // lips let high frequencies out
    last = voiced;
    most = Math.max(most, Math.abs(samples[place]!));
  });
  return samples.map((sample) => (sample / most) * LOUDEST);
}
