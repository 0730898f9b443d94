/**
 * Live training: a button that starts and stops it, and figures that change with each step.
 *
 * In:   the rerunner's `play`; the result shown before, if there is one: its figures are filled.
 * Out:  results along the way (the curve grows, the output changes), and the last one from the server.
 */

import type { PlayFigure, PlayLines, PlayMatrix, PlayResult, PlayStep, PlayTopic } from "../../api/types";
import { digits } from "../../core/formats";
import { Refusal } from "../../core/source";
import type { Stage } from "../../core/view";
import { Run } from "../../data/run";
import { liveWords } from "../../i18n/core";
import { make, relabel } from "../../marks/make";
import { changedSettings, type Settings } from "./settings";
import { words } from "./words";

export interface TrainingHandlers {
  /** What is shown now, and what the controls say. */
  now(): { readonly play: PlayResult | null; readonly settings: Settings };
  /** It starts: other requests are aborted. */
  begin(): void;
  show(play: PlayResult): void;
  explain(error: unknown): string;
}

type TrainingRun = Run<PlayStep, PlayResult>;

export class Training {
  readonly element: HTMLElement;
  private readonly state: HTMLElement;
  private readonly say: ReturnType<typeof words>;
  private run: TrainingRun | null = null;
  private frame = 0;
  private first: PlayResult | null = null; // whose figures the steps fill

  constructor(
    private readonly stage: Stage<"none">,
    private readonly topic: PlayTopic,
    private readonly handlers: TrainingHandlers,
  ) {
    const say = liveWords(words, () => stage.language);
    this.say = say;
    const press = () => (this.run?.state === "running" ? this.stop() : this.start());
    const name = () =>
      this.run === null ? say.train : this.run.state === "running" ? say.stop : say.trainAgain;
    this.state = make("span", { class: "play-state" }, () => this.describe());
    this.element = make(
      "div",
      { class: "play-training", hidden: !stage.rerunner?.play }, // the page says why
      make("button", { type: "button", class: "button primary", onclick: press }, name),
      this.state,
    );
  }

  stop(): void {
    this.run?.stop();
  }

  leave(): void {
    this.stop();
    cancelAnimationFrame(this.frame);
    this.run = null;
  }

  private start(): void {
    const { play: before, settings } = this.handlers.now();
    const play = this.stage.rerunner?.play;
    if (!play) return;
    const first = before && hasShape(before, this.topic, settings) ? before : null;
    this.handlers.begin();
    const changed = changedSettings(this.topic, settings);
    const run: TrainingRun = new Run((heard, signal) =>
      play(this.topic.name, changed, (step) => heard({ step }), signal),
    );
    this.first = first;
    this.run = run;
    run.show(() => this.changed(run));
    this.draw(run);
  }

  /** At most one drawing a frame, however fast steps come. */
  private changed(run: TrainingRun): void {
    if (run !== this.run) return;
    cancelAnimationFrame(this.frame);
    if (run.state === "running") this.frame = requestAnimationFrame(() => this.draw(run));
    else {
      this.draw(run);
      if (run.state === "done") this.stage.announce(this.state.textContent ?? "");
    }
  }

  private draw(run: TrainingRun): void {
    relabel(this.element);
    if (run.state === "failed" && !(run.error instanceof Refusal)) this.stage.fail(run.error);
    if (run.state === "done") this.handlers.show(run.result!);
    else if (this.first && run.steps.length > 0) this.handlers.show(withSteps(this.first, run.steps));
  }

  private describe(): string {
    const { say, run } = this;
    if (run === null) return "";
    const last = run.steps.at(-1);
    switch (run.state) {
      case "running":
        return last ? say.training(last.step, digits(last.loss)) : say.waiting;
      case "done":
        return say.trained(last?.step ?? 0);
      case "cancelled":
        return say.stopped(last?.step ?? 0);
      case "failed":
        return this.handlers.explain(run.error);
    }
  }
}

/** Whether a result has the figures of these settings: choices decide which are drawn, numbers only their values. */
function hasShape(play: PlayResult, topic: PlayTopic, settings: Settings): boolean {
  return topic.parameters.every(
    ({ kind, name }) => kind !== "choice" || String(play.parameters[name]) === settings[name],
  );
}

/** A result with the steps so far in its figure "loss" and the last output in its figure "output". */
function withSteps(play: PlayResult, steps: readonly PlayStep[]): PlayResult {
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
