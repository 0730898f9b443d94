import { describe, expect, test, vi } from "vitest";
import { Refusal } from "../core/source";
import { encode } from "../testing/frames";
import { makeMap } from "../testing/recording";
import { Connection, createHttpSource, Memory } from "./http";

const maps = [0, 1, 2, 3].map((index) => makeMap(index, {}));
const description = { id: "a b", maps };

function serve(answers: Record<string, () => Response | Promise<Response>>) {
  const asked: string[] = [];
  const fetch = vi.fn(async (input: RequestInfo | URL, init?: RequestInit) => {
    const path = String(input).replace("http://x/api/", "");
    asked.push(path);
    const answer = answers[path] ?? answers["*"];
    if (!answer) return Response.json({ error: { sentence: `no ${path}`, code: "none" } }, { status: 404 });
    return new Promise<Response>((resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(new DOMException("stop", "AbortError")));
      Promise.resolve(answer()).then(resolve, reject);
    });
  });
  const states: boolean[] = [];
  const connection = new Connection({
    base: "http://x/api/",
    fetch: fetch as unknown as typeof globalThis.fetch,
    connected: (yes) => states.push(yes),
  });
  return { asked, connection, states, fetch };
}

const frame =
  (bytes = 8) =>
  () =>
    new Response(encode([{ name: "weights", dtype: "uint8", shape: [bytes], bytes: new Uint8Array(bytes) }]));

describe("the source over HTTP", () => {
  test("asks each question once, also when asked at the same time", async () => {
    const { asked, connection } = serve({
      "recordings/a%20b": () => Response.json(description),
      "*": frame(),
    });
    const source = createHttpSource(connection);
    const recording = await source.open("a b");
    const [one, two] = await Promise.all([
      recording.statistics(maps[3]!.place),
      recording.statistics(maps[3]!.place),
    ]);
    expect(one).toBe(two);
    await recording.statistics(maps[3]!.place);
    expect(asked).toEqual(["recordings/a%20b", "recordings/a%20b/maps/decoder.self.3/statistics"]);
  });

  test("an answer that is cut off or damaged is refused in the reader's language", async () => {
    const broken = (): Response =>
      new Response(new ReadableStream({ start: (body) => body.error(new TypeError("terminated")) }));
    const { connection } = serve({
      "recordings/a%20b": () => Response.json(description),
      "recordings/cut": broken,
      "recordings/html": () => new Response("<html>"),
      "recordings/a%20b/maps/decoder.self.0/statistics": broken,
      "*": () => new Response("no frame at all"),
    });
    const source = createHttpSource(connection);
    const recording = await source.open("a b");
    for (const question of [
      () => source.open("cut"),
      () => source.open("html"),
      () => recording.statistics(maps[0]!.place),
      () => recording.statistics(maps[1]!.place),
    ]) {
      const error = await question().catch((each: unknown) => each);
      expect(error).toBeInstanceOf(Refusal);
      expect((error as Refusal).text("en")).toMatch(/could not be read/);
      expect((error as Refusal).text("zh")).toMatch(/无法读取/);
    }
  });

  test("names what is wanted as the API does", async () => {
    const { asked, connection } = serve({
      "recordings/a%20b": () => Response.json(description),
      "*": frame(),
    });
    const recording = await createHttpSource(connection).open("a b");
    await recording.weights(maps[2]!.place, { head: "mean", queries: [0, 4], keys: [1, 2] }, "uint8");
    await recording.weights(maps[2]!.place, { head: "all" }, "float32");
    await recording.tile(maps[0]!.place, 1, 2, 3, 4, "max", "uint8");
    await recording.thumbnails("mean");
    await recording.hidden("encoder", 0, [5, 9]);
    expect(asked.slice(1)).toEqual([
      "recordings/a%20b/maps/decoder.self.2/weights?head=mean&queries=0:4&keys=1:2&as=uint8",
      "recordings/a%20b/maps/decoder.self.2/weights?as=float32",
      "recordings/a%20b/maps/decoder.self.0/tiles/1/2/3/4?how=max&as=uint8",
      "recordings/a%20b/thumbnails?how=mean",
      "recordings/a%20b/hidden/encoder/0?tokens=5:9",
    ]);
  });

  test("hands on the server's sentence, and asks again after a refusal", async () => {
    let times = 0;
    const message = { code: "api.no_recording", parameters: { id: "x" } };
    const { connection, states } = serve({
      "recordings/x": () => {
        times += 1;
        return times === 1
          ? Response.json(
              { error: { sentence: "There is no recording x.", code: "no_recording", message } },
              { status: 404 },
            )
          : Response.json(description);
      },
    });
    const source = createHttpSource(connection);
    const failure = await source.open("x").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Refusal);
    expect(failure).toMatchObject({
      said: { ...message, default: "There is no recording x." },
      code: "no_recording",
      status: 404,
    });
    await expect(source.open("x")).resolves.toBeTruthy();
    expect(states).toEqual([true, true]);
  });

  test("makes a sentence of an answer that has none", async () => {
    const { connection } = serve({ metrics: () => new Response("<html>", { status: 502 }) });
    const failure = await createHttpSource(connection)
      .metrics()
      .catch((error: Refusal) => error);
    expect((failure as Refusal).text("en")).toBe("The server answered 502.");
  });

  test("says when the server is gone", async () => {
    const { connection, states } = serve({ metrics: () => Promise.reject(new TypeError("Failed to fetch")) });
    await expect(createHttpSource(connection).metrics()).rejects.toMatchObject({
      code: "unreachable",
      status: 0,
    });
    expect(states).toEqual([false]);
  });

  test("stops fetching when the last asker has left, and not before", async () => {
    let release: (answer: Response) => void = () => {};
    const { connection, fetch } = serve({
      "recordings/a%20b": () => Response.json(description),
      "*": () => new Promise<Response>((resolve) => (release = resolve)),
    });
    const recording = await createHttpSource(connection).open("a b");
    const [first, second] = [new AbortController(), new AbortController()];
    const one = recording.tile(maps[0]!.place, 0, 0, 0, 0, "mean", "uint8", first.signal);
    const two = recording.tile(maps[0]!.place, 0, 0, 0, 0, "mean", "uint8", second.signal);
    first.abort();
    await expect(one).rejects.toMatchObject({ name: "AbortError" });
    const signal = fetch.mock.calls[1]![1]!.signal!;
    expect(signal.aborted).toBe(false);
    release(frame()());
    await expect(two).resolves.toBeTruthy();
    const third = new AbortController();
    const three = recording.tile(maps[0]!.place, 0, 1, 0, 0, "mean", "uint8", third.signal);
    third.abort();
    await expect(three).rejects.toMatchObject({ name: "AbortError" });
    expect(fetch.mock.calls[2]![1]!.signal!.aborted).toBe(true);
  });
});

