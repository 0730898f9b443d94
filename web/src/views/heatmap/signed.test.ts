import { describe, expect, it } from "vitest";
import known from "../../../../tests/api/signed_frame.json";
import { encodeFrame } from "../../api/frame_writer";
import { asFloats, decodeFrame, type Frame, type Tensor, tensor } from "../../api/frames";
import { byteOf, coarsen, weightOf } from "../../core/heat";
import { nothingSelected } from "../../core/selection";
import type { RecordingSource } from "../../core/source";
import { asBytes, cutTile, cutWeights, pool } from "../../data/file_cutting";
import { openTiles, tileOf } from "../../data/heat_tiles";
import { diverging } from "../../marks/colours";
import { paint } from "../../marks/heat_canvas";
import { sceneOf } from "../../marks/heat_scene";
import { Viewport } from "../../marks/heat_viewport";
import { invent, makeMap, shown } from "../../testing/recording";
import { view as flow } from "../flow/view";
import { view as inside } from "../inside/view";
import { view as lines } from "../lines/view";
import { view as numbers } from "../numbers/view";
import { view as text } from "../text/view";
import { AxisTokens } from "./axes";
import { legendWords } from "./panel";
import { valueText } from "./readout";
import { usualScale } from "./settings";
import { ShownMap } from "./shown_map";
import { view as heatmap } from "./view";
import { words } from "./words";

const frame = decodeFrame(Uint8Array.from(atob(known.frame), (letter) => letter.charCodeAt(0)).buffer);
const bytes = tensor(frame, "weights");
const floats = tensor(frame, "exact");
const named = (found: Tensor): Frame => ({
  arrays: new Map([["weights", { ...found, name: "weights" }]]),
  meta: {},
});
const map = makeMap(0, { content: "signed", heads: 1, queries: 2, keys: 3 });

function signedRecording(): RecordingSource {
  const { source } = invent({ change: { maps: [map] } });
  const weights: RecordingSource["weights"] = async (_place, { queries, keys }, as) => {
    if (as === "uint8") return named(bytes);
    const asked = new URLSearchParams({ head: "0", as });
    if (queries) asked.set("queries", queries.join(":"));
    if (keys) asked.set("keys", keys.join(":"));
    return decodeFrame(cutWeights(named(floats), asked)!);
  };
  return Object.assign(source, { weights });
}

describe("signed values that Python wrote", () => {
  it("are read with their sign", () => {
    expect([bytes.scale, bytes.content, floats.content]).toEqual(["signed_sqrt", "signed", "signed"]);
    const read = [...asFloats(bytes)];
    known.values.flat().forEach((value, at) => {
      expect(Math.sign(read[at]!)).toBe(Math.sign(value));
      expect(read[at]).toBeCloseTo(value, 2);
    });
    expect([read[0], read[1]]).toEqual([-0.5, 0]);
    expect([...asFloats(floats)]).toEqual(known.values.flat().map(Math.fround));
  });

  it("become the same bytes here as there", () => {
    expect(tileOf(floats, 0, 0, 0)).toEqual(tileOf(bytes, 0, 0, 0));
    expect([-0.5, 0, 1e-9, -1e-9, Number.NaN].map((value) => byteOf(value, 0.5, 128))).toEqual([
      1, 128, 129, 127, 128,
    ]);
    const drawn = asBytes("a", [1, 2, 3], [asFloats(floats)], "signed");
    expect([drawn.scale, drawn.maximum, drawn.content]).toEqual(["signed_sqrt", 0.5, "signed"]);
    expect([...drawn.data]).toEqual([...bytes.data]);
  });

  it("keep their sign where cells are pooled", () => {
    const tile = tileOf(bytes, 0, 0, 0);
    const mean = coarsen(tile, "mean");
    expect(weightOf(mean, mean.bytes[0]!)).toBeCloseTo(-0.125, 2);
    const peak = coarsen(tile, "max");
    expect(weightOf(peak, peak.bytes[0]!)).toBe(-0.5);
    expect([...pool(floats, 1, true).values]).toEqual([-0.5, 0.25]);
    const opposite = { ...floats, shape: [1, 2], data: Float32Array.of(-1, 1) };
    expect([...pool(opposite, 1, true).values]).toEqual([1]); // as recording/pooling.py has it
  });

  it("stay signed in exported files", () => {
    for (const head of ["0", "mean"]) {
      const part = tensor(decodeFrame(cutWeights(named(bytes), new URLSearchParams({ head }))!), "weights");
      expect([part.content, asFloats(part)[0], asFloats(part)[1]]).toEqual(["signed", -0.5, 0]);
    }
    const tile = tensor(decodeFrame(cutTile(named(bytes), 0, 0, 0, 0, new URLSearchParams())), "tile");
    expect(tileOf(tile, 0, 0, 0).zero).toBe(128);
    expect(tensor(decodeFrame(encodeFrame([bytes], {})), "weights")).toEqual(bytes);
  });
});

