/**
 * A small sheet beside the pointer. It is never in the pointer's way, and never outside the view.
 *
 * In:   an element to live in, a place, what to show.
 * Out:  an element that moves by transform only.
 */

import { make } from "./make";
import "./tooltip.css";

const AWAY = 14; // CSS pixels from the pointer

export class Tooltip {
  readonly element = make("div", { class: "tooltip", role: "presentation", hidden: true });

  constructor(private readonly host: HTMLElement) {
    host.append(this.element);
  }

  fill(...content: readonly Node[]): void {
    this.element.replaceChildren(...content);
  }

  /** Beside (x, y), in CSS pixels of the host. */
  show(x: number, y: number): void {
    this.element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const [wide, high] = [this.host.clientWidth, this.host.clientHeight];
    const left = x + AWAY + width <= wide ? x + AWAY : Math.max(0, x - AWAY - width);
    const top = y + AWAY + height <= high ? y + AWAY : Math.max(0, y - AWAY - height);
    this.element.style.setProperty("transform", `translate(${Math.round(left)}px, ${Math.round(top)}px)`);
  }

  hide(): void {
    this.element.hidden = true;
  }
}
