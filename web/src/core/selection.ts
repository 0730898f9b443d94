/**
 * The one selection that every view shares, mirrored in the URL: a link reopens the exact view.
 *
 * In:   what a person chooses.
 * Out:  a small store; views are told what changed, and never keep a choice of their own that a link would lose.
 */

import { type Place, readPlace, writePlace } from "./place";

export interface Selection {
  readonly recording: string; // ids of the subject; "" where none is chosen
  readonly beside: string; // a second recording, to compare with
  readonly run: string; // a training run, or several with commas between them
  readonly study: string; // a model over many texts: an atlas
  readonly view: string;
  readonly place: Place | null; // of the attention map; null: the first one
  readonly head: number | "mean" | "model"; // one head, the average of the layer, or of all layers of that stack and kind
  readonly query: number | null; // token in focus on the query axis
  readonly key: number | null;
  readonly step: number | null; // generation step; for an encoder the token position in focus
  readonly options: Readonly<Record<string, string>>; // of views: "heatmap.zoom", "numbers.tau" … kept in the URL as they are
}

/** A selection as a link states it. Old links name a map by its index; `fitTo` turns that into a place. */
export interface LinkedSelection extends Selection {
  readonly map?: number;
}

type Listener = (now: Selection, before: Selection) => void;

export interface SelectionStore {
  get(): Selection;
  /** Change some of it. Listeners hear of it once, and only if something really changed. */
  set(change: Partial<Selection>): void;
  /** Change one option; null takes it away. */
  option(name: string, value: string | null): void;
  subscribe(listener: Listener): () => void;
}

export const nothingSelected: Selection = {
  recording: "",
  beside: "",
  run: "",
  study: "",
  view: "",
  place: null,
  head: 0,
  query: null,
  key: null,
  step: null,
  options: {},
};

/** Makes a wished selection possible: clamps what the recording does not have. `changed` names what was set. */
export type Fit = (
  wish: LinkedSelection,
  before: Selection,
  changed: Partial<LinkedSelection>,
) => LinkedSelection;

/** A store. Changes made by a listener are heard after the present one has been told to all. */
export function createSelection(
  first: LinkedSelection = nothingSelected,
  adapt: Fit = (wish) => wish,
): SelectionStore {
  let now = first;
  const listeners = new Set<Listener>();
  const waiting: [Selection, Selection][] = [];
  let telling = false;

  const tell = (): void => {
    if (telling) return;
    telling = true;
    try {
      for (let news = waiting.shift(); news; news = waiting.shift()) {
        for (const listener of [...listeners]) {
          if (listeners.has(listener)) listener(news[0], news[1]);
        }
      }
    } finally {
      telling = false;
      waiting.length = 0;
    }
  };

  const store: SelectionStore = {
    get: () => now,
    set(change) {
      const wish = adapt({ ...now, ...change }, now, change);
      if (sameSelection(wish, now)) return;
      const before = now;
      now = wish;
      waiting.push([now, before]);
      tell();
    },
    option(name, value) {
      if ((now.options[name] ?? null) === value) return;
      const { [name]: _, ...others } = now.options;
      store.set({ options: value === null ? others : { ...others, [name]: value } });
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return store;
}

/** Whether two selections have the same link. */
export function sameSelection(a: LinkedSelection, b: LinkedSelection): boolean {
  return a === b || writeSelection(a) === writeSelection(b);
}

/** As it stands in the URL: "recording=…&view=heatmap&place=decoder.cross.3&head=2&query=4&heatmap.zoom=2". */
export function writeSelection(selection: LinkedSelection): string {
  const parts: string[] = [];
  const add = (name: string, value: string | number | null | undefined): void => {
    if (value != null && value !== "") parts.push(`${encode(name)}=${encode(String(value))}`);
  };
  add("recording", selection.recording);
  add("beside", selection.beside);
  add("run", selection.run);
  add("study", selection.study);
  add("view", selection.view);
  add("place", selection.place && writePlace(selection.place));
  add("map", selection.map);
  add("head", selection.head);
  add("query", selection.query);
  add("key", selection.key);
  add("step", selection.step);
  for (const name of Object.keys(selection.options).sort()) {
    const value = selection.options[name];
    if (value !== undefined) parts.push(`${encode(name)}=${encode(value)}`);
  }
  return parts.join("&");
}

/** The part of a selection that a URL states. Names with a dot are options; what cannot be read is left out. */
export function readSelection(text: string): Partial<LinkedSelection> {
  const found: { -readonly [K in keyof LinkedSelection]?: LinkedSelection[K] } = {};
  const options: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text.replace(/^[#?]/, "").replaceAll("+", "%2B"))) {
    if (name === "recording" || name === "beside" || name === "run" || name === "study" || name === "view")
      found[name] = value;
    else if (name === "place") found.place = readPlace(value);
    else if (name === "map") found.map = index(value) ?? 0;
    else if (name === "head")
      found.head = value === "mean" || value === "model" ? value : (index(value) ?? 0);
    else if (name === "query" || name === "key" || name === "step") found[name] = index(value);
    else if (name.includes(".")) options[name] = value;
  }
  if (Object.keys(options).length > 0) found.options = options;
  if (found.place) delete found.map;
  else if (found.map !== undefined) found.place = null;
  return found;
}

/** What a link names and the selection that came of it does not have: "head=99". Steps follow from the rest. */
export function findCorrections(link: string, now: Selection, maps: number): string[] {
  const same = (name: string, value: string): boolean => {
    if (name === "map") return (index(value) ?? maps) < maps;
    if (name === "place" && now.place) {
      const { step } = readPlace(value) ?? now.place;
      return value === writePlace(step === null ? { ...now.place, step } : now.place);
    }
    if (name !== "view" && name !== "head" && name !== "query" && name !== "key") return true;
    return value === String(now[name] ?? "");
  };
  return [...new URLSearchParams(link)]
    .filter(([, value]) => value !== "")
    .flatMap(([name, value]) => (same(name, value) ? [] : [`${name}=${value}`]));
}

function index(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Only what would be misread is escaped, so that links stay readable. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(3A|2F|2C|40)/g, (code) => decodeURIComponent(code));
}
