import { expect, test } from "vitest";
import type { TokenSlice } from "../../api/types";
import { tagWords } from "./tags";

const choice = (text: string) => [{ token: 0, text, log_probability: -0.1 }];

test("a word has the tag of its first token, and special tokens have none", () => {
  const slice: TokenSlice = {
    side: "source",
    start: 0,
    ids: [1, 2, 3, 4, 5],
    texts: ["[CLS]", "un", "seen", " cats", "[SEP]"],
    shown: ["[CLS]", "un", "seen", "cats", "[SEP]"],
    special: [true, false, false, false, true],
    words: [-1, 0, 0, 1, -1],
    offsets: [
      [0, 0],
      [0, 2],
      [2, 6],
      [6, 11],
      [0, 0],
    ],
    text: "unseen cats",
  };
  const tags = ["X", "ADJ", "VERB", "NOUN", "X"].map(choice);
  expect(tagWords(slice, tags).map(({ place, text, tag }) => [place, text, tag.text])).toEqual([
    [1, "unseen", "ADJ"],
    [3, "cats", "NOUN"],
  ]);
  const ids = { ...slice, words: null, offsets: null, text: null };
  expect(tagWords(ids, tags).map(({ text }) => text)).toEqual(["un", "seen", "cats"]);
});
