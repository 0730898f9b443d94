import { expect, test } from "vitest";
import type { EffectsStep, JobRequest } from "../../api/types";
import type { Selection } from "../../core/selection";
import type { Rerunner } from "../../core/view";
import {
  type Invention,
  invent,
  makeMap,
  outputOf,
  restyle,
  said,
  setStage,
  settle,
} from "../../testing/recording";
import { collect } from "./found";
import { view } from "./view";

const choice = (token: number, text: string, share: number) => ({
  token,
  text,
  log_probability: Math.log(share),
});
const NEXT = [choice(7, " floor", 0.6), choice(9, " bed", 0.3)];
const OUTPUT = outputOf("decoder", "tokens", [[], [], NEXT]);

function step(change: Partial<EffectsStep>): EffectsStep {
  return {
    confirmed: false,
    outcome: said("its log-probability"),
    baseline: -0.5,
    places: [],
    edges: [],
    ...change,
  };
}

const ESTIMATE = step({
  places: [
    { place: "decoder.self.0", heads: [-2, 0.5], layer: -1.5 },
    { place: "decoder.self.1", heads: [0.25, -0.125], layer: 0.125 },
  ],
});
const CONFIRMED = step({
  confirmed: true,
  places: [{ place: "decoder.self.0", heads: [-1.75, 0.25], layer: -1 }],
  edges: [{ place: "decoder.self.1", head: 1, query: 2, key: 0, effect: -0.75 }],
});

/** A view over a server that sends what a test says. */
function stand(
  options: Record<string, string> = {},
  change: object = {},
  edits: JobRequest["edits"] = [],
  invention: Invention = {},
  chosen: Partial<Selection> = {},
) {
  const asked: {
    what: string;
    request: Record<string, unknown>;
    send(step: EffectsStep): void;
    end(id: string): void;
    signal: AbortSignal;
  }[] = [];
  const gone: string[] = [];
  const rerunner = {
    again: () => ({ kind: "record", sequence: "text", model: "zoo/gpt2", text: "The cat sat", edits }),
    go: (id: string) => gone.push(id),
    measure: (what, request, heard, signal) =>
      new Promise((resolve) =>
        asked.push({
          what,
          request: request as Record<string, unknown>,
          send: (one) => heard({ step: one as never }),
          end: resolve,
          signal,
        }),
      ),
  } as Partial<Rerunner> as Rerunner;
  const { source } = invent({ ...invention, change: { output: OUTPUT, ...change } });
  const { stage, element, selection, failures } = setStage(source, { options, ...chosen }, rerunner);
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  const cell = (place: string) => element.querySelector<HTMLElement>(`[data-key="${place}"]`)!;
  return { mounted, stage, element, selection, failures, asked, gone, cell };
}

test("a word is chosen, estimates come first and are marked, real passes take their place", async () => {
  const { element, selection, asked, cell, mounted } = stand();
  await settle();
  expect(asked).toHaveLength(0); // nothing runs before somebody asks
  const list = element.querySelector<HTMLSelectElement>('[data-option="word"] select')!;
  expect([...list.options].map(({ text }) => text)).toContain(" floor 60.0\u202f%");
  list.value = "#7";
  list.dispatchEvent(new Event("change"));
  await settle();
  expect(selection.get().options["effects.word"]).toBe("#7");
  expect(asked[0]).toMatchObject({
    what: "effects",
    request: { outcome: { token: 7, position: 2 }, run: { model: "zoo/gpt2", text: "The cat sat" } },
  });
  asked[0]!.send(ESTIMATE);
  await settle();
  expect(cell("decoder.self.0 0").dataset).toMatchObject({ effect: "-2", confirmed: "false" });
  expect(cell("decoder.self.0 0").className).toContain("estimate");
  const before = cell("decoder.self.1 0").style.backgroundColor;
  asked[0]!.send(CONFIRMED);
  await settle();
  expect(cell("decoder.self.0 0").dataset).toMatchObject({ effect: "-1.75", confirmed: "true" });
  expect(cell("decoder.self.0 0").className).not.toContain("estimate");
  expect(cell("decoder.self.1 0").dataset.confirmed).toBe("false");
  expect(cell("decoder.self.1 0").style.backgroundColor).not.toBe(before); // one scale for all
  expect(element.querySelector(".note")!.textContent).toContain("2 of 4 heads");
  const { rows } = await mounted.table();
  expect(rows).toContainEqual(["decoder", "self", 0, 0, null, null, -2, -1.75]);
  expect(rows).toContainEqual(["decoder", "self", 1, 1, 2, 0, null, -0.75]);
  expect(await mounted.picture()).toContain("Hatched");
});

