import { describe, expect, it } from "vitest";

import type { Theme } from "../core/view";
import { css, diverging, headColour, inkOn, luminance, pick, sequential } from "./colours";

const THEMES: readonly Theme[] = ["light", "dark"];
type Rgb = [number, number, number];

// Viénot, Brettel and Mollon 1999: linear RGB as seen without one kind of cone.
const SEEN: Readonly<Record<string, readonly [Rgb, Rgb, Rgb]>> = {
  everyone: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanope: [
    [0.11238, 0.88762, 0],
    [0.11238, 0.88762, 0],
    [0.00401, -0.00401, 1],
  ],
  deuteranope: [
    [0.29275, 0.70725, 0],
    [0.29275, 0.70725, 0],
    [-0.02234, 0.02234, 1],
  ],
};

const toLinear = (byte: number): number => {
  const part = byte / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
};

function colour(table: Uint8Array, place: number): Rgb {
  return [...table.subarray(3 * place, 3 * place + 3)] as Rgb;
}

/** CIE lightness, 0 to 100, of a colour as someone sees it. */
function lightness(rgb: Rgb, matrix: readonly [Rgb, Rgb, Rgb]): number {
  const [red, green, blue] = rgb.map(toLinear) as Rgb;
  const [r, g, b] = matrix.map((row) => row[0] * red + row[1] * green + row[2] * blue) as Rgb;
  const y = Math.max(0, 0.2126 * r + 0.7152 * g + 0.0722 * b);
  return y > 0.008856 ? 116 * Math.cbrt(y) - 16 : 903.3 * y;
}

describe("the sequential table", () => {
  for (const theme of THEMES) {
    for (const [who, matrix] of Object.entries(SEEN)) {
      it(`runs one way in lightness for a ${who} in the ${theme} theme`, () => {
        const table = sequential(theme);
        const seen = Array.from({ length: 256 }, (_, place) => lightness(colour(table, place), matrix));
        const sign = theme === "light" ? -1 : 1;
        for (let place = 1; place < 256; place++) {
          // One byte of rounding may stand still or step back by a hair; eight places must move.
          expect(sign * ((seen[place] ?? 0) - (seen[place - 1] ?? 0))).toBeGreaterThan(-0.25);
          if (place >= 8) expect(sign * ((seen[place] ?? 0) - (seen[place - 8] ?? 0))).toBeGreaterThan(0.5);
        }
        expect(Math.abs((seen[255] ?? 0) - (seen[0] ?? 0))).toBeGreaterThan(60);
      });
    }
    it(`is even: no eighth of the ${theme} table takes more than twice its share of lightness`, () => {
      const table = sequential(theme);
      const seen = Array.from({ length: 9 }, (_, part) =>
        lightness(colour(table, Math.round(part * 31.875)), SEEN["everyone"]!),
      );
      const whole = Math.abs(seen[8]! - seen[0]!);
      for (let part = 0; part < 8; part++)
        expect(Math.abs(seen[part + 1]! - seen[part]!)).toBeLessThan(whole / 4);
    });
  }

  it("starts at the ground of its theme", () => {
    expect(luminance(...colour(sequential("light"), 0))).toBeGreaterThan(0.9);
    expect(luminance(...colour(sequential("dark"), 0))).toBeLessThan(0.02);
  });

  it("is made once", () => {
    expect(sequential("light")).toBe(sequential("light"));
    expect(sequential("light")).not.toBe(sequential("dark"));
  });
});

describe("the diverging table", () => {
  for (const theme of THEMES) {
    for (const [who, matrix] of Object.entries(SEEN)) {
      it(`has two arms that leave the ground for a ${who} in the ${theme} theme`, () => {
        const table = diverging(theme);
        const at = (place: number): number => lightness(colour(table, place), matrix);
        const sign = theme === "light" ? -1 : 1;
        for (const step of [1, -1]) {
          const middle = step > 0 ? 128 : 127;
          for (let far = 8; far < 128; far += 8) {
            expect(sign * (at(middle + step * far) - at(middle + step * (far - 8)))).toBeGreaterThan(0.5);
          }
        }
      });
    }
    it(`has arms that a protanope and a deuteranope tell apart in the ${theme} theme`, () => {
      for (const matrix of [SEEN["protanope"]!, SEEN["deuteranope"]!]) {
        const [low, high] = [0, 255].map((place) => {
          const [red, green, blue] = colour(diverging(theme), place).map(toLinear) as Rgb;
          return matrix.map((row) => row[0] * red + row[1] * green + row[2] * blue) as Rgb;
        });
        expect(Math.abs(low![2] - low![0] - (high![2] - high![0]))).toBeGreaterThan(0.2); // blue against yellow
      }
    });
  }
});

describe("the colours of heads", () => {
  it("differ for the first 48, in both themes, and read on their ground", () => {
    for (const theme of THEMES) {
      const colours = Array.from({ length: 48 }, (_, head) => headColour(head, theme));
      expect(new Set(colours).size).toBe(48);
      for (const each of colours) {
        const [red, green, blue] = (each.match(/\d+/g) ?? []).map(Number) as Rgb;
        const own = luminance(red, green, blue);
        const ratio = theme === "light" ? 1.05 / (own + 0.05) : (own + 0.05) / 0.06;
        expect(ratio).toBeGreaterThan(3); // WCAG: graphics need 3 : 1
      }
    }
  });
});

describe("small helpers", () => {
  it("write CSS", () => {
    expect(css(1, 2, 3)).toBe("rgb(1 2 3)");
    const table = new Uint8Array(768).fill(7, 765);
    expect(pick(table, 900)).toBe("rgb(7 7 7)");
    expect(pick(table, -4)).toBe("rgb(0 0 0)");
  });
  it("choose ink", () => {
    expect(inkOn(sequential("light"), 0)).toBe("#000000");
    expect(inkOn(sequential("light"), 255)).toBe("#ffffff");
    expect(inkOn(sequential("dark"), 0)).toBe("#ffffff");
    for (const theme of ["light", "dark"] as const)
      for (const table of [sequential(theme), diverging(theme)])
        for (let place = 0; place < 256; place++) {
          const under = luminance(...colour(table, place)) + 0.05;
          const contrast = inkOn(table, place) === "#000000" ? under / 0.05 : 1.05 / under;
          expect(contrast).toBeGreaterThanOrEqual(4.5); // WCAG 2 AA, letters of any size
        }
  });
});
