import { describe, expect, it } from "vitest";
import { readPlace, samePlace, writePlace } from "./place";

describe("places", () => {
  it.each(["encoder.self.0", "decoder.cross.3", "text.layers.self.11@4"])("%s leads back", (address) => {
    const place = readPlace(address);
    expect(place && writePlace(place)).toBe(address);
  });

  it.each(["", "decoder", "decoder.self", "a.both.1", "a.self.-1", "a.self.1@x", ".self.1"])(
    "%s is no address",
    (address) => expect(readPlace(address)).toBeNull(),
  );

  it("compares by value", () => {
    expect(samePlace(readPlace("a.self.1"), readPlace("a.self.1"))).toBe(true);
    expect(samePlace(readPlace("a.self.1"), readPlace("a.self.1@0"))).toBe(false);
    expect(samePlace(null, readPlace("a.self.1"))).toBe(false);
  });
});
