/**
 * Zooming a view that has no camera of its own: all of it is magnified, keeps its width, and its host scrolls.
 *
 * In:   the element of a view, in a host that scrolls; buttons and keys by steps, the wheel with Ctrl about the pointer;
 *       a link that says how large.
 * Out:  a transform. The wheel alone scrolls the page, as everywhere.
 */

import { figure } from "../core/formats";

const STEP = 1.25;
const [LEAST, MOST] = [0.5, 4];

/** The option that keeps it in the link, by the name of the view. */
export function zoomOption(view: string): string {
  return `${view}.magnify`;
}

export class Magnifier {
  private zoom = 1;

  constructor(
    private readonly host: HTMLElement,
    private readonly view: HTMLElement,
    private readonly owner: {
      isWanted(): boolean; // the view has no camera of its own
      changed(): void; // what is drawn has another size, and may be drawn more finely
      keep(zoom: string | null): void; // for the link; null: as large as usual
    },
    signal: AbortSignal,
  ) {
    const wheel = (event: WheelEvent): void => {
      if ((!event.ctrlKey && !event.metaKey) || event.defaultPrevented || !owner.isWanted()) return;
      event.preventDefault();
      const box = host.getBoundingClientRect();
      const far = Math.max(-50, Math.min(50, event.deltaY));
      this.turn(this.zoom * Math.exp(-far / 100), event.clientX - box.left, event.clientY - box.top);
    };
    host.addEventListener("wheel", wheel, { signal, passive: false });
  }

  /** Larger (+1), smaller (-1) or as large as usual (0). */
  step(direction: -1 | 0 | 1): void {
    this.turn(direction === 0 ? 1 : this.zoom * STEP ** direction);
  }

  /** As large as a link says; as usual, where the view has a camera of its own. */
  follow(kept: string | undefined): void {
    this.set(this.owner.isWanted() ? Number(kept ?? 1) || 1 : 1);
  }

  private turn(wanted: number, x?: number, y?: number): void {
    if (this.set(wanted, x, y)) this.owner.keep(this.zoom === 1 ? null : String(this.zoom));
  }

  private set(wanted: number, x = this.host.clientWidth / 2, y = this.host.clientHeight / 2): boolean {
    const { host, view, zoom: before } = this;
    this.zoom = Number(figure(Math.max(LEAST, Math.min(MOST, wanted))));
    if (this.zoom === before) return false;
    view.toggleAttribute("data-zoomed", this.zoom !== 1);
    view.style.setProperty("--zoom", String(this.zoom));
    const { scrollLeft, scrollTop } = host; // what lies under (x, y) stays there
    host.scrollLeft = ((scrollLeft + x) * this.zoom) / before - x;
    host.scrollTop = ((scrollTop + y) * this.zoom) / before - y;
    this.owner.changed();
    return true;
  }
}
