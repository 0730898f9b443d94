// @vitest-environment happy-dom

import { describe, expect, test } from "vitest";
import type { WalkPlan } from "../../api/types";
import { plans } from "../../testing/plans";
import { invent } from "../../testing/recording";
import { Diagram } from "./diagram";
import { letterOf } from "./letters";
import { chapterName } from "./names";
import type { Loaded, Panel } from "./panels";
import { blockOf, keyOf, stepsOf, writeScript } from "./script";
import { sentences, titles } from "./step_words";
import { equationOf } from "./symbols";
import { words } from "./words";

const { source } = invent();
const description = {
  ...source.description,
  output: { kind: "tokens", stack: "decoder", positions: [] },
} as unknown as typeof source.description;

/** Everything that a walk says about a network. */
function tell(plan: WalkPlan): string {
  const keys = writeScript(plan, description, 0).map((scene) => scene.key);
  return keys.map((key) => `${titles("en")[key]}. ${sentences("en")[key]}`).join("\n");
}

function stepOf(plan: WalkPlan, id: string) {
  const found = stepsOf(plan).find((step) => step.id === id);
  if (!found) throw new Error(id);
  return found;
}

describe("what the walk says is true of the network", () => {
  test.each(Object.entries(plans))("%s: every step has its own words and its block", (_, plan) => {
    for (const step of stepsOf(plan)) {
      const key = keyOf(step);
      expect(key, step.id).not.toBe("other");
      expect(titles("zh")[key]).toMatch(/\p{Script=Han}|[A-Z]/u);
      expect(sentences("zh")[key]).toMatch(/\p{Script=Han}/u);
      expect(plan.diagram.blocks.map((block) => block.id)).toContain(blockOf(step));
    }
  });

  test.each(Object.entries(plans))("%s: facts are those of its settings", (_, plan) => {
    const said = tell(plan);
    const config = plan.architecture!;
    const recurrent = config.cell !== undefined;
    const counted = ["classes", "tags", "numbers"].includes(String(config.head)); // no words come out
    const facts: readonly (readonly [RegExp, boolean])[] = [
      [/pre-norm/, config.norm_position === "pre"],
      [/left half of the columns/, config.positions === "sinusoidal-halves"],
      [/alternate as in the paper/, config.positions === "sinusoidal"],
      [/Each place has a learned vector/, config.positions === "learned"],
      [/rotary positions/, config.positions === "rotary"],
      [/multiplied by √d/, config.scale_embeddings === true],
      [
        /outweighed by the positions/,
        config.scale_embeddings === true && config.positions !== "rotary" && config.positions !== "alibi",
      ],
      [/\(ALiBi\)/, config.positions === "alibi"],
      [/grouped queries/, config.key_heads != null],
      [/root of the mean of its squares/, config.query_key_norm === true],
      [/attends to what is near/, config.window != null],
      [/what is far away/, config.window != null && plan.shape === "encoder"],
      [/number that was chosen for this model/, config.score_scale != null],
      [/dividing by √d_k/, config.similarity === "scaled-dot" && config.score_scale == null],
      [/\(ReLU\)/, config.activation === "relu"],
      [/\(GELU\)/, String(config.activation).startsWith("gelu")],
      [/\(SiLU\)/, config.activation === "silu"],
      [/tied embeddings/, config.tie_embeddings === true && !counted],
      [/learned apart from/, config.tie_embeddings === false && !counted],
      [/with the same parameters/, config.share_layers === true],
      [/each with parameters of its own/, !recurrent && config.share_layers !== true],
      [
        /average of all tokens' vectors/,
        (config.head === "classes" || config.head === "numbers") && config.pooling === "mean",
      ],
      [/pooler/, config.pooler === true],
      [/Hard attention/, config.best_keys != null],
      [/times a learned factor/, config.residual_scale === true],
      [/Q · Kᵀ|Inside the layers tokens meet in attention only/, config.similarity === "scaled-dot"],
      [/all positions are computed at once/, !recurrent && plan.shape !== "encoder"],
      [/one after another in training, too/, recurrent],
      [/vᵀ tanh\(W s \+ U h\)/, config.context === "attention"],
      [/has no attention/, config.context === "fixed"],
      [/Update gate z/, config.cell === "gru"],
      [/Forget gate f/, config.cell === "lstm"],
      [/Mask the future/, !recurrent && plan.shape !== "encoder"],
    ];
    for (const [sentence, holds] of facts) expect([sentence, sentence.test(said)]).toEqual([sentence, holds]);
  });

  test.each([
    ["paper", "P[p, 2i] = sin(p ÷ 10000^(i/8)), P[p, 2i + 1] = cos(p ÷ 10000^(i/8))"],
    ["marian", "P[p, i] = sin(p ÷ 10000^(i/8)), P[p, i + 8] = cos(p ÷ 10000^(i/8))"], // sines in the left half
  ])("%s: the formula of P has the columns of its table", (name, formula) => {
    const waves = stepsOf(plans[name]!).find((step) => step.operation === "waves")!;
    const panel = { symbol: "P", shape: waves.shape.output } as unknown as Panel;
    const said = equationOf(waves, { panels: [panel], result: panel, bias: null } as unknown as Loaded);
    expect(said.map((part) => part.textContent).join("")).toContain(formula);
  });

  test("what the mask gives is what the softmax reads: S′", () => {
    const plan = plans.paper!;
    const [mask, softmax] = ["scores", "weights"].map((word) => stepOf(plan, `decoder.0.self.${word}`));
    expect(letterOf(plan, mask!, mask!.inputs[0]!, 1)).toBe("S_1");
    expect(letterOf(plan, mask!, mask!.output, 1)).toBe("S′_1");
    expect(letterOf(plan, softmax!, softmax!.inputs[0]!, 1)).toBe("S′_1");
    const free = plans.classes!; // nothing is masked there
    const plain = stepOf(free, "encoder.0.self.weights");
    expect(letterOf(free, plain, plain.inputs[0]!, 0)).toBe("S_0");
  });

  test("a sum is called the same where it is made and where the next step reads it", () => {
    const plan = plans.gpt!;
    const [sum, normed] = ["self.sum", "feed_forward.normed"].map((word) =>
      stepOf(plan, `decoder.0.${word}`),
    );
    expect(letterOf(plan, sum!, sum!.inputs[0]!, null)).toBe("X");
    expect(letterOf(plan, sum!, sum!.output, null)).toBe("X′");
    expect(letterOf(plan, normed!, normed!.inputs[0]!, null)).toBe("X′");
    const deep = plans.rotary!;
    const next = stepOf(deep, "decoder.1.self.queries");
    expect(letterOf(deep, next, next.inputs[0]!, null)).toBe("X"); // of the layer below
  });
});

