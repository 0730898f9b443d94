import { act } from "preact/test-utils";
import { describe, expect, test } from "vitest";
import { Connection, createHttpSource } from "../data/http";
import { aView, leavePage, open, recordings, settle, still } from "../testing/page";
import { invent } from "../testing/recording";

describe("requests", () => {
  test("of an opening end when something else is opened, or the page is left", async () => {
    const { source } = invent();
    const signals = new Map<string, AbortSignal>();
    const { app, element } = await open(
      {
        ...recordings(),
        open: (id, signal) => {
          signals.set(id, signal!);
          if (id === "invented") return Promise.resolve(source);
          return new Promise((_, reject) =>
            signal!.addEventListener("abort", () => reject(new DOMException("", "AbortError"))),
          );
        },
      },
      [aView("picture", {})],
    );
    const ended = () => ["slow", "slower"].map((id) => signals.get(id)?.aborted);
    await act(() => void app.go("slow"));
    expect(ended()).toEqual([false, undefined]);
    await act(() => void app.go("slower"));
    expect(ended()).toEqual([true, false]);
    await settle();
    expect(app.opening.peek()).toBe(true);
    expect(element.querySelector("[data-banner]")).toBeNull();
    leavePage();
    expect(ended()).toEqual([true, true]);
  });

  test("for the list, when late, do not take away what a link has opened meanwhile", async () => {
    const page = recordings();
    let send = (): void => {};
    const list = new Promise<void>((done) => {
      send = done;
    });
    const late = { ...page, recordings: () => list.then(() => page.recordings!()) };
    const { app } = await open(late, [aView("picture", {})]);
    await act(() => app.go("linked"));
    send();
    await settle();
    expect(app.recordings.peek()).toHaveLength(1);
    expect(app.store.get().recording).toBe("linked");
  });

  test("of a view end when it is left", async () => {
    const { description } = invent().source;
    const signals = new Map<string, AbortSignal>();
    const fetch = (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
      const path = String(input).replace("http://x/", "");
      if (path === "recordings") return Promise.resolve(Response.json([{ id: "invented" }]));
      if (path === "recordings/invented") return Promise.resolve(Response.json(description));
      if (!path.startsWith("recordings/")) return Promise.resolve(Response.json([]));
      return new Promise((_, reject) => {
        signals.set(path.replace("recordings/invented/", ""), init!.signal!);
        init!.signal!.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
      });
    };
    const ended: unknown[] = [];
    const asking = aView("asking", {
      mount: ({ source, signal }) => {
        const [map] = source.description.maps;
        const questions = [
          source.tokens("source"),
          source.thumbnails("mean"),
          source.statistics(map!.place),
          source.weights(map!.place, { head: 0 }, "uint8", new AbortController().signal),
          source.hidden("decoder", 0),
          source.walk(),
        ];
        for (const question of questions) question.catch((error: DOMException) => ended.push(error.name));
        return { ...still, unmount: () => ended.push(signal.aborted) };
      },
    });
    const source = createHttpSource(
      new Connection({ base: "http://x/", fetch: fetch as typeof globalThis.fetch }),
    );
    const { app, element } = await open(source, [asking, aView("quiet", { panel: false, transport: false })]);
    const mine = [...signals].filter(([path]) => /thumbnails|statistics|weights|hidden|walk/.test(path));
    expect(mine.map(([, signal]) => signal.aborted)).toEqual(Array(5).fill(false));
    await act(() => app.chooseView("quiet"));
    await settle();
    expect(mine.map(([, signal]) => signal.aborted)).toEqual(Array(5).fill(true));
    expect(ended).toEqual([false, ...Array(6).fill("AbortError")]);
    expect(element.querySelector("[data-notice=failed]")).toBeNull();
  });
});
