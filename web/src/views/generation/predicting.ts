/**
 * Predicting: the form, the run, and the words as they come.
 *
 * In:   a rerunner and the request that made the open recording.
 * Out:  a form and a live text; the new recording is opened when it is there.
 */

import type { DecodeRequest, JobRequest, StepDescription } from "../../api/types";
import { decodingOf, pathTo, probability } from "../../core/generation";
import { formatText } from "../../core/messages";
import { errorText, type RecordingSource } from "../../core/source";
import type { Rerunner } from "../../core/view";
import { Run } from "../../data/run";
import { make } from "../../marks/make";
import { WordRow } from "../../marks/word_row";
import { Decoding, type DecodingText, type Predicts } from "./decoding";
import type { GenerationSetting } from "./panel";

/** What a recording's model can predict. */
export function predictsOf({ description }: RecordingSource): Predicts {
  if (description.output && description.output.kind !== "tokens") return "classes"; // tags and numbers, too
  return description.shape === "encoder" ? "masks" : "words";
}

/** What goes on while the view is mounted anew. */
export interface KeptPredicting {
  readonly run: Run | null;
  readonly form: DecodingText;
}

export class Predicting {
  readonly form: Decoding;
  readonly live = make("section", { class: "generation-live", hidden: true });
  private readonly streamed: WordRow;
  private run: Run | null = null; // the last one

  constructor(
    private readonly setting: GenerationSetting,
    private readonly rerunner: Rerunner,
    kept: KeptPredicting | undefined,
  ) {
    const { say: word, stage } = setting;
    this.form = new Decoding({
      word,
      predicts: predictsOf(stage.source),
      send: (decode) => this.predict(decode),
      cancel: () => this.run?.stop(),
    });
    this.streamed = new WordRow(
      () => word.writing,
      () => {},
    );
    this.live.append(
      make("h2", {}, () => word.writing),
      this.streamed.element,
    );
    const decode = decodingOf(stage.source.description.generation, rerunner.again({})?.decode);
    if (kept) this.form.fill(kept.form);
    else if (decode) this.form.fill({ ...decode }); // the server writes null for what was not said
    if (kept?.run) this.follow(kept.run);
  }

  /** Predict as the form says, or with another text. */
  start(change: Partial<JobRequest> = {}): void {
    if (this.run?.state !== "running") this.predict(this.form.read(), change);
  }

  private predict(decode: DecodeRequest | null, change: Partial<JobRequest> = {}): void {
    const { rerunner } = this;
    const known = rerunner.again(decode === null ? {} : { decode });
    if (known === null) {
      const { say, stage } = this.setting;
      this.form.say(() => say.noRequest(stage.source.description.model));
      return;
    }
    this.run?.show(null);
    this.form.say("");
    const request: JobRequest = { ...known, kind: "generate", ...change };
    const run = new Run((...heard) => rerunner.run(request, ...heard), rerunner.go);
    this.follow(run);
  }

  private follow(run: Run): void {
    this.run = run;
    run.show((step) => (step === null ? this.tell(run) : this.write(run.steps)));
    this.live.hidden = false;
    this.write(run.steps);
    this.tell(run);
  }

  /** How far it is, or how it ended. */
  private tell({ state, job, error }: Run): void {
    const { say: word, stage } = this.setting;
    this.form.setBusy(state === "running");
    if (state === "running") {
      if (job !== null) this.form.tell(job);
      return;
    }
    if (state === "done") return;
    this.live.hidden = true;
    if (state === "cancelled") this.form.say(() => word.cancelled);
    else this.form.say(() => formatText(errorText(error), stage.language));
  }

  /** Words have come, or one more hypothesis; shown is the best text so far. */
  private write(heard: readonly StepDescription[]): void {
    let best = heard.length - 1;
    while (best > 0 && heard[best]!.beam !== 0) best--;
    const tree = heard.some((each) => each.parent !== null);
    const path = tree
      ? pathTo(heard, best).map((place) => heard[place]!)
      : heard.filter((each) => each.beam === 0);
    this.streamed.show(path.map((each) => ({ text: each.text, share: probability(each) })));
    this.streamed.mark(path.length - 1, path.length);
  }

  keep(): KeptPredicting {
    const { run } = this;
    this.run = null;
    run?.show(null);
    return { run, form: this.form.texts() };
  }

  unmount(): void {
    this.run?.show(null);
    this.run?.stop();
  }
}
