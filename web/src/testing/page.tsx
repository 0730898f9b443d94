/** The page on a source and views of a test's own; it is left after each test. */

import { act } from "preact/test-utils";
import { afterEach, beforeEach, vi } from "vitest";
import type { RunDescription } from "../api/types";
import type { RunList, RunSource, Source } from "../core/source";
import type { AnyView, Mounted, View } from "../core/view";
import { type MountOptions, mount } from "../shell/mount";
import type { App } from "../shell/state";
import { type ViewFiles, Views } from "../shell/views";
import { invent, said } from "./recording";

export const toys = import.meta.glob<AnyView>("./views/*/view.ts", { import: "view" });

/** A view that does nothing. */
export const still: Mounted = {
  update() {},
  resize() {},
  restyle() {},
  picture: async () => "<svg/>",
  table: async () => ({ caption: "", columns: [], rows: [] }),
  unmount() {},
};

export function aView(name: string, change: Partial<View>): AnyView {
  const title = () => name;
  const shape = { needs: "recording", panel: true, transport: true, options: {} } as const;
  const view: View = { name, order: 1, title, about: title, ...shape, fits: () => true, mount: () => still };
  return { ...view, ...change } as AnyView;
}

const run: RunDescription = {
  id: "first",
  shipped: false,
  state: "running",
  started: null,
  score_name: null,
  score: null,
  loss: [],
  indexing: null,
  owner: null,
  visibility: "private",
  last_step: 2,
  updated: 1,
  alarms: 0,
  names: ["loss"],
  maps: [],
  alarm_list: [],
  events: [],
  recipe: "",
  environment: {},
  data: {},
  damaged: 0,
  revision: 1,
  probes: [],
  checkpoint: false,
};

const oneRun: RunSource = {
  run,
  within: () => oneRun,
  series: async () => ({}),
  heads: async () => ({}),
  follow: () => () => {},
};
export const runs: RunList = { list: async () => [run], open: async () => oneRun };

let leave: (() => void) | null = null;

/** The page on a source with views of its own. */
export async function open(
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

export function leavePage(): void {
  leave?.();
  leave = null;
}

export async function settle(): Promise<void> {
  for (let round = 0; round < 4; round++) await act(() => new Promise((done) => setTimeout(done, 2)));
}

export function recordings(): Partial<Source> {
  const { source } = invent();
  const entry = { id: "invented", title: said("Invented"), origin: "shipped" };
  return { recordings: async () => [entry as never], open: async () => source };
}

/** Press a button of the toolbar or of a panel. */
export function press(element: Element, name: string): Promise<void> {
  return act(() => element.querySelector<HTMLElement>(`[data-action=${name}]`)!.click());
}

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
afterEach(() => {
  leavePage();
  document.body.replaceChildren();
  vi.restoreAllMocks();
});
