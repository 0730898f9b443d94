import { afterEach, describe, expect, test, vi } from "vitest";
import { type Playground, Refusal } from "../source";
import { aParameter, aPlay, aTopic, figures } from "../testing/playground";
import { invent, mountAgain, setStage, settle } from "../testing/recording";
import type { Play, PlayStep } from "../types";
import type { Mounted, Stage, Workbench } from "../view";
import { view } from "./playground";

const TOPICS = [
  aTopic("masks", [aParameter("mask", { kind: "flag", default: false })]),
  aTopic("output", [aParameter("steps", { default: 2, minimum: 0, maximum: 9 })], true),
];

let mounted: Mounted | null = null;
afterEach(() => mounted?.unmount());

function open(
  options: Record<string, string> = {},
  answer: (topic: string, settings: Readonly<Record<string, string>>) => Promise<Play> = async (
    topic,
    settings,
  ) => aPlay(topic, figures, `Found with ${JSON.stringify(settings)}.`),
  workbench: Workbench | null = {} as Workbench,
) {
  const asked: string[] = [];
  const playground: Playground = {
    topics: async () => TOPICS,
    ask: (topic, settings) => {
      asked.push(`${topic} ${JSON.stringify(settings)}`);
      return answer(topic, settings);
    },
  };
  const { stage, element, selection, failures } = setStage(
    invent().source,
    { view: "playground", options },
    workbench,
  );
  const playing: Stage = { ...stage, playground };
  const mine = view.mount(playing);
  mounted = mine;
  selection.subscribe((now, before) => mine.update(now, before));
  return { element, selection, asked, failures, mine, stage: playing };
}

