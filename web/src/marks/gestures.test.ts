import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { type GestureHandlers, listen } from "./gestures";

type Calls = { [K in keyof GestureHandlers]: ReturnType<typeof vi.fn> };

let element: HTMLElement;
let handlers: Calls;
let stopListening: () => void;

beforeEach(() => {
  element = document.createElement("div");
  element.setPointerCapture = () => {};
  handlers = { zoom: vi.fn(), pan: vi.fn(), hover: vi.fn(), leave: vi.fn(), tap: vi.fn() };
  stopListening = listen(element, handlers as unknown as GestureHandlers);
});

afterEach(() => stopListening());

function pointer(type: string, x: number, y: number, more: PointerEventInit = {}): void {
  const event = new PointerEvent(type, {
    clientX: x,
    clientY: y,
    pointerId: 1,
    pointerType: "mouse",
    button: 0,
    ...more,
  });
  element.dispatchEvent(event);
}

describe("handlers", () => {
  it("hover without a button, pan with one", () => {
    pointer("pointermove", 10, 20);
    expect(handlers.hover).toHaveBeenCalledWith(10, 20);
    pointer("pointerdown", 10, 20);
    pointer("pointermove", 30, 25);
    expect(handlers.pan).toHaveBeenCalledWith(20, 5);
    pointer("pointerup", 30, 25);
    expect(handlers.tap).not.toHaveBeenCalled();
  });

  it("tap when they hardly move", () => {
    pointer("pointerdown", 10, 20);
    pointer("pointermove", 12, 20);
    pointer("pointerup", 12, 20);
    expect(handlers.tap).toHaveBeenCalledWith(12, 20);
    expect(handlers.pan).not.toHaveBeenCalled();
  });

  it("zoom by pinching, about the middle of two fingers, and are no tap afterwards", () => {
    const first = { pointerId: 1, pointerType: "touch" };
    const second = { pointerId: 2, pointerType: "touch" };
    pointer("pointerdown", 100, 100, first);
    pointer("pointerdown", 200, 100, second);
    pointer("pointermove", 300, 100, second);
    expect(handlers.zoom).toHaveBeenCalledWith(150, 100, 2);
    expect(handlers.pan).toHaveBeenCalledWith(50, 0);
    pointer("pointerup", 300, 100, second);
    pointer("pointerup", 100, 100, first);
    expect(handlers.tap).not.toHaveBeenCalled();
  });

  it("leave the page's scrolling alone: the wheel without Ctrl, and one finger", () => {
    const event = new WheelEvent("wheel", { deltaY: 100, cancelable: true });
    element.dispatchEvent(event);
    expect(event.defaultPrevented).toBe(false);
    const finger = { pointerType: "touch" };
    pointer("pointerdown", 100, 100, finger);
    pointer("pointermove", 100, 160, finger);
    expect(handlers.zoom).not.toHaveBeenCalled();
    expect(handlers.pan).not.toHaveBeenCalled();
  });

  it("zoom by wheel with Ctrl about the pointer, in and out by the same factor", () => {
    for (const deltaY of [-100, 100]) {
      const event = new WheelEvent("wheel", { deltaY, cancelable: true });
      element.dispatchEvent(Object.assign(event, { clientX: 5, clientY: 6, ctrlKey: true }));
      expect(event.defaultPrevented).toBe(true);
    }
    const [near, far] = handlers.zoom.mock.calls as [number, number, number][];
    expect(near!.slice(0, 2)).toEqual([5, 6]);
    expect(near![2]).toBeGreaterThan(1);
    expect(near![2] * far![2]).toBeCloseTo(1, 9);
  });

  it("leave other buttons alone, and everything after the end", () => {
    pointer("pointerdown", 10, 20, { button: 2 });
    pointer("pointerup", 10, 20, { button: 2 });
    expect(handlers.tap).not.toHaveBeenCalled();
    stopListening();
    pointer("pointermove", 1, 1);
    expect(handlers.hover).not.toHaveBeenCalled();
  });
});
