/**
 * Training live: a button that starts and stops it, and what its steps say put into the figures.
 *
 * In:   the rerunner's `play`; the play shown before, if one came: its figures are filled.
 * Out:  plays on the way (the curve grows, the output changes), and the last one from the server.
 */

import type { PlayFigure, PlayLines, PlayMatrix, PlayResult, PlayStep, PlayTopic } from "../../api/types";
import { digits } from "../../core/formats";
import { Refusal } from "../../core/source";
import type { Rerunner, Stage } from "../../core/view";
import { make, write } from "../../marks/make";
import { question, type Settings, spellQuestion } from "./settings";
import { words } from "./words";

export interface TrainingActs {
  /** What is shown now, and what the controls say. */
  now(): { readonly play: PlayResult | null; readonly settings: Settings };
  /** It starts: nothing else is waited for. */
  begin(): void;
  show(play: PlayResult): void;
  explain(error: unknown): string;
}

/** A training under way, or ended: it goes on while the page is drawn anew in another language. */
export class TrainingRun {
  readonly asked: string;
  readonly steps: PlayStep[] = [];
  state: "running" | "done" | "stopped" | "failed" = "running";
  last: PlayResult | null = null; // what the server found in the end
  error: unknown = null;
  private readonly controller = new AbortController();
  private told: (() => void) | null = null;

  constructor(
    play: NonNullable<Rerunner["play"]>,
    topic: PlayTopic,
    settings: Settings,
    readonly first: PlayResult | null, // whose figures the steps fill
  ) {
    const { signal } = this.controller;
    this.asked = spellQuestion(topic, settings);
    const hear = (step: PlayStep) => {
      this.steps.push(step);
      this.told?.();
    };
    play(topic.name, question(topic, settings), hear, signal)
      .then(
        (last) => {
          this.state = signal.aborted ? "stopped" : "done";
          this.last = last;
        },
        (error: unknown) => {
          const stopped = error instanceof DOMException && error.name === "AbortError";
          this.state = stopped ? "stopped" : "failed";
          this.error = error;
        },
      )
      .finally(() => this.told?.());
  }

  /** The figures as they are by now; null: there are none yet. */
  get play(): PlayResult | null {
    if (this.state === "done") return this.last;
    return this.first && this.steps.length > 0 ? withSteps(this.first, this.steps) : null;
  }

  show(told: (() => void) | null): void {
    this.told = told;
  }

  stop(): void {
    this.controller.abort();
  }
}

export class Training {
  readonly element: HTMLElement;
  private readonly button = make("button", { type: "button", class: "button primary" });
  private readonly state = make("span", { class: "play-state" });
  private run: TrainingRun | null = null;
  private drawing = 0;

  constructor(
    private readonly stage: Stage<"none">,
    private readonly topic: PlayTopic,
    private readonly acts: TrainingActs,
  ) {
    const say = words(stage.language);
    this.element = make("div", { class: "play-training" }, this.button, this.state);
    write(this.button, say.train);
    this.button.addEventListener("click", () => {
      if (this.run?.state === "running") this.stop();
      else this.start();
    });
    this.element.hidden = !stage.rerunner?.play; // the page says why
  }

  stop(): void {
    this.run?.stop();
  }

  /** Hand the run on to the page that follows. */
  leave(): TrainingRun | null {
    const { run } = this;
    cancelAnimationFrame(this.drawing);
    this.run = null;
    run?.show(null);
    return run;
  }

  private start(): void {
    const { play: before, settings } = this.acts.now();
    const play = this.stage.rerunner?.play;
    if (!play) return;
    const first = before && hasShape(before, this.topic, settings) ? before : null;
    this.acts.begin();
    this.follow(new TrainingRun(play, this.topic, settings, first));
  }

  follow(run: TrainingRun): void {
    this.run = run;
    run.show(() => this.hear(run));
    this.tell(run);
  }

  /** At most one drawing a frame, however fast steps come. */
  private hear(run: TrainingRun): void {
    cancelAnimationFrame(this.drawing);
    if (run.state === "running") this.drawing = requestAnimationFrame(() => this.tell(run));
    else {
      this.tell(run);
      if (run.state === "done") this.stage.announce(this.state.textContent ?? "");
    }
  }

  private tell(run: TrainingRun): void {
    const say = words(this.stage.language);
    const { state, steps, play, error } = run;
    const last = steps.at(-1);
    write(this.button, state === "running" ? say.stop : say.trainAgain);
    if (state === "running")
      write(this.state, last ? say.training(last.step, digits(last.loss)) : say.waiting);
    else if (state === "done") write(this.state, say.trained(last?.step ?? 0));
    else if (state === "stopped") write(this.state, say.stopped(last?.step ?? 0));
    else if (error instanceof Refusal) write(this.state, this.acts.explain(error));
    else this.stage.fail(error);
    if (play) this.acts.show(play);
  }
}

/** Choices decide what is drawn, numbers only what stands there. */
function hasShape(play: PlayResult, topic: PlayTopic, settings: Settings): boolean {
  return topic.parameters.every(
    ({ kind, name }) => kind !== "choice" || String(play.parameters[name]) === settings[name],
  );
}

/** A play with the steps so far in its figure "loss" and the last output in its figure "output". */
export function withSteps(play: PlayResult, steps: readonly PlayStep[]): PlayResult {
  const last = steps.at(-1);
  if (!last) return play;
  return {
    ...play,
    figures: play.figures.map((figure): PlayFigure => {
      if (figure.kind === "lines" && figure.id === "loss") return grow(figure, steps);
      if (figure.kind === "matrix" && figure.id === "output") return fill(figure, last);
      return figure;
    }),
  };
}

/** The axis stays as long as the whole training: the curve grows along it. */
function grow(figure: PlayLines, steps: readonly PlayStep[]): PlayLines {
  const first = figure.series[0];
  if (!first) return figure;
  const losses = new Map(steps.map(({ step, loss }) => [step, loss]));
  const x = [...new Set([...figure.x, ...losses.keys()])].sort((one, other) => one - other);
  const values = x.map((step) => losses.get(step) ?? null);
  return { ...figure, x, series: [{ ...first, values }], mark: steps.at(-1)?.step ?? null };
}

function fill(figure: PlayMatrix, { step, rows }: PlayStep): PlayMatrix {
  return { ...figure, title: { ...figure.title, parameters: { steps: step } }, values: rows };
}
