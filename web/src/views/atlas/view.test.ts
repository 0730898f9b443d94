import { expect, test, vi } from "vitest";
import type { LinkedSelection } from "../../core/selection";
import type { Stage } from "../../core/view";
import { anAtlas, inventStudy } from "../../testing/atlas";
import { invent, setStage } from "../../testing/recording";
import { describeCost } from "./card";
import type { Palette } from "./colouring";
import { findDetectors } from "./searching";
import shared from "./searching.test.json";
import { view } from "./view";
import { words } from "./words";

const CHOSEN = {
  place: { stack: "decoder", kind: "self", layer: 1, step: null },
  head: 1,
} as const satisfies Partial<LinkedSelection>;

async function mount(change: Partial<LinkedSelection> = {}, atlas = anAtlas()) {
  const study = inventStudy(atlas);
  const set = setStage(invent().source, { recording: "", study: "one", ...change });
  const stage = { ...set.stage, subject: { kind: "study", study }, source: study } as Stage<"study">;
  const mounted = view.mount(stage);
  const settle = () => vi.waitFor(() => expect(set.element.querySelector(".labelled[hidden]")).toBeNull());
  set.selection.subscribe((now, before) => mounted.update(now, before));
  await settle();
  const squares = () => [...set.element.querySelectorAll<HTMLButtonElement>(".head-cell")];
  return { ...set, mounted, squares };
}

test("every head is a square with words, and its type has a colour, a sign and a count", async () => {
  const { squares, element } = await mount();
  expect(squares().map((each) => each.getAttribute("aria-label"))).toEqual([
    "Layer 0, head 0: previous token",
    "Layer 0, head 1: no type",
    "Layer 1, head 0: previous token",
    "Layer 1, head 1: looks at objects",
  ]);
  expect(squares()[0]!.style.background).toBe(squares()[2]!.style.background);
  expect(squares()[0]!.style.background).not.toBe(squares()[3]!.style.background);
  expect(squares().map((each) => each.textContent)).toEqual(["pr", "", "pr", "obj"]);
  expect([...element.querySelectorAll(".chip .count")].map((each) => each.textContent)).toEqual(["2", "1"]);
});

test("a question in words leaves the heads that it is about", async () => {
  const { squares, selection, element } = await mount({
    options: { "atlas.search": "heads that look at the object of a verb" },
  });
  const out = () => squares().map((each) => each.hasAttribute("data-out"));
  expect(out()).toEqual([true, true, true, false]);
  expect(element.querySelector("[role=status]")!.textContent).toBe("1 head: looks at objects.");
  selection.option("atlas.search", "宾语");
  expect(out()).toEqual([true, true, true, false]);
  selection.option("atlas.search", "zzz");
  expect(element.querySelector("[role=status]")!.textContent).toContain("No detector");
  selection.option("atlas.search", null);
  element.querySelector<HTMLElement>(".chip")!.click();
  expect(selection.get().options["atlas.type"]).toBe("previous_token");
  expect(out()).toEqual([false, true, false, true]);
});

test.each(shared.questions)(
  "$question names the detectors that the server names",
  ({ question, detectors }) => {
    expect(findDetectors(shared.detectors, question)).toEqual(detectors);
  },
);

test("a square leads to the card of its head; arrows move on", async () => {
  const { squares, selection, element } = await mount();
  squares()[2]!.focus();
  squares()[2]!.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  expect(selection.get()).toMatchObject(CHOSEN);
  expect(squares().map((each) => each.getAttribute("aria-pressed"))).toEqual([
    "false",
    "false",
    "false",
    "true",
  ]);
  expect(squares().map((each) => each.tabIndex)).toEqual([-1, -1, -1, 0]);
  squares()[3]!.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp", bubbles: true }));
  const card = element.querySelector(".card")!;
  expect(card.querySelector("h2")!.textContent).toContain("layer 0, self-attention, head 1");
  expect(card.textContent).toContain("What silencing it costs was not measured");
  card.querySelector<HTMLElement>('[data-key="close"]')!.click();
  expect(selection.get().place).toBeNull();
});

