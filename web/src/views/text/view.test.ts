import { expect, test } from "vitest";
import { Refusal } from "../../core/source";
import { invent, makeMap, setStage, settle, weightOf } from "../../testing/recording";
import { view } from "./view";

async function stand(invention: Parameters<typeof invent>[0], change: Parameters<typeof setStage>[1]) {
  const { source } = invent(invention);
  const { stage, element, selection, failures } = setStage(source, change);
  const mounted = view.mount(stage);
  selection.subscribe((now, before) => mounted.update(now, before));
  await settle();
  const tokens = () => [...element.querySelectorAll<HTMLElement>(".passage-token")];
  return { mounted, element, selection, failures, tokens };
}

const FOUR = ["a", " b", " c", " d"];

test("the text is coloured by where the chosen token looks, or by who looks at it", async () => {
  const { mounted, selection, tokens, element } = await stand({ source: FOUR }, { head: 1, query: 2 });
  const row = (await mounted.table()).rows.map((each) => each[2]);
  expect(row).toEqual([0, 1, 2, 3].map((key) => Math.fround(weightOf(0, 1, 2, key, 4))));
  expect(tokens()[2]!.getAttribute("aria-selected")).toBe("true");
  element.querySelector<HTMLInputElement>('input[value="in"]')!.click();
  selection.set({ key: 3 });
  await settle();
  const column = (await mounted.table()).rows.map((each) => each[2]);
  expect(column).toEqual([0, 1, 2, 3].map((query) => Math.fround(weightOf(0, 1, query, 3, 4))));
  expect(selection.get().options["text.show"]).toBe("in");
});

test("for cross-attention both texts stand there; a click in either shows its side", async () => {
  const invention = { source: FOUR, target: ["x", " y"], heads: 2 };
  const { mounted, tokens, selection, element } = await stand(invention, { map: 2, head: 0, query: 1 });
  expect(element.querySelectorAll(".text-pane")).toHaveLength(2);
  expect((await mounted.table()).rows.map((each) => each[2])).toEqual(
    [0, 1, 2, 3].map((key) => Math.fround(weightOf(0, 0, 1, key, 4))),
  );
  tokens()[3]!.click(); // a token of the source: who looks at it?
  await settle();
  expect(selection.get()).toMatchObject({ key: 3, options: { "text.show": "in" } });
  expect((await mounted.table()).rows.map((each) => each[2])).toEqual(
    [0, 1].map((query) => Math.fround(weightOf(0, 0, query, 3, 4))),
  );
});

test("without weights only the attention received is shown, and why is said", async () => {
  const maps = [makeMap(0, { queries: 4, has_weights: false })];
  const { mounted, element } = await stand({ source: FOUR, change: { maps } }, { head: 0 });
  expect(element.querySelector(".text-note")!.textContent).toContain("no weights");
  expect(element.querySelector<HTMLInputElement>('input[value="out"]')!.disabled).toBe(true);
  expect((await mounted.table()).columns[2]).toBe("attention received");
});

test("long texts are read through a window", async () => {
  const texts = Array.from({ length: 5000 }, (_, index) => ` ${index}`);
  const { tokens, element, selection } = await stand(
    { source: texts, layers: 1, heads: 1 },
    { head: 0, query: 4990 },
  );
  expect(tokens()).toHaveLength(2000);
  expect(tokens().at(-1)!.textContent).toBe("4999");
  element.querySelector<HTMLButtonElement>(".text-pager button")!.click();
  await settle();
  expect(selection.get().options["text.queries"]).toBe("1000");
  expect(tokens()[0]!.textContent).toBe("1000");
});

test("a caption waits for the names of tokens beyond the window", async () => {
  const texts = Array.from({ length: 3000 }, (_, index) => ` ${index}`);
  const { source } = invent({ source: texts, layers: 1, heads: 1 });
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const tokens: typeof source.tokens = async (side, range) => {
    if (range && range[1] - range[0] === 1) await gate;
    return source.tokens(side, range);
  };
  const own = { ...source, tokens, within: () => own };
  const { stage, element } = setStage(own, { head: 0, query: 2990 });
  const mounted = view.mount(stage);
  await settle();
  expect(element.querySelector(".text-readout")!.textContent).toContain("…"); // some are beyond it
  const table = mounted.table();
  open();
  expect((await table).caption).not.toContain("…");
});

test("a model average that cannot be made is said; the view stays", async () => {
  const { element, failures } = await stand({ source: FOUR }, { head: "model", query: 1 });
  expect(failures).toEqual([]);
  expect(element.querySelector(".text-note")!.textContent).toContain("not in this invention");
});

test("a refused model average is said in words, not by its code", async () => {
  const { source } = invent({ source: FOUR });
  const average = () => Promise.reject(new Refusal("The text is too long for an average.", "too_large", 422));
  const own = { ...source, average, within: () => own };
  const { stage, element, failures } = setStage(own, { head: "model", query: 1 });
  view.mount(stage);
  await settle();
  expect(element.querySelector(".text-note")?.textContent).toBe("The text is too long for an average.");
  expect(failures).toEqual([]);
});

test("signed values are coloured on both sides of zero, and not called attention", async () => {
  const maps = [makeMap(0, { queries: 4, content: "signed" })];
  const { source } = invent({ source: FOUR, change: { maps } });
  const values = Float32Array.from([-2, 1, 0, 0.5]);
  const weights = async () => ({
    arrays: new Map([
      [
        "weights",
        { name: "weights", dtype: "float32", shape: [1, 4], data: values, scale: null, maximum: 1 },
      ],
    ]),
    meta: {},
  });
  const signed = { ...source, weights, within: () => signed } as unknown as typeof source;
  const { stage, element } = setStage(signed, { map: 0, head: 0, query: 3 });
  const mounted = view.mount(stage);
  await settle();
  const [least, most, none] = [...element.querySelectorAll<HTMLElement>(".passage-token")].map(
    ({ style }) => style.backgroundColor.match(/\d+/g)?.map(Number) ?? [],
  );
  expect(least![2]).toBeGreaterThan(least![0]!); // blue
  expect(most![0]).toBeGreaterThan(most![2]!); // red
  expect(none).toEqual([]);
  expect(element.textContent).toContain("as query: a (0) −2");
  const { rows, columns } = await mounted.table();
  expect(columns[2]).toBe("value");
  expect(rows.map((row) => row[2])).toEqual([...values]);
});
