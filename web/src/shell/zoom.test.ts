import { expect, test, vi } from "vitest";
import { pointIn } from "../marks/gestures";
import { Magnifier } from "./zoom";

function stand() {
  const host = document.createElement("div");
  const view = host.appendChild(document.createElement("div"));
  const changed = vi.fn();
  const end = new AbortController();
  const kept: (string | null)[] = [];
  const camera = { own: false };
  const owner = { isWanted: () => !camera.own, changed, keep: (zoom: string | null) => kept.push(zoom) };
  const magnifier = new Magnifier(host, view, owner, end.signal);
  const zoom = (direction: -1 | 0 | 1) => magnifier.step(direction);
  const wheel = (deltaY: number, ctrlKey: boolean): WheelEvent => {
    const event = Object.assign(new WheelEvent("wheel", { deltaY, cancelable: true }), {
      ctrlKey,
      clientX: 40,
      clientY: 30,
    });
    host.dispatchEvent(event);
    return event;
  };
  return {
    host,
    view,
    changed,
    end,
    zoom,
    kept,
    camera,
    magnifier,
    wheel,
    scale: () => Number(view.style.getPropertyValue("--zoom")),
  };
}

test("steps zoom in and out within limits, and 0 shows all", () => {
  const { view, changed, zoom, scale } = stand();
  zoom(1);
  expect(scale()).toBeCloseTo(1.25);
  expect(view.hasAttribute("data-zoomed")).toBe(true);
  expect(changed).toHaveBeenCalledTimes(1);
  zoom(-1);
  expect(view.hasAttribute("data-zoomed")).toBe(false);
  for (let time = 0; time < 20; time++) zoom(1);
  expect(scale()).toBe(4);
  for (let time = 0; time < 40; time++) zoom(-1);
  expect(scale()).toBe(0.5);
  zoom(0);
  expect(scale()).toBe(1);
});

test("the wheel zooms with Ctrl about the pointer, and alone scrolls the page", () => {
  const { host, wheel, scale, end } = stand();
  expect(wheel(-50, false).defaultPrevented).toBe(false);
  expect(scale()).toBe(0);
  [host.scrollLeft, host.scrollTop] = [100, 200];
  expect(wheel(-50, true).defaultPrevented).toBe(true);
  expect(scale()).toBeCloseTo(Math.exp(0.5), 3);
  expect(host.scrollLeft).toBeCloseTo(140 * Math.exp(0.5) - 40, 0);
  expect(host.scrollTop).toBeCloseTo(230 * Math.exp(0.5) - 30, 0);
  end.abort();
  expect(wheel(-50, true).defaultPrevented).toBe(false);
});

test("a pointer over a magnified view is found in the view's own pixels", () => {
  const { view, zoom } = stand();
  const mark = view.appendChild(document.createElement("canvas"));
  const event = new MouseEvent("click", { clientX: 50, clientY: 25 });
  expect(pointIn(mark, event)).toEqual({ x: 50, y: 25 });
  zoom(1);
  expect(pointIn(mark, event)).toEqual({ x: 40, y: 20 });
});

test("a link keeps it, and what a link says is shown; a camera of the view's own goes first", () => {
  const { zoom, kept, camera, magnifier, scale, wheel } = stand();
  zoom(1);
  zoom(0);
  expect(kept).toEqual(["1.25", null]);
  magnifier.follow("1.953");
  expect(scale()).toBe(1.953);
  magnifier.follow("nonsense");
  expect(scale()).toBe(1);
  camera.own = true;
  magnifier.follow("1.953");
  expect(scale()).toBe(1);
  expect(wheel(-50, true).defaultPrevented).toBe(false);
  expect(kept.length).toBe(2); // what a link says is not written again
});
