// @vitest-environment happy-dom

import { describe, expect, test, vi } from "vitest";
import type { Description, Job, JobRequest, Spoken } from "../../api/types";
import { Refusal } from "../../core/source";
import type { Rerunner } from "../../core/view";
import { mountAgain, restyle, said, setStage, settle, shown } from "../../testing/recording";
import { arrays, inventWalk, plan } from "../../testing/walk";
import { view } from "./view";

async function open(
  selection: Parameters<typeof setStage>[1] = {},
  change = {},
  rerunner: Rerunner | null = null,
  description: Partial<Description> = {},
) {
  const { source, asked } = inventWalk(change, description);
  const set = setStage(source, selection, rerunner);
  const mounted = view.mount(set.stage);
  set.selection.subscribe((now, before) => mounted.update(now, before));
  await settle();
  return { ...set, mounted, asked, source };
}

/** A rerunner whose run has come to 12.6 % and ends when it is told to. */
function benchOf(opened: Rerunner["open"]) {
  const wanted: JobRequest[] = [];
  let finish = () => {};
  const rerunner: Rerunner = {
    run: (request, heard, signal) => {
      wanted.push(request);
      heard({ job: { share: 0.126 } as Job });
      return new Promise((resolve, reject) => {
        finish = () => resolve("again");
        signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
      });
    },
    again: () => ({ kind: "record", model: "tiny", sequence: "text", text: "Once upon a" }),
    open: opened,
    go: () => {},
  };
  return { rerunner, wanted, finish: () => finish() };
}

const at = (step: string) => ({ options: { "walk.step": step } });
const press = (element: HTMLElement, key: string) =>
  element
    .querySelector(".walk-title")!
    .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

