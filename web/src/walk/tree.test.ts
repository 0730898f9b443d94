import { expect, test } from "vitest";
import { words } from "../i18n/walk";
import { invent, setStage } from "../testing/recording";
import type { GenerationDescription, StepDescription } from "../types";
import type { Home } from "./part";
import { TreeScene } from "./tree";

const nodes: StepDescription[] = Array.from({ length: 40 }, (_, place) => ({
  index: Math.floor(place / 2),
  token: place,
  text: `w${place}`,
  log_probability: -1,
  alternatives: [],
  beam: place % 2,
  parent: place < 2 ? null : place - 2,
  score: -1,
}));
const generation: GenerationDescription = { method: "beam", text: "", steps: [], nodes };

function sceneOf(change: { generation: GenerationDescription | null }): TreeScene {
  const { source } = invent({ change });
  const { stage } = setStage(source);
  const tokens = { source: null, target: null };
  return new TreeScene({ stage, source, say: words("en"), tokens } as unknown as Home);
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
