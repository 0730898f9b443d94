import { expect, test } from "vitest";
import { encodeFrame } from "../api/frame_writer";
import { asFloats, decodeFrame, tensor } from "../api/frames";
import { Refusal } from "../core/source";
import { writeLetters } from "../testing/letters";
import { fetchFromFile } from "./file_answers";
import { pool, thumbnailLevel } from "./file_cutting";

const KIND = "application/x-glassformer";

/** As render/html/packing.py packs. */
async function pack(bytes: Uint8Array): Promise<string> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return writeLetters(new Uint8Array(await new Response(stream).arrayBuffer()));
}

async function addBlock(page: Document, type: string, bytes: Uint8Array): Promise<HTMLScriptElement> {
  const element = page.createElement("script");
  element.setAttribute("type", type);
  element.textContent = await pack(bytes);
  page.body.append(element);
  return element;
}

async function fileWith(answers: Readonly<Record<string, Uint8Array>>): Promise<Document> {
  const page = document.implementation.createHTMLDocument();
  for (const [path, bytes] of Object.entries(answers)) {
    (await addBlock(page, KIND, bytes)).dataset.path = path;
  }
  return page;
}

const weights = new Float32Array([...Array(2 * 3 * 4).keys()].map((place) => place / 24));
const frame = encodeFrame(
  [{ name: "weights", dtype: "float32", shape: [2, 3, 4], scale: null, maximum: 1, data: weights }],
  {},
);
const values = { name: "values", dtype: "float32", scale: null, maximum: 1 } as const;
const traced = encodeFrame([{ ...values, shape: [2, 3, 4], data: weights }], {});
const pooled = encodeFrame([{ ...values, shape: [24], data: weights }], {});
const tokens = {
  side: "source",
  start: 0,
  texts: ["a", "b", "c"],
  shown: ["a", "b", "c"],
  ids: [1, 2, 3],
  special: [false, false, true],
  words: null,
  offsets: null,
};

async function ask(path: string): Promise<Response> {
  const page = await fileWith({
    "recordings/r/maps/decoder.self.0/weights?as=float32": new Uint8Array(frame),
    "recordings/r/trace/encoder/0/self/queries": new Uint8Array(traced),
    "recordings/r/trace/output/pooled": new Uint8Array(pooled),
    "recordings/r/tokens/source": new TextEncoder().encode(JSON.stringify(tokens)),
  });
  return fetchFromFile(page, "x:")(`x:${path}`);
}

async function floats(path: string, name = "weights"): Promise<{ shape: readonly number[]; data: number[] }> {
  const found = tensor(decodeFrame(await (await ask(path)).arrayBuffer()), name);
  return { shape: found.shape, data: [...asFloats(found)].map((value) => Math.round(value * 24)) };
}

test("one head, a few queries and keys are cut out of the whole", async () => {
  expect(
    await floats("recordings/r/maps/decoder.self.0/weights?head=1&queries=1:3&keys=0:2&as=float32"),
  ).toEqual({
    shape: [2, 2],
    data: [16, 17, 20, 21],
  });
});

test("arrays of a walk are cut by head, rows and columns", async () => {
  const here = "recordings/r/trace/encoder/0/self/queries";
  expect(await floats(`${here}?head=1&rows=1:3&columns=0:2`, "values")).toEqual({
    shape: [2, 2],
    data: [16, 17, 20, 21],
  });
  expect(await floats(`${here}?columns=3:4`, "values")).toEqual({
    shape: [2, 3, 1],
    data: [3, 7, 11, 15, 19, 23],
  });
  expect((await floats(here, "values")).shape).toEqual([2, 3, 4]);
  expect(await floats("recordings/r/trace/output/pooled?columns=5:7", "values")).toEqual({
    shape: [2],
    data: [5, 6],
  });
  await expect(ask("recordings/r/trace/encoder/0/self/keys?head=0")).rejects.toThrow(Refusal);
});

test("the mean of heads is their mean", async () => {
  expect(await floats("recordings/r/maps/decoder.self.0/weights?head=mean&queries=0:1&as=float32")).toEqual({
    shape: [1, 4],
    data: [6, 7, 8, 9],
  });
});

