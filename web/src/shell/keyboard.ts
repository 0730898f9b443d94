/**
 * Single-key shortcuts (they can be switched off) and Ctrl-Enter.
 *
 * In:   key presses anywhere in the shell, but not in fields where they mean text.
 * Out:  the verbs of the app.
 */

import { chooseMap, findMap, layersOf } from "../core/maps";
import { missing } from "./form";
import type { App } from "./state";
import { copyLink, resetAll, savePicture } from "./toolbar";
import { togglePlay } from "./transport";
import type { ViewTitle } from "./views";
import type { AppWords } from "./words";

export function shortcutList(say: AppWords): readonly (readonly [readonly string[], string])[] {
  return [
    [["[", "]"], say.shortcutLayer],
    [[",", "."], say.shortcutHead],
    [["x", "X"], say.shortcutEdit],
    [["a"], say.shortcutAverage],
    [["m"], say.shortcutModelAverage],
    [["1", "…", "9", "0"], say.shortcutView],
    [["p"], say.shortcutStep],
    [["<", ">"], say.shortcutTraining],
    [["+", "−", "r"], say.shortcutZoom],
    [["t"], say.shortcutTable],
    [["s", "S"], say.shortcutSave],
    [["c"], say.shortcutLink],
    [["←", "→", "↑", "↓"], say.shortcutArrows],
    [["Ctrl", "Enter"], say.shortcutRun],
    [["?"], say.shortcutHelp],
  ];
}

const OF_RECORDING = /^[[\],.amp<>xX]$/; // layer, head, averages, time step, training step, edits

/** What opens a dialog. */
interface Dialogs {
  help(): void;
  table(): void;
}

export function onKey(app: App, event: KeyboardEvent, dialogs: Dialogs): void {
  if (event.defaultPrevented || event.isComposing) return;
  const alone = titleOf(app)?.panel === false; // no recording is seen beside such a view, and no form
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const { form, running } = app.runs;
    if (
      app.server &&
      !alone &&
      !running.peek() &&
      !missing(form.peek(), app.words.peek(), app.runs.model())
    ) {
      event.preventDefault();
      app.runs.start();
    }
    return;
  }
  if (!app.shortcuts.peek() || event.ctrlKey || event.metaKey || event.altKey || writes(event.target)) return;
  if (alone && OF_RECORDING.test(event.key)) return;
  const act = actionOf(app, event.key, dialogs);
  if (!act) return;
  event.preventDefault();
  act();
}

/** Whether keys mean text here. */
function writes(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest("textarea, select, dialog, [contenteditable]")) return true;
  return (
    target instanceof HTMLInputElement && !["range", "checkbox", "radio", "button"].includes(target.type)
  );
}

function actionOf(app: App, key: string, dialogs: Dialogs): (() => void) | null {
  const open = app.open.peek();
  if (!open && OF_RECORDING.test(key)) return null;
  const actions: Readonly<Record<string, () => void>> = {
    "?": dialogs.help,
    "[": () => stepLayer(app, -1),
    "]": () => stepLayer(app, 1),
    ",": () => stepHead(app, -1),
    ".": () => stepHead(app, 1),
    a: () => app.store.set({ head: "mean" }),
    m: () => app.store.set({ head: "model" }),
    "<": () => press(app, "previous-training-step"),
    ">": () => press(app, "next-training-step"),
    x: () => press(app, "silence"),
    X: () => press(app, "cut"),
    p: () => {
      if (open?.description.probe) press(app, "play-training");
      else if (titleOf(app)?.transport === false) app.mounted.peek()?.togglePlay?.();
      else if (open) togglePlay(app, open);
    },
    "+": () => app.zoom(1),
    "=": () => app.zoom(1),
    "-": () => app.zoom(-1),
    r: () => resetAll(app),
    t: dialogs.table,
    s: () => void savePicture(app, "svg"),
    S: () => void savePicture(app, "png"),
    c: () => void copyLink(app),
  };
  if (!/^\d$/.test(key)) return actions[key] ?? null;
  const view = app.views.on(app.subject.peek())[(Number(key) + 9) % 10];
  return view ? () => app.chooseView(view.name) : null;
}

/** The button of this name, where it is: another step of training, a silenced head. */
function press(app: App, name: string): void {
  app.root.querySelector<HTMLElement>(`[data-action=${name}]`)?.click();
}

function titleOf(app: App): ViewTitle | undefined {
  return app.views.titles.find(({ name }) => name === app.view.peek());
}

function stepLayer(app: App, by: number): void {
  const maps = app.open.peek()?.description.maps ?? [];
  const map = chooseMap({ maps }, app.store.get());
  if (!map) return;
  const layers = layersOf(maps, map.place);
  const layer = layers[layers.indexOf(map.place.layer) + by];
  const next = layer === undefined ? undefined : findMap(maps, { ...map.place, layer });
  if (!next) return;
  app.store.set({ place: next.place });
  app.announce(`${app.words.peek().layer} ${next.place.layer}`);
}

function stepHead(app: App, by: number): void {
  const open = app.open.peek();
  const map = open && chooseMap(open.description, app.store.get());
  if (!map) return;
  const { head } = app.store.get();
  const next = typeof head === "number" ? (head + by + map.heads) % map.heads : by > 0 ? 0 : map.heads - 1;
  app.store.set({ head: next });
  app.announce(app.words.peek().headNumber(next));
}
