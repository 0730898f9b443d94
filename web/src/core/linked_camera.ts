/**
 * What is seen of a picture, kept in the link.
 *
 * In:   a picture that says what it shows in a few words (`at`, null for all of it), and the option with these words.
 * Out:  the option is written a little after the picture moved; the picture follows when the link changes.
 */

import { type Option, optional, text } from "./options";

const WAIT = 250; // milliseconds without a move

export interface Movable {
  at: string | null;
}

/** Three numbers: the middle of what is seen, and how much of it. */
export function cameraOption(): Option<string | null> {
  return optional(text("", (words) => /^-?[\d.]+_-?[\d.]+_[\d.]+$/.test(words)));
}

/** One number: how many times larger it is. */
export function scaleOption(): Option<string | null> {
  return optional(text("", (words) => /^\d[\d.]{0,7}$/.test(words)));
}

export class LinkedCamera {
  private linked: string | null = null;

  constructor(
    private readonly name: string,
    private readonly picture: Movable,
    private readonly option: { get(): string | null; set(at: string | null): void },
    private readonly tasks: { later(name: string, milliseconds: number, act: () => void): void },
  ) {}

  moved(): void {
    this.tasks.later(`link ${this.name}`, WAIT, () => {
      this.linked = this.picture.at;
      this.option.set(this.linked);
    });
  }

  follow(): void {
    const at = this.option.get();
    if (at === this.linked) return;
    this.linked = at;
    this.picture.at = at;
  }
}
