import { describe, expect, test } from "vitest";
import type { Choice, Description, StepDescription, TokenSlice } from "../api/types";
import { invent, outputOf } from "../testing/recording";
import { asWord, outcomeOf, splitAtMasks } from "./outcome";

function choice(text: string, share: number): Choice {
  return { token: text.length, text, log_probability: Math.log(share) };
}

function step(text: string): StepDescription {
  return { ...choice(text, 0.5), index: 0, alternatives: [], beam: 0, parent: null, score: null };
}

const best = [choice("positive", 0.9), choice("negative", 0.1)];
const output = (kind: "classes" | "tokens") => outputOf("encoder", kind, [best, [best[1]!]]);

function described(change: Partial<Description>): Description {
  return invent({ change }).source.description;
}

describe("the answer of a model", () => {
  test("of a classifier is its classes, of a decoder the next word, behind the last token", () => {
    const classes = described({ shape: "encoder", output: output("classes") });
    expect(outcomeOf(classes)).toEqual({ kind: "classes", choices: best });
    expect(outcomeOf(described({ shape: "encoder", output: { ...output("tokens"), kind: "tags" } }))).toEqual(
      {
        kind: "tags",
      },
    );
    const numbers = [
      { name: "age", value: 3.14159 },
      { name: "size", value: null },
    ];
    const said = { ...output("tokens"), kind: "numbers" as const, positions: [], last: [], numbers };
    expect(outcomeOf(described({ shape: "encoder", output: said }))).toEqual({
      kind: "numbers",
      text: "age 3.142, size –",
    });
    const decoder = described({ shape: "decoder", output: output("tokens") });
    expect(outcomeOf(decoder)).toEqual({ kind: "next", choices: [best[1]] });
    const long = described({ shape: "decoder", output: { ...output("tokens"), positions: [] } });
    expect(outcomeOf(long)).toEqual({ kind: "next", choices: [best[1]] }); // positions are left out, not the word
  });

  test("of a translator is what it wrote, without its end, or what it was given", () => {
    const steps = ["Je", " t'aime.", "</s>"].map(step);
    const generation = { method: "beam", text: "Je t'aime.</s>", steps, nodes: [], forced: [] };
    const wrote = described({ shape: "encoder-decoder", generation });
    expect(outcomeOf(wrote)).toEqual({ kind: "translation", text: "Je t'aime." });
    const target = { side: "target" as const, count: 2, text: "Je t'aime.", picture: null, sound: null };
    const given = described({ shape: "encoder-decoder", target, output: output("tokens") });
    expect(outcomeOf(given)).toEqual({ kind: "given", text: "Je t'aime." });
    const continued = described({ shape: "decoder", generation: { ...generation, text: "once" } });
    expect(outcomeOf(continued)).toEqual({ kind: "continuation", text: "once" });
  });

  test("is nothing where nothing was kept", () => {
    for (const shape of ["encoder", "decoder", "encoder-decoder"] as const)
      expect(outcomeOf(described({ shape, output: null, target: null, generation: null }))).toBeNull();
  });
});

describe("guessed words", () => {
  test("stand in the sentence, wherever characters take two places", () => {
    const slice: TokenSlice = {
      side: "source",
      start: 0,
      texts: ["[CLS]", "𝒜", "[MASK]", "b", "[MASK]", "[SEP]"],
      shown: [],
      ids: [],
      special: [true, false, false, false, false, true],
      words: null,
      offsets: [
        [0, 0],
        [0, 1],
        [2, 8],
        [9, 10],
        [10, 16],
        [16, 16],
      ],
      text: "𝒜 [MASK] b[MASK]",
    };
    expect(splitAtMasks(slice)).toEqual(["𝒜 ", 2, " b", 4, ""]);
    expect(splitAtMasks({ ...slice, texts: slice.texts.map(() => "a") })).toEqual([slice.text]);
  });

  test("are words: marks of blanks are left out, a blank alone is not", () => {
    expect(["▁bad", "##ing", "␣the", "bad</w>", "Ġso", "▁"].map((text) => asWord(choice(text, 1)))).toEqual([
      "bad",
      "ing",
      "the",
      "bad",
      "so",
      "▁",
    ]);
  });
});
