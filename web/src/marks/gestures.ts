/**
 * Gestures on a map or a plot: the wheel with Ctrl and pinching zoom about the pointer, dragging pans, a tap points.
 * The wheel alone and one finger scroll the page, as everywhere.
 *
 * In:   pointer and wheel events of an element.
 * Out:  what was meant, in CSS pixels from the element's upper left corner.
 */

export interface GestureHandlers {
  zoom(x: number, y: number, factor: number): void;
  pan(dx: number, dy: number): void;
  hover(x: number, y: number): void;
  leave(): void;
  tap(x: number, y: number): void;
}

/** How many pixels of the screen one of an element's own pixels takes: the shell may magnify a view. */
export function magnification(element: Element): number {
  return Number(element.closest<HTMLElement>("[data-zoomed]")?.style.getPropertyValue("--zoom")) || 1;
}

/** Where an event is, from the upper left corner of an element and in its own pixels. */
export function pointIn(element: Element, event: MouseEvent): { x: number; y: number } {
  const { left, top } = element.getBoundingClientRect();
  const size = magnification(element);
  return { x: (event.clientX - left) / size, y: (event.clientY - top) / size };
}

const SLACK = 4; // CSS pixels a tap may wander

/** Returns what takes the listeners away again. */
export function listen(element: HTMLElement, handlers: GestureHandlers): () => void {
  const fingers = new Map<number, { x: number; y: number }>();
  let moved = 0;

  const place = (event: MouseEvent) => pointIn(element, event);
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    element.setPointerCapture?.(event.pointerId);
    fingers.set(event.pointerId, place(event));
    if (fingers.size === 1) moved = 0;
  };
  const move = (event: PointerEvent): void => {
    const now = place(event);
    const before = fingers.get(event.pointerId);
    if (before === undefined) {
      if (event.pointerType !== "touch") handlers.hover(now.x, now.y);
      return;
    }
    moved += Math.hypot(now.x - before.x, now.y - before.y);
    if (fingers.size === 1) {
      if (moved > SLACK && event.pointerType !== "touch") handlers.pan(now.x - before.x, now.y - before.y);
    } else pinch(event.pointerId, before, now);
    fingers.set(event.pointerId, now);
  };
  const pinch = (id: number, before: { x: number; y: number }, now: { x: number; y: number }): void => {
    const other = [...fingers].find(([finger]) => finger !== id)?.[1];
    if (other === undefined) return;
    const width = Math.hypot(now.x - other.x, now.y - other.y);
    const widthBefore = Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
    handlers.zoom((before.x + other.x) / 2, (before.y + other.y) / 2, width / widthBefore);
    handlers.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
  };
  const up = (event: PointerEvent): void => {
    if (!fingers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && moved <= SLACK && fingers.size === 0) {
      const { x, y } = place(event);
      handlers.tap(x, y);
    }
    if (fingers.size > 0) moved = Number.POSITIVE_INFINITY; // the rest of a pinch is no tap
  };
  const wheel = (event: WheelEvent): void => {
    if (!event.ctrlKey && !event.metaKey) return; // a trackpad's pinch arrives as small wheel steps with Ctrl
    event.preventDefault();
    const { x, y } = place(event);
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const far = Math.max(-50, Math.min(50, event.deltaY * lines));
    handlers.zoom(x, y, Math.exp(-far / 100));
  };
  const touch = (event: TouchEvent): void => {
    if (event.touches.length > 1 && event.cancelable) event.preventDefault(); // two fingers are ours
  };
  const leave = (event: PointerEvent): void => {
    if (event.pointerType !== "touch") handlers.leave();
  };

  const controller = new AbortController();
  const { signal } = controller;
  element.addEventListener("pointerdown", down, { signal });
  element.addEventListener("pointermove", move, { signal });
  element.addEventListener("pointerup", up, { signal });
  element.addEventListener("pointercancel", up, { signal });
  element.addEventListener("pointerleave", leave, { signal });
  element.addEventListener("touchmove", touch, { signal, passive: false });
  element.addEventListener("wheel", wheel, { signal, passive: false });
  return () => controller.abort();
}