describe("memory", () => {
  test("counts what words take, too: a slider asks for another answer at every stop", async () => {
    const { connection } = serve({
      "recordings/a%20b": () => Response.json(description),
      "*": () => Response.json({ values: "x".repeat(500) }),
    });
    const memory = new Memory(2000);
    const recording = await createHttpSource(connection, { memory }).open("a b");
    for (let stop = 0; stop < 20; stop++)
      await recording.score("entropy", "head", { threshold: String(stop) });
    expect(memory.size).toBeGreaterThan(1000);
    expect(memory.size).toBeLessThanOrEqual(2000);
  });

  const thing = (name: string, bytes: number) => async () => ({ value: name, bytes });

  test("forgets what was used longest ago", async () => {
    const memory = new Memory(100);
    const fetched: string[] = [];
    const ask = (name: string) =>
      memory.ask(name, async () => {
        fetched.push(name);
        return thing(name, 40)();
      });
    await ask("a");
    await ask("b");
    await ask("a"); // younger than b now
    await ask("c"); // too much: b goes
    expect(memory.size).toBe(80);
    await ask("a");
    await ask("b");
    expect(fetched).toEqual(["a", "b", "c", "b"]);
  });

  test("a signal that is aborted already asks nothing", async () => {
    const memory = new Memory();
    const fetchIt = vi.fn(thing("a", 1));
    await expect(memory.ask("a", fetchIt, AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
    expect(fetchIt).not.toHaveBeenCalled();
  });
});
