/** Samples as a WAV file, with the words that are said in them where they are known. */

/** A word and the seconds at which it starts and ends. */
export interface SaidWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** One channel, 16 bits; words as labelled regions, as programs that edit sound write them. */
export function encodeWav(samples: Float32Array, rate: number, words: readonly SaidWord[] = []): Blob {
  const regions = words.length > 0 ? [...encodeMarks(words, rate), ...encodeLabels(words, rate)] : [];
  const bytes = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  const write = (at: number, text: string): void => {
    for (const [offset, letter] of [...text].entries()) bytes.setUint8(at + offset, letter.charCodeAt(0));
  };
  const after = regions.reduce((sum, part) => sum + part.byteLength, 0);
  write(0, "RIFF");
  bytes.setUint32(4, 36 + 2 * samples.length + after, true);
  write(8, "WAVEfmt ");
  bytes.setUint32(16, 16, true);
  bytes.setUint16(20, 1, true); // plain samples
  bytes.setUint16(22, 1, true); // channels
  bytes.setUint32(24, rate, true);
  bytes.setUint32(28, 2 * rate, true);
  bytes.setUint16(32, 2, true); // bytes of all channels at a moment
  bytes.setUint16(34, 16, true); // bits
  write(36, "data");
  bytes.setUint32(40, 2 * samples.length, true);
  samples.forEach((sample, at) => {
    const whole = Math.round(sample * 32768);
    bytes.setInt16(44 + 2 * at, Math.min(32767, Math.max(-32768, whole)), true);
  });
  return new Blob([bytes.buffer, ...regions], { type: "audio/wav" });
}

const letters = new TextEncoder();

/** A part of the file: its name, its size, its bytes, which fill whole pairs. */
function chunk(name: string, ...parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(8 + size + (size % 2));
  bytes.set(letters.encode(name));
  new DataView(bytes.buffer).setUint32(4, size, true);
  let at = 8;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function numbers(...values: readonly number[]): Uint8Array<ArrayBuffer> {
  const bytes = new DataView(new ArrayBuffer(4 * values.length));
  for (const [at, value] of values.entries()) bytes.setUint32(4 * at, value, true);
  return new Uint8Array(bytes.buffer);
}

/** Where each word starts. */
function encodeMarks(words: readonly SaidWord[], rate: number): Uint8Array<ArrayBuffer>[] {
  const marks = words.flatMap(({ start }, at) => {
    const sample = Math.round(start * rate);
    return [numbers(at + 1, sample), letters.encode("data"), numbers(0, 0, sample)];
  });
  return [chunk("cue ", numbers(words.length), ...marks)];
}

/** How long each word lasts, and what it is. */
function encodeLabels(words: readonly SaidWord[], rate: number): Uint8Array<ArrayBuffer>[] {
  const labels = words.flatMap(({ text, start, end }, at) => {
    const length = Math.round(end * rate) - Math.round(start * rate);
    const region = [numbers(at + 1, length), letters.encode("rgn "), numbers(0, 0)];
    return [chunk("ltxt", ...region), chunk("labl", numbers(at + 1), letters.encode(`${text}\0`))];
  });
  return [chunk("LIST", letters.encode("adtl"), ...labels)];
}

/** The mean of all channels. */
export function mixChannels(buffer: AudioBuffer): Float32Array {
  const mixed = new Float32Array(buffer.length);
  for (let channel = 0; channel < buffer.numberOfChannels; channel += 1)
    for (const [at, sample] of buffer.getChannelData(channel).entries())
      mixed[at]! += sample / buffer.numberOfChannels;
  return mixed;
}
