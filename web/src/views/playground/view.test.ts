import { describe, expect, test, vi } from "vitest";
import { Refusal } from "../../core/source";
import type { Rerunner } from "../../core/view";
import { aPlay, figures } from "../../testing/playground";
import { openPlayground as open, TOPICS, text } from "../../testing/playing";
import { invent, restyle, setStage, settle, withoutSubject } from "../../testing/recording";
import { view } from "./view";

describe("the playground", () => {
  test("shows the first topic with its figures and its reason", async () => {
    const { element, asked } = open();
    await settle();
    expect(asked).toEqual(["masks {}"]);
    expect(text(element, "h2")).toBe("Title of masks");
    expect(text(element, ".play-found")).toBe("Found with {}.");
    expect(text(element, ".play-why")).toContain("A reason.");
    expect(element.querySelectorAll(".play-figure")).toHaveLength(figures.length);
    expect(element.querySelector('[data-topic="masks"]')?.getAttribute("aria-current")).toBe("page");
  });

  test("a link opens the topic and its settings", async () => {
    const { element, asked } = open({ "playground.topic": "output", "playground.steps": "7" });
    await settle();
    expect(asked).toEqual(['output {"steps":"7"}']);
    expect(element.querySelector<HTMLInputElement>("input[type=range]")?.value).toBe("7");
  });

  test("speaks another language in the same elements, as if it had been opened in it", async () => {
    const options = { "playground.topic": "output", "playground.steps": "7" };
    const { element, asked, mine, stage } = open(options);
    await settle();
    const before = [...element.querySelectorAll("button, input, select, [tabindex]")];
    restyle(mine, stage, "zh", "dark");
    await settle();
    expect(asked).toHaveLength(1);
    for (const each of before) expect(element.contains(each)).toBe(true);
    const fresh = open(options, undefined, undefined, "zh");
    restyle(fresh.mine, fresh.stage, "zh", "dark");
    await settle();
    expect(text(fresh.element, ".play-evidence button")).toBe("重新计算");
    expect(element.innerHTML).toBe(fresh.element.innerHTML);
  });

  test("a control asks once it rests, and the address follows", async () => {
    const { element, selection, asked } = open({ "playground.topic": "output" });
    await settle();
    const slider = element.querySelector<HTMLInputElement>("input[type=range]")!;
    for (const value of ["3", "4", "5"]) {
      slider.value = value;
      slider.dispatchEvent(new Event("input"));
    }
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    await settle();
    expect(asked[1]).toBe('output {"steps":"5"}');
    expect(selection.get().options["playground.steps"]).toBe("5");
    expect(text(element, ".play-found")).toContain('{"steps":"5"}');
  });

  test("another topic is chosen by click or arrow, and remembers what it had", async () => {
    const { element, selection, asked } = open({ "playground.topic": "output", "playground.steps": "7" });
    await settle();
    const [first, second] = element.querySelectorAll<HTMLButtonElement>(".play-topics button");
    first!.click();
    await settle();
    expect(selection.get().options).toEqual({ "playground.topic": "masks" });
    first!.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
    await settle();
    expect(document.activeElement).toBe(second);
    expect(selection.get().options["playground.steps"]).toBe("7");
    expect(asked.at(-1)).toBe('output {"steps":"7"}');
  });

  test("the rest of the selection does not ask again", async () => {
    const { selection, asked } = open();
    await settle();
    selection.set({ query: 1 });
    await settle();
    expect(asked).toHaveLength(1);
  });

  test("computing again names every setting, so that what ships is not shown again", async () => {
    const { element, asked } = open();
    await settle();
    element.querySelector<HTMLButtonElement>(".play-evidence button")!.click();
    await settle();
    expect(asked).toEqual(["masks {}", 'masks {"mask":"false"}']);
  });

  test("what was computed before says so", async () => {
    const { element } = open({}, async (topic) => ({
      ...aPlay(topic, figures),
      seconds: null,
      model: "zoo/bert",
    }));
    await settle();
    expect(text(element, ".play-evidence span")).toBe("Computed beforehand with zoo/bert.");
  });

  test("a slider ends where the text does, and names its places", async () => {
    const { element, selection } = open(
      { "playground.topic": "output", "playground.steps": "7" },
      async (topic, settings) => {
        const labels = settings.steps === "7" ? ["the", "animal", "it"] : ["the", "animal"];
        return { ...aPlay(topic, figures), ranges: { steps: { maximum: labels.length - 1, labels } } };
      },
    );
    await settle();
    const slider = element.querySelector<HTMLInputElement>("input[type=range]")!;
    const shown = () => [slider.max, slider.value, text(element, ".slide output")];
    expect(shown()).toEqual(["2", "2", "2: it"]);
    expect(slider.getAttribute("aria-valuetext")).toBe("2: it");
    selection.option("playground.steps", "1");
    await settle();
    expect(shown()).toEqual(["1", "1", "1: animal"]);
  });

  test("only the last answer counts", async () => {
    const held: (() => void)[] = [];
    const { element, selection } = open(
      { "playground.topic": "output" },
      (topic, settings) =>
        new Promise((resolve) => held.push(() => resolve(aPlay(topic, figures, JSON.stringify(settings))))),
    );
    await settle();
    selection.option("playground.steps", "4");
    await settle();
    held[1]!();
    held[0]!();
    await settle();
    expect(text(element, ".play-found")).toBe('{"steps":"4"}');
  });

  test("a refusal is said, and can be tried again", async () => {
    let times = 0;
    const { element, failures } = open({}, async (topic) => {
      if (times++ === 0) throw new Refusal("The server is busy.", "busy", 429);
      return aPlay(topic, figures);
    });
    await settle();
    const trouble = element.querySelector<HTMLElement>(".play-trouble")!;
    expect(trouble.hidden).toBe(false);
    expect(trouble.textContent).toContain("The server is busy.");
    trouble.querySelector("button")!.click();
    await settle();
    expect(trouble.hidden).toBe(true);
    expect(text(element, ".play-found")).toBe("Found.");
    expect(failures).toEqual([]);
  });

  test("while a model runs it waits, says so, and asks by itself when that is done", async () => {
    let busy = true;
    const waits: { done: () => void; signal: AbortSignal }[] = [];
    const whenFree = (signal: AbortSignal) => new Promise<void>((done) => void waits.push({ done, signal }));
    const { element, asked, failures } = open(
      {},
      async (topic) => {
        if (busy) throw new Refusal("A model is running.", "busy", 429);
        return aPlay(topic, figures);
      },
      { whenFree } as unknown as Rerunner,
    );
    await settle();
    const trouble = element.querySelector<HTMLElement>(".play-trouble")!;
    const button = trouble.querySelector("button")!;
    expect(trouble.textContent).toContain("as soon as it has ended");
    button.click(); // by hand meanwhile: what waited before waits no more, and the words stay
    await settle();
    expect(waits).toHaveLength(2);
    expect(waits[0]!.signal.aborted).toBe(true);
    expect(trouble.querySelector("button")).toBe(button);
    waits[0]!.done();
    await settle();
    expect(asked).toHaveLength(2);
    busy = false;
    waits[1]!.done();
    await settle();
    expect(asked).toHaveLength(3);
    expect(trouble.hidden).toBe(true);
    expect(text(element, ".play-found")).toBe("Found.");
    expect(failures).toEqual([]);
  });

  test("nobody asks for a page that was left", async () => {
    let signal: AbortSignal | null = null;
    const whenFree = (wanted: AbortSignal) => {
      signal = wanted;
      return new Promise<void>(() => {});
    };
    const { mine } = open({}, () => Promise.reject(new Refusal("A model is running.", "busy", 429)), {
      whenFree,
    } as unknown as Rerunner);
    await settle();
    expect((signal as AbortSignal | null)?.aborted).toBe(false);
    mine.unmount();
    expect((signal as AbortSignal | null)?.aborted).toBe(true);
  });

  test("where nothing can be computed it says why", async () => {
    const { stage, element } = setStage(invent().source);
    const mounted = view.mount(withoutSubject(stage));
    await settle();
    expect(text(element, ".play-refusal")).toContain("no models");
    expect(await mounted.picture()).toContain("<svg");
    expect((await mounted.table()).rows).toEqual([]);
    mounted.unmount();
  });

  test("what is measured at the moment is not asked where nothing runs", async () => {
    const here = { ...TOPICS[0]!, measured: true };
    const { stage, element } = setStage(invent().source);
    const ask = vi.fn();
    const mounted = view.mount({ ...withoutSubject(stage), playground: { topics: async () => [here], ask } });
    await settle();
    expect(ask).not.toHaveBeenCalled();
    expect(text(element, ".play-found")).toContain("measured on the spot");
    mounted.unmount();
  });

  test("a picture and a table hold what is shown", async () => {
    const { mine } = open({ "playground.topic": "output", "playground.steps": "7" });
    const picture = await mine.picture();
    expect(picture).toMatch(/^<svg[^>]*xmlns/);
    for (const words of ["Title of output", "A reason.", "steps: 7", "Weights", "0.75", "A note."])
      expect(picture).toContain(words);
    expect(new DOMParser().parseFromString(picture, "image/svg+xml").querySelector("parsererror")).toBeNull();
    const table = await mine.table();
    expect(table.rows).toContainEqual(["Weights", "a", "1", 0.75]);
    expect(table.columns).toHaveLength(4);
  });
});
