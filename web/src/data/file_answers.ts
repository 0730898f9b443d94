/**
 * Answers that lie in the page itself: a large one in a <script type="application/x-glassformer"> that is named by its
 * path, small ones together in one of the type application/x-glassformer-many.
 *
 * In:   the document of an exported file.
 * Out:  a `fetch` that finds them, and cuts smaller answers (a few tokens, one head, a tile) out of whole ones.
 *       What is not there is refused in a sentence.
 */

import { encodeFrame } from "../api/frame_writer";
import { decodeFrame, type Frame, type Tensor, tensor } from "../api/frames";
import { unpack } from "../api/packing";
import type { Description } from "../api/types";
import { Refusal } from "../core/source";
import { words } from "../i18n/hosts";
import { answerCell } from "./file_cells";
import {
  asBytes,
  averageHeads,
  cutOne,
  cutTile,
  cutTokens,
  cutTrace,
  cutWeights,
  pool,
  shape3,
  thumbnailLevel,
} from "./file_cutting";

const KIND = "application/x-glassformer";

/** A `fetch` of what the file holds. Paths are those of the API, behind the base. */
export function fetchFromFile(document: Document, base: string): typeof fetch {
  const elements = new Map<string, HTMLScriptElement>();
  for (const element of document.querySelectorAll<HTMLScriptElement>(`script[type="${KIND}"]`)) {
    elements.set(element.dataset.path ?? "", element);
  }
  const frames = new Map<string, Promise<Frame | null>>();
  const small = unpackMany(document.querySelector(`script[type="${KIND}-many"]`));

  const read = async (path: string): Promise<ArrayBuffer | null> => {
    const element = elements.get(path);
    return element ? unpack(element) : ((await small).get(path) ?? null);
  };

  const whole = (path: string): Promise<Frame | null> => {
    let frame = frames.get(path);
    if (!frame) {
      frame = read(path).then((bytes) => (bytes ? decodeFrame(bytes) : null));
      frames.set(path, frame);
    }
    return frame;
  };

  const json = async <T>(path: string): Promise<T | null> => {
    const bytes = await read(path);
    return bytes && (JSON.parse(new TextDecoder().decode(bytes)) as T);
  };

  const find = async (path: string): Promise<ArrayBuffer | null> => {
    const exact = await read(path);
    if (exact) return exact;
    const [address = "", query = ""] = path.split("?");
    const asked = new URLSearchParams(query);
    if (/\/tokens\/\w+$/.test(address)) return cutTokens(await read(address), asked);
    if (/\/maps\/[^/]+\/weights$/.test(address)) {
      const packed = cutWeights(await wholeWeights(whole, address, asked), asked);
      return packed ?? (asked.get("head") === "mean" ? readMean(address, asked) : null);
    }
    if (/^recordings\/[^/]+\/trace\//.test(address)) return cutTrace(await whole(address), asked);
    const cell = /^(recordings\/[^/]+)\/cell\/([^/]+)$/.exec(address);
    if (cell) return answerCell(cell[1]!, decodeURIComponent(cell[2]!), asked, { json, frame: whole });
    const tile = /^(.*\/maps\/[^/]+)\/tiles\/(\d+)\/(\d+)\/(\d+)\/(\d+)$/.exec(address);
    if (tile) {
      const [, map = "", head = "", level, row, column] = tile;
      asked.set("head", head);
      const weights = await wholeWeights(whole, `${map}/weights`, asked);
      return weights
        ? cutTile(weights, Number(head), Number(level), Number(row), Number(column), asked)
        : null;
    }
    const thumbnails = /^(recordings\/[^/]+)\/thumbnails$/.exec(address);
    if (thumbnails?.[1]) return drawThumbnails(thumbnails[1], asked.get("how") === "max");
    if (/\/scores\/[^/]+$/.test(address)) return defaultScore(address, asked);
    return null;
  };

  /** The mean of heads that were packed one by one: those of a map that is too large for one answer. */
  const readMean = async (address: string, asked: URLSearchParams): Promise<ArrayBuffer | null> => {
    const heads: ArrayBuffer[] = [];
    const one = new URLSearchParams(asked);
    for (;;) {
      one.set("head", `${heads.length}`);
      const bytes = cutWeights(await wholeWeights(whole, address, one), one);
      if (!bytes) return averageHeads(heads);
      heads.push(bytes);
    }
  };

  /** A score is in the file for the parameters it was measured with; asked for the same ones, it is that one. */
  const defaultScore = async (address: string, asked: URLSearchParams): Promise<ArrayBuffer | null> => {
    const bytes = await read(`${address}?over=${asked.get("over")}`);
    if (!bytes) return null;
    const { parameters = {} } = JSON.parse(new TextDecoder().decode(bytes)) as {
      readonly parameters?: Readonly<Record<string, unknown>>;
    };
    const others = [...asked].filter(([name]) => name !== "over");
    return others.every(([name, value]) => String(parameters[name]) === value) ? bytes : null;
  };

  /** Small pictures are drawn from the weights where those are there: they need not be in the file twice. */
  const drawThumbnails = async (there: string, highest: boolean): Promise<ArrayBuffer | null> => {
    const description = await json<Description>(there);
    if (!description) return null;
    const tensors: Tensor[] = [];
    for (const map of description.maps) {
      const level = thumbnailLevel(map.queries, map.keys);
      const heads: Float32Array[] = [];
      let shape: readonly number[] = [];
      for (let head = 0; head < map.heads; head++) {
        const frame = await wholeWeights(
          whole,
          `${there}/maps/${encodeURIComponent(map.place.address)}/weights`,
          new URLSearchParams({ head: `${head}` }),
        );
        if (!frame) return null;
        const weights = tensor(frame, "weights");
        const part = cutOne(weights, shape3(weights)[0] === 1 ? 0 : head, [0, map.queries], [0, map.keys]);
        const pooled = pool(part, level, highest);
        shape = pooled.shape;
        heads.push(pooled.values);
      }
      tensors.push(asBytes(map.place.address, [map.heads, ...shape], heads, map.content));
    }
    return encodeFrame(tensors, { approximate: true });
  };

  return async (input) => {
    const bytes = await find(String(input).slice(base.length));
    if (bytes) return new Response(bytes);
    throw new Refusal((language) => words(language).notInFile, "not_in_file", 404);
  };
}

/** A line of JSON names the answers and their lengths; then they follow one after the other. */
async function unpackMany(element: Element | null): Promise<ReadonlyMap<string, ArrayBuffer>> {
  if (!element) return new Map();
  const bytes = await unpack(element);
  let start = new Uint8Array(bytes).indexOf(10);
  const list = JSON.parse(new TextDecoder().decode(bytes.slice(0, start++))) as readonly [string, number][];
  return new Map(
    list.map(([path, length]) => {
      start += length;
      return [path, bytes.slice(start - length, start)];
    }),
  );
}

/** All heads of a map, or the one that is asked for where heads were packed one by one. */
async function wholeWeights(
  whole: (path: string) => Promise<Frame | null>,
  address: string,
  asked: URLSearchParams,
): Promise<Frame | null> {
  for (const as of ["float32", "uint8"]) {
    const all = await whole(`${address}?as=${as}`);
    if (all) return all;
    const one = await whole(`${address}?head=${asked.get("head")}&as=${as}`);
    if (one) return one;
  }
  return null;
}
