import { expect, test, vi } from "vitest";
import type { Spoken } from "../../api/types";
import { Refusal } from "../../core/source";
import { frame, invent, restyle, setStage, settle, shown, weightOf } from "../../testing/recording";
import { view } from "./view";

const SOURCE = ["We", " see", " it"];
const TARGET = ["<s>", "Nous", " le", " voyons"];
const HIDDEN = [
  { stack: "encoder", side: "source" as const, layers: 3, tokens: 3, width: 4 },
  { stack: "decoder", side: "target" as const, layers: 3, tokens: 4, width: 4 },
];

function prepare({ hidden = HIDDEN, target = TARGET as readonly string[] | undefined } = {}) {
  const { source, asked } = invent({
    source: SOURCE,
    ...(target ? { target } : {}),
    change: { hidden },
  });
  const answers = {
    async activations(stack: string, by: string) {
      asked.push(`activations ${stack} ${by}`);
      const { layers, tokens } = hidden.find((each) => each.stack === stack)!;
      const data = Float32Array.from({ length: layers * tokens }, (_, at) => at);
      return frame({ activations: { shape: [layers, tokens], data } });
    },
    async hidden(stack: string, layer: number) {
      asked.push(`hidden ${stack} ${layer}`);
      const { tokens, width } = hidden.find((each) => each.stack === stack)!;
      const data = Float32Array.from({ length: tokens * width }, (_, at) => Math.sin(at * (layer + 2)));
      return frame({ states: { shape: [tokens, width], data } });
    },
  };
  return { source: Object.assign(source, answers), asked };
}

async function mount(prepared = prepare(), change: Parameters<typeof setStage>[1] = { map: 2 }) {
  const staged = setStage(prepared.source, change);
  const mounted = view.mount(staged.stage);
  staged.selection.subscribe((now, before) => mounted.update(now, before));
  await settle();
  const { element } = staged;
  const panel = (name: string) => element.querySelector<HTMLElement>(`[data-canvas=${name}]`)!;
  return {
    ...prepared,
    ...staged,
    mounted,
    panel,
    titles: () => [...element.querySelectorAll("h2")].map((title) => title.textContent),
    note: (name: string) => panel(name).querySelector(".canvas-note")!.textContent,
    readout: () => element.querySelector(".canvas-readout")!.textContent,
    word: (side: string, token: number) =>
      element.querySelector<HTMLElement>(`[data-side=${side}] [data-token="${token}"]`)!,
  };
}

test("the four panels of a translator are there at once", async () => {
  const { titles, asked, failures } = await mount();
  expect(titles()).toEqual(["Encoder", "Attention weights", "Input embeddings", "Output embeddings"]);
  expect(asked).toContain("activations encoder change");
  expect(asked).toContain("hidden encoder 0"); // what goes in
  expect(asked).toContain("hidden decoder 1"); // after the layer in focus
  expect(failures).toEqual([]);
});

test("patches of a picture have their names, and are not waited for after the view has gone", async () => {
  vi.stubGlobal("createImageBitmap", async () => ({}) as ImageBitmap);
  const prepared = prepare();
  const { description } = prepared.source;
  const picture = { rows: 1, columns: 2, width: 20, height: 10, cells: [-1, 0, 1] };
  const media = vi.fn(async () => new ArrayBuffer(8));
  const changed = { ...description, source: { ...description.source, picture } };
  Object.assign(prepared.source, { description: changed, media });
  const { word, mounted } = await mount(prepared);
  expect([0, 1, 2].map((token) => word("source", token).getAttribute("role"))).toEqual([null, "img", "img"]);
  expect(word("source", 1).getAttribute("aria-label")).toBe("␣see");
  expect(word("source", 0).textContent).toBe("We");
  mounted.unmount();
  const signals: AbortSignal[] = [];
  const asked = vi.fn(() => new Promise<ArrayBuffer>(() => {}));
  const within = (signal: AbortSignal) => {
    signals.push(signal);
    return { ...prepared.source, media: asked };
  };
  const late = await mount({ ...prepared, source: Object.assign(prepared.source, { within }) });
  late.mounted.unmount();
  expect(asked).toHaveBeenCalledTimes(1); // with a signal, as all else
  expect(signals.filter((signal) => !signal.aborted)).toEqual([]);
  vi.unstubAllGlobals();
});

test("step, layer and head move all panels", async () => {
  const { selection, source, asked, note, readout, word } = await mount();
  expect(readout()).toContain("Point at a token");
  selection.set({ query: 1 });
  await settle();
  const share = (token: number) => word("source", token).style.getPropertyValue("--weight");
  const weight = (layer: number, head: number, key: number) =>
    `${Math.round(100 * weightOf(layer, head, 1, key, 3))}%`;
  expect([0, 1, 2].map(share)).toEqual([0, 1, 2].map((key) => weight(0, 0, key)));
  expect(word("target", 1).className).toContain("focus");
  selection.set({ head: 1 });
  await settle();
  expect([0, 1, 2].map(share)).toEqual([0, 1, 2].map((key) => weight(0, 1, key)));
  expect(note("attention")).toContain("head 1");
  expect(note("output")).toContain("after layer 1 of 2");
  selection.set({ place: source.description.maps[5]!.place });
  await settle();
  expect([0, 1, 2].map(share)).toEqual([0, 1, 2].map((key) => weight(1, 1, key)));
  expect(note("attention")).toContain("layer 1");
  expect(note("output")).toContain("after layer 2 of 2");
  expect(asked).toContain("hidden decoder 2");
});

