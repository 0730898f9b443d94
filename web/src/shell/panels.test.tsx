import { act } from "preact/test-utils";
import { describe, expect, test, vi } from "vitest";
import { hasMaps } from "../core/focus";
import type { AnyView } from "../core/view";
import { aView, leavePage, open, press, recordings } from "../testing/page";
import { invent, said } from "../testing/recording";
import { view as numbers } from "../views/numbers/view";
import { noAddress } from "./address";

describe("the panel of numbers", () => {
  test("says of every measure what a low and what a high value means", async () => {
    const metric = {
      name: "entropy",
      label: said("Entropy"),
      caption: said("Caption"),
      lower: said("Lower = more focused."),
      higher: said("Higher = more random."),
      parameters: [],
      levels: ["head", "layer", "model"],
      panel: true,
    };
    const { element, app } = await open({ ...recordings(), metrics: async () => [metric as never] }, [
      aView("picture", {}),
    ]);
    await act(() => {
      app.panel.value = "interpretability";
    });
    const reading = () => element.querySelector("[data-reading=entropy]");
    await vi.waitFor(() => expect(reading()).not.toBeNull());
    expect(reading()?.textContent).toBe("Lower = more focused.Higher = more random.");
  });
});

describe("the threshold τ", () => {
  test("is the same in the panel and in the Numbers view, whatever a link says", async () => {
    for (const [link, wanted] of [
      ["", { threshold: "0.01", relative: "false" }],
      ["&numbers.relative=1", { threshold: "1", relative: "true" }],
      ["&numbers.relative=1&numbers.tau=0.5", { threshold: "0.5", relative: "true" }],
    ] as const) {
      const label = said("n");
      const shape = { label, caption: label, lower: null, higher: null, family: "", unit: "", over: "head" };
      const metric = { ...shape, name: "nonzero", levels: ["head", "layer", "model"], panel: true };
      const parameters = [{ name: "threshold" }, { name: "relative" }];
      const asked: [string, unknown][] = [];
      const { source } = invent();
      const score = (_: string, over: string, given: unknown) => {
        asked.push([over, given]);
        return new Promise<never>(() => {});
      };
      const own = { ...source, score, within: () => own };
      await open(
        {
          ...recordings(),
          open: async () => own as never,
          metrics: async () => [{ ...metric, parameters, needs: "statistics", range: [0, null] }] as never,
        },
        [],
        {
          files: { "./numbers/view.ts": async () => numbers as unknown as AnyView },
          place: { ...noAddress(), read: () => `view=numbers${link}` },
        },
      );
      await vi.waitFor(() => expect(asked.length).toBe(5));
      const levels = asked.map(([over]) => over).sort();
      expect(levels).toEqual(["head", "head", "layer", "model", "model"]); // three of the panel, two of the view
      for (const [, given] of asked) expect(given).toEqual(wanted);
      leavePage();
    }
  });
});

describe("help", () => {
  test("has a glossary that can be searched", async () => {
    const { element } = await open(recordings(), [aView("picture", {})]);
    await act(() => element.querySelector<HTMLElement>("[data-action=help]")!.click());
    await vi.waitFor(() => expect(element.querySelector("[data-part=glossary]")).not.toBeNull());
    const terms = () =>
      [...element.querySelectorAll("[data-part=glossary] dt")].map((each) => each.textContent);
    for (const term of ["Attention weight", "Softmax", "Residual stream", "Perplexity", "Rollout"])
      expect(terms()).toContain(term);
    const field = element.querySelector<HTMLInputElement>("[data-field=glossary]")!;
    field.value = "  KEYS ";
    await act(() => void field.dispatchEvent(new Event("input")));
    expect(terms()).toEqual(["Head"]);
  });
});

describe("all recordings", () => {
  test("are searched in the index of the host, part by part; one that is chosen opens", async () => {
    const [first] = await recordings().recordings!();
    const numbered = (at: number) => ({
      ...first!,
      id: `r${at}`,
      title: said(`Text ${at}`),
      origin: "made" as const,
    });
    const findRecordings = vi.fn(async (search: string, count: number) => {
      const all = Array.from({ length: 250 }, (_, at) => numbered(at)).filter(({ id }) =>
        id.includes(search),
      );
      return { entries: all.slice(0, count), total: all.length };
    });
    const { element, app } = await open({ ...recordings(), findRecordings }, [aView("picture", {})]);
    const chooser = element.querySelector<HTMLSelectElement>("[data-action=recording]")!;
    chooser.value = "/";
    await act(() => void chooser.dispatchEvent(new Event("change")));
    const rows = () => element.querySelectorAll("[data-recording]").length;
    await vi.waitFor(() => expect(rows()).toBe(100));
    await press(element, "more-recordings");
    await vi.waitFor(() => expect(rows()).toBe(200));
    const field = element.querySelector<HTMLInputElement>("[data-field=recordings]")!;
    field.value = "r24";
    await act(() => void field.dispatchEvent(new Event("input")));
    await vi.waitFor(() => expect(rows()).toBe(11)); // r24, r240 … r249
    const go = vi.spyOn(app, "goToEntry").mockResolvedValue();
    await act(() => element.querySelector<HTMLElement>("[data-recording=r244]")!.click());
    expect(go).toHaveBeenCalledWith("r244");
    expect(rows()).toBe(0);
  });
});

describe("a recording without attention maps", () => {
  test("is asked for no numbers; panels and views say why there are none, and what there is", async () => {
    const note = { code: "record.fixed_context", parameters: {}, default: "One fixed context." };
    const { source } = invent({ change: { maps: [] } });
    const { evidence } = source.description;
    const score = vi.fn();
    const description = {
      ...source.description,
      evidence: { ...evidence, messages: { ...evidence.messages, notes: [note] } },
    };
    const fixed = { ...source, description, score, within: () => fixed } as never;
    const metric = { name: "entropy", parameters: [], levels: ["head"], panel: true };
    const views = [aView("picture", { fits: hasMaps as never }), aView("other", {})];
    const page = { ...recordings(), open: async () => fixed, metrics: async () => [metric as never] };
    const { element, app } = await open(page, views, { place: noAddress("view=picture") });
    const notice = element.querySelector("[data-notice=does-not-fit]")!;
    expect(notice.textContent).toContain("One fixed context.");
    expect(notice.textContent).not.toContain("Record again");
    for (const panel of ["interpretability", "debugging"] as const) {
      await act(() => {
        app.panel.value = panel;
      });
      const text = () => element.querySelector(`[data-panel=${panel}]`)?.textContent;
      await vi.waitFor(() => expect(text()).toContain("One fixed context. Walk shows"));
    }
    expect(score).not.toHaveBeenCalled();
    await act(async () => void (await app.views.load("other"))); // the page fetches it after the first picture
    await press(element, "show-other");
    expect(app.view.peek()).toBe("other");
  });
});
