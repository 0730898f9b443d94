import { expect, test } from "vitest";
import type { PatchingStep } from "../../api/types";
import type { Rerunner } from "../../core/view";
import { invent, restyle, said, setStage, settle } from "../../testing/recording";
import { readMap } from "./map";
import { view } from "./view";

function step(layer: number, values: readonly number[]): PatchingStep {
  return {
    outcome: said("logit of were minus that of was"),
    clean: 3,
    corrupted: -1,
    clean_tokens: ["The", " men", " sat"],
    corrupted_tokens: ["The", " man", " sat"],
    layers: 2,
    stack: "decoder",
    layer,
    values: [...values],
  };
}

function stand(options: Record<string, string> = {}, model = "zoo/gpt2") {
  const asked: {
    request: object;
    signal: AbortSignal;
    send(step: PatchingStep): void;
    fail(error: unknown): void;
  }[] = [];
  const rerunner = {
    again: () => ({
      kind: "generate",
      sequence: "text",
      model,
      text: "The cat sat",
      decode: { method: "greedy" },
      length: 3,
    }),
    measure: (_what, request, heard, signal) =>
      new Promise((_, reject) =>
        asked.push({ request, signal, send: (one) => heard({ step: one as never }), fail: reject }),
      ),
  } as Partial<Rerunner> as Rerunner;
  const { source } = invent({});
  const { stage, element, selection } = setStage(source, { options }, rerunner);
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  return { mounted, stage, element, selection, asked };
}

test("what looks or listens has no texts to patch", () => {
  const { source } = invent({});
  const { description } = source;
  const fits = (more: object) =>
    view.fits({
      kind: "recording",
      now: { ...source, description: { ...description, source: { ...description.source, ...more } } },
    } as never);
  expect(fits({})).toBe(true);
  for (const cut of [{ picture: {} }, { sound: {} }]) expect(fits(cut)).not.toBe(true);
});

test("the map says what is restored: 0 as in the corrupted text, 1 as in the clean one", () => {
  const map = readMap([step(0, [-1, 3, 1]), step(1, [-2, 0, 5])])!;
  expect(map.rows.map(({ cells }) => cells.map(({ share }) => share))).toEqual([
    [0, 1, 0.5],
    [-0.25, 0.25, 1.5],
  ]);
  expect(readMap([{ ...step(0, [1]), clean: -1 }])).toMatchObject({
    same: true,
    rows: [{ cells: [{ share: null }] }],
  });
});

test("the example fills the form and runs; a cell shows its numbers and is kept in the link", async () => {
  const { element, selection, asked, mounted, stage } = stand();
  const example = [...element.querySelectorAll("button")].find(
    ({ textContent }) => textContent === "Use this example",
  )!;
  expect(example.parentElement!.hidden).toBe(false);
  expect(example.parentElement!.textContent).toContain(
    "The men on the road / The man on the road → ␣were / ␣was",
  );
  example.click();
  await settle();
  expect(example.parentElement!.hidden).toBe(true);
  expect(asked).toHaveLength(1);
  expect(asked[0]!.request).toMatchObject({
    run: { kind: "record", text: "The men on the road", decode: null, length: null, edits: [] },
    corrupted: "The man on the road",
    outcome: { token: " were", against: " was", position: -1 },
    part: "residual",
  });
  asked[0]!.send(step(0, [-1, 3, 1]));
  await settle();
  expect(element.querySelector(".note")!.textContent).toContain(
    "Outcome: logit of were minus that of was. It is 3 for the clean text and −1 for the corrupted one.",
  );
  const cell = element.querySelector<HTMLElement>('[data-key="0,1"]')!;
  expect(cell.dataset).toMatchObject({ share: "1", value: "3" });
  cell.click();
  await settle();
  expect(selection.get().options["patching.cell"]).toBe("0,1");
  expect(element.querySelector(".readout")!.textContent).toBe("Layer 0,  men /  man: 1 restored (outcome 3)");
  expect(element.querySelector(".differs")!.textContent).toBe(" men /  man");
  expect(asked).toHaveLength(1);
  expect((await mounted.table()).rows[1]).toEqual([0, 1, " men", " man", 3, 1]);
  expect(await mounted.picture()).toContain("corrupted");
  restyle(mounted, stage, "zh");
  expect(element.textContent).toContain("恢复");
});

test("what is missing is said, and nothing runs; what the server refuses is shown", async () => {
  const { element, asked } = stand({ "patching.corrupted": "The dog sat" });
  await settle();
  expect(asked).toHaveLength(0);
  expect(element.querySelector(".note")!.textContent).toContain("both answers");
  const all = stand({ "patching.corrupted": "A", "patching.answer": " a", "patching.other": " b" });
  await settle();
  all.asked[0]!.fail(new Error("other length"));
  await settle();
  expect(all.element.querySelector(".note")!.textContent).toContain("other length");
  const offline = setStage(invent({}).source);
  view.mount(offline.stage);
  expect(offline.element.textContent).toContain("glassformer serve");
  expect(offline.element.querySelector("form")!.hidden).toBe(true);
});

test("Measure with an empty form says what is missing", async () => {
  const { element, asked } = stand();
  const note = element.querySelector(".note")!;
  expect(note.textContent).toContain("Give a clean text");
  element.querySelector("form")!.dispatchEvent(new Event("submit", { cancelable: true }));
  await settle();
  expect(note.textContent).toBe("Fill in both texts and both answers.");
  expect(asked).toHaveLength(0);
});

test("where there is nothing to restore it says so and stops", async () => {
  const answers = { "patching.answer": " a", "patching.other": " b" };
  const equal = stand({ ...answers, "patching.clean": "The cat", "patching.corrupted": "The cat" });
  await settle();
  expect(equal.asked).toHaveLength(0);
  expect(equal.element.querySelector(".note")!.textContent).toContain("Both texts are the same");
  const { asked, element } = stand({ ...answers, "patching.clean": "A", "patching.corrupted": "B" });
  await settle();
  asked[0]!.send({ ...step(0, [3, 3, 3]), corrupted: 3 });
  await settle();
  expect(asked[0]!.signal.aborted).toBe(true);
  expect(element.querySelector(".note")!.textContent).toContain("nothing to restore");
  expect(element.querySelector("table")).toBeNull();
});

test("the example is offered for the model in which it was measured", () => {
  const other = stand({}, "zoo/other");
  expect(other.element.querySelector<HTMLElement>(".patching-example")!.hidden).toBe(true);
});
