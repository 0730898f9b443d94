import { act } from "preact/test-utils";
import { describe, expect, test, vi } from "vitest";
import type { RecipeField, RecipeSchema } from "../../api/types";
import type { ServerJobs } from "../../data/server_jobs";
import { makeApp } from "../../testing/app";
import { press, runs, settle } from "../../testing/page";
import { RunControls } from "./controls";
import { NewRunDialog } from "./dialog";
import * as form from "./form";

const field = (name: string, types: RecipeField["types"], more: Partial<RecipeField> = {}): RecipeField => ({
  name,
  types,
  choices: [],
  least: null,
  above: null,
  most: null,
  below: null,
  default: null,
  required: false,
  use: "plain",
  main: false,
  help: { code: "text.literal", parameters: { text: `about ${name}` }, default: "{text}" },
  fields: [],
  ...more,
});
const help = { code: "text.literal", parameters: { text: "a table" }, default: "{text}" };
const path = field("path", ["text"], { use: "data", main: true, required: true });
const schema: RecipeSchema = {
  tables: [
    {
      name: "task",
      help,
      chosen_by: "name",
      default: "",
      kinds: {
        writing: [path, field("context", ["integer"], { main: true, default: 256 })],
        pairs: [field("files", ["tables"], { main: true, fields: [path, field("languages", ["texts"])] })],
      },
    },
    {
      name: "train",
      help,
      chosen_by: null,
      default: "",
      kinds: {
        "": [
          field("steps", ["integer"], { main: true, default: 10 }),
          field("rate", ["number", "null"], { main: true }),
          field("recompute", ["flag"], { default: false }),
          field("schedule", ["choice"], { choices: ["cosine", "linear"], default: "cosine" }),
        ],
      },
    },
  ] as unknown as RecipeSchema["tables"],
  fork: ["train"],
};
const shipped = {
  name: "first",
  title: "A first run",
  tables: { task: { name: "writing", path: "a.txt" }, train: { steps: 5 } },
};

describe("the form", () => {
  test("texts become what a setting wants; others stay texts, and the server says what is wrong", () => {
    expect(form.read({ types: ["integer"] }, " 12 ")).toBe(12);
    expect(form.read({ types: ["integer"] }, "1.5")).toBe("1.5");
    expect(form.read({ types: ["number", "null"] }, "1e-3")).toBe(0.001);
    expect(form.read({ types: ["number"] }, "quick")).toBe("quick");
    expect(form.read({ types: ["integer", "text"] }, "label")).toBe("label");
    expect(form.read({ types: ["integer", "text"] }, "0")).toBe(0);
    expect(form.read({ types: ["texts"] }, "en, fr，zh")).toEqual(["en", "fr", "zh"]);
    expect(form.read({ types: ["columns"] }, "0, name")).toEqual([0, "name"]);
    expect(form.read({ types: ["integers", "null"] }, "0, 50, x")).toEqual([0, 50, "x"]);
    expect(form.read({ types: ["numbers", "null"] }, "-5, 12.5, x")).toEqual([-5, 12.5, "x"]);
    for (const texts of [[["garden", "nedrag"], "one"], ["Yes, it is"], ["plain", "text"], ["[a"]])
      expect(form.read({ types: ["pairs", "null"] }, form.write(texts))).toEqual(texts);
    expect(form.read({ types: ["text"] }, "  ")).toBeUndefined();
  });

  test("what is empty is left out; null is nothing", () => {
    const tables = form.tablesOf({ train: { steps: 5, minutes: null }, plugins: 3 });
    expect(tables).toEqual({ train: { steps: 5 } });
    expect(form.withValue(tables, "train", "steps", undefined)).toEqual({ train: {} });
    expect(form.withValue(tables, "model", "layers", 2).model).toEqual({ layers: 2 });
  });

  test("another task keeps what both have", () => {
    const tables = { task: { name: "writing", path: "a.txt", context: 8 } };
    expect(form.withKind(tables, schema.tables[0]!, "pairs")).toEqual({ task: { name: "pairs" } });
  });

  test("only what differs is changed in a fork", () => {
    const before = { train: { steps: 5, rate: 1 }, task: { path: "a" } };
    const now = { train: { steps: 7 }, task: { path: "b" } };
    expect(form.changesTo(before, now, ["train"])).toEqual({ "train.steps": 7, "train.rate": null });
  });

  test("a fork begins at the last checkpoint up to a step", () => {
    expect(form.nearestStep([10, 20, 30], 25)).toBe(20);
    expect(form.nearestStep([10, 20, 30], null)).toBe(30);
    expect(form.nearestStep([10, 20], 5)).toBe(10);
    expect(form.nearestStep([], 5)).toBeNull();
  });

  test("names and files that are offered", () => {
    expect(form.freeName("first", ["first", "first-2"])).toBe("first-3");
    const files = ["a.txt", "sub/b.txt", "sub/deep/c.txt"];
    expect(form.pathsBelow(files, ".")).toEqual(files);
    expect(form.pathsBelow(files, "sub/")).toEqual(["b.txt", "deep/c.txt"]);
    expect(form.foldersOf(files)).toEqual([".", "sub", "sub/deep"]);
  });
});

