/**
 * Plays samples.
 *
 * In:   samples, where to begin.
 * Out:  the second that is heard, asked for in every frame; `ended` when it is over. Browsers play rates from 8 kHz on, some
 *       from 3 kHz: whether this one plays.
 */

export class Player {
  private context: AudioContext | null = null;
  private node: AudioBufferSourceNode | null = null;
  private started = 0; // by the clock of the context
  private from = 0; // the second that was begun with

  constructor(
    private readonly samples: Int16Array,
    private readonly rate: number,
    private readonly ended: () => void,
  ) {}

  get playing(): boolean {
    return this.node !== null;
  }

  get seconds(): number {
    return this.samples.length / this.rate;
  }

  /** The second that is heard now. */
  get now(): number {
    const passed = this.context === null ? 0 : this.context.currentTime - this.started;
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
    this.context ??= new AudioContext();
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
  }

  stop(): void {
    const { node } = this;
    this.node = null;
    node?.stop();
  }

  close(): void {
    this.stop();
    void this.context?.close();
    this.context = null;
  }
}
