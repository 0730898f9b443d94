import { expect, test } from "vitest";
import { weightOf } from "../../testing/recording";
import { findStreams, mix, traceDown, traceUp } from "./rollout";

const COUNT = 5;
const means = [0, 1, 2].map((layer) =>
  Float32Array.from({ length: COUNT * COUNT }, (_, at) =>
    weightOf(layer, 0, Math.floor(at / COUNT), at % COUNT, COUNT),
  ),
);
const mixes = means.map((mean) => mix(mean, COUNT));

/** The rollout as matrices: M_2 M_1 M_0. */
function rollOut(): number[][] {
  let rolled = Array.from({ length: COUNT }, (_, row) =>
    Array.from({ length: COUNT }, (_, column) => Number(row === column)),
  );
  for (const mixed of mixes) {
    rolled = rolled.map((_, row) =>
      Array.from({ length: COUNT }, (_, column) => {
        let sum = 0;
        for (let at = 0; at < COUNT; at++) sum += mixed[row * COUNT + at]! * rolled[at]![column]!;
        return sum;
      }),
    );
  }
  return rolled;
}

test("half of a token stays where it is", () => {
  expect(mixes[0]![0]).toBeCloseTo(0.5 + 0.5 * means[0]![0]!, 6);
  expect(mixes[0]![1]).toBeCloseTo(0.5 * means[0]![1]!, 6);
});

test("a row that looks nowhere stays", () => {
  expect([...mix(new Float32Array(4), 2)]).toEqual([1, 0, 0, 1]);
});

test("shares at the input are the row of the rollout, and sum to one at every layer", () => {
  const down = traceDown(mixes, COUNT, 3);
  const wanted = rollOut()[3]!;
  expect(down).toHaveLength(4);
  down[0]!.forEach((share, token) => {
    expect(share).toBeCloseTo(wanted[token]!, 6);
  });
  for (const plane of down) expect(plane.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 5);
  expect([...down[3]!]).toEqual([0, 0, 0, 1, 0]);
});

test("what comes from one input token is the column of the rollout", () => {
  const up = traceUp(mixes, COUNT, 2);
  const wanted = rollOut();
  up[3]!.forEach((part, token) => {
    expect(part).toBeCloseTo(wanted[token]![2]!, 6);
  });
});

test("streams carry everything, stacked without gaps; of a chosen input token exactly its share", () => {
  const down = traceDown(mixes, COUNT, 3);
  const up = traceUp(mixes, COUNT, 2);
  const { streams, hidden } = findStreams(mixes, COUNT, down, up, 0);
  for (let layer = 0; layer < 3; layer++) {
    const here = streams.filter((stream) => stream.layer === layer);
    expect(here.reduce((sum, stream) => sum + stream.share, 0)).toBeCloseTo(1, 5);
    expect(here.reduce((sum, stream) => sum + stream.of, 0)).toBeCloseTo(down[0]![2]!, 5);
    const into = here.filter((stream) => stream.to === 3).sort((one, other) => one.end - other.end);
    let end = 0;
    for (const stream of into) {
      expect(stream.end).toBeCloseTo(end, 5);
      end += stream.share;
    }
    expect(end).toBeCloseTo(down[layer + 1]![3]!, 5);
  }
  expect([...hidden]).toEqual([0, 0, 0]);
  const fewer = findStreams(mixes, COUNT, down, null, 0.05);
  expect(fewer.streams.every((stream) => stream.share >= 0.05)).toBe(true);
  const drawn = fewer.streams
    .filter((stream) => stream.layer === 0)
    .reduce((sum, stream) => sum + stream.share, 0);
  expect(drawn + fewer.hidden[0]!).toBeCloseTo(1, 5);
});
