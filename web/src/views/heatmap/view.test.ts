import { afterEach, expect, test, vi } from "vitest";
import type { RecordingSource } from "../../core/source";
import { Refusal } from "../../core/source";
import { frame, invent, makeMap, setStage } from "../../testing/recording";
import { view } from "./view";

afterEach(() => vi.restoreAllMocks());

/** A map of 2048 tokens whose tiles come, or fail, as a test says. */
function longRecording(tile: () => Promise<Awaited<ReturnType<RecordingSource["tile"]>>>) {
  const map = makeMap(0, { heads: 1, queries: 2048, keys: 2048, levels: 4 });
  const { source } = invent({ change: { maps: [map] } });
  const bytes = { shape: [1, 64, 64], data: new Uint8Array(4096).fill(9) };
  const thumbnails = async () => frame({ [map.place.address]: bytes });
  const statistics = () => Promise.reject(new Error("none"));
  return Object.assign(source, { tile, thumbnails, statistics });
}

function mountLarge(source: RecordingSource) {
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(500);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(400);
  const set = setStage(source, { map: 0, head: 0, options: { "heatmap.renderer": "canvas" } });
  return { ...set, mounted: view.mount(set.stage) };
}

test("a tile that fails leaves the map as it is, says why, and is asked for again later", async () => {
  const tile = vi.fn(() => Promise.reject(new Refusal("no memory", "failed", 500)));
  const { element, failures, mounted } = mountLarge(longRecording(tile));
  const status = () => element.querySelector(".heat-status")!.textContent;
  await vi.waitFor(() => expect(status()).toContain("no memory"));
  expect([failures, element.querySelector(".heat-plot") !== null]).toEqual([[], true]);
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 10_000);
  mounted.resize();
  await vi.waitFor(() => expect(tile).toHaveBeenCalledTimes(2));
  mounted.unmount();
});

test("what waits for tiles ends with the view", async () => {
  const { mounted } = mountLarge(longRecording(() => new Promise(() => {})));
  await vi.waitFor(() => expect(document.querySelector("[aria-busy=true]")).not.toBeNull());
  const picture = mounted.picture();
  mounted.unmount();
  await expect(picture).rejects.toThrow("No longer wanted");
});

test("a picture waits for the tiles in view", async () => {
  const arrived: string[] = [];
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const source = longRecording(async () => {
    await gate;
    arrived.push("tile");
    return frame({ tile: { shape: [256, 256], data: new Uint8Array(65_536).fill(99) } });
  });
  const { mounted } = mountLarge(source);
  await vi.waitFor(() => expect(document.querySelector("[aria-busy=true]")).not.toBeNull());
  const table = mounted.table();
  expect(arrived.length).toBe(0);
  open();
  await table;
  expect(arrived.length).toBeGreaterThan(0);
  mounted.unmount();
});

test("neighbouring heads that are on their way stay wanted when the next head is asked for", async () => {
  const { source } = invent({ heads: 3 });
  const ended = new Map<number, AbortSignal[]>(); // by head: what can end its request
  const scoped = (scopes: readonly AbortSignal[]): RecordingSource => ({
    ...source,
    within: (scope) => scoped([...scopes, scope]),
    weights: (place, what, as, signal) => {
      if (place.layer === 0) ended.set(what.head as number, [...scopes]);
      return source.weights(place, what, as, signal);
    },
  });
  const life = new AbortController();
  const { stage, selection } = setStage(source, {
    map: 0,
    head: 0,
    options: { "heatmap.renderer": "canvas" },
  });
  const mounted = view.mount({ ...stage, source: scoped([life.signal]) });
  selection.subscribe((now, before) => mounted.update(now, before));
  await vi.waitFor(() => expect(ended.has(1)).toBe(true));
  const neighbour = ended.get(1)!;
  selection.set({ head: 2 });
  await vi.waitFor(() => expect(ended.has(2)).toBe(true));
  expect(neighbour.some(({ aborted }) => aborted)).toBe(false);
  mounted.unmount();
});