test("a card shows scores beside chance and baseline, the cost, and examples that open", async () => {
  const { element, selection } = await mount(CHOSEN);
  const card = element.querySelector(".card")!;
  await vi.waitFor(() => expect(card.querySelector(".example")).not.toBeNull());
  const row = [...card.querySelectorAll(".scores tbody tr")][0]!;
  expect([...row.children].map((cell) => cell.textContent)).toEqual([
    ...["looks at objects", "", "0.70 (0.68–0.72)", "0.05", "0.30 (−1)", "0.001"],
  ]);
  expect(card.querySelector(".cost")!.textContent).toContain("0.100 nats (95 %: 0.080 to 0.120");
  const charts = [...card.querySelectorAll(".positions figcaption")].map((each) =>
    each.textContent!.replace(/\s%/u, "%"),
  );
  expect(charts).toEqual([
    "entropy (share of the largest), up to 100%",
    "mean distance, up to 2.5",
    "weight on the first token, up to 100%",
  ]);
  const example = card.querySelector<HTMLElement>(".example")!;
  expect(example.querySelector("mark.key")!.textContent).toContain("cat");
  example.click();
  expect(selection.get()).toMatchObject({ ...CHOSEN, study: "", view: "heatmap", query: 2, key: 1 });
  expect(selection.get().recording).not.toBe("");
});

test("another atlas beside: pairs of different types are marked and listed first", async () => {
  const { element, squares } = await mount({ options: { "atlas.beside": "two" } });
  await vi.waitFor(() => expect(squares().length).toBe(8));
  expect(squares().map((each) => each.hasAttribute("data-marked"))).toEqual([
    ...[false, false, false, true],
    ...[false, false, false, false],
  ]);
  const row = element.querySelector(".pairs tbody tr")!;
  expect(row.textContent).toContain("looks at objects: 0.70 → 0.10");
  expect(row.querySelector("button")!.textContent).toBe("Decoder, layer 1, self-attention, head 1");
  expect(element.querySelector(".beside")!.textContent).toContain("1 of them");
  expect(element.querySelector(".beside")!.textContent).not.toContain("other texts");
});

test("atlases of other texts say so where they stand beside each other", async () => {
  const one = anAtlas();
  const corpus = { ...one.entry.corpus, name: "novels", texts: 5 };
  const options = { "atlas.beside": "two" };
  const { element } = await mount({ options }, { ...one, entry: { ...one.entry, corpus } });
  await vi.waitFor(() => expect(element.querySelector(".beside p")).not.toBeNull());
  expect(element.querySelector(".beside")!.textContent).toContain("other texts, novels (5) and texts (9)");
  expect(element.querySelector(".pairs th")!.textContent).toBe("model one (here)");
  const twin = { ...one, entry: { ...one.entry, model: { name: "model two", identity: "one" } } };
  const alike = (await mount({ options }, twin)).element;
  await vi.waitFor(() => expect(alike.querySelector(".pairs th")).not.toBeNull());
  expect(alike.querySelector(".pairs th")!.textContent).toBe("one: model two (here)");
});

test("the picture and the table have every head; of a chosen one, its scores", async () => {
  const { mounted, selection } = await mount({ options: { "atlas.colour": "cost" } });
  const picture = await mounted.picture();
  expect(picture.match(/data-head=/g)!.length).toBe(4);
  expect(picture).toContain("cost of silencing");
  const table = await mounted.table();
  expect(table.rows.length).toBe(4);
  expect(table.rows[3]!.slice(0, 6)).toEqual(["decoder", "self", 1, 1, "looks at objects", 0.1]);
  expect(table.rows.every((row) => row.length === table.columns.length)).toBe(true);
  selection.set(CHOSEN);
  const scores = await mounted.table();
  expect(scores.rows[0]).toEqual(["looks at objects", 1, 0.7, 0.68, 0.72, 0.05, 0.3, 0.001, 9]);
});

test("of one text the interval is not known, and of a few there is no verdict", () => {
  const cost = { mean: 0.1, low: null, high: null, texts: 1 };
  const head = { ...anAtlas().heads[0]!, cost };
  const palette = { say: words("en"), theme: "light", text: String } as unknown as Palette;
  expect(describeCost(head, palette)).toContain("the interval is not known");
  const few = { ...head, cost: { mean: -0.4, low: -0.7, high: -0.1, texts: 2 } };
  expect(describeCost(few, palette)).toContain("nothing follows");
  const enough = { ...few, cost: { ...few.cost, texts: 8 } };
  expect(describeCost(enough, palette)).toContain("The model does better without it.");
});
