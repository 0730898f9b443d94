import { act } from "preact/test-utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { RunDescription } from "../api/types";
import { Refusal, type RunList, type RunSource, type Source } from "../core/source";
import type { AnyView, Mounted, Stage, View } from "../core/view";
import { Connection, createHttpSource } from "../data/http";
import { learn } from "../i18n/core";
import { invent, said } from "../testing/recording";
import { view as numbers } from "../views/numbers/view";
import { noAddress } from "./address";
import { type MountOptions, mount } from "./mount";
import type { App } from "./state";
import { type ViewFiles, Views } from "./views";

const toys = import.meta.glob<AnyView>("../testing/views/*/view.ts", { import: "view" });
const still: Mounted = {
  update() {},
  resize() {},
  restyle() {},
  picture: async () => "<svg/>",
  table: async () => ({ caption: "", columns: [], rows: [] }),
  unmount() {},
};

function aView(name: string, change: Partial<View>): AnyView {
  const title = () => name;
  const shape = { needs: "recording", panel: true, transport: true, options: {} } as const;
  const view: View = { name, order: 1, title, about: title, ...shape, fits: () => true, mount: () => still };
  return { ...view, ...change } as AnyView;
}

const run: RunDescription = {
  id: "first",
  state: "open",
  last_step: 2,
  updated: 1,
  alarms: 0,
  curves: { loss: { steps: [1, 2], values: [3, 2.5] } },
  heads: [],
  events: [],
  recipe: "",
  environment: {},
  damaged: 0,
  revision: 1,
  since: null,
  thinned: false,
};

let leave: (() => void) | null = null;

/** The page on a source with views of its own. */
async function open(
  source: Partial<Source>,
  views: readonly AnyView[] = [],
  { files = {}, ...options }: MountOptions & { readonly files?: ViewFiles } = {},
) {
  const element = document.body.appendChild(document.createElement("div"));
  const all: AnyView[] = [...views, ...(await Promise.all(Object.values(files).map((file) => file())))];
  const given = Object.fromEntries(views.map((each) => [`./${each.name}/view.ts`, async () => each]));
  let app: App | null = null;
  await act(async () => {
    leave = mount(element, { metrics: async () => [], recordings: async () => [], ...source } as Source, {
      views: new Views({ ...given, ...files }, all),
      language: "en",
      theme: "light",
      started: (started) => {
        app = started;
      },
      ...options,
    });
  });
  await settle();
  return { element, app: app! as App };
}

async function settle(): Promise<void> {
  for (let round = 0; round < 4; round++) await act(() => new Promise((done) => setTimeout(done, 2)));
}