const text = (element: Element, name: string) => element.querySelector(name)?.textContent ?? "";

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
      { whenFree } as unknown as Workbench,
    );
    await settle();
    const trouble = element.querySelector<HTMLElement>(".play-trouble")!;
    const button = trouble.querySelector("button")!;
    expect(trouble.textContent).toContain("As soon as it is done");
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
    } as unknown as Workbench);
    await settle();
    expect((signal as AbortSignal | null)?.aborted).toBe(false);
    mine.unmount();
    expect((signal as AbortSignal | null)?.aborted).toBe(true);
  });

  test("where nothing can be computed it says why", async () => {
    const { stage, element } = setStage(invent().source);
    mounted = view.mount(stage);
    await settle();
    expect(text(element, ".play-refusal")).toContain("no models");
    expect(await mounted.picture()).toContain("<svg");
    expect((await mounted.table()).rows).toEqual([]);
  });

  test("what is measured at the moment is not asked where nothing runs", async () => {
    const here = { ...TOPICS[0]!, keeps: false };
    const { stage, element } = setStage(invent().source);
    const ask = vi.fn();
    mounted = view.mount({ ...stage, playground: { topics: async () => [here], ask } } as Stage);
    await settle();
    expect(ask).not.toHaveBeenCalled();
    expect(text(element, ".play-found")).toContain("measured on the spot");
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

describe("live training", () => {
  function trained(answer?: () => Promise<Play>) {
    let tell: (step: PlayStep) => void = () => {};
    let finish: (play: Play) => void = () => {};
    let signal: AbortSignal | null = null;
    const workbench = {
      play: (_: string, __: unknown, heard: (step: PlayStep) => void, stop: AbortSignal) => {
        [tell, signal] = [heard, stop];
        return new Promise<Play>((resolve, reject) => {
          finish = resolve;
          stop.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
        });
      },
    } as unknown as Workbench;
    const opened = open({ "playground.topic": "output" }, answer, workbench);
    return {
      ...opened,
      tell: (step: PlayStep) => tell(step),
      finish: (play: Play) => finish(play),
      stopped: () => signal?.aborted ?? false,
    };
  }

  test("it goes on in another language, and ends on another tab", async () => {
    const { element, stage, mine, tell, finish, stopped } = trained();
    await settle();
    element.querySelector<HTMLButtonElement>(".play-training button")!.click();
    tell({ step: 4, loss: 2, rows: [[1]] });
    const next = mountAgain(view, mine, stage);
    await settle();
    expect([text(element, ".play-training button"), stopped()]).toEqual(["停止", false]);
    expect(text(element, ".play-training .play-state")).toBe("第 4 步，损失 2");
    finish(aPlay("output", figures, "All learnt."));
    await settle();
    expect(text(element, ".play-training .play-state")).toBe("训练完成：共 4 步。");
    const last = mountAgain(view, next, stage);
    mounted = last;
    await settle();
    expect(text(element, ".play-training .play-state")).toBe("训练完成：共 4 步。");
    element.querySelector<HTMLButtonElement>(".play-training button")!.click();
    expect(last.keep!(false)).toBeNull();
    last.unmount();
    expect(stopped()).toBe(true);
  });

  test("left before the page in another language is drawn, it ends, too", async () => {
    const { element, stage, mine, stopped } = trained();
    await settle();
    element.querySelector<HTMLButtonElement>(".play-training button")!.click();
    const next = mountAgain(view, mine, stage); // its topics are on their way
    const last = mountAgain(view, next, stage);
    expect(stopped()).toBe(false);
    expect(last.keep!(false)).toBeNull(); // another tab
    last.unmount();
    expect(stopped()).toBe(true);
    mounted = last;
  });

  test("the curve grows with each step, and the end is the server's", async () => {
    const { element, tell, finish } = trained();
    await settle();
    const button = element.querySelector<HTMLButtonElement>(".play-training button")!;
    button.click();
    expect(button.textContent).toBe("Stop");
    const dots = () => element.querySelectorAll('[data-figure="loss"] circle').length;
    expect(dots()).toBe(3);
    tell({ step: 0, loss: 2, rows: [[1]] });
    await vi.waitFor(() => expect(dots()).toBe(1));
    tell({ step: 1, loss: 1, rows: [[1]] });
    await vi.waitFor(() => expect(dots()).toBe(2));
    expect(text(element, ".play-training .play-state")).toBe("Step 1, loss 1");
    finish(aPlay("output", figures, "All learnt."));
    await settle();
    expect(text(element, ".play-found")).toBe("All learnt.");
    expect(dots()).toBe(3);
    expect(button.textContent).toBe("Train again");
  });

  test.each([
    ["has not come", () => new Promise<Play>(() => {})],
    ["was refused", () => Promise.reject(new Refusal("No answer came in time.", "too_slow", 422))],
  ])("it starts at once where the first answer %s", async (_, answer) => {
    const { element, tell, finish } = trained(answer);
    await settle();
    const button = element.querySelector<HTMLButtonElement>(".play-training button")!;
    button.click();
    expect(button.textContent).toBe("Stop");
    expect(element.querySelector(".asking")).toBeNull();
    expect(element.querySelector<HTMLElement>(".play-trouble")!.hidden).toBe(true);
    tell({ step: 3, loss: 1, rows: [[1]] });
    await vi.waitFor(() => expect(text(element, ".play-training .play-state")).toBe("Step 3, loss 1"));
    finish(aPlay("output", figures, "All learnt."));
    await settle();
    expect(text(element, ".play-found")).toBe("All learnt.");
    expect(element.querySelectorAll(".play-figure")).toHaveLength(figures.length);
  });

  test("it can be stopped, and stops when one leaves", async () => {
    const { element, tell, stopped } = trained();
    await settle();
    const button = element.querySelector<HTMLButtonElement>(".play-training button")!;
    button.click();
    tell({ step: 4, loss: 2, rows: [[1]] });
    button.click();
    await settle();
    expect(stopped()).toBe(true);
    expect(text(element, ".play-training .play-state")).toBe("Stopped after step 4.");
    button.click();
    expect(stopped()).toBe(false);
    element.querySelector<HTMLButtonElement>('[data-topic="masks"]')!.click();
    expect(stopped()).toBe(true);
  });

  test("without models there are the first settings, and a sentence why", async () => {
    const { element, asked } = open(
      { "playground.topic": "output", "playground.steps": "7" },
      undefined,
      null,
    );
    await settle();
    expect(asked).toEqual(["output {}"]);
    expect(element.querySelector<HTMLFieldSetElement>(".play-controls")!.disabled).toBe(true);
    expect(element.querySelector<HTMLElement>(".play-training")!.hidden).toBe(true);
    expect(text(element, ".play-hint")).toContain("Without a model");
    expect(text(element, ".play-found")).toBe("Found with {}.");
  });
});
