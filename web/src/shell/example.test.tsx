import { expect, test, vi } from "vitest";
import type { Preset } from "../api/types";
import type { RecordingSource } from "../core/source";
import type { ServerJobs } from "../data/server_jobs";
import { makeApp } from "../testing/app";
import { invent, said } from "../testing/recording";
import { ExampleNote } from "./example";

function preset(id: string, change: Partial<Preset> = {}): Preset {
  const texts = { title: said(id), point: said(`Look at ${id}.`), text: id };
  const none = { target: null, source_language: null, target_language: null, second_text: null };
  const where = { selection: null, also: [], recording: id };
  return { id, model: "zoo/toy", task: "translation", ...texts, ...none, ...where, ...change };
}

/** The note in a page that opens recordings when the test says so. */
function build() {
  const waiting = new Map<string, () => void>();
  const open = (id: string) =>
    new Promise<RecordingSource>((resolve) => {
      const { source } = invent({ layers: 3, change: { id } });
      waiting.set(id, () => resolve(source));
    });
  const { app, root, draw } = makeApp({ source: { open }, server: {} as ServerJobs });
  draw(<ExampleNote />);
  const arrive = (id: string) => vi.waitFor(() => waiting.get(id)!());
  return { app, root, arrive };
}

test("a note stands with its recording, not before", async () => {
  const { app, root, arrive } = build();
  const going = app.goToPreset(preset("fox"));
  await new Promise((resolve) => setTimeout(resolve));
  expect(root.textContent).toBe("");
  await arrive("fox");
  await going;
  await vi.waitFor(() => expect(root.textContent).toContain("Look at fox."));
  const next = app.goToPreset(preset("film"));
  await vi.waitFor(() => expect(root.textContent).toBe("")); // the fox is still shown
  await arrive("film");
  await next;
  await vi.waitFor(() => expect(root.textContent).toContain("Look at film."));
});

test("each place that a note speaks of can be gone to", async () => {
  const { app, root, arrive } = build();
  const sight = (layer: number) => ({
    title: said(`layer ${layer}`),
    selection: { place: `decoder.self.${layer}`, head: "1" },
  });
  const going = app.goToPreset(preset("it", { selection: sight(0).selection, also: [sight(0), sight(2)] }));
  await arrive("it");
  await going;
  const buttons = () => [...root.querySelectorAll<HTMLButtonElement>("[data-action^=sight]")];
  await vi.waitFor(() => expect(buttons().map((each) => each.disabled)).toEqual([true, false]));
  buttons()[1]!.click();
  await vi.waitFor(() => expect(buttons().map((each) => each.disabled)).toEqual([false, true]));
  expect(app.store.get()).toMatchObject({ place: { address: "decoder.self.2" }, head: 1 });
  expect(root.textContent).toContain("Look at it.");
  app.store.set({ head: 0 });
  await vi.waitFor(() => expect(root.textContent).toContain("another place"));
  expect(buttons().map((each) => each.disabled)).toEqual([false, false]);
});
