import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Spoken } from "../../api/types";
import type { RecordingSource } from "../../core/source";
import { invent, setStage, settle, shown, weightOf } from "../../testing/recording";
import { view } from "./view";

const PATCHES = ["[CLS]", "0,0", "0,1", "1,0", "1,1"];

/** Four patches and a class token; with a caption, also two words. */
function pictured(target?: readonly string[]): RecordingSource {
  const { source } = invent({ source: PATCHES, ...(target ? { target } : {}), heads: 3 });
  const picture = { rows: 2, columns: 2, width: 20, height: 20, cells: [-1, 0, 1, 2, 3] };
  const side = { ...source.description.source, picture };
  const made: RecordingSource = {
    ...source,
    description: { ...source.description, source: side },
    media: async () => new ArrayBuffer(8),
    within: () => made,
  };
  return made;
}

beforeEach(() => void vi.stubGlobal("createImageBitmap", async () => ({}) as ImageBitmap));
afterEach(() => void vi.unstubAllGlobals());

async function open(source: RecordingSource, change: Parameters<typeof setStage>[1] = {}) {
  const staged = setStage(source, { map: 0, head: 1, ...change });
  const mounted = view.mount(staged.stage);
  staged.selection.subscribe((now, before) => mounted.update(now, before));
  await settle();
  const field = staged.element.querySelector<HTMLElement>(".patches")!;
  field.getBoundingClientRect = () => new DOMRect(0, 0, 200, 200);
  const said = () => staged.element.querySelector(".picture-readout")!.textContent ?? "";
  return { ...staged, mounted, field, said };
}

test("a recording of a text says why there is no picture", () => {
  expect(view.fits(shown(pictured()))).toBe(true);
  expect((view.fits(shown(invent().source)) as Spoken)("en")).toContain("not made from a picture");
});

test("whether there are patches is asked without a table of all cells", () => {
  const { description, ...others } = pictured();
  const { source } = description;
  const picture = { ...source.picture!, rows: 2 ** 30, columns: 2 ** 30 }; // no array is so long
  expect(
    view.fits(shown({ ...others, description: { ...description, source: { ...source, picture } } })),
  ).toBe(true);
  const none = { ...picture, cells: [-1, -1, -1, -1, -1] };
  const empty = { ...description, source: { ...source, picture: none } };
  expect(view.fits(shown({ ...others, description: empty }))).not.toBe(true);
});

test("the table has the exact number of every patch, with its row and column", async () => {
  const { mounted, failures } = await open(pictured(), { query: 2 });
  const { columns, rows } = await mounted.table();
  expect(columns).toEqual(["position", "token", "row", "column", "weight"]);
  const weight = (key: number) => Math.fround(weightOf(0, 1, 2, key, 5));
  expect(rows[0]).toEqual([0, "[CLS]", null, null, weight(0)]);
  expect(rows[3]).toEqual([3, "1,0", 1, 0, weight(3)]);
  const picture = await mounted.picture();
  expect(picture).toContain(`data-cell="2" data-value="${weight(3)}"`);
  expect(picture.match(/data-cell/g)).toHaveLength(4);
  expect(failures).toEqual([]);
  mounted.unmount();
});

test("keys choose patches, with Shift they read numbers, Escape lets go", async () => {
  const { mounted, field, selection, said } = await open(pictured());
  const press = async (key: string, shiftKey = false) => {
    field.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
    await settle();
  };
  await press("ArrowRight"); // from nowhere: to the middle
  expect(selection.get().query).toBe(1);
  await press("ArrowDown");
  expect(selection.get().query).toBe(3);
  expect(said()).toMatch(/^patch 1,0 looks at/);
  await press("ArrowRight", true);
  expect(selection.get().query).toBe(3);
  expect(said()).toMatch(/^patch 1,1: 0\.\d+/);
  await press("Escape");
  expect(selection.get().query).toBeNull();
  mounted.unmount();
});

test("rollout goes up to the layer that is shown and is refused where the map has none", async () => {
  const { mounted, selection, said, element } = await open(pictured(["<s>", " a", " b"]), { query: 0 });
  selection.option("picture.show", "rollout");
  await settle();
  expect(said()).toMatch(/^\[CLS\] was made from/);
  const { rows } = await mounted.table();
  const sum = rows.reduce((total, row) => total + Number(row.at(-1)), 0);
  expect(sum).toBeCloseTo(1, 5);
  // half of [CLS] stays where it is, half is the average of three heads of this layer alone
  const mean = [0, 1, 2].reduce((total, head) => total + weightOf(0, head, 0, 2, 5) / 3, 0);
  expect(rows[2]!.at(-1)).toBeCloseTo(0.5 * mean, 6);
  expect(await mounted.picture()).toContain("rollout from the input up to this layer");
  const cross = pictured().description; // the same picture; a map of words alone
  expect(cross.maps.every(({ place }) => place.kind === "self")).toBe(true);
  selection.set({ place: { stack: "decoder", kind: "cross", layer: 0, step: null } });
  await settle();
  const rollout = element.querySelector<HTMLInputElement>('input[value="rollout"]')!;
  expect(rollout.disabled).toBe(true);
  expect(said()).toMatch(/^␣a looks at/); // the first word that is no tag and no end
  selection.set({ place: { stack: "decoder", kind: "self", layer: 0, step: null } });
  await settle();
  expect(element.querySelector(".picture-note")!.textContent).toContain("Neither side");
  await expect(mounted.picture()).rejects.toMatchObject({ code: "no_picture" });
  element.querySelector<HTMLButtonElement>(".picture-note .button")!.click();
  expect(selection.get().place?.stack).toBe("encoder");
  mounted.unmount();
});
