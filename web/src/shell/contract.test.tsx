import { act } from "preact/test-utils";
import { describe, expect, test } from "vitest";
import type { Stage } from "../core/view";
import { learn } from "../i18n/core";
import { aView, open, recordings, runs, settle, still, toys } from "../testing/page";

const tabs = (element: Element) =>
  [...element.querySelectorAll(".pictures [role=tab]")].map((tab) => tab.textContent);

describe("training runs", () => {
  test("a view on runs is one folder: it is a tab while a run is open", async () => {
    const { element, app } = await open({ ...recordings(), runs }, [aView("picture", {})], { files: toys });
    expect(tabs(element)).toEqual(["picture"]);
    const chooser = element.querySelector<HTMLSelectElement>("[data-action=run]")!;
    chooser.value = "first";
    await act(() => void chooser.dispatchEvent(new Event("change")));
    await settle();
    expect(tabs(element)).toEqual(["Toy"]);
    expect(app.store.get()).toMatchObject({ run: "first", recording: "", view: "toy_run" });
    expect(element.querySelector(".view-toy_run")?.textContent).toBe("first 2");
    expect(element.querySelector<HTMLElement>(".panel")?.hidden).toBe(true);
    await act(() => app.go("invented"));
    await settle();
    expect(tabs(element)).toEqual(["picture"]);
    expect(app.store.get()).toMatchObject({ run: "", recording: "invented", view: "picture" });
  });
});

describe("training runs without a view that shows them", () => {
  test("cannot be chosen", async () => {
    const { element, app } = await open({ ...recordings(), runs }, [aView("picture", {})]);
    expect(app.trainingRuns.value).toHaveLength(1);
    expect(element.querySelector("[data-action=run]")).toBeNull();
  });
});

describe("another language or theme", () => {
  test("restyles the view, and does not mount it again", async () => {
    await learn("zh");
    const told: unknown[] = [];
    let stage: Stage | null = null;
    const view = aView("picture", {
      mount: (given) => {
        stage = given;
        told.push("mount");
        return { ...still, unmount: () => told.push("unmount"), restyle: (...now) => told.push(now) };
      },
    });
    const { app } = await open(recordings(), [view]);
    await act(() => app.chooseLanguage("zh"));
    await act(() => app.chooseTheme("dark"));
    await settle();
    expect(told).toEqual(["mount", ["zh", "light"], ["zh", "dark"]]);
    expect([stage!.language, stage!.theme]).toEqual(["zh", "dark"]);
  });
});