describe("walk", () => {
  test("zoom works in every scene and is in the link; a plain wheel is the page's", async () => {
    for (const step of ["decoder.text", "decoder.0.self.weights", "decoder.glance", "training", "words"]) {
      const { element, mounted, selection } = await open(at(step));
      const board = () =>
        Number.parseFloat(element.querySelector<HTMLElement>(".walk-board")?.style.width ?? "0");
      const scene = element.querySelector<HTMLElement>(".walk-scene")!;
      const before = board();
      mounted.zoom!(1);
      await settle();
      expect(selection.get().options["walk.zoom"]).toBe("1.25");
      const grown = board() > before || scene.style.zoom === "1.25";
      expect([step, grown]).toEqual([step, true]);
      const plain = new WheelEvent("wheel", { deltaY: 100, bubbles: true, cancelable: true });
      scene.dispatchEvent(plain);
      expect(plain.defaultPrevented).toBe(false);
      const pinch = new WheelEvent("wheel", { deltaY: -1, bubbles: true, cancelable: true });
      Object.defineProperty(pinch, "ctrlKey", { value: true });
      scene.dispatchEvent(pinch);
      expect(pinch.defaultPrevented).toBe(true);
      expect(selection.get().options["walk.zoom"]).toBe("1.563");
      mounted.zoom!(0);
      await settle();
      expect(board()).toBe(before);
      mounted.unmount();
    }
  });

  test("keys go from step to step, and the link says where", async () => {
    const { element, selection } = await open();
    expect(element.querySelector(".walk-title")!.textContent).toBe("Text becomes tokens");
    expect([...element.querySelectorAll(".walk-tokens .token")].map((token) => token.textContent)).toEqual([
      "Once",
      "␣upon",
      "␣a",
    ]);
    press(element, "ArrowRight");
    press(element, "ArrowRight");
    await settle();
    expect(selection.get().options["walk.step"]).toBe("decoder.0.self.queries");
    expect(element.querySelector(".walk-chapter")!.textContent).toBe("Layer 0 · Masked self-attention");
    press(element, "End");
    expect(selection.get().options["walk.step"]).toBe("tree");
    press(element, "Home");
    expect(selection.get().options["walk.step"]).toBe("decoder.text");
  });

  test("a product: the head's part of the fused weight, turned; shapes as they are", async () => {
    const { element, asked } = await open({ ...at("decoder.0.self.keys"), head: 1 });
    expect(asked).toContain("trace parameters/qkv.weight  6,8");
    expect(asked).toContain("trace parameters/qkv.bias   6,8");
    expect(element.querySelector(".walk-equation")!.textContent).toBe("E3 × 4·WK4 × 2+b1 × 2→K13 × 2");
  });

  test("where parameters are not at hand, input and result are shown all the same", async () => {
    const { source } = inventWalk();
    const { trace } = source;
    const refuse = () => Promise.reject(new Refusal("It is not in this file.", "not_in_file", 404));
    const refused: typeof trace = (name, ...rest) =>
      name.startsWith("parameters/") ? refuse() : trace(name, ...rest);
    const file = { ...source, trace: refused, cell: refuse };
    const { stage, element } = setStage(file, at("decoder.0.self.keys"));
    view.mount(stage);
    await settle();
    expect(element.querySelectorAll(".walk-matrix").length).toBe(2);
    const told = element.querySelector(".walk-arithmetic")!.textContent;
    expect(told).toContain("The learned weights of this step are not in this file");
    expect(told).toContain("workbench");
  });

  test("the arithmetic of the pinned cell is asked for and written", async () => {
    const { element, asked } = await open({
      options: { "walk.step": "decoder.0.self.queries", "walk.cell": "2,1" },
      head: 1,
    });
    expect(asked).toContain("cell decoder.0.self.queries 2 1 1");
    const value = arrays["decoder/0/self/queries"]![1]![2]![1]!;
    expect(element.querySelector(".walk-arithmetic h3 b:last-child")!.getAttribute("title")).toBe(
      String(value),
    );
    expect(element.querySelector(".walk-terms")!.textContent).toContain("2 × (−3) = −6");
  });

  test("arrow keys on the result move the cell", async () => {
    const { element, selection } = await open({
      options: { "walk.step": "decoder.0.self.products", "walk.cell": "0,0" },
    });
    const board = element.querySelector<HTMLElement>('[data-role="result"] .walk-board')!;
    board.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, cancelable: true }));
    expect(selection.get().options["walk.cell"]).toBe("1,0");
    expect(selection.get().query).toBe(1);
    board.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
    expect(selection.get().options["walk.cell"]).toBe("1,1");
    expect(selection.get().options["walk.step"]).toBe("decoder.0.self.products");
  });

  test("a block of the diagram goes to its step", async () => {
    const { element, selection } = await open();
    element
      .querySelector('[data-block="decoder.0.self.block"]')!
      .dispatchEvent(new Event("click", { bubbles: true }));
    expect(selection.get().options["walk.step"]).toBe("decoder.0.self.queries");
    await settle();
    expect(element.querySelector('[data-block="decoder.0.self.block"]')!.getAttribute("aria-current")).toBe(
      "step",
    );
  });

  test("what was not kept says so", async () => {
    const { element } = await open(at("decoder.0.self.mixed"));
    expect(element.querySelector(".walk-missing")!.textContent).toContain("It was not kept.");
  });

  test("the table holds the numbers of the result, masked ones left out", async () => {
    const { mounted } = await open(at("decoder.0.self.scores"));
    const table = await mounted.table();
    expect(table.columns.slice(1)).toEqual(["Once", "␣upon", "␣a"]);
    expect(table.rows[0]!.slice(2)).toEqual([null, null]);
    expect(table.rows[2]![3]).toBeCloseTo(arrays["decoder/0/self/scores"]![0]![2]![2]!, 5);
  });

  test("the picture holds every number of a small result, and its sentence", async () => {
    const { mounted } = await open(at("decoder.0.self.products"));
    const svg = await mounted.picture();
    expect(svg).toContain("Every query is multiplied with every key");
    expect(
      new DOMParser().parseFromString(svg, "image/svg+xml").querySelectorAll("rect").length,
    ).toBeGreaterThan(9 + 6 + 6);
  });

  test("on paper, indices stand lower, and what a reader hears is plain", async () => {
    const { mounted } = await open({ ...at("decoder.0.self.keys"), head: 1 });
    const page = new DOMParser().parseFromString(await mounted.picture(), "image/svg+xml");
    const lowered = [...page.querySelectorAll("text tspan[font-size]")].map((index) => index.textContent);
    expect(lowered.filter((index) => index === "K").length).toBeGreaterThan(2); // W_K in title, equation, matrix
    expect(lowered).toContain("1"); // K_1, of head 1
    expect(page.querySelector("title")!.textContent).toContain("W_K");
    for (const text of page.querySelectorAll("text")) expect(text.textContent).not.toContain("_K");
  });

  test("playing goes on in another language, as fast as before", async () => {
    const { element, stage, mounted } = await open();
    const play = () => element.querySelector(".walk-play")!;
    element.querySelector<HTMLSelectElement>(".walk-buttons select")!.value = "2";
    play().dispatchEvent(new MouseEvent("click"));
    restyle(mounted, stage);
    await settle();
    expect([play().textContent, play().getAttribute("aria-pressed")]).toEqual(["暂停", "true"]);
    expect(element.querySelector<HTMLSelectElement>(".walk-buttons select")!.value).toBe("2");
    mountAgain(view, mounted, stage);
    await settle();
    expect(play().getAttribute("aria-pressed")).toBe("false"); // on another tab it pauses
  });

  test.each([
    "decoder.text",
    "decoder.0.self.queries",
    "decoder.0.self.mixed",
    "decoder.glance",
    "training",
    "words",
    "tree",
  ])("%s speaks another language in the same elements, as if it had been opened in it", async (step) => {
    const chosen = { ...at(step), query: 2 };
    const said = { token: 2, text: "a", log_probability: -1 };
    const node = { ...said, index: 0, alternatives: [], beam: 0, parent: null, score: -1 };
    const written = {
      output: { kind: "tokens", stack: "decoder", positions: [[said], [said], [said]] },
      generation: { method: "beam", text: "a", steps: [node], nodes: [node] },
    } as unknown as Description;
    const { element, stage, mounted, asked } = await open(chosen, {}, null, written);
    expect(element.querySelector<HTMLElement>(".walk")!.dataset.scene).toBe(step);
    const before = [...element.querySelectorAll("button, input, select, [tabindex]")];
    const count = asked.length;
    restyle(mounted, stage, "zh", "dark");
    await settle();
    const { source } = inventWalk({}, written);
    const fresh = setStage(source, chosen);
    Object.assign(fresh.stage, { language: "zh", theme: "dark" });
    document.body.append(element);
    view.mount(fresh.stage);
    await settle();
    expect(element.innerHTML.replace(/tree-\d+/g, "tree")).toBe(
      fresh.element.innerHTML.replace(/tree-\d+/g, "tree"),
    );
    expect(asked.length).toBe(count); // nothing is fetched again
    for (const each of before) expect(element.contains(each)).toBe(true);
  });

  test("going to another step ends the requests of the one before", async () => {
    const { source } = inventWalk();
    const signals: AbortSignal[] = [];
    const never = (signal?: AbortSignal) => {
      signals.push(signal!);
      return new Promise<never>(() => {});
    };
    const slow = { ...source, trace: (_: string, __: unknown, signal?: AbortSignal) => never(signal) };
    const { stage, selection, element } = setStage(slow, at("decoder.0.self.queries"));
    const mounted = view.mount(stage);
    selection.subscribe((now, before) => mounted.update(now, before));
    await settle();
    const first = signals.length;
    expect(first).toBeGreaterThan(0);
    press(element, "ArrowRight");
    expect(signals.slice(0, first).every(({ aborted }) => aborted)).toBe(true);
    expect(signals.slice(first).some(({ aborted }) => aborted)).toBe(false);
    mounted.unmount();
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  test("playing moves on by itself", async () => {
    vi.useFakeTimers();
    try {
      const { source } = inventWalk();
      const set = setStage(source);
      const mounted = view.mount(set.stage);
      set.selection.subscribe((now, before) => mounted.update(now, before));
      await vi.advanceTimersByTimeAsync(50);
      press(set.element, " ");
      await vi.advanceTimersByTimeAsync(2700);
      expect(set.selection.get().options["walk.step"]).toBe("decoder.embedding.tokens");
      press(set.element, " ");
      await vi.advanceTimersByTimeAsync(9000);
      expect(set.selection.get().options["walk.step"]).toBe("decoder.embedding.tokens");
      mounted.unmount();
    } finally {
      vi.useRealTimers();
    }
  });

  test("without a trace, the model is run again by itself, with every step kept", async () => {
    const traced = inventWalk();
    const { rerunner, wanted, finish } = benchOf(async () => traced.source);
    const bare = { traced: false, parameters: false, more: true };
    const { element } = await open(at("decoder.0.self.mixed"), bare, rerunner);
    expect(wanted.length).toBe(1);
    expect(wanted[0]!.want).toEqual(expect.arrayContaining(["trace", "parameters", "weights"]));
    expect(wanted[0]!.listed).toBe(false); // nobody finds it in the list of recordings
    expect(element.querySelector(".walk-notice")!.textContent).toContain("13\u202f%");
    expect(element.querySelector(".walk-missing")!.textContent).toContain("on their way");
    expect(element.textContent).not.toContain("Not in this recording");
    finish();
    await settle();
    expect(element.querySelector<HTMLElement>(".walk-notice")!.hidden).toBe(true);
    expect(element.querySelector(".walk-missing")!.textContent).toContain("It was not kept.");
    press(element, "ArrowLeft");
    await settle();
    expect(traced.asked).toContain("trace decoder/0/self/weights 0");
  });

  test("of a model of transformers only that is asked for which its recorder can give", async () => {
    const more = inventWalk({ ours: false, notes: [said("Some steps are never shown.")] });
    const { rerunner, wanted, finish } = benchOf(async () => more.source);
    const { element } = await open({}, { ours: false, traced: false, more: true }, rerunner);
    finish();
    await settle();
    expect(wanted[0]!.want).not.toContain("trace");
    expect(wanted[0]!.want).not.toContain("parameters");
    expect(wanted[0]!.want).toEqual(expect.arrayContaining(["queries", "scores", "hidden"]));
    expect(element.querySelector(".walk-notice")!.textContent).toBe("Some steps are never shown.");
    const whole = await open({}, { ours: false, traced: false, more: false }, rerunner);
    expect(wanted.length).toBe(1);
    whole.mounted.unmount();
  });

  test("where the second run fails, steps say again what they lack", async () => {
    const { rerunner, finish } = benchOf(() => Promise.reject(new Refusal("It broke.", "failed", 422)));
    const bare = { traced: false, parameters: false, more: true };
    const { element } = await open(at("decoder.0.self.mixed"), bare, rerunner);
    finish();
    await settle();
    expect(element.querySelector(".walk-notice")!.textContent).toContain("It broke.");
    expect(element.querySelector(".walk-missing")!.textContent).toContain("It was not kept.");
  });

  test("a second run that was cancelled or out of reach is asked for again, a refused one is not", async () => {
    for (const [error, runs] of [
      [new DOMException("", "AbortError"), 2],
      [new Refusal("Gone.", "unreachable", 0), 2],
      [new Refusal("Too long.", "too_long", 422), 1],
    ] as const) {
      const run = vi.fn(() => Promise.reject(error));
      const rerunner = { ...benchOf(async () => inventWalk().source).rerunner, run };
      const { stage, mounted } = await open({}, { traced: false, more: true }, rerunner);
      mountAgain(view, mounted, stage);
      await settle();
      expect(run).toHaveBeenCalledTimes(runs);
    }
  });

  test("a second run can be cancelled and asked for again, and goes on while another tab is looked at", async () => {
    const traced = inventWalk();
    const { rerunner, wanted, finish } = benchOf(async () => traced.source);
    const { stage, mounted, element } = await open({}, { traced: false, more: true }, rerunner);
    const button = () => element.querySelector<HTMLButtonElement>(".walk-notice button");
    expect(button()!.textContent).toBe("Cancel");
    button()!.click();
    await settle();
    expect(button()!.textContent).toBe("Run it again");
    button()!.click();
    await settle();
    expect(wanted.length).toBe(2);
    expect(element.querySelector(".walk-notice")!.textContent).toContain("13\u202f%");
    mountAgain(view, mounted, stage);
    finish();
    await settle();
    expect(wanted.length).toBe(2);
    expect(button()).toBeNull();
    expect(element.querySelector<HTMLElement>(".walk-notice")!.hidden).toBe(true);
  });

  test("numbers that follow from others are said to, and a number without arithmetic says why", async () => {
    const chapters = plan.chapters.map((chapter) => ({
      ...chapter,
      steps: chapter.steps.map((step) => ({ ...step, arithmetic: false, words: { origin: "computed" } })),
    }));
    const { element } = await open(at("decoder.0.self.products"), { chapters });
    expect(element.textContent).toContain("Computed here from numbers that the recording kept");
    expect(element.querySelector(".walk-arithmetic")!.textContent).toContain(
      "The learned weights of this step are not in this recording",
    );
  });

  test("without a rerunner, it says that steps are missing", async () => {
    const { element } = await open(
      {},
      { traced: false, parameters: false, notes: [said("No trace was kept.")] },
    );
    expect(element.querySelector(".walk-notice")!.textContent).toContain("No trace was kept.");
  });

  test("long texts are refused in a sentence", () => {
    const { source } = inventWalk();
    const long = {
      ...source,
      description: { ...source.description, source: { ...source.description.source, count: 1300 } },
    };
    const why = view.fits(shown(long)) as Spoken;
    expect([why("en"), why("zh")]).toEqual([
      expect.stringContaining("1300"),
      expect.stringContaining("1300"),
    ]);
    expect(plan.traced).toBe(true);
  });
});
