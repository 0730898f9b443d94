/**
 * Stacks with hidden states: which one a view shows, and the control that chooses another.
 *
 * In:   the stage, the stack that was asked for.
 * Out:  its hidden states' description; a choice where there are several.
 */

import type { HiddenDescription } from "../api/types";
import { chooseMap } from "../core/maps";
import type { Stage } from "../core/view";
import { liveWords } from "../i18n/core";
import { words } from "../i18n/focus";
import { type Control, choice } from "./controls";

/** The stack that was chosen; without a choice the one whose map is in focus. */
export function chosenHidden(stage: Stage, wanted: string | null): HiddenDescription {
  const { hidden, maps } = stage.source.description;
  const stack = wanted ?? chooseMap({ maps }, stage.selection.get())?.stack;
  return hidden.find((each) => each.stack === stack) ?? hidden[0]!;
}

/** A choice between stacks; null where there is but one. */
export function stackChoice(
  stage: Stage,
  stacks: readonly string[],
  now: string,
  choose: (stack: string) => void,
): Control<string> | null {
  if (stacks.length < 2) return null;
  const say = liveWords(words, () => stage.language);
  const options = stacks.map((stack) => ({ value: stack, text: () => say.stackName(stack) }));
  return choice(() => say.stack, options, now, choose);
}
