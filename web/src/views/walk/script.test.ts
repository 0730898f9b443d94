import { describe, expect, test } from "vitest";
import type { WalkPlan, WalkStep } from "../../api/types";
import { invent } from "../../testing/recording";
import { noParameters, plan } from "../../testing/walk";
import { blockOf, keyOf, sideOf, stepsOf, writeScript } from "./script";
import { sentences, titles } from "./step_words";

const { source } = invent();

/** The tiny plan with a second layer like the first. */
function deeper(): WalkPlan {
  const [first, layer] = plan.chapters;
  const again = JSON.parse(
    JSON.stringify(layer).replaceAll("decoder.0.", "decoder.1.").replaceAll("decoder/0/", "decoder/1/"),
  );
  const second = {
    ...again,
    id: "decoder.1.self",
    layer: 1,
    steps: again.steps.map((step: object) => ({ ...step, layer: 1, chapter: "decoder.1.self" })),
  };
  return { ...plan, stacks: [{ ...plan.stacks[0]!, layers: 2 }], chapters: [first!, layer!, second] };
}

describe("the script", () => {
  test("text first, then the steps in their order, then all layers", () => {
    const ids = writeScript(plan, source.description, 0).map((scene) => scene.id);
    expect(ids[0]).toBe("decoder.text");
    expect(ids.slice(1, 9)).toEqual(stepsOf(plan).map((step) => step.id));
    expect(ids[9]).toBe("decoder.glance");
    expect(ids.at(-1)).toBe("tree");
  });

  test("one layer is opened, the others are passed over", () => {
    const deep = deeper();
    const open = (layer: number) =>
      writeScript(deep, source.description, layer)
        .filter((scene) => scene.layer !== null)
        .map((scene) => scene.layer);
    expect(new Set(open(0))).toEqual(new Set([0]));
    expect(new Set(open(1))).toEqual(new Set([1]));
    expect(new Set(open(7))).toEqual(new Set([1])); // the last one there is
    expect(open(0).length).toBe(open(1).length);
  });

  test("an encoder has nothing to write word by word", () => {
    const kinds = writeScript({ ...plan, shape: "encoder" }, source.description, 0).map(
      (scene) => scene.kind,
    );
    expect(kinds).not.toContain("training");
    expect(kinds).not.toContain("tree");
  });

  test("every step has words in both languages, and a block of the diagram", () => {
    for (const step of stepsOf(plan)) {
      for (const words of [titles, sentences]) {
        expect(words("en")[keyOf(step)]).toMatch(/[a-z]/);
        expect(words("zh")[keyOf(step)]).toMatch(/\p{Script=Han}/u);
      }
      expect(plan.diagram.blocks.map((block) => block.id)).toContain(blockOf(step));
    }
  });

  test("sentences say what the step is", () => {
    const key = (
      operation: WalkStep["operation"],
      output: string,
      kind: "self" | "cross" | "feed_forward" | "output" | "embedding" = "self",
    ) =>
      keyOf({
        ...stepsOf(plan)[1]!,
        ...{ operation, output, kind, inputs: ["a/positions"], parameters: noParameters },
      });
    expect(key("product", "decoder/0/cross/keys", "cross")).toBe("crossKeys");
    expect(key("product", "decoder/0/feed_forward/output", "feed_forward")).toBe("contract");
    expect(key("product", "decoder/0/self/output")).toBe("attentionOutput");
    expect(key("norm", "decoder/0/self/normed")).toBe("normBefore");
    expect(key("norm", "decoder/0/self/norm")).toBe("normAfter");
    expect(key("add", "decoder/embedding/sum", "embedding")).toBe("position");
    expect(key("add", "decoder/0/self/sum")).toBe("residual");
    expect(key("softmax", "output/probabilities", "output")).toBe("probabilities");
    expect(key("states", "decoder/0/self/queries")).toBe("queries");
    expect(key("something new" as "add", "decoder/0/self/else")).toBe("other");
  });

  test("one answer for a whole text is no word, three parts are no position, batch norm is no layer norm", () => {
    const step = { ...stepsOf(plan)[1]!, kind: "output" as const };
    const answer = { ...step, operation: "choose" as const, output: "output/likeliest" };
    expect(keyOf({ ...answer, axes: ["source", "rank"] })).toBe("choose");
    expect(keyOf({ ...answer, axes: ["rank"] })).toBe("chooseClass");
    const shares = { ...step, operation: "softmax" as const, output: "output/probabilities" };
    expect(keyOf({ ...shares, axes: ["class"] })).toBe("classProbabilities");
    const inputs = ["tokens", "positions", "segments"].map((part) => `encoder/embedding/${part}`);
    const sum = {
      ...step,
      kind: "embedding" as const,
      operation: "add" as const,
      output: "encoder/embedding/sum",
      inputs,
    };
    expect(keyOf(sum)).toBe("embeddingSum");
    const norm = {
      ...step,
      kind: "self" as const,
      operation: "norm" as const,
      output: "encoder/0/self/norm",
    };
    expect(keyOf({ ...norm, words: { over: "batch" } })).toBe("batchNorm");
  });
});

test("rows of a stack are the tokens of its own part, where it reads neither text", () => {
  const { description } = source;
  const tower = { ...description.maps[0]!, query_side: "part" as const };
  const towered = {
    ...description,
    maps: [{ ...tower, place: { ...tower.place, stack: "vision" } }, ...description.maps],
  };
  expect(["vision", "decoder", null].map((stack) => sideOf(stack, towered))).toEqual([
    "part",
    "source",
    "source",
  ]);
});
