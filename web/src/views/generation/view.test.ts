import { expect, test, vi } from "vitest";
import type { GenerationDescription, Job, JobRequest, StepDescription } from "../../api/types";
import { Refusal } from "../../core/source";
import type { Rerunner } from "../../core/view";
import {
  invent,
  makeMap,
  mountAgain,
  outputOf,
  restyle,
  setStage,
  settle,
  weightOf,
} from "../../testing/recording";
import { findParting } from "./branches";
import { predictsOf } from "./predicting";
import { view } from "./view";

function step(index: number, token: number, change: Partial<StepDescription> = {}): StepDescription {
  const alternatives = [{ token: 90, text: "ninety", log_probability: Math.log(0.1) }];
  return {
    index,
    token,
    text: `w${token}`,
    log_probability: Math.log(0.5),
    alternatives,
    beam: 0,
    parent: null,
    score: null,
    ...change,
  };
}

// Ids of invented tokens are their positions: words 2, 3 and 4 were written after the prompt 0, 1.
const greedy: GenerationDescription = {
  method: "greedy",
  text: "",
  steps: [step(0, 2), step(1, 3), step(2, 4)],
  nodes: [],
  forced: [],
};
const texts = ["a", " b", " c", " d", " e"];

async function stand(
  change: Parameters<typeof invent>[0],
  selected: Parameters<typeof setStage>[1] = {},
  rerunner: Rerunner | null = null,
) {
  const { source } = invent(change);
  const all = setStage(source, selected, rerunner);
  const mounted = view.mount(all.stage);
  all.selection.subscribe((now, before) => mounted.update(now, before));
  await settle();
  return { ...all, mounted };
}

const shares = (element: HTMLElement) =>
  [...element.querySelectorAll<HTMLElement>(".bars-row")].map((row) => Number(row.dataset.share));

test("a step shows its chances and where the model looked", async () => {
  const { element, selection } = await stand(
    { source: texts, change: { generation: greedy } },
    { head: 1, query: 2 },
  );
  expect(element.querySelector(".generation-where")!.textContent).toBe("step 2 of 3");
  expect(shares(element)).toEqual([0.5, 0.1].map((share) => expect.closeTo(share, 6)));
  expect(element.querySelector("[data-chosen]")!.textContent).toContain("w3");
  const tokens = [...element.querySelectorAll<HTMLElement>(".passage-token")];
  expect(tokens[3]!.getAttribute("aria-selected")).toBe("true"); // the word that was written
  expect(tokens.map((token) => token.hasAttribute("data-later"))).toEqual([false, false, false, false, true]);
  const strongest = [0, 1, 2, 3, 4].sort(
    (one, other) => weightOf(0, 1, 2, other, 5) - weightOf(0, 1, 2, one, 5),
  )[0]!;
  expect(tokens[strongest]!.style.color).toBe("#ffffff");
  element.querySelector<HTMLElement>('.words-word[data-place="2"]')!.click();
  expect(selection.get().query).toBe(3);
});

test("a word that is chosen before the tokens are here stays chosen", async () => {
  const { source } = invent({ source: texts, change: { generation: greedy } });
  const { stage, element, selection } = setStage(source);
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  element.querySelector<HTMLElement>('.words-word[data-place="1"]')!.click();
  await settle();
  expect(selection.get()).toMatchObject({ query: 2, options: {} });
  expect(element.querySelector(".generation-where")!.textContent).toBe("step 2 of 3");
});

test("playing walks through the steps and stops at the end", async () => {
  vi.useFakeTimers();
  const { source } = invent({ source: texts, change: { generation: greedy } });
  const { stage, element, selection } = setStage(source, { query: 1 });
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  await vi.advanceTimersByTimeAsync(10);
  const play = element.querySelector<HTMLButtonElement>(".generation-play")!;
  play.click();
  expect(play.textContent).toBe("Pause");
  await vi.advanceTimersByTimeAsync(950);
  expect(selection.get().query).toBe(2);
  await vi.advanceTimersByTimeAsync(1000);
  expect(selection.get().query).toBe(3);
  expect(play.textContent).toBe("Play");
  mounted.unmount();
  vi.useRealTimers();
});

