import { describe, expect, it } from "vitest";
import type { Pause } from "./pause";
import { pcaProjection, umapProjection } from "./projection";
import { seeded } from "./random";
import { procrustes, turnPoints } from "./turn";

const go: Pause = async () => {};

// numpy: rng = default_rng(3); x = (rng.normal(size=(6, 4)) * [3, 2, 1, .5]).astype(float32).round(3); u * s of svd(x - x.mean(0))
const STATES = Float32Array.from([
  6.123, -5.111, 0.418, -0.284, -1.358, -0.431, -2.02, -0.116, -2.596, 6.646, 0.226, -0.176, -0.844, -1.336,
  -1.055, -0.195, 1.446, -0.477, 0.958, -0.1, 0.073, 3.092, 0.545, -0.253,
]);
const SCORES = [
  -7.773359718198713, 1.4145988224579102, 0.41945014196782093, -2.6734619365931827, 6.862980678688867,
  1.2115204891665081, -0.6310914494135571, -2.234489431302034, -1.292904527229578, 0.8408402987315791,
  2.414924874185161, 1.4409917575392193,
];

function gaussian(count: number, seed: number): Float32Array {
  const random = seeded(seed);
  return Float32Array.from(
    { length: count },
    () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  );
}

describe("pcaProjection", () => {
  it("gives way to the page from its first numbers on", async () => {
    const [tokens, width] = [400, 200];
    const states = Float32Array.from({ length: tokens * width }, (_, at) => Math.floor(at / width) % 5); // one axis
    let read = 0;
    let most = 0;
    const counted = new Proxy(states, {
      get: (target, name) => {
        read += 1;
        return Reflect.get(target, name);
      },
    });
    await pcaProjection(counted, tokens, width, async () => {
      most = Math.max(most, read);
      read = 0;
    });
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(1 << 16);
  });

  it("is what NumPy's singular value decomposition gives, up to the sign of an axis", async () => {
    const { points, shares } = await pcaProjection(STATES, 6, 4, go);
    for (const axis of [0, 1]) {
      const wanted = SCORES.filter((_, at) => at % 2 === axis);
      const seen = [...points].filter((_, at) => at % 2 === axis);
      const sign = Math.sign(wanted[0]! * seen[0]!);
      for (const [at, value] of seen.entries()) expect(sign * value).toBeCloseTo(wanted[at]!, 9);
    }
    expect(shares![0]).toBeCloseTo(0.8553329178537564, 10);
    expect(shares![1]).toBeCloseTo(0.13608492793557375, 10);
  });

  it("finds eigenvectors of the Gram matrix of many tokens: G u = λ u", async () => {
    const [tokens, width] = [300, 96];
    const states = gaussian(tokens * width, 5);
    const { points } = await pcaProjection(states, tokens, width, go);
    const mean = Array.from({ length: width }, (_, column) => {
      let sum = 0;
      for (let token = 0; token < tokens; token++) sum += states[token * width + column]!;
      return sum / tokens;
    });
    for (const axis of [0, 1]) {
      const vector = Array.from({ length: tokens }, (_, token) => points[2 * token + axis]!);
      const value = vector.reduce((sum, entry) => sum + entry * entry, 0);
      const across = mean.map((each, column) =>
        vector.reduce((sum, entry, token) => sum + entry * (states[token * width + column]! - each), 0),
      );
      vector.forEach((entry, token) => {
        const product = across.reduce(
          (sum, each, column) => sum + each * (states[token * width + column]! - mean[column]!),
          0,
        );
        expect(Math.abs(product - value * entry)).toBeLessThan(1e-8 * value * Math.sqrt(value));
      });
    }
  });

  it("copes with one token, with equal tokens, and with equal eigenvalues", async () => {
    expect([...(await pcaProjection(Float32Array.of(1, 2, 3), 1, 3, go)).points]).toEqual([0, 0]);
    expect([...(await pcaProjection(new Float32Array(12).fill(2), 4, 3, go)).points]).toEqual(
      new Array(8).fill(0),
    );
    const corners = Float32Array.from([1, 0, 0, 0, 1, 0, 0, 0, 1]); // an even triangle: both axes explain one half
    const { shares } = await pcaProjection(corners, 3, 3, go);
    expect(shares![0]).toBeCloseTo(0.5, 9);
    expect(shares![1]).toBeCloseTo(0.5, 9);
  });
});

describe("procrustes", () => {
  it("takes back a turn, and a mirrored turn", () => {
    const points = Float64Array.from(gaussian(40, 9));
    for (const mirror of [1, -1]) {
      const [cosine, sine] = [Math.cos(2.1), Math.sin(2.1)];
      const turned = turnPoints(points, [cosine, sine, -mirror * sine, mirror * cosine]);
      const back = turnPoints(turned, procrustes(turned, points));
      for (const [at, value] of back.entries()) expect(value).toBeCloseTo(points[at]!, 9);
    }
  });
});

describe("umapProjection", () => {
  it("is the same every time, and keeps two clouds apart", async () => {
    const [tokens, width] = [40, 8];
    const states = gaussian(tokens * width, 11).map((value, at) => value + (at < 20 * width ? 30 : 0));
    const one = await umapProjection(states, tokens, width, go);
    const two = await umapProjection(states, tokens, width, go);
    expect([...one.points]).toEqual([...two.points]);
    const middle = (from: number) => {
      let [x, y] = [0, 0];
      for (let token = from; token < from + 20; token++)
        [x, y] = [x + one.points[2 * token]! / 20, y + one.points[2 * token + 1]! / 20];
      return [x, y] as const;
    };
    const [left, right] = [middle(0), middle(20)];
    const apart = Math.hypot(left[0] - right[0], left[1] - right[1]);
    for (let token = 0; token < tokens; token++) {
      const own = token < 20 ? left : right;
      expect(Math.hypot(one.points[2 * token]! - own[0], one.points[2 * token + 1]! - own[1])).toBeLessThan(
        apart / 2,
      );
    }
  });
});
