import { expect, test } from "vitest";
import { writeLetters } from "../testing/letters";
import { readLetters } from "./packing";

test("bytes of any length come back, and their letters can begin no tag and no entity", () => {
  for (let length = 0; length < 60; length++) {
    const bytes = Uint8Array.from({ length }, (_, place) => (place * 151 + length * 29) % 256);
    const text = writeLetters(bytes);
    expect(text).toMatch(/^[!-~]*$/);
    expect(text).not.toMatch(/[<>&]/);
    expect(readLetters(text)).toEqual(bytes);
  }
});

test("the extremes", () => {
  for (const byte of [0, 255]) {
    const bytes = new Uint8Array(1000).fill(byte);
    expect(readLetters(writeLetters(bytes))).toEqual(bytes);
  }
});

test("what Python writes", () => {
  // write_letters(b"Glassformer") of render/html/packing.py: tests/render/html/test_packing.py holds the same pair
  expect(new TextDecoder().decode(readLetters("FUp)u3z^e-X^'#"))).toBe("Glassformer");
});
