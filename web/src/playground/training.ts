/**
 * Training live: a button that starts and stops it, and what its steps say put into the figures.
 *
 * In:   the workbench's `play`; the play shown before, if one came: its figures are filled.
 * Out:  plays on the way (the curve grows, the output changes), and the last one from the server.
 */

import { inBoth } from "../i18n/core";
import { words } from "../i18n/playground";
import { digits } from "../marks/digits";
import { make, write } from "../marks/make";
import { Refusal } from "../source";
import type { Play, PlayFigure, PlayLines, PlayMatrix, PlayStep, PlayTopic } from "../types";
import type { Stage } from "../view";
import { question, type Settings } from "./settings";

export interface TrainingActs {
  /** What is shown now, and what the controls say. */
  now(): { readonly play: Play | null; readonly settings: Settings };
  /** It starts: nothing else is waited for. */
  begin(): void;
  show(play: Play): void;
  explain(error: unknown): string;
}

export class Training {
  readonly element: HTMLElement;
  private readonly button = make("button", { type: "button", class: "button primary" });
  private readonly state = make("span", { class: "play-state" });
  private running: AbortController | null = null;
  private steps: PlayStep[] = [];
  private drawing = 0;

  constructor(
    private readonly stage: Stage,
    private readonly topic: PlayTopic,
    private readonly acts: TrainingActs,
  ) {
    const say = words(stage.language);
    this.element = make("div", { class: "play-training" }, this.button, this.state);
    write(this.button, say.train);
    this.button.addEventListener("click", () => {
      if (this.running) this.stop();
      else void this.start();
    });
    this.element.hidden = !stage.workbench?.play; // the page says why
  }

  get isRunning(): boolean {
    return this.running !== null;
  }

  stop(): void {
    this.running?.abort();
  }

  private async start(): Promise<void> {
    const { play: before, settings } = this.acts.now();
    const play = this.stage.workbench?.play;
    if (!play) return;
    const first = before && hasShape(before, this.topic, settings) ? before : null;
    this.acts.begin();
    const say = words(this.stage.language);
    const mine = new AbortController();
    this.running = mine;
    this.steps = [];
    write(this.button, say.stop);
    write(this.state, say.waiting);
    try {
      const last = await play(
        this.topic.name,
        question(this.topic, settings),
        (step) => this.hear(first, step),
        mine.signal,
      );
      if (mine.signal.aborted) return;
      cancelAnimationFrame(this.drawing);
      this.acts.show(last);
      write(this.state, say.trained(this.steps.at(-1)?.step ?? 0));
      this.stage.announce(say.trained(this.steps.at(-1)?.step ?? 0));
    } catch (error) {
      const stopped = error instanceof DOMException && error.name === "AbortError";
      if (!stopped && !(error instanceof Refusal)) this.stage.fail(error);
      write(this.state, stopped ? say.stopped(this.steps.at(-1)?.step ?? 0) : this.acts.explain(error));
    } finally {
      this.running = null;
      write(this.button, say.trainAgain);
    }
  }

  /** At most one drawing a frame, however fast steps come. */
  private hear(first: Play | null, step: PlayStep): void {
    this.steps.push(step);
    cancelAnimationFrame(this.drawing);
    this.drawing = requestAnimationFrame(() => {
      const say = words(this.stage.language);
      const last = this.steps.at(-1);
      if (!last || this.running === null) return;
      write(this.state, say.training(last.step, digits(last.loss)));
      if (first) this.acts.show(withSteps(first, this.steps));
    });
  }
}

/** Choices decide what is drawn, numbers only what stands there. */
function hasShape(play: Play, topic: PlayTopic, settings: Settings): boolean {
  return topic.parameters.every(
    ({ kind, name }) => kind !== "choice" || String(play.parameters[name]) === settings[name],
  );
}

/** A play with the steps so far in its figure "loss" and the last output in its figure "output". */
export function withSteps(play: Play, steps: readonly PlayStep[]): Play {
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
  return { ...figure, title: inBoth(words, (say) => say.outputAfter(step)), values: rows };
}
