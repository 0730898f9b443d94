/**
 * What is in focus, in words and in tokens: the same for every view that shows numbers.
 *
 * In:   the stage and its selection.
 * Out:  names of maps and heads, caption lines, the token of a side that the selection points at, and the way back.
 */

import type {
  Description,
  EvidenceDescription,
  HiddenDescription,
  Language,
  MapDescription,
  RowSide,
  Spoken,
} from "../api/types";
import { words } from "../i18n/focus";
import { chooseMap } from "./maps";
import { formatText, type Text } from "./messages";
import { rowSideOf } from "./reading";
import type { Selection } from "./selection";
import type { RecordingSource } from "./source";
import type { Stage, View } from "./view";

const FIXED_CONTEXT = "record.fixed_context"; // the note of a network that has no attention

/** Whether there are attention maps, or why a view of them has nothing to show. */
export const hasMaps: View["fits"] = ({ now: { description } }) =>
  description.maps.length > 0 || whyNoMaps(description);

/** Why a recording has no attention maps: its network has none, or they were not asked for. */
export function whyNoMaps({ evidence }: RecordingSource["description"]): Spoken {
  const fixed = evidence.messages.notes.find(({ code }) => code === FIXED_CONTEXT);
  return (language) => {
    const say = words(language);
    return fixed ? joinSentences([fixed, say.withoutAttention], language) : say.noMaps;
  };
}

/** For views that read weights as shares of attention: signed values would be drawn as something they are not. */
export const hasOnlyWeights: View["fits"] = (subject) =>
  isSigned(subject.now.description.maps) ? signedRefused : hasMaps(subject);

export function isSigned(maps: readonly MapDescription[]): boolean {
  return maps.some((map) => map.content === "signed");
}

export function signedRefused(language: Language): string {
  return words(language).signed;
}

export const hasHidden: View["fits"] = ({ now: { description } }) =>
  description.hidden.length > 0 || ((language) => words(language).noHidden);

export function mapName(map: MapDescription, language: Language): string {
  const say = words(language);
  const step = map.place.step === null ? "" : say.step(map.place.step);
  return say.mapName(map.place.stack, map.place.layer, map.place.kind === "cross") + step;
}

/** The chosen head's number; null for an average. */
export function headNumber(map: MapDescription, head: Selection["head"]): number | null {
  return typeof head === "number" ? Math.max(0, Math.min(map.heads - 1, head)) : null;
}

/** The map, head, query and key in focus; an average has no vectors, so its first head stands in. */
export interface Focus {
  readonly map: MapDescription;
  readonly head: number | null;
  readonly oneHead: number;
  readonly query: number; // row of the map
  readonly rowSide: RowSide; // whose tokens name rows
  readonly key: number | null; // column, where one is chosen
}

export function focusOf(stage: Stage): Focus {
  const selection = stage.selection.get();
  const map = chooseMap(stage.source.description, selection)!;
  const head = headNumber(map, selection.head);
  const query = selection.query === null ? map.queries - 1 : selection.query - map.query_start;
  return {
    map,
    head,
    oneHead: head ?? 0,
    rowSide: rowSideOf(map, selection),
    query: Math.max(0, Math.min(map.queries - 1, query)),
    key: selection.key === null ? null : Math.max(0, Math.min(map.keys - 1, selection.key - map.key_start)),
  };
}

/** The last lines of a saved picture: which model, and how its numbers were made. */
export function captionOf(stage: Stage, ...lines: readonly string[]): string[] {
  const { model, evidence } = stage.source.description;
  return [...lines.filter((line) => line !== ""), model, evidenceLine(evidence, stage.language)];
}

/** Where the numbers of a recording come from, in one line. */
export function evidenceLine({ messages }: EvidenceDescription, language: Language): string {
  return messages.summary.map((part) => formatText(part, language)).join(" · ");
}

/** Texts as sentences of one paragraph. */
export function joinSentences(texts: readonly (Text | null)[], language: Language): string {
  const sentences = texts.map((text) => (text === null ? "" : formatText(text, language)));
  return sentences.filter((sentence) => sentence !== "").join(words(language).betweenSentences);
}