type Ask = readonly [path: string, method: string | undefined, body: unknown];

function withServer(answers: (path: string, method?: string, body?: unknown) => unknown) {
  const asked: Ask[] = [];
  const training = async (path: string, method?: string, body?: unknown) => {
    asked.push([path, method, body]);
    return answers(path, method, body);
  };
  const made = makeApp({ server: { training } as unknown as ServerJobs, source: { runs } });
  return { ...made, asked };
}

function answer(faults: readonly unknown[] = []) {
  return (path: string, method?: string): unknown => {
    if (path === "/schema") return schema;
    if (path === "/recipes") return [shipped];
    if (path === "/data") return { files: [{ path: "a.txt", bytes: 3 }], more: false };
    if (path === "/check") return { toml: "[task]", faults, parameters: 1000, memory: 2e9, disk: 1e9 };
    if (path === "/first/recipe") return { id: "first", tables: shipped.tables, steps: [1, 2] };
    if (path === "" && method === "POST")
      return { id: "first", state: "starting", started: 0, problem: null };
    if (path === "") return { runs: [{ id: "first", state: "running", started: 0, problem: null }] };
    return { id: "first", state: "stopping", started: 0, problem: null };
  };
}

async function type(root: Element, name: string, text: string): Promise<void> {
  const input = root.querySelector<HTMLInputElement>(`[data-field="${name}"]`)!;
  await act(() => {
    input.value = text;
    for (const event of ["input", "change"]) input.dispatchEvent(new Event(event, { bubbles: true }));
  });
  await settle();
}

