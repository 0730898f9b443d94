/**
 * Zooming a view that has no camera of its own: all of it is magnified, keeps its width, and its host scrolls.
 *
 * In:   the element of a view, in a host that scrolls; buttons and keys by steps, the wheel with Ctrl about the pointer.
 * Out:  a transform. The wheel alone scrolls the page, as everywhere.
 */

const STEP = 1.25;
const [LEAST, MOST] = [0.5, 4];

/** `changed`: what is drawn has another size, and may be drawn more finely. */
export function magnify(
  host: HTMLElement,
  view: HTMLElement,
  changed: () => void,
  signal: AbortSignal,
): (direction: -1 | 0 | 1) => void {
  let zoom = 1;
  const set = (wanted: number, x: number, y: number): void => {
    const before = zoom;
    zoom = Math.max(LEAST, Math.min(MOST, wanted));
    if (zoom === before) return;
    view.toggleAttribute("data-zoomed", zoom !== 1);
    view.style.setProperty("--zoom", String(zoom));
    const { scrollLeft, scrollTop } = host; // what lies under (x, y) stays there
    host.scrollLeft = ((scrollLeft + x) * zoom) / before - x;
    host.scrollTop = ((scrollTop + y) * zoom) / before - y;
    changed();
  };
  host.addEventListener(
    "wheel",
    (event) => {
      if ((!event.ctrlKey && !event.metaKey) || event.defaultPrevented) return;
      event.preventDefault();
      const box = host.getBoundingClientRect();
      const far = Math.max(-50, Math.min(50, event.deltaY));
      set(zoom * Math.exp(-far / 100), event.clientX - box.left, event.clientY - box.top);
    },
    { signal, passive: false },
  );
  return (direction) =>
    set(direction === 0 ? 1 : zoom * STEP ** direction, host.clientWidth / 2, host.clientHeight / 2);
}
