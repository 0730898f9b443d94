/**
 * What scenes and chapters of the walk are called.
 *
 * In:   scenes, the plan.
 * Out:  names; where chapters begin.
 */

import type { Language, WalkPlan } from "../../api/types";
import type { Mark } from "./player";
import type { Chapter, Scene } from "./script";
import { titles } from "./step_words";
import type { WalkWords } from "./words";

/** The part of the model that a chapter is about. */
function partName(chapter: Chapter, stack: string | null, plan: WalkPlan, say: WalkWords): string {
  const causal = plan.stacks.find((each) => each.stack === stack)?.causal === true;
  if (plan.recurrent && chapter === "cross") return say.lookBack;
  if (plan.recurrent && chapter === "states") return say.both;
  return chapter === "attention" && causal ? say.masked : say[chapter];
}

/** Stack, layer and part: decoder · layer 0 · attention. */
export function chapterName({ stack, layer, chapter, kind }: Scene, plan: WalkPlan, say: WalkWords): string {
  const parts: string[] = [];
  if (stack !== null && plan.shape === "encoder-decoder" && chapter !== "output")
    parts.push(stack === "encoder" ? say.encoder : say.decoder);
  if (layer !== null) parts.push(say.layerNumber(layer));
  if (kind === "step") parts.push(partName(chapter, stack, plan, say));
  return parts.join(" · ");
}

export function sceneName(scene: Scene, plan: WalkPlan, say: WalkWords, language: Language): string {
  return [chapterName(scene, plan, say), titles(language)[scene.key]].filter(Boolean).join(" · ");
}

/** Where chapters begin. */
export function marksOf(scenes: readonly Scene[], plan: WalkPlan, say: WalkWords): Mark[] {
  const marks: (Mark & { key: string })[] = [];
  const both = plan.shape === "encoder-decoder";
  let last: string | null = null;
  scenes.forEach(({ chapter, stack }, at) => {
    const key = `${chapter} ${stack ?? ""}`;
    if (marks.at(-1)?.key === key) return;
    const begins = both && stack !== null && stack !== last;
    marks.push({
      at,
      name: partName(chapter, stack, plan, say),
      stack: begins ? (stack === "encoder" ? say.encoder : say.decoder) : "",
      key,
    });
    last = stack;
  });
  return marks;
}
