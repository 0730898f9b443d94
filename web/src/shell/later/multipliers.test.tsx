import { expect, test } from "vitest";
import { makeApp } from "../../testing/app";
import { invent, makeMap } from "../../testing/recording";
import { countMultipliers, Multipliers } from "./multipliers";

const maps = [
  makeMap(0, { layer: 0, heads: 2, scale: 0.25 }),
  makeMap(1, { layer: 1, heads: 2, scale: 0.125 }),
  makeMap(2, { layer: 2, heads: 3, scale: 0.25 }),
  makeMap(3, { layer: 3, heads: 4, scale: null }), // no such product
];

test("heads are counted by their multiplier", () => {
  expect(countMultipliers(maps)).toEqual([
    [0.25, 5],
    [0.125, 2],
  ]);
});

test("a strip for each layer; a square names its head, and a click selects it", async () => {
  const { source } = invent({ change: { maps } });
  const { app, root, draw } = makeApp({});
  draw(<Multipliers source={source} now={source.description.maps[0]!} />);
  expect(root.querySelector("p")!.textContent).toBe("5 heads: × 0.2500 · 2 heads: × 0.1250");
  expect(root.querySelectorAll(".multiplier-row").length).toBe(3);
  const square = root.querySelector('[data-map="decoder.self.2"] [data-head="1"]')!;
  expect(square.getAttribute("title")).toBe("Decoder, layer 2, self-attention, head 1: 0.2500");
  square.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  expect(app.store.get()).toMatchObject({ place: { stack: "decoder", layer: 2 }, head: 1 });
});
