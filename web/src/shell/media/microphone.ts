/**
 * The microphone: what is said, as a WAV file of the rate that a model wants.
 *
 * In:   permission of a person; a longest time.
 * Out:  the level while it is recorded, then the samples; `MicrophoneError` says what is in the way.
 */

import { encodeWav, mixChannels } from "./wav";

export type Hindrance = "denied" | "noDevice" | "inUse" | "insecure";

export class MicrophoneError extends Error {
  constructor(readonly hindrance: Hindrance) {
    super(hindrance);
  }
}

const HINDRANCES: Readonly<Record<string, Hindrance>> = {
  NotAllowedError: "denied",
  SecurityError: "denied",
  NotFoundError: "noDevice",
  OverconstrainedError: "noDevice",
  NotReadableError: "inUse",
  AbortError: "inUse",
};

export interface Speaking {
  /** From 0 to 1. */
  level(): number;
  seconds(): number;
  /** Ends it; the file. */
  stop(): Promise<Blob>;
  /** Ends it for nothing. */
  discard(): void;
}

/** Starts to record; the microphone is given back as soon as it stops. What lies behind `most` seconds is cut off. */
export async function listen(rate: number, most: number): Promise<Speaking> {
  const devices = navigator.mediaDevices as MediaDevices | undefined; // none on pages without https
  if (!devices) throw new MicrophoneError("insecure");
  const stream = await devices
    .getUserMedia({ audio: { channelCount: 1, echoCancellation: false, noiseSuppression: false } })
    .catch((error: unknown) => {
      const known = error instanceof DOMException ? HINDRANCES[error.name] : undefined;
      throw known ? new MicrophoneError(known) : error;
    });
  try {
    return record(stream, rate, most);
  } catch (error) {
    giveBack(stream);
    throw error;
  }
}

function giveBack(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

function record(stream: MediaStream, rate: number, most: number): Speaking {
  const recorder = new MediaRecorder(stream);
  const context = new AudioContext();
  const release = (): void => {
    giveBack(stream);
    void context.close();
  };
  const analyser = context.createAnalyser();
  analyser.fftSize = 1024;
  context.createMediaStreamSource(stream).connect(analyser);
  const wave = new Float32Array(analyser.fftSize);
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const ended = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }));
  recorder.start();
  const began = performance.now();
  return {
    level() {
      analyser.getFloatTimeDomainData(wave);
      return wave.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
    },
    seconds: () => (performance.now() - began) / 1000,
    async stop() {
      if (recorder.state !== "inactive") recorder.stop(); // it stops by itself where the microphone is taken away
      await ended;
      release();
      const decoder = new OfflineAudioContext(1, 1, rate); // decodes at its own rate
      const buffer = await decoder.decodeAudioData(await new Blob(parts).arrayBuffer());
      return encodeWav(mixChannels(buffer).subarray(0, Math.floor(most * rate)), rate);
    },
    discard() {
      if (recorder.state !== "inactive") recorder.stop();
      release();
    },
  };
}
