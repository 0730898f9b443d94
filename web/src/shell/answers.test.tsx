import { act } from "preact/test-utils";
import { describe, expect, test, vi } from "vitest";
import { aView, open, recordings, settle, still } from "../testing/page";
import { frame, invent, outputOf, said } from "../testing/recording";

describe("the answer of the model", () => {
  const choice = (text: string, share: number) => ({ token: 1, text, log_probability: Math.log(share) });

  test("is on the page in every view of a recording, and in no other", async () => {
    const output = outputOf("encoder", "classes", [[choice("positive", 0.75)]]);
    const { source } = invent({ change: { shape: "encoder", output } });
    const views = [aView("picture", {}), aView("other", {}), aView("lesson", { needs: "none" } as never)];
    const { element, app } = await open({ ...recordings(), open: async () => source }, views);
    for (const view of ["picture", "other"]) {
      await act(() => app.chooseView(view));
      const bar = element.querySelector("[data-outcome=classes]");
      expect(bar?.textContent?.replaceAll("\u202f", " ")).toBe("Class positive 75.0 %");
    }
    await act(() => app.chooseView("lesson"));
    expect(element.querySelector("[data-outcome]")).toBeNull();
  });

  test("of a masked model is put into the sentence; a word shows what else could stand there, and its vector", async () => {
    const guesses = [choice("cat", 0.5), choice("dog", 0.25)];
    const texts = ["The", " [MASK]", " sat"];
    const output = outputOf("encoder", "tokens", [guesses, guesses, guesses]);
    const hidden = [{ stack: "encoder", side: "source" as const, layers: 3, tokens: 3, width: 2 }];
    const { source } = invent({ source: texts, change: { shape: "encoder", output, hidden } });
    const slice = await source.tokens("source");
    const offsets = [
      [0, 3],
      [4, 10],
      [10, 14],
    ] as const;
    const states = async (_: string, layer: number, [first]: readonly [number, number]) =>
      frame({ states: { shape: [1, 2], data: Float32Array.of(3 * first, layer === 2 ? -4 * first : 0) } });
    const spelt = {
      ...source,
      hidden: states as never,
      tokens: async () => ({ ...slice, offsets, text: "The [MASK] sat" }),
    };
    const views = [aView("picture", {}), aView("embeddings", {})];
    const { element, app } = await open({ ...recordings(), open: async () => spelt }, views);
    const bar = () => element.querySelector("[data-outcome=masks]")!;
    expect(bar().textContent?.replaceAll("\u202f", " ")).toContain("The cat 50.0 % sat");
    await act(() => element.querySelector<HTMLElement>("[data-guess]")!.click());
    await vi.waitFor(() => expect(element.querySelector("[data-part=guess]")).not.toBeNull());
    expect(app.store.get().query).toBe(1);
    const rows = [...element.querySelectorAll("[data-part=guess] .bars-text")];
    expect(rows.map((row) => row.textContent)).toEqual(["cat", "dog"]);
    const strip = () => [...element.querySelectorAll("[data-part=guess] rect")];
    await vi.waitFor(() => expect(strip().map((rect) => rect.getAttribute("class"))).toEqual(["", "below"]));
    expect(element.querySelector("[data-part=guess] svg")!.getAttribute("aria-label")).toContain("length 5");
    await act(() => element.querySelector<HTMLElement>("[data-action=open-embeddings]")!.click());
    expect(app.store.get()).toMatchObject({ view: "embeddings", query: 1 });
  });

  test("tells which sample was read, and what was cut", async () => {
    const cut = { code: "workbench.cut", parameters: {}, default: "Only 2 of 5 tokens." };
    const { source } = invent();
    const { evidence } = source.description;
    const messages = { ...evidence.messages, notes: [cut, said("Something else.")] };
    const description = { ...source.description, evidence: { ...evidence, messages } };
    const { element } = await open({ ...recordings(), open: async () => ({ ...source, description }) }, [
      aView("picture", {}),
    ]);
    expect(element.querySelector(".outcome")?.textContent).toBe("Only 2 of 5 tokens.");
  });
});

describe("a recording of an edited model", () => {
  const table = { caption: "Weights.", columns: ["token"], rows: [["a"], ["b"]] };
  const views = ["picture", "other"].map((name) =>
    aView(name, { mount: () => ({ ...still, table: async () => table }) }),
  );

  test("is marked above every view, in its table and below its saved picture", async () => {
    const { source } = invent();
    const { description } = source;
    const { evidence } = description;
    const mark = said("Edited model: head 1 silenced");
    const edited = {
      ...source,
      description: { ...description, evidence: { ...evidence, messages: { ...evidence.messages, mark } } },
    };
    const { element, app } = await open({ ...recordings(), open: async () => edited }, views);
    for (const { name } of views) {
      await act(() => app.chooseView(name));
      await settle();
      expect(element.querySelector("[data-edited]")?.textContent).toBe("Edited model: head 1 silenced");
    }
    await act(() => element.querySelector<HTMLElement>("[data-action=table]")?.click());
    await vi.waitFor(() => expect(element.querySelector("table.data")).not.toBeNull());
    expect([...element.querySelectorAll("table.data tbody tr")].map((row) => row.textContent)).toEqual([
      "aEdited model: head 1 silenced",
      "bEdited model: head 1 silenced",
    ]);
    const saved = vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:saved");
    await act(() => element.querySelector<HTMLElement>("[data-action=save-svg]")?.click());
    await vi.waitFor(() => expect(saved).toHaveBeenCalled());
    expect(await (saved.mock.lastCall![0] as Blob).text()).toContain(">Edited model: head 1 <");
    saved.mockRestore();
  });

  test("no other recording is", async () => {
    const { element } = await open(recordings(), views);
    expect(element.querySelector("[data-edited]")).toBeNull();
  });
});