describe("a recurrent network", () => {
  test("all its cells are walked through, and no layers at a glance", () => {
    const plan = plans.attention!;
    const scenes = writeScript(plan, source.description, 0);
    const ids = scenes.map((scene) => scene.id);
    expect(ids).toEqual(expect.arrayContaining(stepsOf(plan).map((step) => step.id)));
    expect(scenes.map((scene) => scene.kind)).not.toContain("glance");
    expect(ids.indexOf("sequence")).toBe(ids.indexOf("decoder.text") - 1);
    const gate = scenes.find((scene) => scene.id === "encoder.0.forward.reset")!;
    expect(chapterName(gate, plan, words("zh"))).toBe("编码器 · 第 0 层 · 循环单元");
  });

  test("the diagram has the context below the cell that it enters", () => {
    for (const [name, between] of [
      ["attention", "decoder.0.cross.block"],
      ["fixed", "decoder.context.block"],
    ] as const) {
      const drawn = new Diagram(
        plans[name]!,
        0,
        words("en"),
        () => {},
        () => {},
      ).element;
      const y = (id: string) =>
        Number(
          / ([\d.]+)\)/.exec(drawn.querySelector(`[data-block="${id}"]`)!.getAttribute("transform")!)![1],
        );
      expect(y(between)).toBeGreaterThan(y("decoder.0.forward.block"));
      expect(y("encoder.0.forward.block")).toBe(y("encoder.0.backward.block"));
      expect(drawn.querySelectorAll(".walk-arrow")).toHaveLength(plans[name]!.diagram.arrows.length);
    }
  });
});
