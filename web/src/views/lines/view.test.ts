import { expect, test, vi } from "vitest";
import type { Spoken } from "../../api/types";
import { readOptions } from "../../core/options";
import { nothingSelected, type Selection } from "../../core/selection";
import { invent, makeMap, setStage, settle, shown, weightOf } from "../../testing/recording";
import { chosenHeads, options } from "./settings";
import { view } from "./view";

test("heads: the selection's, all for an average, others while the option belongs to that head", () => {
  const heads = (head: Selection["head"], count: number, stated?: string) => {
    const texts = stated === undefined ? {} : { "lines.heads": stated };
    return chosenHeads(readOptions("lines", options, texts), { ...nothingSelected, head }, count);
  };
  expect(heads(3, 6)).toEqual([3]);
  expect(heads("mean", 3)).toEqual([0, 1, 2]);
  expect(heads("model", 3)).toEqual([0]);
  expect(heads(3, 6, "3:0,5,77")).toEqual([0, 5]);
  expect(heads(4, 6, "3:0,5,77")).toEqual([4]);
  expect(heads(3, 6, "3:")).toEqual([]);
  for (const wrong of ["3", "3:x", ":1", ""]) expect(heads(3, 6, wrong)).toEqual([3]);
});

test("a recording that cannot be drawn says why", () => {
  const change = (maps: ReturnType<typeof makeMap>[]) => invent({ change: { maps } }).source;
  expect(view.fits(shown(invent().source))).toBe(true);
  expect((view.fits(shown(change([]))) as Spoken)("en")).toContain("no attention maps");
  expect((view.fits(shown(change([makeMap(0, { has_weights: false })]))) as Spoken)("zh")).toContain(
    "没有权重",
  );
  expect((view.fits(shown(change([makeMap(0, { queries: 100_000 })]))) as Spoken)("en")).toContain("100,000");
});

test("a pinned token's exact weights stand in the table, by head", async () => {
  const { source } = invent({ source: ["a", " b", " c", " d"], heads: 3 });
  const { stage, element, selection } = setStage(source, { head: "mean", query: 2, map: 1 });
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  const columns = ["position", "token", "Head 0", "Head 1", "Head 2"];
  await vi.waitFor(async () => expect((await mounted.table()).columns).toEqual(columns));
  const table = await mounted.table();
  expect(table.rows[1]).toEqual([
    1,
    "␣b",
    ...[0, 1, 2].map((head) => Math.fround(weightOf(1, head, 2, 1, 4))),
  ]);
  const pressed = () =>
    [...element.querySelectorAll(".headrow-head")].map((head) => head.getAttribute("aria-pressed"));
  expect(pressed()).toEqual(["true", "true", "true"]);
  element.querySelectorAll<HTMLElement>(".headrow-head")[1]!.click();
  expect(selection.get().head).toBe(1);
  expect(pressed()).toEqual(["false", "true", "false"]);
  element
    .querySelectorAll(".headrow-head")[2]!
    .dispatchEvent(new MouseEvent("click", { shiftKey: true, bubbles: true }));
  expect(selection.get().options["lines.heads"]).toBe("1:1,2");
  element.querySelectorAll<HTMLElement>(".headrow-word")[1]!.click();
  expect(pressed()).toEqual(["false", "false", "false"]);
  mounted.unmount();
});

test("the picture has a line for each weight above the threshold", async () => {
  const { source } = invent({ source: ["a", " b", " <c>"], heads: 2 });
  const { stage } = setStage(source, { head: 0, options: { "lines.threshold": "0.3" } });
  const mounted = view.mount(stage);
  await settle();
  const picture = await mounted.picture();
  const wanted: string[] = [];
  for (let query = 0; query < 3; query++) {
    for (let key = 0; key < 3; key++)
      if (weightOf(0, 0, query, key, 3) >= 0.3) wanted.push(`${query} ${key}`);
  }
  const found = [...picture.matchAll(/data-query="(\d)" data-key="(\d)"/g)].map(
    (match) => `${match[1]} ${match[2]}`,
  );
  expect(found.sort()).toEqual(wanted.sort());
  expect(picture).toContain("&lt;c&gt;");
  expect(picture).toContain("exact · eager");
  expect(picture).not.toContain("style=");
  mounted.unmount();
});

test("leaving while weights are on their way draws and fails nothing", async () => {
  const { source } = invent();
  const { stage, element, failures } = setStage({
    ...source,
    tokens: () => Promise.reject(new Error("late")),
  });
  const mounted = view.mount(stage);
  mounted.unmount();
  await settle();
  expect(failures).toEqual([]);
  expect(element.children).toHaveLength(0);
  vi.restoreAllMocks();
});
