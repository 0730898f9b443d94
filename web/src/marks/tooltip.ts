/**
 * A small sheet beside the pointer. It is never in the pointer's way, and never outside the view.
 *
 * In:   an element to live in, a place, what to show.
 * Out:  an element that moves by transform only: no layout while the pointer moves.
 */

import { make } from "./make";

const AWAY = 14; // CSS pixels from the pointer

export class Tooltip {
  readonly element = make("div", { class: "tooltip", role: "presentation", hidden: true });
  private size: { width: number; height: number } | null = null;

  constructor(private readonly host: HTMLElement) {
    host.append(this.element);
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  /** Other words: the size is measured again. */
  fill(...content: readonly Node[]): void {
    this.element.replaceChildren(...content);
    this.size = null;
  }

  /** Beside (x, y), in CSS pixels of the host. */
  show(x: number, y: number): void {
    if (this.element.hidden) {
      this.element.hidden = false;
      this.size = null;
    }
    this.size ??= { width: this.element.offsetWidth, height: this.element.offsetHeight };
    const { width, height } = this.size;
    const [wide, high] = [this.host.clientWidth, this.host.clientHeight];
    const left = x + AWAY + width <= wide ? x + AWAY : Math.max(0, x - AWAY - width);
    const top = y + AWAY + height <= high ? y + AWAY : Math.max(0, y - AWAY - height);
    this.element.style.setProperty("transform", `translate(${Math.round(left)}px, ${Math.round(top)}px)`);
  }

  /** Its content may have changed its size. */
  refresh(): void {
    this.size = null;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