describe("the dialog of a new run", () => {
  test("what is typed is checked, and started as it is", async () => {
    const { app, root, draw, asked } = withServer(answer());
    const went = vi.spyOn(app, "goToRun").mockResolvedValue();
    await act(() => draw(<NewRunDialog wish={{ fork: null, step: null }} />));
    await settle();
    expect(root.querySelector("pre")?.textContent).toBe("[task]");
    await type(root, "train.steps", "7");
    await type(root, "name", "mine");
    expect(asked.at(-1)?.[2]).toEqual({ recipe: { task: shipped.tables.task, train: { steps: 7 } } });
    await act(() => root.querySelector<HTMLButtonElement>("[data-action=start-run]")!.click());
    await vi.waitFor(() => expect(went).toHaveBeenCalledWith("first"));
    expect(asked).toContainEqual([
      "",
      "POST",
      { name: "mine", recipe: { task: shipped.tables.task, train: { steps: 7 } } },
    ]);
    expect(app.newRun.value).toBeNull();
  });

  test("what is being typed stays when the server answers meanwhile", async () => {
    let answered: (() => void) | null = null;
    const { root, draw } = withServer(async (path, method) => {
      if (path === "/check") await new Promise<void>((done) => (answered = done));
      return answer()(path, method);
    });
    await act(() => draw(<NewRunDialog wish={{ fork: null, step: null }} />));
    await settle();
    for (const [name, text] of [
      ["train.steps", "70"],
      ["name", "mine"],
    ] as const) {
      const input = root.querySelector<HTMLInputElement>(`[data-field="${name}"]`)!;
      await act(() => {
        input.value = text;
        input.dispatchEvent(new Event("input", { bubbles: true }));
      });
    }
    await act(async () => answered?.());
    await settle();
    const values = ["train.steps", "name"].map(
      (name) => root.querySelector<HTMLInputElement>(`[data-field="${name}"]`)!.value,
    );
    expect(values).toEqual(["70", "mine"]);
  });

  test("a fault stands at its setting, and nothing can be started", async () => {
    const fault = { field: "train.steps", message: { ...help, parameters: { text: "too many" } } };
    const { root, draw } = withServer(answer([fault]));
    await act(() => draw(<NewRunDialog wish={{ fork: null, step: null }} />));
    await settle();
    const input = root.querySelector('[data-field="train.steps"]')!;
    expect(input.getAttribute("aria-invalid")).toBe("true");
    const described = input.getAttribute("aria-describedby")!.split(" ");
    const texts = described.map((id) => root.querySelector(`[id="${id}"]`)?.textContent);
    expect(texts).toEqual(["about steps", "too many"]);
    expect(root.querySelector<HTMLButtonElement>("[data-action=start-run]")!.disabled).toBe(true);
  });

  test("tables in a list are added and filled in", async () => {
    const { root, draw, asked } = withServer(answer());
    await act(() => draw(<NewRunDialog wish={{ fork: null, step: null }} />));
    await settle();
    await type(root, "task.name", "pairs");
    await press(root, "add-row");
    await type(root, "task.files.0.path", "a.txt");
    await type(root, "task.files.0.languages", "en, fr");
    const wanted = { name: "pairs", files: [{ path: "a.txt", languages: ["en", "fr"] }] };
    expect(asked.at(-1)?.[2]).toEqual({ recipe: { task: wanted, train: { steps: 5 } } });
  });

  test("a fork sends what has changed, at a checkpoint", async () => {
    const { root, draw, asked } = withServer(answer());
    await act(() => draw(<NewRunDialog wish={{ fork: "first", step: 1 }} />));
    await settle();
    expect(root.querySelector('[data-field="task.path"]')).toBeNull();
    await type(root, "train.rate", "1e-4");
    await act(() => root.querySelector<HTMLButtonElement>("[data-action=start-run]")!.click());
    const sent = asked.find(([path]) => path === "/first/fork");
    expect(sent?.[2]).toEqual({ name: "first-2", step: 1, changes: { "train.rate": 0.0001 } });
  });

  test("what the server refuses is said, and the form stays", async () => {
    const { root, draw } = withServer((path, method) => {
      if (path === "" && method === "POST") throw new Error("the name is taken");
      return answer()(path, method);
    });
    await act(() => draw(<NewRunDialog wish={{ fork: null, step: null }} />));
    await settle();
    await act(() => root.querySelector<HTMLButtonElement>("[data-action=start-run]")!.click());
    await settle();
    expect(root.querySelector("[data-part=trouble]")?.textContent).toContain("the name is taken");
  });
});

describe("the buttons of a run", () => {
  test("an example has none", async () => {
    const { root, draw, asked } = withServer(answer());
    const source = await runs.open("first");
    await act(() => draw(<RunControls source={{ ...source, run: { ...source.run, shipped: true } }} />));
    await settle();
    expect([root.querySelector("[data-part=run-controls]"), asked]).toEqual([null, []]);
  });

  test("one that trains can be stopped, one that has stopped resumed; deleting asks first", async () => {
    const { app, root, draw, asked } = withServer(answer());
    const source = await runs.open("first");
    let changed: (run: typeof source.run) => void = () => {};
    const follow = (heard: typeof changed) => {
      changed = heard;
      return () => {};
    };
    const followed = { ...source, follow } as typeof source;
    await act(() => draw(<RunControls source={followed} />));
    await settle();
    expect(root.querySelector("[data-action=resume-training]")).toBeNull();
    expect(root.querySelector("[data-action=fork-training]")?.textContent).toContain("2");
    await press(root, "stop-training");
    await settle();
    expect(asked).toContainEqual(["/first/stop", "POST", undefined]);
    expect(root.textContent).toContain("Stopping");
    await act(() => changed({ ...source.run, state: "stopped" }));
    const resume = () => root.querySelector("[data-action=resume-training]");
    await vi.waitFor(() => expect(resume()).not.toBeNull());
    expect(root.querySelector("[data-action=stop-training]")).toBeNull();
    await press(root, "delete-run");
    expect(asked.some(([, method]) => method === "DELETE")).toBe(false);
    await press(root, "keep-run");
    expect(root.querySelector("[data-action=delete-surely]")).toBeNull();
    await press(root, "fork-training");
    expect(app.newRun.value).toEqual({ fork: "first", step: 2 });
    await press(root, "delete-run");
    await press(root, "delete-surely");
    await settle();
    expect(asked).toContainEqual(["/first", "DELETE", undefined]);
  });
});