test("a dropped hypothesis shows its text and chances, and says that its attention was not kept", async () => {
  const nodes = [
    step(0, 2, { score: -0.7 }),
    step(0, 7, { beam: 1, score: -1 }),
    step(1, 3, { parent: 0, score: -1 }),
    step(1, 8, { parent: 1, beam: 1, score: -2 }),
  ];
  const generation = { ...greedy, method: "beam", steps: greedy.steps.slice(0, 2), nodes };
  const { element, selection } = await stand({ source: texts.slice(0, 4), change: { generation } });
  element.querySelector('[data-node="3"]')!.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  await settle();
  expect(selection.get().options["generation.node"]).toBe("3");
  expect(element.querySelector(".generation-path")!.textContent).toContain("w7 w8");
  expect(element.querySelector(".generation-looked h2")!.textContent).toContain("dropped");
  element.querySelector('[data-node="2"]')!.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  expect(selection.get()).toMatchObject({ query: 2, options: {} });
});

test("what the probabilities are is said: those of the model, or those that were drawn from", async () => {
  const said = {
    greedy: "of the model",
    sampling: "after temperature, top k and top p",
    beam: "after this beginning",
  };
  for (const [method, words] of Object.entries(said)) {
    const { element } = await stand({ source: texts, change: { generation: { ...greedy, method } } });
    expect(element.querySelector(".generation-choices .hint")!.textContent).toContain(words);
  }
});

test("classes and masked words have bars of their own", async () => {
  const choice = (text: string, share: number) => ({ token: 1, text, log_probability: Math.log(share) });
  const classes = outputOf("encoder", "classes", [[choice("good", 0.75), choice("bad", 0.25)]]);
  const one = await stand({ change: { shape: "encoder", output: classes } });
  expect(shares(one.element)).toEqual([0.75, 0.25].map((share) => expect.closeTo(share, 6)));
  const positions = ["x", "y", "z"].map((text) => [choice(text, 0.5)]);
  const masked = await stand({
    source: ["A", "[MASK]", "."],
    change: { shape: "encoder", output: outputOf("encoder", "tokens", positions) },
  });
  expect(masked.element.querySelector(".bars-text")!.textContent).toBe("y"); // the mask is shown first
  masked.selection.set({ query: 2 });
  expect(masked.element.querySelector(".bars-text")!.textContent).toBe("z");
  expect(predictsOf(invent({ change: { shape: "encoder", output: classes } }).source)).toBe("classes");
  const tags = { ...classes, kind: "tags" as const };
  expect(predictsOf(invent({ change: { shape: "encoder", output: tags } }).source)).toBe("classes");
});

test("without a rerunner the form is not there, and why is said", async () => {
  const { element } = await stand({ source: texts, change: { generation: greedy } });
  expect(element.querySelector("form")).toBeNull();
  expect(element.textContent).toContain("no model behind this page");
});

function makeRerunner(run: Rerunner["run"]): Rerunner & { gone: string[] } {
  const gone: string[] = [];
  const again = (change: object) =>
    ({ kind: "record", model: "m", sequence: "text", text: "hello", ...change }) as JobRequest;
  return { run, again, open: () => Promise.reject(new Error()), go: (id) => gone.push(id), gone };
}

