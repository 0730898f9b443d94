/**
 * Boxes in a scrolled element: which one is under the pointer, and bringing one into view.
 *
 * In:   a grid laid out in the element.
 * Out:  a box; a scrolled element.
 */

import { type Box, boxAt, type Grid } from "./grid";

/** The box at a mouse event, if the filter lets it through. */
export function boxUnder(event: MouseEvent, grid: Grid, scroller: HTMLElement): Box | null {
  const edge = scroller.getBoundingClientRect();
  const x = event.clientX - edge.left + scroller.scrollLeft;
  const found = boxAt(grid, x, event.clientY - edge.top + scroller.scrollTop);
  return found?.kept ? found : null;
}

export function reveal(box: Box, { step }: Grid, scroller: HTMLElement): void {
  if (box.y < scroller.scrollTop + 8) scroller.scrollTop = Math.max(0, box.y - 60);
  const below = box.y + step[1] - scroller.clientHeight;
  if (below > scroller.scrollTop) scroller.scrollTop = below + 8;
  if (box.x < scroller.scrollLeft + 30) scroller.scrollLeft = Math.max(0, box.x - 40);
  const right = box.x + step[0] - scroller.clientWidth;
  if (right > scroller.scrollLeft) scroller.scrollLeft = right + 8;
}
