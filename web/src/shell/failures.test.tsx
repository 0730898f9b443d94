import { act } from "preact/test-utils";
import { describe, expect, test, vi } from "vitest";
import { Refusal } from "../core/source";
import type { AnyView } from "../core/view";
import { aView, open, recordings, runs, settle, still, toys } from "../testing/page";
import { Views } from "./views";

test("a view whose subject is not open says what it needs, and leads there", async () => {
  const needing = (name: string, needs: AnyView["needs"]) => ({ ...aView(name, {}), needs }) as AnyView;
  const views = [needing("map", "study"), needing("curves", "runs"), aView("text", {})];
  const atlases = { list: async () => [{ id: "gpt2", model: { name: "zoo/gpt2" } }], open: vi.fn() };
  const { element, app } = await open({ ...recordings(), atlases } as never, views);
  const notice = () => element.querySelector("[data-notice=waiting]")?.textContent;
  await act(() => app.chooseView("map"));
  await settle();
  expect(notice()).toBe("No atlas is open. Choose a model:gpt2");
  await act(() => app.chooseView("curves"));
  await settle();
  expect(notice()).toBe("No training run is open. Choose one:All training runs …");
});

describe("what throws fails alone", () => {
  test("a view shows its error, and another tab works", async () => {
    const bad = aView("bad", {
      mount: () => {
        throw new Error("no canvas");
      },
    });
    const good = aView("good", {
      mount: ({ element }) => {
        element.textContent = "drawn";
        return still;
      },
    });
    const { element, app } = await open(recordings(), [bad, good]);
    expect(element.querySelector("[data-notice=failed]")?.textContent).toContain("no canvas");
    await act(() => app.chooseView("good"));
    await settle();
    expect(element.querySelector("[data-notice=failed]")).toBeNull();
    expect(element.querySelector(".view-good")?.textContent).toBe("drawn");
  });

  test("a view that throws when it is asked whether it fits: the recording opens in another", async () => {
    const bad = aView("bad", {
      fits: () => {
        throw new Error("no maps here");
      },
    });
    const { element, app } = await open(recordings(), [bad, aView("good", {})]);
    expect(element.querySelector(".view-good")).not.toBeNull();
    const tab = element.querySelector<HTMLElement>("[role=tab][data-name=bad]")!;
    expect([tab.className, tab.title]).toEqual(["tab muted", "Unexpected error: no maps here"]);
    await act(() => app.chooseView("bad"));
    expect(element.querySelector("[data-notice=does-not-fit]")?.textContent).toContain("no maps here");
  });

  test("a view of which most would be empty: the recording opens in another, unless that one was chosen", async () => {
    const views = [aView("sparse", { sparse: () => true }), aView("good", {})];
    const { element, app } = await open(recordings(), views);
    expect(element.querySelector(".view-good")).not.toBeNull();
    await act(() => app.chooseView("sparse"));
    await act(() => app.go("invented"));
    await settle();
    expect(element.querySelector(".view-sparse")).not.toBeNull();
    const alone = await open(recordings(), views.slice(0, 1));
    expect(alone.element.querySelector(".view-sparse")).not.toBeNull();
  });

  test("a view whose code cannot be fetched: the recording opens in another", async () => {
    const [lost, good] = [aView("lost", {}), aView("good", {})];
    const files = {
      "./lost/view.ts": () => Promise.reject<AnyView>(new TypeError("no such chunk")),
      "./good/view.ts": async () => good,
    };
    const { element, app } = await open(recordings(), [], { views: new Views(files, [lost, good]) });
    expect(element.querySelector(".view-good")).not.toBeNull();
    expect(app.trouble.peek()).toBeNull();
  });

  test("a view that throws while the page draws its title leaves the other views and the panels", async () => {
    const title = (): string => {
      throw new Error("no title");
    };
    const bad = aView("bad", { title, fits: () => "not this one" });
    const { element, app } = await open(recordings(), [aView("good", {}), bad]);
    expect(element.querySelector("[data-part=views]")?.textContent).toContain("no title");
    expect(element.querySelector(".view-good")).not.toBeNull();
    await act(() => app.chooseView("bad"));
    await settle();
    expect(element.querySelector("[data-part=view]")?.textContent).toContain("no title");
    await act(() => app.chooseView("good"));
    await settle();
    expect(element.querySelector("[data-part=view]")).toBeNull();
    expect(element.querySelector(".view-good")).not.toBeNull();
  });

  test("what is refused is said whatever is open: a run, or a view that needs nothing", async () => {
    const playing = aView("playing", { needs: "none" } as never);
    const { element, app } = await open({ runs }, [playing], { files: toys });
    const banner = () => element.querySelector("[data-banner=trouble]")?.textContent ?? null;
    await act(() => app.chooseView("playing"));
    await settle();
    expect(banner()).toBeNull();
    await act(() => app.complain(new Refusal("The upload is too large.", "too_large", 0)));
    expect(banner()).toContain("The upload is too large.");
    await act(() => app.goToRun("first"));
    await settle();
    expect(banner()).toBeNull();
    await act(() => app.chooseView("toy_run"));
    await act(() => app.complain(new Refusal("The upload is too large.", "too_large", 0)));
    expect(banner()).toContain("The upload is too large.");
  });

  test("a view that throws while it is updated or left", async () => {
    const bad = aView("bad", {
      mount: () => ({
        ...still,
        update: () => {
          throw new Error("no update");
        },
        unmount: () => {
          throw new Error("no end");
        },
      }),
    });
    const { element, app } = await open(recordings(), [bad, aView("good", {})]);
    await act(() => app.store.set({ query: 1 }));
    await settle();
    expect(element.querySelector("[data-notice=failed]")?.textContent).toContain("no update");
    await act(() => app.chooseView("good"));
    await settle();
    expect(element.querySelectorAll(".view-host > *").length).toBe(1);
    expect(element.querySelector(".view-good")).not.toBeNull();
  });

  test("a panel shows its error with a way out, and the rest goes on", async () => {
    const { element, app } = await open(recordings(), [aView("picture", {})]);
    const { metrics } = app;
    await act(() => {
      metrics.value = [{ panel: true }] as never; // no label, no levels: the panel throws
      app.panel.value = "interpretability";
    });
    const found = () => element.querySelector<HTMLElement>("[data-part=interpretability]");
    await vi.waitFor(() => expect(found()).not.toBeNull());
    const notice = found()!;
    expect(notice.textContent).toContain("failed");
    expect(element.querySelector(".view-picture")).not.toBeNull();
    await act(() => {
      metrics.value = [];
    });
    await act(() => notice.querySelector("button")!.click());
    expect(element.querySelector("[data-part=interpretability]")).toBeNull();
    expect(element.querySelector("[data-panel=interpretability]")?.textContent).not.toBe("");
    await act(() => element.querySelector<HTMLElement>("[data-action=theme]")!.click());
    expect(element.dataset.theme).toBe("dark");
  });
});