test("words stream in as they come, and the new recording is opened", async () => {
  let finish: (id: string) => void = () => {};
  const requests: JobRequest[] = [];
  const rerunner = makeRerunner((request, heard) => {
    requests.push(request);
    heard({ job: { stage: "running", share: 0.5, detail: null } as Job });
    heard({ step: step(0, 2) });
    heard({ step: step(1, 3) });
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  const { element } = await stand({ source: texts, change: { generation: greedy } }, {}, rerunner);
  const form = element.querySelector("form")!;
  form.querySelector("select")!.value = "beam";
  form.querySelector("select")!.dispatchEvent(new Event("change"));
  expect(form.querySelector<HTMLElement>('[data-only="sampling"]')!.hidden).toBe(true);
  form.dispatchEvent(new Event("submit", { cancelable: true }));
  await settle();
  expect(requests).toEqual([
    {
      kind: "generate",
      model: "m",
      sequence: "text",
      text: "hello",
      decode: { method: "beam", max_new_tokens: 20, beams: 4 },
    },
  ]);
  expect(element.querySelector(".generation-live")!.textContent).toContain("w2w3");
  expect(form.querySelector("progress")!.hidden).toBe(false);
  finish("new");
  await settle();
  expect(rerunner.gone).toEqual(["new"]);
});

test("of streamed beams the best text so far is shown", async () => {
  const rerunner = makeRerunner((_, heard) => {
    for (const node of [
      step(0, 2),
      step(0, 7, { beam: 1 }),
      step(1, 9, { parent: 1 }),
      step(1, 3, { parent: 0, beam: 1 }),
    ])
      heard({ step: node });
    return new Promise(() => {});
  });
  const { element } = await stand({ source: texts }, { options: { "generation.predict": "1" } }, rerunner);
  expect(element.querySelector(".generation-live .words")!.textContent).toBe("w7w9");
});

test("a refusal is said in its sentence; cancelling stops the job", async () => {
  let aborted = false;
  let fail: (error: unknown) => void = () => {};
  const rerunner = makeRerunner((_, __, signal) => {
    signal.addEventListener("abort", () => {
      aborted = true;
      fail(new DOMException("Cancelled.", "AbortError"));
    });
    return new Promise((_, reject) => {
      fail = reject;
    });
  });
  const { element } = await stand({ source: texts }, {}, rerunner);
  const form = element.querySelector("form")!;
  form.dispatchEvent(new Event("submit", { cancelable: true }));
  fail(new Refusal("The queue is full.", "queue_full", 429));
  await settle();
  expect(element.querySelector(".decoding-said")!.textContent).toBe("The queue is full.");
  form.dispatchEvent(new Event("submit", { cancelable: true }));
  form.querySelector<HTMLButtonElement>('button[type="button"]')!.click();
  await settle();
  expect(aborted).toBe(true);
  expect(element.querySelector(".decoding-said")!.textContent).toBe("Cancelled.");
});

/** A run that has written two words, and ends when it is told to. */
function writing() {
  let [finish, refuse]: [(id: string) => void, (error: unknown) => void] = [() => {}, () => {}];
  let signal: AbortSignal | null = null;
  let hear: Parameters<Rerunner["run"]>[1] = () => {};
  const run = vi.fn<Rerunner["run"]>((_, heard, stop) => {
    [hear, signal] = [heard, stop];
    heard({ job: { stage: "running", share: 0.5, detail: null } as Job });
    heard({ step: step(0, 2) });
    return new Promise((resolve, reject) => {
      [finish, refuse] = [resolve, reject];
      stop.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
    });
  });
  return {
    rerunner: makeRerunner(run),
    run,
    stopped: () => signal!.aborted,
    say: (word: StepDescription) => hear({ step: word }),
    finish: (id: string) => finish(id),
    refuse: (error: unknown) => refuse(error),
  };
}

const submit = (element: HTMLElement) =>
  element.querySelector("form")!.dispatchEvent(new Event("submit", { cancelable: true }));

test("a run goes on in another language, and fields keep what was typed", async () => {
  const { rerunner, run, stopped, say, finish } = writing();
  const { element, stage, mounted } = await stand(
    { source: texts, change: { generation: greedy } },
    {},
    rerunner,
  );
  submit(element);
  element.querySelector<HTMLInputElement>("[name=max_new_tokens]")!.value = "1e";
  restyle(mounted, stage);
  await settle();
  expect(stopped()).toBe(false);
  const live = element.querySelector<HTMLElement>(".generation-live")!;
  expect([live.hidden, live.querySelector("bdi")!.textContent]).toEqual([false, "w2"]);
  expect(element.querySelector(".decoding-said")!.textContent).toBe("正在写");
  expect(element.querySelector<HTMLButtonElement>("[type=submit]")!.disabled).toBe(true);
  say(step(1, 3)); // to the view that is there now
  expect(live.textContent).toContain("w2w3");
  finish("new");
  await settle();
  expect([rerunner.gone, run.mock.calls.length]).toEqual([["new"], 1]);
});

test("behind another tab a run goes on, and how it failed is said in the language of who comes back", async () => {
  const { rerunner, stopped, refuse } = writing();
  const { element, stage, mounted } = await stand({ source: texts }, {}, rerunner);
  submit(element);
  const kept = mounted.keep!()!;
  mounted.unmount();
  refuse(new Refusal((language) => (language === "zh" ? "太长了。" : "It is too long."), "refused", 422));
  await settle();
  expect(stopped()).toBe(false);
  view.mount({ ...stage, language: "zh", kept });
  expect(element.querySelector(".decoding-said")!.textContent).toBe("太长了。");
});

test("a run that is kept ends with its recording, and goes nowhere", async () => {
  const { rerunner, stopped, finish } = writing();
  const { element, mounted } = await stand({ source: texts }, {}, rerunner);
  submit(element);
  mounted.keep!()!.stop!();
  finish("new");
  await settle();
  expect([stopped(), rerunner.gone]).toEqual([true, []]);
});

test("steps play on in another language, and stop on another tab", async () => {
  const { element, stage, mounted } = await stand({ source: texts, change: { generation: greedy } });
  const button = () => element.querySelector(".generation-play")!;
  button().dispatchEvent(new MouseEvent("click"));
  restyle(mounted, stage);
  expect(button().textContent).toBe("暂停");
  restyle(mounted, stage, "en");
  mountAgain(view, mounted, stage).unmount();
  const last = view.mount(stage);
  expect(button().textContent).toBe("Play");
  last.unmount();
});

test("a branch sends the step, the word of the list and what is blocked", async () => {
  const sent: JobRequest[] = [];
  const rerunner = {
    run: (request: JobRequest) => {
      sent.push(request);
      return Promise.resolve("made");
    },
    again: () => ({ kind: "generate", model: "m", text: "a" }) as JobRequest,
    open: () => Promise.reject(new Error("not asked")),
    go: vi.fn(),
  } as unknown as Rerunner;
  const { element } = await stand(
    { source: texts, change: { generation: greedy } },
    { head: 1, query: 2, key: 0 },
    rerunner,
  );
  expect(element.querySelector(".branch-leaves")).toBeNull();
  const branch = { step: 1, token: 3, name: "" };
  const left = await stand({ source: texts, change: { generation: greedy, branch } }, {}, rerunner);
  expect(left.element.querySelector(".branch-leaves")!.textContent).toContain("start again");
  const buttons = [...element.querySelectorAll<HTMLButtonElement>("button.bars-text")];
  buttons.find((button) => button.textContent === "ninety")!.click();
  const form = element.querySelector<HTMLFormElement>(".branch-form")!;
  expect(form.querySelector<HTMLInputElement>("[name=word]")!.value).toBe("ninety");
  form.querySelector<HTMLSelectElement>("[name=block]")!.value = "key";
  form.querySelector<HTMLInputElement>("[name=temperature]")!.value = "0";
  form.requestSubmit();
  await settle();
  expect(sent).toHaveLength(1);
  expect(sent[0]!.branch).toMatchObject({ step: 1, token: 90, temperature: 0 });
  expect(sent[0]!.branch!.edits).toMatchObject([{ kind: "block", head: 1, key: 0 }]);
  // The branch opens at its step, beside the text that it left.
  const where = { query: 2, options: { "generation.beside": "invented" } };
  expect(rerunner.go).toHaveBeenCalledWith("made", where);
});

test("without a model there is no form, and a branch says where it left its parent", async () => {
  const branch = { step: 1, token: 3, name: "mine" };
  const generation = { ...greedy, forced: [1] };
  const { element } = await stand({ source: texts, change: { generation, branch } });
  expect(element.querySelector(".branch-form")).toBeNull();
  expect(element.querySelector(".generation-branches")!.textContent).toContain("step 2, where w3 was forced");
});

test("two texts part at the first other word", () => {
  expect(findParting(greedy.steps, greedy.steps)).toBeNull();
  expect(findParting(greedy.steps, [step(0, 2), step(1, 8)])).toBe(1);
  expect(findParting(greedy.steps, greedy.steps.slice(0, 2))).toBe(2);
});

test("a recording of signed values is refused: nothing was generated there", () => {
  const { source } = invent({ change: { maps: [makeMap(0, { content: "signed" })] } });
  const fits = view.fits({ kind: "recording", now: source });
  expect(typeof fits === "function" && fits("en")).toContain("signed values");
});
