import { act } from "preact/test-utils";
import { describe, expect, test, vi } from "vitest";
import type { Description, ProbeDescription, RunDescription } from "../../api/types";
import type { RecordingSource, RunSource, Source } from "../../core/source";
import type { Mounted, Stage } from "../../core/view";
import { aView, open, press, runs, settle, still } from "../../testing/page";
import { invent } from "../../testing/recording";
import { noAddress } from "../address";

const STEPS = [0, 5, 100];

function seriesOf(step: number, number: number): ProbeDescription {
  const texts = [0, 1].map((text) => ({
    number: text,
    excerpt: `text ${text}`,
    steps: STEPS.map((each) => ({ step: each, id: `first:${each}:${text}` })),
  }));
  return { run: "first", step, number, texts };
}

/** A run with two texts, each recorded three times. */
function probed(log: string[] = []): Partial<Source> {
  const { source } = invent();
  return {
    runs,
    open: async (id) => {
      const [, step, text] = id.split(":").map(Number);
      const probe = seriesOf(step!, text!);
      const description = { ...source.description, id, probe } as Description;
      const own: RecordingSource = {
        ...source,
        description,
        within: () => own,
        tokens: (side, range) => {
          log.push(`${id} ${side}`);
          return source.tokens(side, range);
        },
      };
      log.push(`open ${id}`);
      return own;
    },
  };
}

const link = (text: string) => ({ place: noAddress(text) });
const START = "recording=first:5:0&view=picture&place=decoder.self.1&head=1&query=2&picture.zoom=3";

function where(element: Element): string {
  return element.querySelector(".training-time output")?.textContent ?? "";
}

/** The page, once the control is there, which is fetched when it is first wanted. */
async function openControl(...given: Parameters<typeof open>) {
  const page = await open(...given);
  await vi.waitFor(() => expect(page.element.querySelector(".training-time")).not.toBeNull());
  await settle();
  return page;
}

describe("the control for training time", () => {
  test("moves through the steps and keeps the place; the other slider of time is not shown", async () => {
    const { element, app } = await openControl(probed(), [aView("picture", {})], link(START));
    expect(where(element)).toBe("step 5 of 100");
    expect(element.querySelectorAll(".transport")).toHaveLength(1);
    const before = app.store.get();
    await press(element, "next-training-step");
    await settle();
    expect(where(element)).toBe("step 100 of 100");
    expect(app.store.get()).toEqual({ ...before, recording: "first:100:0" });
    expect(element.querySelector<HTMLButtonElement>("[data-action=next-training-step]")!.disabled).toBe(true);
    const slider = element.querySelector<HTMLInputElement>("[data-action=training-step]")!;
    await act(() => {
      slider.value = "0";
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await settle();
    expect(where(element)).toBe("before the first step");
    expect(slider.getAttribute("aria-valuetext")).toBe("before the first step");
  });

  test("is on the keys, and plays to the end", async () => {
    const { element, app } = await openControl(probed(), [aView("picture", {})], link(START));
    const key = (name: string) =>
      act(() => {
        element.firstElementChild!.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
      });
    await key("<");
    await settle();
    expect(app.store.get().recording).toBe("first:0:0");
    await key(">");
    await settle();
    expect(app.store.get().recording).toBe("first:5:0");
    await key("p");
    expect(app.playing.value).toBe(true);
    await key("p");
    expect(app.playing.value).toBe(false);
  });

  test("opens another text at the same step, and the run at the same head", async () => {
    const { element, app } = await openControl(
      probed(),
      [aView("picture", {}), aView("learning", { needs: "runs", panel: false } as never)],
      link(START),
    );
    const choice = element.querySelector<HTMLSelectElement>("[data-action=training-text]")!;
    await act(() => {
      choice.value = "1";
      choice.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await settle();
    expect(app.store.get()).toMatchObject({ recording: "first:5:1", head: 1, view: "picture" });
    await press(element, "open-run");
    await settle();
    expect(app.store.get()).toMatchObject({
      recording: "",
      run: "first",
      view: "learning",
      head: 1,
      step: 5,
    });
    expect(app.subject.value.kind).toBe("runs");
  });

  test("a view that can draws the next step in place, others are mounted again", async () => {
    const calls: string[] = [];
    const mounts =
      (name: string, swaps: boolean) =>
      (stage: Stage): Mounted => {
        calls.push(`mount ${name} ${stage.source.description.id}`);
        const swap = () => void calls.push(`swap ${stage.source.description.id}`);
        return { ...still, ...(swaps ? { swap } : {}), unmount: () => void calls.push(`leave ${name}`) };
      };
    const views = [
      aView("picture", { mount: mounts("picture", true) }),
      aView("other", { mount: mounts("other", false) }),
    ];
    const { element, app } = await openControl(probed(), views, link(START));
    await press(element, "next-training-step");
    await settle();
    expect(calls).toEqual(["mount picture first:5:0", "swap first:100:0"]);
    calls.length = 0;
    await act(() => app.chooseView("other"));
    await settle();
    await press(element, "previous-training-step");
    await settle();
    expect(calls).toEqual([
      "leave picture",
      "mount other first:100:0",
      "leave other",
      "mount other first:5:0",
    ]);
  });

  test("asks ahead about the neighbours what the picture has asked", async () => {
    const log: string[] = [];
    const mount = (stage: Stage): Mounted => {
      void stage.source.tokens("source");
      return still;
    };
    await openControl(probed(log), [aView("picture", { mount })], link(START));
    await vi.waitFor(() => {
      expect(log).toContain("first:100:0 source");
      expect(log).toContain("first:0:0 source");
    });
  });

  test("is not there for other recordings", async () => {
    const { source } = invent();
    const plain: Partial<Source> = { open: async () => source };
    const { element } = await open(plain, [aView("picture", {})], link("recording=invented&view=picture"));
    expect(element.querySelector(".training-time")).toBeNull();
    expect(element.querySelector(".transport")).not.toBeNull();
  });
});

describe("the page of a run", () => {
  test("leads to what was recorded nearest to the step in focus", async () => {
    const probes = STEPS.map((step) => ({ step, id: `first:${step}:0` }));
    const [entry] = await runs.list();
    const maps = [0, 1].map((layer) => ({ place: { stack: "decoder", kind: "self", layer, step: null } }));
    const run = { ...(await runs.open("first")).run, probes, maps } as unknown as RunDescription;
    const one: RunSource = { ...(await runs.open("first")), run, within: () => one };
    const source = { ...probed(), runs: { list: async () => [entry!], open: async () => one } };
    const views = [aView("learning", { needs: "runs", panel: false } as never), aView("heatmap", {})];
    const { element, app } = await open(source, views, link("run=first&view=learning&step=60&head=1"));
    await vi.waitFor(() => expect(element.querySelector("[data-action=watch-training]")).not.toBeNull());
    await press(element, "watch-training");
    await settle();
    expect(app.store.get()).toMatchObject({ recording: "first:100:0", run: "", view: "heatmap", head: 1 });
    expect(app.store.get().place).toMatchObject({ stack: "decoder", layer: 1 }); // the last one, where none was chosen
    expect(where(element)).toBe("step 100 of 100");
  });
});
