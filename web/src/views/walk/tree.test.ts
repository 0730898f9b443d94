import { expect, test, vi } from "vitest";
import type { GenerationDescription, StepDescription } from "../../api/types";
import type { Rerunner } from "../../core/view";
import { invent, setStage, settle } from "../../testing/recording";
import { type WalkContext, WalkRuns } from "./context";
import { TreeScene } from "./tree";
import { words } from "./words";

const nodes: StepDescription[] = Array.from({ length: 40 }, (_, place) => ({
  index: Math.floor(place / 2),
  token: place,
  text: `w${place}`,
  log_probability: place === 39 ? null : -1, // the last one is impossible
  alternatives: [],
  beam: place % 2,
  parent: place < 2 ? null : place - 2,
  score: -1,
}));
const generation: GenerationDescription = { method: "beam", text: "", steps: [], nodes, forced: [] };

function sceneOf(change: { generation: GenerationDescription | null }): TreeScene {
  const { source } = invent({ change });
  const { stage } = setStage(source);
  const tokens = { source: null, target: null };
  return new TreeScene({
    stage,
    source,
    say: words("en"),
    tokens,
    runs: new WalkRuns(),
  } as unknown as WalkContext);
}

test("a moving picture shows a long tree part by part, each as wide as other scenes", () => {
  const scene = sceneOf({ generation });
  scene.finish();
  const parts = scene.pictures();
  expect(parts.length).toBe(3); // 20 steps, seven at a time
  for (const { width } of parts) expect(width).toBeLessThanOrEqual(1000);
  const shown = parts.flatMap(({ body }) => [...body.matchAll(/>(w\d+)</g)].map(([, text]) => text));
  expect(shown).toEqual(nodes.map(({ text }) => text));
  expect(scene.picture().height).toBeGreaterThan(parts[0]!.height * 3);
  expect(sceneOf({ generation: null }).pictures().length).toBe(1);
});

test("a search goes on while another scene is shown, can be cancelled, and asked for again", async () => {
  const { source } = invent({ change: { generation: null } });
  const grown = invent({ change: { generation } }).source;
  const ends: { resolve(id: string): void; reject(error: unknown): void }[] = [];
  const run = vi.fn<Rerunner["run"]>(
    (_, __, signal) =>
      new Promise((resolve, reject) => {
        ends.push({ resolve, reject });
        signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
      }),
  );
  const again: Rerunner["again"] = () => ({ kind: "generate", model: "toy", sequence: "text" });
  const { stage } = setStage(source, {}, { run, again, open: async () => grown, go: () => {} });
  const runs = new WalkRuns();
  const draw = (language: "en" | "zh") =>
    new TreeScene({
      ...{ stage: { ...stage, language }, source, say: words(language), runs },
    } as unknown as WalkContext);
  const press = (scene: TreeScene) => scene.element.querySelector<HTMLButtonElement>("button")!.click();
  const first = draw("en");
  press(first);
  expect(first.element.querySelector("button")?.textContent).toBe("Cancel");
  press(first);
  await settle();
  expect(first.element.querySelector(".hint")?.textContent).toBe("");
  press(first);
  first.stop();
  const next = draw("zh");
  expect(next.element.querySelector("[role=status]")?.textContent).toBe(words("zh").growing);
  expect(run.mock.calls.map(([, , signal]) => signal.aborted)).toEqual([true, false]);
  ends[1]!.resolve("grown");
  await settle();
  expect(next.table().rows).toHaveLength(nodes.length);
  expect(next.table().rows.map((row) => row[2])).toEqual(
    nodes.map((_, at) => (at === 39 ? 0 : Math.exp(-1))),
  ); // not certain
  expect(first.table().rows).toHaveLength(0); // gone: nothing is drawn for nobody
  expect(run).toHaveBeenCalledTimes(2);
});
