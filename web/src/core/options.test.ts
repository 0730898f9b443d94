import { describe, expect, it } from "vitest";
import {
  flag,
  integer,
  Options,
  oneOf,
  optional,
  readOptions,
  real,
  type Schema,
  text,
  writeOptions,
} from "./options";
import { createSelection, nothingSelected } from "./selection";

interface ToyOptions {
  readonly scale: "absolute" | "row";
  readonly relative: boolean;
  readonly layer: number;
  readonly tau: number | null;
  readonly note: string;
}

const schema: Schema<ToyOptions> = {
  scale: oneOf(["absolute", "row"], "absolute"),
  relative: flag(),
  layer: integer(2, 0, 5),
  tau: optional(real(0, 0, 1)),
  note: text(),
};

describe("options of a view", () => {
  it("have defaults, also for what is no value", () => {
    const usual = { scale: "absolute", relative: false, layer: 2, tau: null, note: "" };
    expect(readOptions("toy", schema, {})).toEqual(usual);
    const wrong = { "toy.scale": "none", "toy.layer": "6", "toy.tau": "x", "toy.relative": "yes" };
    expect(readOptions("toy", schema, wrong)).toEqual(usual);
    expect(readOptions("toy", schema, { "other.layer": "3", "toy.layer": "1.5" })).toEqual(usual);
  });

  it("are read as they are written, and defaults are not written", () => {
    const change = { scale: "row", relative: true, layer: 0, tau: 0.25, note: "a b" } as const;
    const texts = writeOptions("toy", schema, { "other.x": "1" }, change);
    expect(texts).toEqual({
      "other.x": "1",
      "toy.scale": "row",
      "toy.relative": "1",
      "toy.layer": "0",
      "toy.tau": "0.25",
      "toy.note": "a b",
    });
    expect(readOptions("toy", schema, texts)).toEqual(change);
    expect(writeOptions("toy", schema, texts, { scale: "absolute", tau: null })).not.toHaveProperty([
      "toy.tau",
    ]);
  });

  it("are changed in the selection at once with what belongs to them", () => {
    const store = createSelection({ ...nothingSelected, options: { "toy.layer": "9", "other.x": "1" } });
    const options = new Options("toy", schema, store);
    expect(options.now.layer).toBe(2);
    const heard: unknown[] = [];
    store.subscribe((now) => heard.push([now.query, now.options]));
    options.set({ layer: 5 }, { query: 3 });
    options.setText("relative", "1");
    options.setText("scale", "nonsense");
    expect(heard).toEqual([
      [3, { "other.x": "1", "toy.layer": "5" }],
      [3, { "other.x": "1", "toy.layer": "5", "toy.relative": "1" }],
    ]);
    expect([options.text("layer"), options.text("tau")]).toEqual(["5", ""]);
  });
});
