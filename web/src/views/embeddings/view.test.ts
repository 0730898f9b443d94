import { expect, test, vi } from "vitest";
import type { Spoken } from "../../api/types";
import { frame, invent, restyle, setStage, settle, shown } from "../../testing/recording";
import { view } from "./view";

const HIDDEN = [{ stack: "decoder", side: "source" as const, layers: 2, tokens: 4, width: 2 }];
const STATES = [
  [3, 0, -3, 0, 0, 2, 0, -2],
  [2, 0, -2, 0, 0, 3, 0, -3], // the second axis is the longer one now: alone, the plane would lie on its side
];

function prepare() {
  const { source } = invent({ source: ["a", "b", "c", "d"], change: { hidden: HIDDEN } });
  const asked: number[] = [];
  const hidden = async (_: string, layer: number) => {
    asked.push(layer);
    return frame({ states: { shape: [4, 2], data: Float32Array.from(STATES[layer]!) } });
  };
  return { source: Object.assign(source, { hidden }), asked };
}

test("a recording without hidden states is refused", () => {
  expect((view.fits(shown(invent().source)) as Spoken)("zh")).toContain("隐藏状态");
});

test("the next layer is turned onto the one before: nothing jumps", async () => {
  const { source } = prepare();
  const { stage, selection } = setStage(source, { query: 1 });
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  await settle();
  /** Which way token `a` lies from the middle, in degrees. */
  const direction = async () => {
    const picture = await mounted.picture();
    const places = [...picture.matchAll(/cx="([\d.]+)" cy="([\d.]+)" r="4"/g)].map((found) =>
      found.slice(1).map(Number),
    );
    expect(places.length).toBe(4);
    const [x = 0, y = 0] = places[0]!;
    const [otherX = 0, otherY = 0] = places[1]!;
    return (180 / Math.PI) * Math.atan2(y - otherY, x - otherX);
  };
  const before = await direction();
  selection.option("embeddings.layer", "1");
  await settle();
  expect(await direction()).toBeCloseTo(before, 3);
});

test("nothing happens after unmounting", async () => {
  const { source } = prepare();
  const { stage, element, failures } = setStage(source);
  view.mount(stage).unmount();
  await settle();
  expect(element.childElementCount).toBe(0);
  expect(failures).toEqual([]);
});

test("the stack of a link or of the back button is the one that is marked", async () => {
  const { source } = prepare();
  Object.assign(source.description, { hidden: [...HIDDEN, { ...HIDDEN[0]!, stack: "encoder" }] });
  const { stage, element, selection } = setStage(source);
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  const marked = () => element.querySelector<HTMLInputElement>("[type=radio][value=encoder]")!.checked;
  expect(marked()).toBe(false);
  selection.option("embeddings.stack", "encoder");
  expect(marked()).toBe(true);
  selection.option("embeddings.stack", "decoder");
  expect(marked()).toBe(false);
});

test("the legend follows the language and the theme", () => {
  const { stage, element } = setStage(prepare().source);
  const mounted = view.mount(stage);
  const legend = () => element.querySelector(".scatter .line svg")!;
  const colours = () => [...legend().querySelectorAll("rect")].map((each) => each.getAttribute("fill"));
  const light = colours();
  restyle(mounted, stage, "zh", "dark");
  expect(legend().textContent).toBe("在文本中的位置");
  expect(colours()).toHaveLength(light.length);
  expect(colours()).not.toEqual(light);
});

test("the part in view is kept in the link, and followed", async () => {
  const { source } = prepare();
  const { stage, selection } = setStage(source, { query: 1 });
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  await settle();
  const whole = await mounted.picture();
  mounted.zoom!(1);
  await vi.waitFor(() => expect(selection.get().options["embeddings.at"]).toBe("0_0_1.5"));
  expect(await mounted.picture()).not.toBe(whole);
  selection.set({ options: {} });
  await settle();
  expect(await mounted.picture()).toBe(whole);
});
