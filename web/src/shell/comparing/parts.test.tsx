import { act } from "preact/test-utils";
import { describe, expect, test, vi } from "vitest";
import type { Description, RecordingEntry } from "../../api/types";
import type { Selection } from "../../core/selection";
import { type RecordingSource, Refusal, type Source } from "../../core/source";
import type { Stage } from "../../core/view";
import { aView, open, press, settle, still } from "../../testing/page";
import { invent } from "../../testing/recording";
import { noAddress } from "../address";

const literal = (text: string) => ({ code: "text.literal", parameters: { text }, default: "{text}" });

/** A host with three recordings, and differences of them. */
function host(log: string[] = [], more: string[] = []): Partial<Source> {
  const { source } = invent();
  const entry = (id: string, parent: string | null, text: string, model = "tiny") =>
    ({
      id,
      parent,
      title: literal(`title ${id}`),
      model,
      source_excerpt: text,
      mark: id === "a" ? literal("edited") : null,
      origin: "made",
    }) as unknown as RecordingEntry;
  return {
    recordings: async () => [
      entry("a", "b", "one"),
      entry("b", null, "one"),
      entry("c", null, "two"),
      ...more.map((id) => entry(id, null, "one", "wide")),
    ],
    open: async (id) => {
      log.push(id);
      const [first, second] = id.split("~");
      if (second === "d") throw new Refusal(literal("4 heads and 8"), "comparison.nothing_common", 422);
      const side = (each: string) => ({
        id: each,
        title: literal(`title ${each}`),
        model: "tiny",
        mark: null,
      });
      const difference = second
        ? { first: side(first!), second: side(second), identical: false, notes: [literal("left out: old")] }
        : null;
      const description = {
        ...source.description,
        id,
        title: literal(`title ${id}`),
        difference,
      } as Description;
      const own: RecordingSource = { ...source, description, within: () => own };
      return own;
    },
  };
}

/** A view that says what it is mounted on and told. */
function watcher(stages: Stage[], told: [string, Selection][]) {
  return aView("picture", {
    mount: (stage) => {
      stages.push(stage);
      return {
        ...still,
        update: (now) => told.push([stage.source.description.id, now]),
      };
    },
  });
}

const link = (text: string) => ({ place: noAddress(text) });

describe("the comparison of two recordings", () => {
  test("is chosen from the list: of an edit its parent first, as a difference", async () => {
    const log: string[] = [];
    const { element } = await open(host(log), [watcher([], [])], link("recording=a&view=picture"));
    expect(element.querySelector(".compare-bar")).toBeNull();
    await press(element, "compare");
    await vi.waitFor(() => expect(element.querySelector(".compare-bar")).not.toBeNull());
    const groups = [...element.querySelectorAll(".compare-bar optgroup")];
    expect(groups.map((group) => group.getAttribute("label"))).toEqual(["Before the edit", "The same model"]);
    const select = element.querySelector<HTMLSelectElement>(".compare-bar select")!;
    await act(async () => {
      select.value = "b";
      select.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await vi.waitFor(() => expect(log).toContain("a~b"));
    await settle();
    expect(element.querySelector("[data-compared]")?.textContent).toBe("title a · tiny − title b · tiny");
    expect(element.querySelector(".compare-bar")?.textContent).toContain("left out: old");
  });

  test("of the same text in another model starts side by side; a refused difference stays so and says why", async () => {
    const log: string[] = [];
    const { element, app } = await open(
      host(log, ["d"]),
      [watcher([], [])],
      link("recording=b&view=picture"),
    );
    await press(element, "compare");
    await vi.waitFor(() => expect(element.querySelector(".compare-bar")).not.toBeNull());
    const select = element.querySelector<HTMLSelectElement>(".compare-bar select")!;
    expect([...select.options].map((each) => each.textContent)).toContain("title a · tiny · edited");
    await act(async () => {
      select.value = "d";
      select.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await vi.waitFor(() => expect(app.store.get()).toMatchObject({ recording: "b", beside: "d" }));
    await settle();
    expect(log).not.toContain("b~d");
    expect(element.querySelector("[data-compared]")).toBeNull(); // nothing is subtracted
    await press(element, "compare-difference");
    await vi.waitFor(() => expect(element.querySelector("[data-refused]")).not.toBeNull());
    expect(element.querySelector("[data-refused]")?.textContent).toContain("4 heads and 8");
    expect(log).toContain("b~d");
    expect(app.store.get()).toMatchObject({ recording: "b", beside: "d" });
    expect(app.trouble.peek()).toBeNull();
  });

  test("stands side by side with one selection, and can be swapped and ended", async () => {
    const stages: Stage[] = [];
    const told: [string, Selection][] = [];
    const page = await open(
      host(),
      [watcher(stages, told)],
      link("recording=a&beside=c&view=picture&place=decoder.self.1&head=1"),
    );
    const { element, app } = page;
    await vi.waitFor(() => expect(element.querySelector("[data-beside-host] .view")).not.toBeNull());
    expect(stages.map((stage) => stage.source.description.id)).toEqual(["a", "c"]);
    expect(stages.map((stage) => stage.selection.get().head)).toEqual([1, 1]);
    await act(async () => app.store.set({ head: 0 }));
    expect(told.slice(-2).map(([id, now]) => [id, now.head])).toEqual([
      ["a", 0],
      ["c", 0],
    ]);
    await press(element, "compare-swap");
    await vi.waitFor(() => expect(app.store.get()).toMatchObject({ recording: "c", beside: "a" }));
    await press(element, "compare-difference");
    await vi.waitFor(() => expect(app.open.peek()?.description.id).toBe("c~a"));
    await press(element, "compare-end");
    await vi.waitFor(() => expect(app.open.peek()?.description.id).toBe("c"));
    await settle();
    expect(element.querySelector(".compare-bar")).toBeNull();
    expect(element.querySelector("[data-beside-host]")).toBeNull();
  });
});
