import { expect, test, vi } from "vitest";
import { colourScale } from "../../marks/cells";
import { SCREEN } from "../../marks/paper";
import { restyle } from "../../testing/recording";
import { inventRun, setRunStage } from "../../testing/run";
import { drawGrid, planGrid } from "./grid";
import { view } from "./view";

async function mount(run = inventRun(), selection = {}) {
  const set = setRunStage([run], selection);
  const mounted = view.mount(set.stage);
  set.selection.subscribe((now, before) => mounted.update(now, before));
  if (run.maps.length > 0)
    await vi.waitFor(() => expect(set.element.querySelector(".chart svg")).not.toBeNull());
  return { ...set, mounted };
}

const place = (layer: number) => ({ stack: "decoder", kind: "self" as const, layer, step: null });

test("all heads of all maps by steps, and the curves of one map", async () => {
  const { element, mounted } = await mount();
  const names = [...element.querySelectorAll(".cells text")].map((each) => each.textContent);
  expect(names.filter((name) => name?.includes("layer"))).toEqual([
    "Decoder, layer 0, self-attention",
    "Decoder, layer 1, self-attention",
  ]);
  expect((await mounted.picture()).match(/data-curve/g)!.length).toBe(2);
  mounted.unmount();
  expect(element.childElementCount).toBe(0);
});

test("every head as a small curve; the one that is tapped is in focus", async () => {
  const { element, selection, mounted } = await mount();
  selection.option("learning.as", "curves");
  await vi.waitFor(() => expect(element.querySelectorAll("[data-multiple]").length).toBe(4));
  expect(await mounted.picture()).toContain('data-multiple="decoder.self.1 1"');
});

test("a colour is that of the look at or after its step; a point finds head and look", () => {
  const map = inventRun().maps[0]!;
  const block = { map, steps: [10, 20, 30], values: [[1], [2], [3]] };
  const scale = colourScale([1, 3], "sequential", false, "light");
  const look = {
    width: 346,
    inks: SCREEN,
    title: "",
    scale,
    span: [0, 30] as const,
    chosen: null,
    focus: null,
    alarms: [{ block: 0, head: 1, first: 12, last: 20, text: "dead" }],
    warn: "red",
    mapName: () => "map",
  };
  const plan = planGrid([block], look);
  expect([37, 140, 335].map((x) => plan.at(x, 20)?.look)).toEqual([0, 1, 2]);
  expect([plan.at(140, 20 + 14)?.head, plan.at(140, 2), plan.at(5, 20)]).toEqual([1, null, null]);
  const svg = drawGrid(plan, true);
  const [path] = svg.querySelectorAll("path[stroke=red]");
  expect(path!.textContent).toBe("dead");
  expect(svg.querySelectorAll("g path").length).toBe(4); // three colours, and nothing for the second head
});

test("keys walk over heads and looks, from map to map", async () => {
  const { element, selection } = await mount(inventRun(), { step: 30, head: 1 });
  const press = (key: string) =>
    element.querySelector(".cells")!.dispatchEvent(new KeyboardEvent("keydown", { key }));
  press("ArrowDown");
  expect(selection.get()).toMatchObject({ head: 0, step: 30, place: { layer: 1 } });
  press("ArrowRight");
  expect(selection.get().step).toBe(40);
  press("ArrowUp");
  expect(selection.get()).toMatchObject({ head: 1, place: { layer: 0 } });
  press("+");
  expect(selection.get().options["learning.at"]).toBe("20-45");
});

test("alarms name their heads and open them; those of the map in focus are marks above its curves", async () => {
  const { element, selection } = await mount(inventRun(), { place: place(0) });
  expect(element.querySelector(".chart title")).toBeNull();
  const [when] = element.querySelectorAll<HTMLButtonElement>(".alarms button");
  when!.click();
  expect(selection.get()).toMatchObject({ place: place(1), head: 1, step: 30 });
  await vi.waitFor(() =>
    expect(element.querySelector(".chart title")?.textContent).toBe("Head 1 looks everywhere evenly."),
  );
  expect(element.querySelector(".cells title")!.textContent).toBe("Head 1 looks everywhere evenly.");
});

test("another statistic is drawn from the run's own numbers, undefined ones stay empty", async () => {
  const { selection, mounted } = await mount();
  selection.option("learning.statistic", "distance");
  const { rows, columns } = await mounted.table();
  expect(columns.at(-1)).toBe("Distance");
  expect(
    rows.find(([place, head, step]) => place === "decoder.self.0" && head === 1 && step === 30)?.at(-1),
  ).toBe(3);
  expect(rows.filter(([place]) => place === "decoder.self.1").every((row) => row.at(-1) === null)).toBe(true);
});

test("a run that no monitor has looked at says what to do; a picture stands by itself", async () => {
  const { element } = await mount(inventRun({ maps: [] }));
  expect(element.textContent).toContain("monitor.every");
  const { mounted, stage } = await mount();
  restyle(mounted, stage);
  expect(await mounted.picture()).not.toContain("var(--");
});