test("a token that is pointed at is marked, and says where it looks", async () => {
  const { word, readout, selection } = await mount();
  word("target", 2).dispatchEvent(new PointerEvent("pointermove", { bubbles: true }));
  await settle();
  expect(word("target", 2).className).toContain("mark");
  const weights = [0, 1, 2].map((key) => weightOf(0, 0, 2, key, 3));
  const most = weights.indexOf(Math.max(...weights));
  expect(readout()).toContain(`looks at “${SOURCE[most]!.trim()}”`);
  expect(selection.get().query).toBeNull(); // only pointed at
  word("target", 2).dispatchEvent(new MouseEvent("click", { bubbles: true }));
  expect(selection.get().query).toBe(2);
  word("source", 1).dispatchEvent(new MouseEvent("click", { bubbles: true }));
  expect(selection.get()).toMatchObject({ query: 2, key: 1 });
});

test("each panel opens its full view with the same selection", async () => {
  const { panel, selection } = await mount(prepare(), {
    map: 5,
    head: 1,
    query: 2,
    options: { "embeddings.layer": "1", "heatmap.scale": "row" },
  });
  const open = (name: string) => {
    panel(name).querySelector("button")!.click();
    const { view: opened, head, query, options } = selection.get();
    expect([head, query, options["heatmap.scale"] ?? "row"]).toEqual([1, 2, "row"]);
    return [opened, options["embeddings.stack"], options["embeddings.layer"]];
  };
  expect(open("input")).toEqual(["embeddings", "encoder", undefined]); // its default is 0
  expect(open("output")).toEqual(["embeddings", "decoder", "2"]);
  expect(open("encoder")[0]).toBe("encoder");
  expect(open("attention")[0]).toBe("heatmap");
});

test("a model without an encoder has its own stack there, by its name", async () => {
  const { titles, asked } = await mount(
    prepare({ target: undefined, hidden: [{ ...HIDDEN[0]!, stack: "decoder" }] }),
    { map: 0 },
  );
  expect(titles()).toEqual(["Decoder", "Attention weights", "Input embeddings", "Output embeddings"]);
  expect(asked).toContain("activations decoder change");
});

test("without hidden states three panels say what they need, and the weights are shown", async () => {
  const { panel, note, failures } = await mount(prepare({ hidden: [] }));
  for (const name of ["encoder", "input", "output"]) expect(panel(name).textContent).toContain("want");
  expect(note("attention")).toContain("cross-attention");
  expect(failures).toEqual([]);
});

test("states of a recurrent network are not called embeddings", async () => {
  const { titles, asked } = await mount(prepare({ hidden: HIDDEN.map((each) => ({ ...each, layers: 1 })) }));
  expect(titles()).toEqual(["Encoder", "Attention weights", "Hidden states", "Hidden states"]);
  expect(asked).toContain("activations encoder norm");
});

test("what a panel does not get, it says itself; the others go on", async () => {
  const prepared = prepare();
  Object.assign(prepared.source, {
    activations: () => Promise.reject(new Refusal(() => "Not in this file.", "not_in_file", 404)),
  });
  const { panel, failures, note } = await mount(prepared);
  expect(panel("encoder").textContent).toContain("Not in this file.");
  expect(note("input")).toContain("PCA");
  expect(failures).toEqual([]);
});

test("numbers and picture are those of the panels", async () => {
  const { mounted, source } = await mount(prepare(), { map: 2, query: 1 });
  const { columns, rows } = await mounted.table();
  expect(columns.length).toBe(rows[0]!.length);
  expect(rows.length).toBe(SOURCE.length + TARGET.length);
  expect(rows[1]!.slice(0, 3)).toEqual(["Source", 1, "␣see"]);
  expect(rows[1]![3]).toBeCloseTo(weightOf(0, 0, 1, 1, 3), 6);
  expect(rows[1]![4]).toBe(7); // layer 2, token 1
  const picture = await mounted.picture();
  for (const word of ["Encoder", "Output embeddings", "␣see", source.description.model])
    expect(picture).toContain(word);
});

test("in another language everything is", async () => {
  const { mounted, stage, titles, readout } = await mount();
  restyle(mounted, stage);
  expect(titles()).toEqual(["编码器", "注意力权重", "输入词嵌入", "输出词嵌入"]);
  expect(readout()).toContain("时间步");
});

test("nothing happens after unmounting", async () => {
  const { mounted, element, failures } = await mount();
  mounted.unmount();
  await settle();
  expect(element.childElementCount).toBe(0);
  expect(failures).toEqual([]);
  const without = invent({ change: { maps: [], hidden: [] } }).source;
  expect((view.fits(shown(without)) as Spoken)("en")).toContain("attention maps");
});

test("what is seen of each panel is kept in the link", async () => {
  const { mounted, selection } = await mount();
  mounted.zoom!(1);
  await vi.waitFor(() => {
    const { options } = selection.get();
    expect(options["canvas.input"]).toBe("0_0_1.5");
    expect(options["canvas.output"]).toBe("0_0_1.5");
    expect(options["canvas.encoder"]).toBe("1.5");
  });
  mounted.zoom!(0);
  await vi.waitFor(() => expect(selection.get().options).toEqual({}));
});