test("a head that is chosen is the selection's, and says both numbers", async () => {
  const { element, selection, asked, cell } = stand({ "effects.word": "#7", "effects.against": " rug" });
  await settle();
  expect(asked[0]!.request.outcome).toEqual({ token: 7, position: 2, against: " rug" });
  asked[0]!.send(ESTIMATE);
  asked[0]!.send(CONFIRMED);
  await settle();
  cell("decoder.self.0 1").click();
  await settle();
  expect(selection.get()).toMatchObject({ place: { stack: "decoder", layer: 0 }, head: 1 });
  expect(element.querySelector(".readout")!.textContent).toContain("real pass 0.25");
  expect(cell("decoder.self.0 1").getAttribute("aria-pressed")).toBe("true");
  expect(asked).toHaveLength(1); // another head is no other question
});

test("an edge opens the heat map on it; every edge opens as a recording", async () => {
  const { element, selection, asked, gone } = stand({ "effects.word": "#7" });
  await settle();
  asked[0]!.send(ESTIMATE);
  asked[0]!.send(CONFIRMED);
  asked[0]!.end("edges-1");
  await settle();
  const [overview] = [...element.querySelectorAll("button")].filter(
    ({ textContent }) => textContent === "Overview",
  );
  overview!.click();
  expect(gone).toEqual(["edges-1"]);
  element.querySelector<HTMLElement>(".effects-edges button")!.click();
  expect(selection.get()).toMatchObject({ place: { layer: 1 }, head: 1, query: 2, key: 0, view: "heatmap" });
});

test("another word stops the measurement of the one before; a typed word is sent as it is", async () => {
  const { element, selection, asked } = stand({ "effects.word": "#7" });
  await settle();
  const list = element.querySelector<HTMLSelectElement>('[data-option="word"] select')!;
  list.value = "?";
  list.dispatchEvent(new Event("change"));
  const input = element.querySelector<HTMLInputElement>('[data-option="word"] input')!;
  input.value = " rug";
  input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  await settle();
  expect(selection.get().options["effects.word"]).toBe(" rug");
  expect(asked[0]!.signal.aborted).toBe(true);
  expect(asked[1]!.request.outcome).toMatchObject({ token: " rug" });
});

test("a classifier is asked about a class, a translator about its target", async () => {
  const classes = {
    stack: "encoder",
    kind: "classes" as const,
    positions: [[choice(1, "good", 0.9)]],
    last: [],
  };
  const one = stand({ "effects.word": "good" }, { output: classes, shape: "encoder" });
  await settle();
  expect(one.asked[0]!.request).toMatchObject({ outcome: { label: "good" } });
  expect(one.asked[0]!.request.ids).toBeUndefined();
  expect(one.element.querySelector('[data-option="against"]')).toBeNull();
  const maps = [makeMap(0, { queries: 3 })];
  const other = stand({ "effects.word": "#5" }, { shape: "decoder", maps });
  await settle();
  expect(other.asked[0]!.request.ids).toHaveLength(3);
});

test("without a model it says what is needed; an edited model has no estimates", async () => {
  const { source } = invent({});
  const { stage, element } = setStage(source);
  const mounted = view.mount(stage);
  expect(element.textContent).toContain("glassformer serve");
  restyle(mounted, stage, "zh");
  expect(element.textContent).toContain("模型");
  const edit = { kind: "ablate", stack: "decoder", attention: "self", layer: 0, head: 0 } as never;
  const { evidence } = source.description;
  const named = { ...evidence, messages: { ...evidence.messages, edits: [said("head 0 silenced")] } };
  const edited = stand({ "effects.word": "#7" }, { evidence: named }, [edit]);
  await settle();
  expect(edited.element.textContent).toContain("without estimates");
  expect(edited.asked[0]!.request).toMatchObject({ run: { edits: [edit] } });
  edited.asked[0]!.send(CONFIRMED);
  await settle();
  const note = edited.element.querySelector(".note")!.textContent;
  expect(note).toContain("With the edits of this recording: its log-probability = −0.5");
  expect(note).not.toContain("Without edits");
  expect(edited.element.querySelector<HTMLElement>(".effects-legend > :has(.estimate)")!.hidden).toBe(true);
  expect(await edited.mounted.picture()).not.toContain("Hatched");
});

test("a branch whose blocked heads its request does not name is not measured without them", async () => {
  const { evidence } = invent({}).source.description;
  const blocked = { ...evidence, messages: { ...evidence.messages, edits: [said("head 1 blocked")] } };
  const branch = stand({ "effects.word": "#7" }, { evidence: blocked });
  await settle();
  expect(branch.element.textContent).toContain("Heads were blocked");
  expect(branch.asked).toHaveLength(0);
});

