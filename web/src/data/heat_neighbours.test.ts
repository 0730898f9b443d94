import { expect, test, vi } from "vitest";
import type { RecordingSource } from "../core/source";
import { invent } from "../testing/recording";
import { fetchNeighbours } from "./heat_neighbours";

/** What is fetched beside a head: "layer.head", in this order. */
async function neighboursOf(layer: number, head: number): Promise<string[]> {
  const { source } = invent({ layers: 3, heads: 2 });
  const asked: string[] = [];
  const watched: RecordingSource = {
    ...source,
    weights: (place, what, as, signal) => {
      asked.push(`${place.layer}.${what.head}`);
      return source.weights(place, what, as, signal);
    },
  };
  fetchNeighbours(watched, source.description.maps.find(({ place }) => place.layer === layer)!, head);
  await vi.waitFor(() => expect(asked).not.toEqual([]));
  return asked;
}

test("the next head and the one before, then the layers above and below", async () => {
  expect(await neighboursOf(1, 0)).toEqual(["1.1", "0.1", "2.0", "0.0"]);
});

test("after the last head of a layer comes the first of the next", async () => {
  expect(await neighboursOf(1, 1)).toEqual(["2.0", "1.0", "2.1", "0.1"]);
});

test("nothing comes before the first, nor after the last", async () => {
  expect(await neighboursOf(0, 0)).toEqual(["0.1", "1.0"]);
  expect(await neighboursOf(2, 1)).toEqual(["2.0", "1.1"]);
});
