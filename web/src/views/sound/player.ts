/**
 * Plays samples.
 *
 * In:   samples, where to begin.
 * Out:  the second that is heard, asked for in every frame; `ended` when it is over. Browsers play rates from 8 kHz on, some
 *       from 3 kHz: whether this one plays. Where nothing can be heard, since there is no loudspeaker, time runs all the same.
 */

const PATIENCE = 500; // milliseconds in which a loudspeaker begins

export class Player {
  private context: AudioContext | null = null;
  private node: AudioBufferSourceNode | null = null;
  private started = 0; // by the clock of the context
  private from = 0; // the second that was begun with
  private mute = false; // there is no loudspeaker
  private silentSince: number | null = null; // milliseconds, by the clock of the page
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly samples: Int16Array,
    private readonly rate: number,
    private readonly ended: () => void,
  ) {}

  get playing(): boolean {
    return this.node !== null || this.silentSince !== null;
  }

  get seconds(): number {
    return this.samples.length / this.rate;
  }

  get silent(): boolean {
    return this.mute;
  }

  /** The second that is heard now. */
  get now(): number {
    const heard = this.context === null ? 0 : this.context.currentTime - this.started;
    const passed = this.silentSince === null ? heard : (performance.now() - this.silentSince) / 1000;
    return Math.max(0, Math.min(this.seconds, this.from + passed));
  }

  /** False where the browser refuses: a sound may have any rate. */
  play(from: number): boolean {
    this.stop();
    try {
      this.begin(from);
    } catch {
      return false;
    }
    return true;
  }

  private begin(from: number): void {
    this.context ??= this.open();
    const { context } = this;
    void context.resume();
    const buffer = context.createBuffer(1, this.samples.length, this.rate);
    buffer.copyToChannel(
      Float32Array.from(this.samples, (sample) => sample / 32768),
      0,
    );
    const node = context.createBufferSource();
    node.buffer = buffer;
    node.connect(context.destination);
    node.onended = () => {
      if (this.node !== node) return; // stopped by hand
      this.node = null;
      this.ended();
    };
    node.start(0, from);
    this.node = node;
    this.from = from;
    this.started = context.currentTime;
    if (context.state === "running") return;
    if (this.mute) this.goOnSilently();
    else this.timer = setTimeout(() => this.goOnSilently(), PATIENCE);
  }

  /** A loudspeaker that begins late is heard from there on. */
  private open(): AudioContext {
    const context = new AudioContext();
    context.onstatechange = () => {
      if (!this.mute || context.state !== "running") return;
      this.mute = false;
      if (this.playing) this.play(this.now);
    };
    return context;
  }

  /** No loudspeaker has begun: a browser without one waits for it for ever. */
  private goOnSilently(): void {
    this.mute = this.context?.state !== "running";
    if (!this.mute) return;
    this.stop();
    this.silentSince = performance.now();
    const end = (): void => {
      this.silentSince = null;
      this.ended();
    };
    this.timer = setTimeout(end, 1000 * Math.max(0, this.seconds - this.from));
  }

  stop(): void {
    const { node } = this;
    clearTimeout(this.timer);
    this.silentSince = null;
    this.node = null;
    node?.stop();
  }

  close(): void {
    this.stop();
    void this.context?.close();
    this.context = null;
  }
}
