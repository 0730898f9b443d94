/**
 * The transport: first, back, play, forward, last, a slider with chapters, and the speed.
 *
 * In:   how many steps there are and where their chapters begin.
 * Out:  wishes to go somewhere; beats while it plays.
 */

import { draw, make, relabel, write } from "../../marks/make";
import type { WalkWords } from "./words";

const BEAT = 2600; // milliseconds a step at speed 1
const SPEEDS = [0.5, 1, 2, 4] as const;

const SHAPES = {
  first: "M1 1h2v10H1zM11 1v10L4 6z",
  back: "M10 1v10L2 6z",
  play: "M2 1v10l9-5z",
  pause: "M2 1h3v10H2zM7 1h3v10H7z",
  forward: "M2 1v10l8-5z",
  last: "M9 1h2v10H9zM1 1v10l7-5z",
} as const;

function icon(shape: keyof typeof SHAPES): SVGSVGElement {
  return draw("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" }, draw("path", { d: SHAPES[shape] }));
}

export interface Mark {
  readonly at: number;
  readonly name: string;
  readonly stack: string; // whose chapters begin here; "": the same as before
}

export class Player {
  readonly element: HTMLElement;
  private readonly slider: HTMLInputElement;
  private readonly play: HTMLButtonElement;
  private readonly where = make("output", { class: "walk-where" });
  private readonly marks = make("div", { class: "walk-marks" });
  private readonly speed: HTMLSelectElement;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private chapters: readonly Mark[] = [];
  private count = 1;
  private at = 0;

  constructor(
    private readonly say: WalkWords,
    private readonly go: (at: number) => void,
    /** One beat inside the step; false: on to the next. */
    private readonly beat: () => boolean,
  ) {
    const button = (shape: "first" | "back" | "forward" | "last", act: () => void) =>
      make(
        "button",
        {
          type: "button",
          class: "button square small",
          title: () => say[shape],
          "aria-label": () => say[shape],
          onclick: act,
        },
        icon(shape),
      );
    this.slider = make("input", {
      class: "slider",
      type: "range",
      min: 0,
      max: 0,
      "aria-label": () => say.position,
      oninput: () => this.move(this.slider.valueAsNumber),
    });
    this.play = make("button", {
      type: "button",
      class: "button small walk-play",
      onclick: () => this.toggle(),
    });
    this.speed = make(
      "select",
      { "aria-label": () => say.speed },
      ...SPEEDS.map((speed) => make("option", { value: speed, selected: speed === 1 }, `${speed}×`)),
    );
    this.element = make(
      "div",
      { class: "walk-player", role: "group", "aria-label": () => say.position },
      make(
        "div",
        { class: "walk-buttons" },
        button("first", () => this.move(0)),
        button("back", () => this.move(this.at - 1)),
        this.play,
        button("forward", () => this.move(this.at + 1)),
        button("last", () => this.move(this.count - 1)),
        this.speed,
        this.where,
      ),
      make("div", { class: "walk-scrub" }, this.slider, this.marks),
    );
    this.draw();
  }

  private get playing(): boolean {
    return this.timer !== undefined;
  }

  show(at: number, count: number, marks: readonly Mark[], name: string): void {
    this.at = at;
    this.count = count;
    this.draw();
    this.slider.max = String(count - 1);
    this.slider.value = String(at);
    this.slider.setAttribute("aria-valuetext", `${this.say.stepOf(at + 1, count)}: ${name}`);
    write(this.where, this.say.stepOf(at + 1, count));
    this.chapters = marks;
    const key = `${marks.map((mark) => mark.at).join(" ")} ${count}`;
    if (this.marks.dataset.key !== key) {
      this.marks.dataset.key = key;
      const children = marks.flatMap(({ at: start, stack }, place) => [
        stack === "" ? "" : make("b", {}, () => this.chapters[place]!.stack),
        make(
          "button",
          { type: "button", "data-at": start, onclick: () => this.move(start) },
          () => this.chapters[place]!.name,
        ),
      ]);
      this.marks.replaceChildren(...children);
    }
    relabel(this.marks);
    const current = marks.findLast((mark) => mark.at <= at);
    for (const node of this.marks.children)
      node.toggleAttribute("data-now", Number((node as HTMLElement).dataset.at) === current?.at);
    const now = this.marks.querySelector<HTMLElement>("[data-now]");
    if (now) this.marks.scrollLeft = now.offsetLeft - this.marks.clientWidth / 2; // where they do not fit
  }

  /** Keys that mean a step. */
  press(key: string): boolean {
    if (key === "ArrowRight") this.move(this.at + 1);
    else if (key === "ArrowLeft") this.move(this.at - 1);
    else if (key === "Home") this.move(0);
    else if (key === "End") this.move(this.count - 1);
    else if (key === " ") this.toggle();
    else return false;
    return true;
  }

  pause(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.draw();
  }

  private move(at: number): void {
    const to = Math.max(0, Math.min(this.count - 1, at));
    if (this.playing) this.pause();
    if (to !== this.at) this.go(to);
  }

  private toggle(): void {
    if (this.playing) {
      this.pause();
      return;
    }
    if (this.at + 1 >= this.count && !this.beat()) this.go(0);
    this.wait();
    this.draw();
  }

  private wait(inside = false): void {
    const pause = (BEAT * (inside ? 0.4 : 1)) / Number(this.speed.value || 1);
    this.timer = setTimeout(() => {
      if (this.beat()) {
        this.wait(true);
        return;
      }
      if (this.at + 1 >= this.count) {
        this.pause();
        return;
      }
      this.wait();
      this.go(this.at + 1);
    }, pause);
  }

  private draw(): void {
    const name = this.playing ? this.say.pause : this.say.play;
    this.play.replaceChildren(icon(this.playing ? "pause" : "play"), name);
    this.play.setAttribute("aria-pressed", String(this.playing));
  }
}
