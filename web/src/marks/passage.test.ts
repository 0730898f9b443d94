import { expect, test } from "vitest";
import type { TokenSlice } from "../api/types";
import { cut, Passage } from "./passage";

function slice(change: Partial<TokenSlice> & { texts: readonly string[] }): TokenSlice {
  const { texts } = change;
  return {
    side: "source",
    start: 0,
    shown: texts.map((text) => text.replace(/ /g, "␣").replace(/\n/g, "⏎")),
    ids: texts.map((_, index) => index),
    special: texts.map(() => false),
    words: null,
    offsets: null,
    ...change,
  };
}

const joined = (pieces: ReturnType<typeof cut>) =>
  pieces.map((piece) => piece.before + piece.text + piece.after).join("");

test("with offsets, the text is as it was written", () => {
  const text = "Un-believable!  Yes.";
  const tokens = slice({
    texts: ["un", "-", "believ", "##able", "!", "yes", "."],
    offsets: [
      [0, 2],
      [2, 3],
      [3, 9],
      [9, 13],
      [13, 14],
      [16, 19],
      [19, 20],
    ],
  });
  const pieces = cut(tokens, text);
  expect(joined(pieces)).toBe(text);
  expect(pieces[0]!.text).toBe("Un");
  expect(pieces[5]!.before).toBe("  ");
});

test("offsets count characters, not UTF-16 units", () => {
  const tokens = slice({
    texts: ["🦊", " fox"],
    offsets: [
      [0, 1],
      [1, 5],
    ],
  });
  expect(cut(tokens, "🦊 fox").map((piece) => piece.text)).toEqual(["🦊", "fox"]);
});

test("pieces of one character are chips after the first", () => {
  const tokens = slice({
    texts: ["‹E6›", "‹B1›", "‹89›"],
    offsets: [
      [0, 1],
      [0, 1],
      [0, 1],
    ],
  });
  const pieces = cut(tokens, "汉");
  expect(pieces.map((piece) => [piece.text, piece.chip])).toEqual([
    ["汉", false],
    ["‹B1›", true],
    ["‹89›", true],
  ]);
});

test("special tokens are chips, line ends are kept", () => {
  const tokens = slice({
    texts: ["[CLS]", "a", "\n", "b"],
    special: [true, false, false, false],
    offsets: [
      [0, 0],
      [0, 1],
      [1, 2],
      [2, 3],
    ],
  });
  const pieces = cut(tokens, "a\nb");
  expect(pieces.map((piece) => piece.chip)).toEqual([true, false, true, false]);
  expect(pieces[2]).toEqual({ before: "", text: "⏎", after: "\n", chip: true });
});

test("without offsets tokens are put together by their blanks, or set apart", () => {
  expect(joined(cut(slice({ texts: ["The", " cat", "fish"] }), null))).toBe("The catfish");
  expect(joined(cut(slice({ texts: ["le", "chat"] }), null))).toBe("le chat");
  expect(joined(cut(slice({ texts: ["play", "##ing"] }), null))).toBe("playing");
});

test("what would turn the line around is shown as what it is", () => {
  const tokens = slice({ texts: ["a\u202eb"], shown: ["a‹U+202E›b"], offsets: [[0, 3]] });
  expect(cut(tokens, "a\u202eb")[0]!.text).toBe("a‹U+202E›b");
});

test("a text that is cut short falls back on the tokens", () => {
  const tokens = slice({
    texts: ["one", " two"],
    offsets: [
      [0, 3],
      [3, 7],
    ],
  });
  expect(joined(cut(tokens, "one"))).toBe("one two");
});

function stand(values: number[] | null = null) {
  const chosen: number[] = [];
  const pointed: (number | null)[] = [];
  const passage = new Passage({
    label: "Text",
    theme: () => "light",
    choose: (token) => chosen.push(token),
    point: (token) => pointed.push(token),
  });
  document.body.replaceChildren(passage.element);
  passage.setTokens({ ...slice({ texts: ["a", " b", " c"] }), start: 10 }, null, 99);
  if (values !== null) passage.colour(values, Math.max(...values));
  const spans = [...passage.element.querySelectorAll<HTMLElement>(".passage-token")];
  return { passage, spans, chosen, pointed };
}

test("colours follow numbers: none for nothing, the darkest for the largest, ink that can be read", () => {
  const { spans, passage } = stand([0, 0.1, 0.4]);
  expect(spans[0]!.style.backgroundColor).toBe("");
  expect(spans[1]!.style.backgroundColor).not.toBe(spans[2]!.style.backgroundColor);
  expect(spans[2]!.style.color).toBe("#ffffff");
  passage.colour(null, 1);
  expect(spans[2]!.style.backgroundColor).toBe("");
});

test("arrow keys and clicks choose tokens of the whole text", () => {
  const { passage, spans, chosen } = stand();
  passage.mark(11);
  expect(spans[1]!.getAttribute("aria-selected")).toBe("true");
  const press = (key: string) =>
    passage.element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  press("ArrowRight");
  press("ArrowLeft");
  press("End");
  press("Home");
  spans[2]!.click();
  expect(chosen).toEqual([12, 10, 12, 10, 12]);
  expect(spans[1]!.getAttribute("aria-posinset")).toBe("12");
});

test("markup in a token stays text", () => {
  const passage = new Passage({ label: "Text", theme: () => "light", choose: () => {}, point: () => {} });
  passage.setTokens(slice({ texts: ["<img src=x onerror=alert(1)>"] }), null, 1);
  expect(passage.element.querySelector("img")).toBeNull();
  expect(passage.element.textContent).toContain("<img");
});
