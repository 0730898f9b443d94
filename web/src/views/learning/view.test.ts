import { expect, test } from "vitest";
import { restyle } from "../../testing/recording";
import { inventRun, setRunStage } from "../../testing/run";
import { view } from "./view";

function mount(run = inventRun(), selection = {}) {
  const set = setRunStage([run], selection);
  const mounted = view.mount(set.stage);
  set.selection.subscribe((now, before) => mounted.update(now, before));
  return { ...set, mounted };
}

test("all heads of all maps by steps, and the curves of one map", () => {
  const { element, mounted } = mount();
  const names = [...element.querySelectorAll(".cells text")].map((each) => each.textContent);
  expect(names.filter((name) => name?.includes("layer"))).toEqual([
    "Decoder, layer 0, self-attention",
    "Decoder, layer 1, self-attention",
  ]);
  expect(element.querySelectorAll(".chart [data-curve]").length).toBe(2);
  mounted.unmount();
  expect(element.childElementCount).toBe(0);
});

test("keys walk over heads and looks, from map to map", () => {
  const { element, selection } = mount(inventRun(), { step: 30, head: 1 });
  const press = (key: string) =>
    element.querySelector(".cells")!.dispatchEvent(new KeyboardEvent("keydown", { key }));
  press("ArrowDown");
  expect(selection.get()).toMatchObject({ head: 0, step: 30, place: { layer: 1 } });
  press("ArrowRight");
  expect(selection.get().step).toBe(40);
  press("ArrowUp");
  expect(selection.get()).toMatchObject({ head: 1, place: { layer: 0 } });
});

test("alarms of the map in focus are named", () => {
  const place = { stack: "decoder", kind: "self" as const, step: null };
  const { element, selection } = mount(inventRun(), { place: { ...place, layer: 0 } });
  expect(element.querySelector(".alarms")!.textContent).toBe("");
  selection.set({ place: { ...place, layer: 1 } });
  expect(element.querySelector(".alarms")!.textContent).toContain("Head 1 looks everywhere evenly.");
  expect(element.querySelector(".chart title")!.textContent).toBe("Head 1 looks everywhere evenly.");
});

test("another statistic is drawn from the run's own numbers, undefined ones stay empty", async () => {
  const { selection, mounted } = mount();
  selection.option("learning.statistic", "distance");
  const { rows, columns } = await mounted.table();
  expect(columns.at(-1)).toBe("Distance");
  expect(
    rows.find(([place, head, step]) => place === "decoder.self.0" && head === 1 && step === 30)?.at(-1),
  ).toBe(3);
  expect(rows.filter(([place]) => place === "decoder.self.1").every((row) => row.at(-1) === null)).toBe(true);
});

test("a run that no monitor has looked at says what to do; a picture stands by itself", async () => {
  const { element } = mount(inventRun({ heads: [] }));
  expect(element.textContent).toContain("monitor.every");
  const { mounted, stage } = mount();
  restyle(mounted, stage);
  expect(await mounted.picture()).not.toContain("var(--");
});