function recordings(): Partial<Source> {
  const { source } = invent();
  const entry = { id: "invented", title: said("Invented"), origin: "shipped" };
  return { recordings: async () => [entry as never], open: async () => source };
}

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
afterEach(() => {
  leave?.();
  leave = null;
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

const tabs = (element: Element) =>
  [...element.querySelectorAll(".pictures [role=tab]")].map((tab) => tab.textContent);

const oneRun: RunSource = { run, within: () => oneRun, refresh: async () => false, follow: () => () => {} };
const runs: RunList = { list: async () => [run], open: async () => oneRun };

describe("zoom", () => {
  test("works in a view without a camera of its own: its picture is magnified", async () => {
    const resize = vi.fn();
    const picture = aView("picture", { mount: () => ({ ...still, resize }) });
    const { element } = await open(recordings(), [picture]);
    const press = (name: string) =>
      act(() => element.querySelector<HTMLElement>(`[data-action=${name}]`)!.click());
    const zoom = () => element.querySelector<HTMLElement>(".view-picture")!.style.getPropertyValue("--zoom");
    await press("zoom-in");
    expect(zoom()).toBe("1.25");
    expect(resize).toHaveBeenCalled();
    await press("zoom-in");
    await press("fit");
    expect(zoom()).toBe("1");
  });
});

test("Reset ends where the link began, also where a view keeps its zoom in the link", async () => {
  const mount = ({ selection }: Stage<"recording">): Mounted => ({
    ...still,
    zoom: (direction) => selection.set({ options: { "picture.at": String(direction) } }),
  });
  const { element, app } = await open(recordings(), [aView("picture", { mount })]);
  const press = (name: string) =>
    act(() => element.querySelector<HTMLElement>(`[data-action=${name}]`)!.click());
  await press("zoom-in");
  expect(app.store.get().options).toEqual({ "picture.at": "1" });
  await press("reset");
  expect(app.store.get().options).toEqual({});
});

describe("the control of time", () => {
  const slider = (element: Element) => element.querySelector("[data-action=step]");

  test("is the view's own where it has one, and p plays that", async () => {
    const togglePlay = vi.fn();
    const own = aView("own", { transport: false, mount: () => ({ ...still, togglePlay }) });
    const { element, app } = await open(recordings(), [own]);
    expect(slider(element)).toBeNull();
    await act(() => void element.dispatchEvent(new KeyboardEvent("keydown", { key: "p", bubbles: true })));
    expect(togglePlay).toHaveBeenCalledTimes(1);
    expect(app.playing.value).toBe(false);
  });

  test("is not there where it would change nothing: a text read at once has no steps", async () => {
    const { element } = await open(recordings(), [aView("steps", { transport: "steps" })]);
    expect(slider(element)).toBeNull();
  });
});

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

describe("a recording of an edited model", () => {
  const table = { caption: "Weights.", columns: ["token"], rows: [["a"], ["b"]] };
  const views = ["picture", "other"].map((name) =>
    aView(name, { mount: () => ({ ...still, table: async () => table }) }),
  );

  test("is marked above every view and in its table", async () => {
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
  });

  test("no other recording is", async () => {
    const { element } = await open(recordings(), views);
    expect(element.querySelector("[data-edited]")).toBeNull();
  });
});

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

describe("controls of the attention", () => {
  test("that could choose nothing else are not shown", async () => {
    const { source } = invent({ layers: 1, heads: 1 });
    const one = { ...recordings(), open: async () => source };
    const { element } = await open(one, [aView("picture", {})]);
    expect(element.querySelector("[data-family], [data-action=layer], [data-head]")).toBeNull();
    expect(element.querySelector(".choice")?.textContent).toContain("one head and one layer");
    leave?.();
    const several = await open(recordings(), [aView("picture", {})]);
    expect(several.element.querySelectorAll("[data-head]").length).toBe(4); // two heads, two averages
  });

  test("name the model of a file that was not made here", async () => {
    const server = {
      about: async () => ({ workbench: true, limits: {} }),
      presets: async () => [],
      jobs: async () => [],
      models: async () => [],
    };
    const options = { server: server as never };
    const { element } = await open(recordings(), [aView("picture", {})], options);
    const row = element.querySelector("[data-action=predict]")?.parentElement;
    expect(row?.textContent).toContain("Its model is invented");
  });
});

describe("the answer of the model", () => {
  const choice = (text: string, share: number) => ({ token: 1, text, log_probability: Math.log(share) });

  test("is on the page in every view of a recording, and in no other", async () => {
    const output = { stack: "encoder", kind: "classes", positions: [[choice("positive", 0.75)]] } as const;
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

  test("of a masked model is put into the sentence; a word shows what else could stand there", async () => {
    const guesses = [choice("cat", 0.5), choice("dog", 0.25)];
    const texts = ["The", " [MASK]", " sat"];
    const output = { stack: "encoder", kind: "tokens", positions: [guesses, guesses, guesses] } as const;
    const { source } = invent({ source: texts, change: { shape: "encoder", output } });
    const slice = await source.tokens("source");
    const offsets = [
      [0, 3],
      [4, 10],
      [10, 14],
    ] as const;
    const spelt = { ...source, tokens: async () => ({ ...slice, offsets, text: "The [MASK] sat" }) };
    const { element, app } = await open({ ...recordings(), open: async () => spelt }, [aView("picture", {})]);
    const bar = () => element.querySelector("[data-outcome=masks]")!;
    expect(bar().textContent?.replaceAll("\u202f", " ")).toContain("The cat 50.0 % sat");
    await act(() => element.querySelector<HTMLElement>("[data-guess]")!.click());
    await vi.waitFor(() => expect(element.querySelector("[data-part=guess]")).not.toBeNull());
    expect(app.store.get().query).toBe(1);
    const rows = [...element.querySelectorAll("[data-part=guess] .bars-text")];
    expect(rows.map((row) => row.textContent)).toEqual(["cat", "dog"]);
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
    expect(element.querySelector(".view-toy_run")?.textContent).toBe("first 2.5");
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
      leave?.();
      leave = null;
    }
  });
});

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
    leave?.();
    leave = null;
    expect(ended()).toEqual([true, true]);
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