/** What a side is: a text, or a picture or sound and the words that are written for it. */
export function sideName(
  description: Pick<Description, "source" | "part" | "part2" | "part3">,
  side: RowSide,
  language: Language,
): string {
  const say = words(language);
  if (side === "written") return say.beingWritten(sideName(description, "target", language));
  if (side !== "source" && side !== "target") {
    const { picture, sound } = description[side] ?? {};
    return picture ? say.picture : sound ? say.sound : say.part;
  }
  const { picture, sound } = description.source;
  if (picture) return side === "source" ? say.picture : say.caption;
  if (sound) return side === "source" ? say.sound : say.transcript;
  return say[side];
}

/** The token of a side that the selection points at. */
export function tokenInFocus(stage: Stage, shown: RowSide): number | null {
  const selection = stage.selection.get();
  const map = chooseMap(stage.source.description, selection);
  if (map === null) return null;
  const side = shown === "written" ? "target" : shown; // a row is a position of the target, however it is named
  if (map.query_side === side && selection.query !== null) return selection.query;
  if (map.key_side === side && map.query_side !== side) return selection.key;
  return null;
}

/** Whether time, which moves the queries of the map in focus, moves the tokens of a side. */
export function movesTokens({ source, selection }: Stage, side: RowSide): boolean {
  const map = chooseMap(source.description, selection.get());
  return map === null || side === "written" || map.query_side === side;
}

/** Point at a token of a stack's side: as query where the map has it there, else as key, else on the stack's own map. */
export function focusToken(
  stage: Stage,
  hidden: { readonly stack: string; readonly side: RowSide },
  token: number | null,
): void {
  const { description } = stage.source;
  const map = chooseMap(description, stage.selection.get());
  if (map === null) return;
  if (map.query_side === hidden.side || hidden.side === "written") stage.selection.set({ query: token });
  else if (map.key_side === hidden.side) stage.selection.set({ key: token });
  else {
    const own = description.maps.find(
      (each) => each.place.stack === hidden.stack && each.query_side === hidden.side,
    );
    if (own !== undefined) stage.selection.set({ place: own.place, query: token });
  }
}

/** The hidden states of the stack that was chosen; without a choice of the one whose map is in focus. */
export function chosenHidden({ source, selection }: Stage, wanted: string | null): HiddenDescription {
  const { hidden } = source.description;
  const stack = wanted ?? chooseMap(source.description, selection.get())?.place.stack;
  return hidden.find((each) => each.stack === stack) ?? hidden[0]!;
}

/** The same, but without a choice the encoder's where the model has one: what a view of that name opens on. */
export function encoderHidden(stage: Stage, wanted: string | null): HiddenDescription {
  const { hidden } = stage.source.description;
  return chosenHidden(stage, wanted ?? hidden.find(({ stack }) => stack === "encoder")?.stack ?? null);
}

/** The states after the layer whose attention is chosen; null where that is another stack's. */
export function layerInFocus(stage: Stage, { stack, layers }: HiddenDescription): number | null {
  const place = chooseMap(stage.source.description, stage.selection.get())?.place;
  return place?.stack === stack ? Math.min(place.layer + 1, layers - 1) : null;
}

/** What hidden states after so many layers are called; a recurrent network has those of its cells alone. */
export function planeName({ layers }: HiddenDescription, layer: number, language: Language): string {
  const say = words(language);
  return layers === 1 ? say.states : say.afterLayers(layer);
}

/** Stacks to choose from, in words. */
export function stackNames(
  stage: Stage,
  stacks: readonly string[],
): { label: () => string; options: { value: string; text: () => string }[] } {
  const say = () => words(stage.language);
  const options = stacks.map((stack) => ({ value: stack, text: () => say().stackName(stack) }));
  return { label: () => say().stack, options };
}

/** Text to the clipboard; says whether it got there. */
export async function copyText(stage: Stage, text: string): Promise<void> {
  const say = words(stage.language);
  try {
    await navigator.clipboard.writeText(text);
    stage.announce(say.copied);
  } catch {
    stage.announce(say.notCopied);
  }
}
