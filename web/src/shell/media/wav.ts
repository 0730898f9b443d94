/** Samples as a WAV file. */

/** One channel, 16 bits. */
export function encodeWav(samples: Float32Array, rate: number): Blob {
  const bytes = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  const write = (at: number, text: string): void => {
    for (const [offset, letter] of [...text].entries()) bytes.setUint8(at + offset, letter.charCodeAt(0));
  };
  write(0, "RIFF");
  bytes.setUint32(4, 36 + 2 * samples.length, true);
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
  return new Blob([bytes.buffer], { type: "audio/wav" });
}

/** The mean of all channels. */
export function mixChannels(buffer: AudioBuffer): Float32Array {
  const mixed = new Float32Array(buffer.length);
  for (let channel = 0; channel < buffer.numberOfChannels; channel += 1)
    for (const [at, sample] of buffer.getChannelData(channel).entries())
      mixed[at]! += sample / buffer.numberOfChannels;
  return mixed;
}
