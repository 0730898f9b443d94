import { describe, expect, test, vi } from "vitest";
import { createSelection, nothingSelected } from "../core/selection";
import { invent } from "../testing/recording";
import { onKey } from "./keyboard";
import { signal } from "./signals";
import type { App } from "./state";
import { Views } from "./views";

function open(view: string) {
  const { source } = invent({ layers: 3, heads: 4 });
  const store = createSelection({
    ...nothingSelected,
    view,
    place: source.description.maps[1]!.place,
    head: 2,
  });
  const start = vi.fn();
  const form = { sequence: "text", model: "zoo/gpt2", text: "a" };
  const app = {
    store,
    view: signal(view),
    open: signal(source),
    shortcuts: signal(true),
    words: signal({ headNumber: String, layer: "" }),
    subject: signal({ kind: "recording", now: source }),
    views: new Views(),
    chooseView: (name: string) => store.set({ view: name }),
    announce: () => {},
    server: {},
    runs: { form: signal(form), running: signal(null), start, model: () => undefined },
  } as unknown as App;
  const doors = { help: vi.fn(), table: vi.fn() };
  const press = (key: string, ctrlKey = false) => {
    const event = new KeyboardEvent("keydown", { key, ctrlKey, cancelable: true });
    onKey(app, event, doors);
    return event.defaultPrevented;
  };
  return { store, doors, start, press };
}

describe("keys", () => {
  test("head, layer and averages", () => {
    const { store, press } = open("heatmap");
    expect(press(".")).toBe(true);
    expect(store.get().head).toBe(3);
    press("]");
    expect(store.get().place?.layer).toBe(2);
    press("a");
    expect(store.get().head).toBe("mean");
  });

  test("beside the playground they leave the recording alone; others do what they do", () => {
    const { store, doors, start, press } = open("playground");
    const before = store.get();
    for (const key of [".", ",", "[", "]", "a", "m", "p"]) expect(press(key)).toBe(false);
    press("Enter", true);
    expect(store.get()).toBe(before);
    expect(start).not.toHaveBeenCalled();
    press("t");
    press("?");
    expect([doors.table, doors.help].map((door) => door.mock.calls.length)).toEqual([1, 1]);
    press("1");
    expect(store.get().view).toBe("canvas");
  });

  test("Ctrl-Enter runs the model where its form is seen", () => {
    const { start, press } = open("heatmap");
    press("Enter", true);
    expect(start).toHaveBeenCalledOnce();
  });
});
