/**
 * Live training: a button that starts and stops it, and figures that change with each step.
 *
 * In:   the rerunner's `play`; the result shown before, if there is one: its figures are filled.
 * Out:  results along the way (the curve grows, the output changes), and the last one from the server.
 */

import type { PlayFigure, PlayLines, PlayMatrix, PlayResult, PlayStep, PlayTopic } from "../../api/types";
import { digits } from "../../core/formats";
import { Refusal } from "../../core/source";
import { isAbort } from "../../core/tasks";
import type { Rerunner, Stage } from "../../core/view";
import { make, write } from "../../marks/make";
import { changedSettings, requestKey, type Settings } from "./settings";
import { words } from "./words";

export interface TrainingHandlers {
  /** What is shown now, and what the controls say. */
  now(): { readonly play: PlayResult | null; readonly settings: Settings };
  /** It starts: other requests are aborted. */
  begin(): void;
  show(play: PlayResult): void;
  explain(error: unknown): string;
}

/** A training, running or ended: it goes on while the page is drawn again in another language. */
export class TrainingRun {
  readonly asked: string;
  readonly steps: PlayStep[] = [];
  state: "running" | "done" | "stopped" | "failed" = "running";
  last: PlayResult | null = null; // what the server found in the end
  error: unknown = null;
  private readonly controller = new AbortController();
  private listener: (() => void) | null = null;

  constructor(
    play: NonNullable<Rerunner["play"]>,
    topic: PlayTopic,
    settings: Settings,
    readonly first: PlayResult | null, // whose figures the steps fill
  ) {
    const { signal } = this.controller;
    this.asked = requestKey(topic, settings);
    const onStep = (step: PlayStep) => {
      this.steps.push(step);
      this.listener?.();
    };
    play(topic.name, changedSettings(topic, settings), onStep, signal)
      .then(
        (last) => {
          this.state = signal.aborted ? "stopped" : "done";
          this.last = last;
        },
        (error: unknown) => {
          const stopped = isAbort(error);
          this.state = stopped ? "stopped" : "failed";
          this.error = error;
        },
      )
      .finally(() => this.listener?.());
  }

  /** The figures after the steps so far; null: there are none yet. */
  get play(): PlayResult | null {
    if (this.state === "done") return this.last;
    return this.first && this.steps.length > 0 ? withSteps(this.first, this.steps) : null;
  }

  listen(listener: (() => void) | null): void {
    this.listener = listener;
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
  private frame = 0;

  constructor(
    private readonly stage: Stage<"none">,
    private readonly topic: PlayTopic,
    private readonly handlers: TrainingHandlers,
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

  /** Hand the run over to the next page. */
  leave(): TrainingRun | null {
    const { run } = this;
    cancelAnimationFrame(this.frame);
    this.run = null;
    run?.listen(null);
    return run;
  }

  private start(): void {
    const { play: before, settings } = this.handlers.now();
    const play = this.stage.rerunner?.play;
    if (!play) return;
    const first = before && hasShape(before, this.topic, settings) ? before : null;
    this.handlers.begin();
    this.follow(new TrainingRun(play, this.topic, settings, first));
  }

  follow(run: TrainingRun): void {
    this.run = run;
    run.listen(() => this.changed(run));
    this.draw(run);
  }

  /** At most one drawing a frame, however fast steps come. */
  private changed(run: TrainingRun): void {
    cancelAnimationFrame(this.frame);
    if (run.state === "running") this.frame = requestAnimationFrame(() => this.draw(run));
    else {
      this.draw(run);
      if (run.state === "done") this.stage.announce(this.state.textContent ?? "");
    }
  }

  private draw(run: TrainingRun): void {
    const say = words(this.stage.language);
    const { state, steps, play, error } = run;
    const last = steps.at(-1);
    write(this.button, state === "running" ? say.stop : say.trainAgain);
    if (state === "running")
      write(this.state, last ? say.training(last.step, digits(last.loss)) : say.waiting);
    else if (state === "done") write(this.state, say.trained(last?.step ?? 0));
    else if (state === "stopped") write(this.state, say.stopped(last?.step ?? 0));
    else if (error instanceof Refusal) write(this.state, this.handlers.explain(error));
    else this.stage.fail(error);
    if (play) this.handlers.show(play);
  }
}

/** Whether a result has the figures of these settings: choices decide which are drawn, numbers only their values. */
function hasShape(play: PlayResult, topic: PlayTopic, settings: Settings): boolean {
  return topic.parameters.every(
    ({ kind, name }) => kind !== "choice" || String(play.parameters[name]) === settings[name],
  );
}

/** A result with the steps so far in its figure "loss" and the last output in its figure "output". */
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