test("also of heads that were packed one by one, as those of large maps are", async () => {
  const one = (head: number): Uint8Array =>
    new Uint8Array(
      encodeFrame(
        [{ ...values, name: "weights", shape: [3, 4], data: weights.slice(head * 12, head * 12 + 12) }],
        {},
      ),
    );
  const page = await fileWith({
    "recordings/r/maps/decoder.self.0/weights?head=0&as=float32": one(0),
    "recordings/r/maps/decoder.self.0/weights?head=1&as=float32": one(1),
  });
  const fetch = fetchFromFile(page, "x:");
  const answer = await fetch(
    "x:recordings/r/maps/decoder.self.0/weights?head=mean&queries=1:2&keys=0:3&as=uint8",
  );
  const mean = tensor(decodeFrame(await answer.arrayBuffer()), "weights");
  expect(mean.shape).toEqual([1, 3]);
  expect([...asFloats(mean)].map((value) => Math.round(value * 24))).toEqual([10, 11, 12]);
  await expect(fetch("x:recordings/r/maps/decoder.self.1/weights?head=mean&as=uint8")).rejects.toThrow(
    Refusal,
  );
});

test("tokens are cut", async () => {
  const part = (await (await ask("recordings/r/tokens/source?start=1&stop=2")).json()) as typeof tokens;
  expect([part.start, part.texts, part.ids]).toEqual([1, ["b"], [2]]);
});

test("tiles are means or maxima of squares, whose last ones are smaller", async () => {
  expect(await floats("recordings/r/maps/decoder.self.0/tiles/0/1/0/0?how=max&as=float32", "tile")).toEqual({
    shape: [2, 2],
    data: [5, 7, 9, 11],
  });
  const part = {
    name: "",
    dtype: "float32",
    shape: [3, 4],
    scale: null,
    maximum: 1,
    data: weights.slice(0, 12),
  } as const;
  expect([...pool(part, 1, false).values].map((value) => value * 24)).toEqual(
    [2.5, 4.5, 8.5, 10.5].map((value) => expect.closeTo(value, 4)),
  );
});

test("the level of a thumbnail is the recorder's", () => {
  // recording/statistics.py: max(0, (n - 1).bit_length() - 6)
  for (const [length, level] of [
    [1, 0],
    [64, 0],
    [65, 1],
    [128, 1],
    [129, 2],
    [512, 3],
    [513, 4],
  ] as const) {
    expect(thumbnailLevel(length, 1)).toBe(level);
  }
});

test("what is not in the file is refused", async () => {
  const error = await ask("recordings/r/hidden/encoder/0").catch((refusal: Refusal) => refusal);
  expect(error).toMatchObject({ code: "not_in_file", status: 404 });
  expect((error as Refusal).text("en")).toContain("exported without");
});

test("a score is found for the parameters it was measured with, and no others", async () => {
  const score = { metric: "sparsity", parameters: { threshold: 0.01, relative: false }, parts: [] };
  const page = await fileWith({
    "recordings/r/scores/sparsity?over=head": new TextEncoder().encode(JSON.stringify(score)),
  });
  const fetch = fetchFromFile(page, "x:");
  const asked = (query: string): Promise<Response> =>
    fetch(`x:recordings/r/scores/sparsity?over=head${query}`);
  expect((await asked("&threshold=0.01")).status).toBe(200);
  expect((await asked("&threshold=0.01&relative=false")).status).toBe(200);
  await expect(asked("&threshold=0.02")).rejects.toThrow(Refusal);
});

test("small answers share a block", async () => {
  const page = document.implementation.createHTMLDocument();
  const [about, none, list] = ['{"版本":1}', "", "[1]"].map((text) => new TextEncoder().encode(text));
  const line = JSON.stringify([
    ["about", about!.length],
    ["none", none!.length],
    ["list?of=a", list!.length],
  ]);
  await addBlock(
    page,
    `${KIND}-many`,
    new Uint8Array([...new TextEncoder().encode(`${line}\n`), ...about!, ...none!, ...list!]),
  );
  const fetch = fetchFromFile(page, "x:");
  expect(await (await fetch("x:about")).json()).toEqual({ 版本: 1 });
  expect(await (await fetch("x:none")).text()).toBe("");
  expect(await (await fetch("x:list?of=a")).json()).toEqual([1]);
  await expect(fetch("x:list")).rejects.toThrow(Refusal);
});
