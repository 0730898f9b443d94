/**
 * One module for the two hosts that are not a server: a notebook cell (anywidget) and an exported file.
 *
 * In:   anywidget's model, or the answers that lie in the document.
 * Out:  the workbench, without what needs a model.
 */

import type { Source } from "./core/source";
import type { Theme } from "./core/view";
import { fetchFromFile } from "./data/file_answers";
import { aborted, Connection, createHttpSource } from "./data/http";
import { createStillRuns } from "./data/still_runs";
import { attachStyles } from "./embedded_styles";
import { languages } from "./i18n/core";
import { addressBar, type SelectionAddress } from "./shell/address";
import { mount } from "./shell/mount";

const BASE = "glassformer:"; // never fetched: only a name in front of paths

/** What anywidget hands to `render`; only what is used here. */
interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, heard: (...words: never[]) => void): void;
  off(event: string, heard: (...words: never[]) => void): void;
  send(message: unknown): void;
}

interface Said {
  readonly answer: number;
  readonly status: number;
  readonly kind: string;
}

/** A `fetch` through the widget's messages: the kernel answers each question by its number. */
function askKernel(model: Model): { readonly fetch: typeof fetch; readonly stop: () => void } {
  const waiting = new Map<number, (response: Response) => void>();
  let number = Math.floor(Math.random() * 2 ** 30) * 2 ** 16; // two views of one widget share its messages
  const heard = (message: Said, buffers: readonly DataView[]): void => {
    const resolve = waiting.get(message.answer);
    if (!resolve) return;
    waiting.delete(message.answer);
    const bytes = buffers[0];
    const body = bytes
      ? (bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer)
      : null;
    resolve(new Response(body, { status: message.status, headers: { "Content-Type": message.kind } }));
  };
  model.on("msg:custom", heard as (...words: never[]) => void);
  return {
    fetch: (input, init) =>
      new Promise((resolve, reject) => {
        const mine = number++;
        waiting.set(mine, resolve);
        init?.signal?.addEventListener("abort", () => {
          if (waiting.delete(mine)) model.send({ abort: mine });
          reject(aborted());
        });
        model.send({ question: mine, path: String(input).slice(BASE.length) });
      }),
    stop: () => model.off("msg:custom", heard as (...words: never[]) => void),
  };
}

/** The selection lives in the widget's `selection`, readable and settable from Python. */
function modelAddress(model: Model): SelectionAddress {
  return {
    read: () => String(model.get("selection") ?? ""),
    write(text) {
      if (model.get("selection") === text) return;
      model.set("selection", text);
      model.save_changes();
    },
    listen(heard) {
      model.on("change:selection", heard);
      return () => model.off("change:selection", heard);
    },
    link: () => null,
  };
}

function createSource(answer: typeof fetch): Source {
  const connection = new Connection({ base: BASE, fetch: answer });
  return { ...createHttpSource(connection), runs: createStillRuns(connection) };
}

function chosen<T extends string>(value: unknown, choices: readonly T[]): T | undefined {
  return choices.find((choice) => choice === value);
}

function render({ model, el }: { readonly model: Model; readonly el: HTMLElement }): () => void {
  const kernel = askKernel(model);
  const element = attachStyles(el);
  el.style.setProperty("display", "block");
  const size = (): void => {
    element.style.setProperty("height", `${Number(model.get("height"))}px`);
  };
  size();
  model.on("change:height", size);
  const language = chosen(model.get("language"), languages);
  const theme = chosen<Theme>(model.get("theme"), ["light", "dark"]);
  const unmount = mount(element, createSource(kernel.fetch), {
    place: modelAddress(model),
    ...(language ? { language } : {}),
    ...(theme ? { theme } : {}),
  });
  return () => {
    unmount();
    kernel.stop();
    model.off("change:height", size);
  };
}

const file = globalThis.document?.querySelector<HTMLElement>("[data-glassformer-file]");
if (file) {
  mount(attachStyles(file), createSource(fetchFromFile(document, BASE)), {
    place: addressBar(window),
    wholePage: true,
  });
}

export default { render };
