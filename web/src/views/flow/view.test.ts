import { expect, test } from "vitest";
import type { Spoken } from "../../api/types";
import { mix, traceDown } from "../../core/maths/rollout";
import { invent, makeMap, setStage, settle, shown, weightOf } from "../../testing/recording";
import { stacksOf } from "./stacks";
import { view } from "./view";

test("what cannot be followed down to the input is refused with the reason", () => {
  const change = (maps: ReturnType<typeof makeMap>[]) => invent({ change: { maps } }).source;
  expect(view.fits(shown(invent({ target: ["x", "y"] }).source))).toBe(true);
  expect((view.fits(shown(change([makeMap(0, { kind: "cross" })]))) as Spoken)("en")).toContain(
    "whole self-attention",
  );
  expect((view.fits(shown(change([makeMap(0, { layer: 1 })]))) as Spoken)("en")).toContain("every layer");
  expect((view.fits(shown(change([makeMap(0, { queries: 512 })]))) as Spoken)("en")).toContain("512 tokens");
  expect((view.fits(shown(change([makeMap(0, { has_weights: false })]))) as Spoken)("zh")).toContain(
    "没有权重",
  );
});

test("stacks are layers of self-attention in order", () => {
  const maps = [
    makeMap(0, { layer: 1 }),
    makeMap(1, { layer: 0 }),
    makeMap(2, { kind: "cross" }),
    makeMap(3, { stack: "encoder", layer: 0 }),
  ];
  expect(
    [...stacksOf(maps)].map(([stack, layers]) => [stack, layers.map((map) => map.place.address)]),
  ).toEqual([
    ["decoder", ["decoder.self.0", "decoder.self.1"]],
    ["encoder", ["encoder.self.0"]],
  ]);
});

test("the table has the share at every layer, and the bands of the picture sum to one", async () => {
  const texts = ["a", " b", " c", " d"];
  const { source } = invent({ source: texts, heads: 2, layers: 3 });
  const { stage, selection } = setStage(source, { query: 1 });
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  await settle();
  const mixes = [0, 1, 2].map((layer) =>
    mix(
      Float32Array.from(
        { length: 16 },
        (_, at) =>
          (weightOf(layer, 0, Math.floor(at / 4), at % 4, 4) +
            weightOf(layer, 1, Math.floor(at / 4), at % 4, 4)) /
          2,
      ),
      4,
    ),
  );
  const down = traceDown(mixes, 4, 1);
  const { rows, columns } = await mounted.table();
  expect(columns).toEqual(["position", "token", "input", "after layer 0", "after layer 1", "after layer 2"]);
  rows.forEach((row, token) => {
    for (let plane = 0; plane < 4; plane++) expect(row[plane + 2]).toBeCloseTo(down[plane]![token]!, 5);
  });
  const picture = await mounted.picture();
  const shares = [
    ...picture.matchAll(/data-layer="1" data-from="\d" data-to="\d" data-share="([\d.]+)"/g),
  ].map((match) => Number(match[1]));
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 1);
  mounted.unmount();
});

test("encoder and decoder can be chosen", async () => {
  const { source } = invent({ source: ["a", " b", " c"], target: ["x", " y"], layers: 2 });
  const { stage, selection, element } = setStage(source, { map: 3 });
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  await settle();
  expect((await mounted.table()).rows).toHaveLength(3);
  element.querySelector<HTMLInputElement>('input[value="decoder"]')!.click();
  await settle();
  expect(selection.get().place).toEqual(source.description.maps[4]!.place); // the same layer of the other stack
  expect((await mounted.table()).rows).toHaveLength(2);
  mounted.unmount();
});

test("a picture and a table that are asked for at once wait until all is loaded", async () => {
  const { stage } = setStage(invent().source);
  const mounted = view.mount(stage);
  const [picture, table] = await Promise.all([mounted.picture(), mounted.table()]);
  expect(picture).toContain("data-share=");
  expect(table.rows[0]).toHaveLength(5);
  mounted.unmount();
});