describe("the heat map of signed values", () => {
  it("shows −0.5 as −0.5 and zero in the neutral colour, in both themes", async () => {
    const source = signedRecording();
    const tiles = await openTiles(source, map, 0, "mean", { arrived() {}, failed() {} });
    const axes = new AxisTokens(source, () => {}).of(map, nothingSelected);
    const drawn = new ShownMap(source, map, 0, "mean", axes, tiles, () => {});
    const viewport = new Viewport();
    viewport.extent = drawn.extent;
    viewport.box = { left: 0, top: 0, width: 3, height: 2 };
    const scale = usualScale({ place: map.place } as never, source.description);
    drawn.look({ ...viewport.scaled(1), near: { query: 0, key: 0 } }, scale);
    expect(drawn.top).toBe(0.5);

    const say = words("en");
    expect(legendWords(drawn, say).note).toContain("blue: below zero, red: above zero");
    const read = (query: number, key: number): string => valueText(drawn.read({ query, key }, say), say);
    expect(read(0, 0)).toBe("≈ −0.50");
    await Promise.all([drawn.exact.fetch(0, 0), drawn.exact.fetch(1, 0)]);
    expect([read(0, 0), read(0, 1), read(0, 2), read(1, 2)]).toEqual(["-0.5", "0", "0.125", "0.25"]);

    const packed = { ...source, weights: async () => ({ ...named(bytes), meta: { approximate: true } }) };
    const near = new ShownMap(packed, map, 0, "mean", axes, tiles, () => {});
    await near.exact.fetch(0, 0);
    expect(valueText(near.read({ query: 0, key: 0 }, say), say)).toBe("≈ −0.50"); // bytes are never called exact

    for (const theme of ["light", "dark"] as const) {
      const pixels = paint(sceneOf(drawn, viewport, theme, 1));
      const at = (cell: number): number[] => [...pixels.subarray(4 * cell, 4 * cell + 3)];
      const colour = (place: number): number[] => [...diverging(theme).subarray(3 * place, 3 * place + 3)];
      expect([at(0), at(1), at(3)]).toEqual([colour(1), colour(128), colour(128)]);
      expect(at(4)).toEqual(colour(129)); // 1e-9 is not zero
      const [red = 0, green = 0, blue = 0] = at(1);
      expect(Math.max(red, green, blue) - Math.min(red, green, blue)).toBeLessThan(6); // grey
      const [low, high] = [at(0), at(5)];
      expect(low[2]! - low[0]!).toBeGreaterThan(30); // blue
      expect(high[0]! - high[2]!).toBeGreaterThan(30); // red
    }
  });

  it("has the same colours whatever the size of the values", () => {
    for (const size of [1e-9, 1, 1e9]) {
      const tile = tileOf({ ...bytes, maximum: 0.5 * size }, 0, 0, 0);
      const viewport = new Viewport();
      viewport.extent = { queries: 2, keys: 3 };
      viewport.box = { left: 0, top: 0, width: 3, height: 2 };
      const placements = [{ tile, queries: [0, 2] as const, keys: [0, 3] as const }];
      const mask = { causal: null, rows: null, left: null };
      const drawn = { placements, top: tile.maximum, mask, signed: true } as unknown as ShownMap;
      const { table, ...scene } = sceneOf(drawn, viewport, "light", 1);
      const places = Uint8Array.from({ length: 768 }, (_, at) => Math.floor(at / 3));
      const pixels = paint({ ...scene, table: places });
      expect([0, 1, 2, 3, 4, 5].map((cell) => pixels[4 * cell])).toEqual([...bytes.data]);
      expect(table).toBe(diverging("light"));
    }
  });

  it("is open to signed maps; views of weights refuse them", () => {
    const subject = shown(signedRecording());
    for (const view of [heatmap, lines, text]) expect(view.fits(subject)).toBe(true);
    for (const view of [flow, inside, numbers]) {
      const why = view.fits(subject);
      expect(typeof why === "function" && why("en")).toContain("signed values");
      expect(typeof why === "function" && why("zh")).toContain("带符号的值");
    }
  });
});
