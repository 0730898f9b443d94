import { expect, test } from "vitest";
import type { Description, MapDescription } from "../api/types";
import { cutOut, frameSeconds, partInFocus } from "./media";

const picture = { rows: 1, columns: 2, width: 2, height: 1, cells: [-1, 0, 1] };
const sound = {
  seconds: 1,
  spans: [
    [-1, -1],
    [0, 0.5],
  ],
};
const described = (source: object): Description => ({ source, target: {} }) as unknown as Description;
const map = (query: string): MapDescription => ({ query_side: query, key_side: "source" }) as MapDescription;

test("a patch that is kept is found on either axis, what is looked at first", () => {
  const pictured = described({ picture });
  const found = (query: number | null, key: number | null, side = "source") =>
    partInFocus(pictured, map(side), { query, key })?.token ?? null;
  expect(found(1, 2)).toBe(2);
  expect(found(1, null)).toBe(1);
  expect(found(1, 0)).toBe(1); // the class token is no patch
  expect(found(0, null)).toBeNull();
  expect(found(1, null, "target")).toBeNull(); // a word of that number
  expect(found(9, 9)).toBeNull();
});

test("so is a moment of a sound", () => {
  const heard = (key: number) => partInFocus(described({ sound }), map("target"), { query: 1, key });
  expect(heard(1)).toEqual({ side: "source", token: 1, kind: "sound" });
  expect(heard(0)).toBeNull();
});

test("cut out is what is hidden from all tokens, in all heads and layers", () => {
  const named = (code: string, parameters = {}) => ({ code: `recorders.edits.${code}`, parameters });
  const edit = (code: string, head: string, layer: string, key: unknown) =>
    named(code, { head: named(head), place: named("places", { layer: named(layer) }), key });
  const patch = named("patch", { number: 7, name: "0,6" });
  const edits = [
    edit("key_cut", "every_head", "every_layer", patch),
    edit("key_cut", "one_head", "every_layer", patch),
    edit("key_cut", "every_head", "layer", patch),
    edit("key_cut", "every_head", "every_layer", 3), // a word
    edit("key_blocked", "every_head", "every_layer", patch),
    edit("key_cut", "every_head", "every_layer", named("moment", { number: 2, name: "0.10" })),
    named("head_silenced", { head: 1, place: "encoder layer 0" }),
  ];
  const description = { evidence: { messages: { edits } } } as unknown as Description;
  expect(cutOut(description)).toEqual([7, 2]);
});

test("frames at the ends may be shorter than a frame is", () => {
  const whole: [number, number][] = [
    [0, 0.01], // centred on its first sample, as Whisper's
    [0.01, 0.03],
    [0.03, 0.035],
  ];
  expect(frameSeconds({ spans: whole })).toBeCloseTo(0.02);
  expect(frameSeconds({ spans: whole.slice(2) })).toBeCloseTo(0.005);
});
