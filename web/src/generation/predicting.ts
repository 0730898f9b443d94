/**
 * Predicting: the form, the run, and the words as they come.
 *
 * In:   a workbench and the request that made the open recording.
 * Out:  a form and a live text; the new recording is opened when it is there.
 */

import { Decoding, type Predicts } from "../marks/decoding";
import { make } from "../marks/make";
import { Words } from "../marks/words";
import { type RecordingSource, Refusal } from "../source";
import type { DecodeRequest, JobRequest, StepDescription } from "../types";
import type { Workbench } from "../view";
import type { Home } from "./part";
import { decodingOf, pathTo, probability } from "./paths";

/** What a recording's model can predict. */
export function predictsOf({ description }: RecordingSource): Predicts {
  if (description.output?.kind === "classes") return "classes";
  return description.shape === "encoder" ? "masks" : "words";
}

export class Predicting {
  readonly form: Decoding;
  readonly live = make("section", { class: "generation-live", hidden: true });
  private readonly streamed: Words;
  private running: AbortController | null = null;
  private gone = false;

  constructor(
    private readonly home: Home,
    private readonly workbench: Workbench,
  ) {
    const { word, stage } = home;
    this.form = new Decoding({
      word,
      predicts: predictsOf(stage.source),
      send: (decode) => this.run(decode),
      cancel: () => this.running?.abort(),
    });
    this.streamed = new Words(word.writing, () => {});
    this.live.append(make("h2", {}, word.writing), this.streamed.element);
    const decode = decodingOf(stage.source.description.generation, workbench.again({})?.decode);
    if (decode) this.form.fill(decode); // the server writes null for what was not said
  }

  /** Predict as the form says, or with another text. */
  start(change: Partial<JobRequest> = {}): void {
    if (this.running === null) this.run(this.form.read(), change);
  }

  private run(decode: DecodeRequest | null, change: Partial<JobRequest> = {}): void {
    const known = this.workbench.again(decode === null ? {} : { decode });
    if (known === null) {
      this.form.say(this.home.word.noRequest);
      return;
    }
    const running = new AbortController();
    const heard: StepDescription[] = [];
    this.running = running;
    this.form.setBusy(true);
    this.form.say("");
    this.live.hidden = false;
    this.streamed.show([]);
    this.workbench
      .run(
        { ...known, kind: "generate", ...change },
        (event) => {
          if (this.gone) return;
          if ("job" in event) this.form.tell(event.job);
          else this.hear(heard, event.step);
        },
        running.signal,
      )
      .then(
        (id) => {
          if (!this.gone) this.workbench.go(id);
        },
        (error: unknown) => this.failed(error, running.signal.aborted),
      )
      .finally(() => {
        this.running = null;
        if (!this.gone) this.form.setBusy(false);
      });
  }

  private failed(error: unknown, cancelled: boolean): void {
    if (this.gone) return;
    this.live.hidden = true;
    if (cancelled) this.form.say(this.home.word.cancelled);
    else this.form.say(error instanceof Refusal ? error.sentence : String(error));
  }

  /** A word has come, or one more hypothesis; shown is the best text so far. */
  private hear(heard: StepDescription[], step: StepDescription): void {
    heard.push(step);
    let best = heard.length - 1;
    while (best > 0 && heard[best]!.beam !== 0) best--;
    const tree = heard.some((each) => each.parent !== null);
    const path = tree
      ? pathTo(heard, best).map((place) => heard[place]!)
      : heard.filter((each) => each.beam === 0);
    this.streamed.show(path.map((each) => ({ text: each.text, share: probability(each) })));
    this.streamed.mark(path.length - 1, path.length);
  }

  unmount(): void {
    this.gone = true;
    this.running?.abort();
  }
}
