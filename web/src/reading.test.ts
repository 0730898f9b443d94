/** Every view that names the rows of cross-attention names them alike. */

import { expect, test, vi } from "vitest";
import type { Selection } from "./core/selection";
import { invent, setStage } from "./testing/recording";
import { view as heatmap } from "./views/heatmap/view";
import { view as inside } from "./views/inside/view";
import { view as lines } from "./views/lines/view";
import { view as text } from "./views/text/view";

const CROSS = { map: 2, head: 0 } as const;
const cases = [
  {
    view: heatmap,
    selection: CROSS,
    column: 0,
    named: ["0 ␣love", "1 ␣you", "2 </s>"],
    old: ["0 <s>", "1 ␣love", "2 ␣you"],
  },
  {
    view: lines,
    selection: { ...CROSS, key: 0 },
    column: 1,
    named: ["␣love", "␣you", "</s>"],
    old: ["<s>", "␣love", "␣you"],
  },
  {
    view: text,
    selection: { ...CROSS, key: 0, options: { "text.show": "in" } },
    column: 1,
    named: ["␣love", "␣you", "</s>"],
    old: ["<s>", "␣love", "␣you"],
  },
  {
    view: inside,
    selection: { ...CROSS, options: { "inside.part": "values", "inside.array": "attention" } },
    column: 1,
    named: ["␣love", "␣you", "</s>"],
    old: ["<s>", "␣love", "␣you"],
  },
];

test.each(cases)(
  "$view.name: a row is named by the word written, and by the one entered on demand",
  async (each) => {
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(500);
    vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(400);
    const { source } = invent({ source: ["我", "爱", "你"], target: ["<s>", " love", " you"], layers: 1 });
    const { stage, selection } = setStage(source, each.selection as Partial<Selection>);
    const mounted = each.view.mount(stage);
    selection.subscribe((now, before) => mounted.update(now, before));
    const names = async () => (await mounted.table()).rows.map((row) => row[each.column]);
    await vi.waitFor(async () => expect(await names()).toEqual(each.named));
    selection.option("map.reading", "entered");
    await vi.waitFor(async () => expect(await names()).toEqual(each.old));
    selection.option("map.reading", null);
    await vi.waitFor(async () => expect(await names()).toEqual(each.named));
    mounted.unmount();
    vi.restoreAllMocks();
  },
);
