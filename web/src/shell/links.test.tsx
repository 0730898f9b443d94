import { act } from "preact/test-utils";
import { describe, expect, test } from "vitest";
import { aView, open, recordings, settle } from "../testing/page";
import { invent, said } from "../testing/recording";
import { noAddress } from "./address";

describe("a link", () => {
  const place = (link: string) => ({ place: noAddress(link) });

  test("reset goes back to where it began, in the view that is shown", async () => {
    const { app } = await open(
      recordings(),
      [aView("picture", {}), aView("other", {})],
      place("recording=invented&view=picture&place=decoder.self.1&head=1&query=2&picture.zoom=3"),
    );
    const began = app.store.get();
    expect(began).toMatchObject({ head: 1, query: 2, options: { "picture.zoom": "3" } });
    await act(() => app.store.set({ view: "other", place: null, head: 0, query: null, options: {} }));
    await act(() => app.reset());
    expect(app.store.get()).toEqual({ ...began, view: "other" });
  });

  test("says in one line what the recording does not have", async () => {
    const { element, app } = await open(
      recordings(),
      [aView("picture", {})],
      place("recording=invented&view=nonsense&place=decoder.self.77&head=99&query=500"),
    );
    const said = element.querySelector("[data-banner=trouble]")?.textContent ?? "";
    for (const part of ["view=nonsense", "place=decoder.self.77", "head=99", "query=500"])
      expect(said).toContain(part);
    await act(() => app.store.set({ head: 0 }));
    expect(element.querySelector("[data-banner=trouble]")).not.toBeNull();
  });

  test("says nothing where all of it is there", async () => {
    const { element } = await open(
      recordings(),
      [aView("picture", {})],
      place("recording=invented&view=picture&place=decoder.self.1&head=1&query=2"),
    );
    expect(element.querySelector("[data-banner=trouble]")).toBeNull();
  });
});

describe("the first visit", () => {
  test("opens the recording that the server names, not the newest", async () => {
    const { source } = invent();
    const opened: string[] = [];
    const list = [
      { id: "somebody's", origin: "made" },
      { id: "example", origin: "shipped", default: true },
    ];
    await open(
      {
        recordings: async () => list as never,
        open: async (id) => {
          opened.push(id);
          return { ...source, description: { ...source.description, id } };
        },
      },
      [aView("picture", {})],
    );
    expect(opened).toEqual(["example"]);
  });

  test("a tab that is clicked while the list is fetched stays chosen", async () => {
    const { source } = invent();
    let answer = (): void => {};
    const gate = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const entry = { id: "invented", title: said("Invented"), selection: { view: "picture", head: "1" } };
    const { app } = await open(
      { recordings: () => gate.then(() => [entry as never]), open: async () => source },
      [aView("picture", {}), aView("other", {})],
    );
    await act(() => app.chooseView("other"));
    answer();
    await settle();
    expect(app.store.get()).toMatchObject({ recording: "invented", view: "other", head: 1 });
  });
});
