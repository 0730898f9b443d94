import { expect, test, vi } from "vitest";
import type { Spoken } from "../../api/types";
import { nothingSelected } from "../../core/selection";
import { frame, invent, restyle, setStage, settle, shown } from "../../testing/recording";
import { view } from "./view";

const HIDDEN = [{ stack: "decoder", side: "source" as const, layers: 3, tokens: 3, width: 4 }];

function prepare() {
  const { source } = invent({ change: { hidden: HIDDEN } });
  const asked: string[] = [];
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const activations = async (stack: string, by: string, neuron?: number) => {
    asked.push(`${stack} ${by} ${neuron ?? ""}`.trim());
    await gate;
    return frame({ activations: { shape: [3, 3], data: Float32Array.from([0, 0, 0, 1, 2, 3, 4, 5, 6]) } });
  };
  return { source: Object.assign(source, { activations }), asked, go };
}

test("a recording without hidden states is refused with a way out", () => {
  expect((view.fits(shown(invent().source)) as Spoken)("en")).toContain("hidden");
  expect(view.fits(shown(prepare().source))).toBe(true);
});

test("embeddings have not changed: no value there", async () => {
  const { source, asked, go } = prepare();
  const { stage } = setStage(source, { options: { "encoder.by": "change" } });
  const mounted = view.mount(stage);
  go();
  const { rows } = await mounted.table();
  expect(asked).toEqual(["decoder change"]);
  expect(rows).toEqual([
    [0, "The", null, 1, 4],
    [1, "␣cat", null, 2, 5],
    [2, "␣sat", null, 3, 6],
  ]);
  expect(await mounted.picture()).toContain("embeddings have no layer before them");
});

test("a neuron is asked for by its number, kept within the width", async () => {
  const { source, asked, go } = prepare();
  const { stage } = setStage(source, { options: { "encoder.by": "neuron", "encoder.neuron": "99" } });
  view.mount(stage);
  go();
  await settle();
  expect(asked).toEqual(["decoder neuron 3"]);
});

test("the largest number of a neuron follows the stack", async () => {
  const { source, asked, go } = prepare();
  Object.assign(source.description, { hidden: [...HIDDEN, { ...HIDDEN[0]!, stack: "encoder", width: 9 }] });
  const options = { "encoder.by": "neuron", "encoder.stack": "decoder" };
  const { stage, element, selection } = setStage(source, { options });
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  go();
  const input = element.querySelector<HTMLInputElement>("[type=number]")!;
  const type = (number: string) => {
    input.value = number;
    input.dispatchEvent(new Event("change"));
  };
  type("7");
  expect([input.max, input.value]).toEqual(["3", "3"]);
  selection.option("encoder.stack", "encoder");
  type("7");
  expect([input.max, input.value]).toEqual(["8", "7"]);
  selection.option("encoder.stack", "decoder");
  expect([input.max, input.value]).toEqual(["3", "3"]);
  await settle();
  expect(asked.at(-1)).toBe("decoder neuron 3");
});

test("nothing happens after unmounting", async () => {
  const { source, go } = prepare();
  const { stage, element, failures } = setStage(source);
  view.mount(stage).unmount();
  go();
  await settle();
  expect(element.childElementCount).toBe(0);
  expect(failures).toEqual([]);
});

test("the stack of a link or of the back button is the one that is marked", async () => {
  const { source, go } = prepare();
  Object.assign(source.description, { hidden: [...HIDDEN, { ...HIDDEN[0]!, stack: "encoder" }] });
  const { stage, element, selection } = setStage(source);
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  go();
  const marked = () => element.querySelector<HTMLInputElement>("[type=radio][value=encoder]")!.checked;
  expect(marked()).toBe(true); // what the view is called
  selection.option("encoder.stack", "decoder");
  expect(marked()).toBe(false);
  selection.option("encoder.stack", null);
  expect(marked()).toBe(true);
});

test("in another language the strip has its title in that language", () => {
  const { stage, element } = setStage(prepare().source);
  restyle(view.mount(stage), stage);
  expect(element.querySelector<HTMLElement>(".field-strip")!.title).toContain("全文");
});