test("what goes on is kept while another view is shown", async () => {
  const { mounted, stage, asked } = stand({ "effects.word": "#7" });
  await settle();
  const kept = mounted.keep!();
  mounted.unmount();
  asked[0]!.send(ESTIMATE);
  const again = view.mount({ ...stage, kept: kept! });
  await settle();
  expect((await again.table()).rows).toHaveLength(6);
  expect(asked).toHaveLength(1);
});

test("the colours end at the largest head, and a real pass counts before its estimate", () => {
  const found = collect([ESTIMATE, CONFIRMED]);
  expect(found.largest).toBe(1.75);
  expect(found).toMatchObject({ confirmed: 2, heads: 4, baseline: -0.5 });
  expect(found.maps[1]!.layer).toEqual({ estimate: 0.125, measured: null });
});

test("values beyond the colours, whose range is that of single heads, have a frame", async () => {
  const { element, asked, cell, mounted } = stand({ "effects.word": "#7" });
  await settle();
  const sample = element.querySelector<HTMLElement>(".effects-legend > :has(.beyond)")!;
  asked[0]!.send(ESTIMATE);
  await settle();
  expect(sample.hidden).toBe(true);
  expect(element.querySelectorAll(".effects-grid .beyond")).toHaveLength(0);
  const plain = (await mounted.picture()).split('stroke-width="1.5"').length;
  asked[0]!.send(
    step({
      confirmed: true,
      places: [{ place: "decoder.self.0", heads: [-1.75, 0.25], layer: -30 }],
      edges: [
        { place: "decoder.self.1", head: 1, query: 2, key: 0, effect: -2 },
        { place: "decoder.self.1", head: 1, query: 2, key: 1, effect: -1 },
      ],
    }),
  );
  await settle();
  expect(sample.hidden).toBe(false);
  expect(cell("decoder.self.0 null").className).toContain("beyond");
  expect(cell("decoder.self.0 0").className).not.toContain("beyond");
  const edges = [...element.querySelectorAll(".effects-edges .effects-cell")];
  expect(edges.map(({ className }) => className.includes("beyond"))).toEqual([true, false]);
  expect(element.querySelector("h2")!.textContent).toBe("The 2 edges with the largest estimates");
  expect((await mounted.picture()).split('stroke-width="1.5"').length).toBe(plain + 1);
});

test("an edge of a translator names its attention and the words at both ends", async () => {
  const invention = { source: ["a", " red", " car"], target: ["<s>", " une", " voiture"] };
  const { element, asked } = stand({ "effects.word": "#7" }, { shape: "encoder-decoder" }, [], invention);
  await settle();
  const edge = (place: string, effect: number) => ({ place, head: 1, query: 1, key: 2, effect });
  const places = [{ place: "decoder.cross.0", heads: [0, 1], layer: 1 }];
  const edges = [edge("decoder.cross.0", 3), edge("decoder.self.1", 2), edge("encoder.self.1", 1)];
  asked[0]!.send(step({ confirmed: true, places, edges }));
  await settle();
  const rows = [...element.querySelectorAll(".effects-edges button")];
  expect(rows.map(({ children }) => [children[0]!.textContent, children[1]!.textContent])).toEqual([
    ["Cross L0 H1", "␣une → ␣car"],
    ["Decoder L1 H1", "␣une → ␣voiture"],
    ["Encoder L1 H1", "␣red → ␣car"],
  ]);
});

test("the row in focus is proposed, and stays the question when another is focused", async () => {
  const invention = { source: ["a", " red", " car"], target: ["<s>", " une", " voiture", "</s>"] };
  const place = { stack: "decoder", layer: 0, kind: "cross", step: null } as const;
  const output = outputOf("decoder", "tokens", [[], NEXT, [], []]);
  const chosen = { place, query: 1 };
  const change = { shape: "encoder-decoder", output };
  const { element, selection, asked } = stand({}, change, [], invention, chosen);
  await settle();
  const list = (name: string) => element.querySelector<HTMLSelectElement>(`[data-option="${name}"] select`)!;
  expect(list("at").value).toBe("1"); // after "une" the row writes "voiture"
  list("word").value = "#7";
  list("word").dispatchEvent(new Event("change"));
  await settle();
  expect(asked[0]!.request).toMatchObject({ outcome: { token: 7, position: 1 } });
  selection.set({ query: 2 });
  await settle();
  expect(list("at").value).toBe("1");
  expect(asked).toHaveLength(1);
  const linked = stand({ "effects.word": "#7" }, change, [], invention, chosen);
  await settle();
  expect(linked.asked[0]!.request).toMatchObject({ outcome: { position: 0 } }); // old links mean what they meant
});

test("a typed word shows its blank", async () => {
  const { element } = stand({ "effects.word": "#7", "effects.against": " was" });
  await settle();
  const list = element.querySelector<HTMLSelectElement>('[data-option="against"] select')!;
  expect([list.value, list.selectedOptions[0]!.text]).toEqual([" was", "␣was"]);
});
