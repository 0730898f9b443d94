import { act } from "preact/test-utils";
import { describe, expect, test, vi } from "vitest";
import type { Mounted, Stage } from "../core/view";
import { aView, leavePage, open, press, recordings, settle, still } from "../testing/page";
import { invent } from "../testing/recording";
import { noAddress } from "./address";

describe("zoom", () => {
  test("works in a view without a camera of its own: its picture is magnified", async () => {
    const resize = vi.fn();
    const picture = aView("picture", { mount: () => ({ ...still, resize }) });
    const { element } = await open(recordings(), [picture]);
    const zoom = () => element.querySelector<HTMLElement>(".view-picture")!.style.getPropertyValue("--zoom");
    await press(element, "zoom-in");
    expect(zoom()).toBe("1.25");
    expect(resize).toHaveBeenCalled();
    await press(element, "zoom-in");
    await press(element, "fit");
    expect(zoom()).toBe("1");
  });

  test("is kept in the link, and a link opens with it", async () => {
    const link = "recording=invented&view=picture&place=decoder.self.0&head=0&picture.magnify=1.25";
    const { element, app } = await open(recordings(), [aView("picture", {}), aView("other", {})], {
      place: noAddress(link),
    });
    const zoom = (view: string) =>
      element.querySelector<HTMLElement>(`.view-${view}`)!.style.getPropertyValue("--zoom");
    expect(zoom("picture")).toBe("1.25");
    await press(element, "zoom-in");
    expect(app.store.get().options).toEqual({ "picture.magnify": "1.563" });
    await act(() => app.chooseView("other"));
    await settle();
    expect(zoom("other")).toBe("");
    await act(() => app.chooseView("picture"));
    await settle();
    expect(zoom("picture")).toBe("1.563");
    await press(element, "reset");
    expect([zoom("picture"), app.store.get().options]).toEqual(["1.25", { "picture.magnify": "1.25" }]);
  });

  test("magnifies where a view has no camera of its own for what it shows now", async () => {
    const own = vi.fn();
    let camera = false;
    const mount = (): Mounted => ({
      ...still,
      get zoom() {
        return camera ? own : undefined;
      },
    });
    const { element } = await open(recordings(), [aView("picture", { mount })]);
    const zoom = () => element.querySelector<HTMLElement>(".view-picture")!.style.getPropertyValue("--zoom");
    await press(element, "zoom-in");
    expect([zoom(), own.mock.calls]).toEqual(["1.25", []]);
    camera = true;
    await press(element, "zoom-in");
    expect([zoom(), own.mock.calls]).toEqual(["1.25", [[1]]]);
  });
});

test("Reset ends where the link began, also where a view keeps its zoom in the link", async () => {
  const mount = ({ selection }: Stage<"recording">): Mounted => ({
    ...still,
    zoom: (direction) => selection.set({ options: { "picture.at": String(direction) } }),
  });
  const { element, app } = await open(recordings(), [aView("picture", { mount })]);
  await press(element, "zoom-in");
  expect(app.store.get().options).toEqual({ "picture.at": "1" });
  await press(element, "reset");
  expect(app.store.get().options).toEqual({});
});

describe("the control of time", () => {
  const slider = (element: Element) => element.querySelector("[data-action=step]");

  test("is the view's own where it has one, and p plays that", async () => {
    const togglePlay = vi.fn();
    const own = aView("own", { transport: false, mount: () => ({ ...still, togglePlay }) });
    const { element, app } = await open(recordings(), [own]);
    expect(slider(element)).toBeNull();
    await act(() => void element.dispatchEvent(new KeyboardEvent("keydown", { key: "p", bubbles: true })));
    expect(togglePlay).toHaveBeenCalledTimes(1);
    expect(app.playing.value).toBe(false);
  });

  test("is not there where it would change nothing: a text read at once has no steps", async () => {
    const { element } = await open(recordings(), [aView("steps", { transport: "steps" })]);
    expect(slider(element)).toBeNull();
  });

  test("comes and goes with what a view shows: tokens that it moves, or others", async () => {
    let moves = false;
    const mount = (): Mounted => ({
      ...still,
      get moves() {
        return moves;
      },
    });
    const { element, app } = await open(recordings(), [aView("picture", { mount })]);
    expect(slider(element)).toBeNull();
    moves = true;
    await act(() => app.store.option("picture.stack", "decoder"));
    expect(slider(element)).not.toBeNull();
  });
});

describe("controls of the attention", () => {
  test("that could choose nothing else are not shown", async () => {
    const { source } = invent({ layers: 1, heads: 1 });
    const one = { ...recordings(), open: async () => source };
    const { element } = await open(one, [aView("picture", {})]);
    expect(element.querySelector("[data-family], [data-action=layer], [data-head]")).toBeNull();
    expect(element.querySelector(".choice")?.textContent).toContain("one head and one layer");
    leavePage();
    const several = await open(recordings(), [aView("picture", {})]);
    expect(several.element.querySelectorAll("[data-head]").length).toBe(4); // two heads, two averages
  });

  test("name the model of a file that was not made here", async () => {
    const server = {
      about: async () => ({ workbench: true, limits: {} }),
      presets: async () => [],
      jobs: async () => [],
      models: async () => [],
    };
    const options = { server: server as never };
    const { element } = await open(recordings(), [aView("picture", {})], options);
    const row = element.querySelector("[data-action=predict]")?.parentElement;
    expect(row?.textContent).toContain("Its model is invented");
  });
});