test("opens on the encoder, whatever map is in focus, and is called what it shows", async () => {
  const { source, asked } = prepare();
  const named = (options = {}) => view.named!(shown(source), { ...nothingSelected, options })("en");
  expect(named()).toBe("Decoder"); // this model has nothing else
  Object.assign(source.description, { hidden: [...HIDDEN, { ...HIDDEN[0]!, stack: "encoder" }] });
  expect([named(), named({ "encoder.stack": "decoder" })]).toEqual(["Encoder", "Decoder"]);
  view.mount(setStage(source, { map: 0 }).stage); // a map of the decoder
  expect(asked).toEqual(["encoder change"]);
});

test("time moves the tokens that look; states of the others have no slider", () => {
  const { source } = invent({
    source: ["We", " see"],
    target: ["<s>", "Nous"],
    change: {
      hidden: [
        { ...HIDDEN[0]!, stack: "encoder", side: "source" },
        { ...HIDDEN[0]!, stack: "decoder", side: "target" },
      ],
    },
  });
  const moves = (kind: string, options = {}) => {
    const map = source.description.maps.findIndex(({ place }) => `${place.stack}.${place.kind}` === kind);
    const mounted = view.mount(setStage(source, { map, options }).stage);
    const found = mounted.moves;
    mounted.unmount();
    return found;
  };
  expect(moves("decoder.cross")).toBe(false); // the encoder is shown, the decoder's tokens look
  expect(moves("encoder.self")).toBe(true);
  expect(moves("decoder.cross", { "encoder.stack": "decoder" })).toBe(true);
});

test("tokens differ in colour: by change, each layer from its least to its most", async () => {
  const { source, go } = prepare();
  const { stage, element } = setStage(source);
  const mounted = view.mount(stage);
  go();
  const colours = async () => {
    const picture = new DOMParser().parseFromString(await mounted.picture(), "image/svg+xml");
    const cells = picture.querySelector("g[shape-rendering]")!;
    return [...cells.querySelectorAll("path")].map((path) => [
      path.getAttribute("fill")!,
      path.getAttribute("d")!.split("M").length - 1,
    ]);
  };
  const each = await colours();
  expect(each.map(([, cells]) => cells)).toEqual([3, 1, 1, 1]); // embeddings without a value; a colour for each token
  stage.selection.option("encoder.range", "all");
  mounted.update(stage.selection.get(), stage.selection.get());
  expect((await colours()).length).toBe(7);
  expect(element.querySelector(".meaning")!.textContent).toContain("One scale of colours");
});

test("a stack of one plane has not changed: its norm is shown", async () => {
  const { source, asked } = prepare();
  Object.assign(source.description, { hidden: [{ ...HIDDEN[0]!, layers: 1 }] });
  const { stage, element } = setStage(source);
  view.mount(stage);
  expect(asked).toEqual(["decoder norm"]);
  expect(element.querySelector<HTMLInputElement>("[value=norm]")!.checked).toBe(true);
});

test("zooming makes rows taller", async () => {
  const { source, go } = prepare();
  const { stage, element } = setStage(source);
  const mounted = view.mount(stage);
  go();
  await settle();
  const height = () => Number.parseInt(element.querySelector<HTMLElement>(".spacer")!.style.height, 10);
  const before = height();
  mounted.zoom!(1);
  expect(height()).toBeGreaterThan(before * 1.4);
  mounted.zoom!(0);
  expect(height()).toBe(before);
});

test("how tall rows are is kept in the link, and followed", async () => {
  const { source, go } = prepare();
  const { stage, element, selection } = setStage(source);
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  go();
  await settle();
  const height = () => Number.parseInt(element.querySelector<HTMLElement>(".spacer")!.style.height, 10);
  const before = height();
  mounted.zoom!(1);
  await vi.waitFor(() => expect(selection.get().options["encoder.rows"]).toBeDefined());
  selection.set({ options: {} });
  expect(height()).toBe(before);
});
