/**
 * What the four panels have alike: a heading, a way to the full view, and what they show.
 *
 * In:   a title, a line below it, what opens.
 * Out:  a figure.
 */

import { drawRamp } from "../../marks/cells";
import { draw, make, type Text, write } from "../../marks/make";
import type { Inks } from "../../marks/paper";

export interface Drawing {
  readonly body: string; // SVG elements
  readonly width: number;
  readonly height: number;
}

/** One of the four. */
export interface Panel {
  readonly frame: Frame;
  /** Another selection: load what it needs, and draw. */
  update(): void;
  /** Other marks, or another size. */
  redraw(): void;
  zoom(direction: -1 | 0 | 1): void;
  write(inks: Inks): Promise<Drawing>;
  unmount(): void;
}

const RAMP = 64; // pixels of the bar of colours
const CORNERS = "M9.5 3h3.500v3.500M13 3 9 7M6.500 13H3V9.500M3 13l4-4";

export class Frame {
  readonly element: HTMLElement;
  private readonly heading = make("h2");
  private readonly note = make("p", { class: "canvas-note" });
  private readonly ramp = draw("svg", { width: RAMP, height: 8, "aria-hidden": "true" });
  private readonly ends = [make("span"), make("span")] as const;
  private readonly legend = make("p", { class: "canvas-legend", hidden: true });
  private readonly trouble = make("p", { class: "canvas-empty", role: "status", hidden: true });

  constructor(
    name: string,
    private readonly body: HTMLElement,
    label: Text,
    open: () => void,
  ) {
    const icon = draw("svg", {
      class: "icon",
      viewBox: "0 0 16 16",
      width: 16,
      height: 16,
      "aria-hidden": "true",
    });
    icon.append(draw("path", { d: CORNERS }));
    const button = make(
      "button",
      { type: "button", class: "button quiet square", "aria-label": label, title: label, onclick: open },
      icon,
    );
    const [low, high] = this.ends;
    this.legend.append(low, this.ramp, high);
    const header = make("header", {}, this.heading, this.legend, button, this.note);
    this.element = make(
      "section",
      { class: "canvas-panel", "data-canvas": name },
      header,
      body,
      this.trouble,
    );
  }

  get title(): string {
    return this.heading.textContent ?? "";
  }

  get about(): string {
    return this.note.textContent ?? "";
  }

  name(title: string, note: string): void {
    write(this.heading, title);
    write(this.note, note);
    this.note.title = note;
  }

  /** Why there is nothing to see here; null: there is. The other panels go on. */
  say(trouble: string | null): void {
    write(this.trouble, trouble ?? "");
    this.trouble.hidden = trouble === null;
    this.body.hidden = trouble !== null;
  }

  /** What the first and the last colour mean. */
  colours(table: Uint8Array, low: string, high: string): void {
    this.legend.hidden = false;
    this.ramp.replaceChildren(...drawRamp(table, RAMP, 8));
    write(this.ends[0], low);
    write(this.ends[1], high);
  }
}

/** A panel of what the recording lacks: it says what it needs. */
export function emptyPanel(name: string, title: () => string, why: () => string): Panel {
  const frame = new Frame(name, make("div"), "", () => {});
  frame.element.querySelector("button")?.remove();
  const update = (): void => {
    frame.name(title(), "");
    frame.say(why());
  };
  update();
  return {
    frame,
    update,
    redraw() {},
    zoom() {},
    unmount() {},
    write: async () => ({ body: "", width: 0, height: 0 }),
  };
}
