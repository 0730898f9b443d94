/**
 * The source behind a server: the API of docs, asked with fetch.
 *
 * In:   questions of views and panels.
 * Out:  JSON and frames. A question asked twice is fetched once; answers are remembered up to a number of bytes.
 *       Whatever goes wrong arrives as a Refusal: one sentence for a person.
 */

import { decodeFrame, type Frame } from "../api/frames";
import type { Description, ErrorResponse } from "../api/types";
import type { Catalogue } from "../core/messages";
import { type Place, writePlace } from "../core/place";
import {
  type AtlasList,
  type Range,
  type RecordingSource,
  Refusal,
  type RunList,
  type Source,
} from "../core/source";
import { isAbort } from "../core/tasks";
import { words } from "../i18n/hosts";

const REMEMBERED_BYTES = 96 * 2 ** 20;

/** An answer, and about how many bytes it takes. */
interface Sized<T> {
  readonly value: T;
  readonly bytes: number;
}

type Fetch<T> = (signal: AbortSignal) => Promise<Sized<T>>;

/** Asks the server, and turns every failure into a Refusal. */
export class Connection {
  readonly base: string;
  private readonly fetch: typeof fetch;
  private readonly connected: (connected: boolean) => void;

  constructor(options: {
    readonly base: string; // where the API is, with a slash at the end
    readonly connected?: (connected: boolean) => void; // told when the server stops or starts answering
    readonly fetch?: typeof fetch;
  }) {
    this.base = options.base;
    this.fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.connected = options.connected ?? (() => {});
  }

  async ask(path: string, init: RequestInit = {}): Promise<Response> {
    let response: Response;
    try {
      response = await this.fetch(this.base + path, { credentials: "same-origin", ...init });
    } catch (error) {
      if (error instanceof Refusal || isAbort(error)) throw error;
      this.connected(false);
      throw new Refusal((language) => words(language).unreachable, "unreachable", 0);
    }
    this.connected(true);
    if (!response.ok) throw await refusal(response);
    return response;
  }

  async json<T>(path: string, init: RequestInit = {}): Promise<T> {
    return (await this.sizedJson<T>(path, init)).value;
  }

  sizedJson<T>(path: string, init: RequestInit): Promise<Sized<T>> {
    return this.read(path, init, async (response) => {
      const text = await response.text();
      return { value: JSON.parse(text) as T, bytes: text.length };
    });
  }

  /** A list, and how many the whole has where it is only a part. */
  list<T>(
    path: string,
    init: RequestInit,
  ): Promise<{ readonly entries: readonly T[]; readonly total: number }> {
    return this.read(path, init, async (response) => {
      const entries = (await response.json()) as readonly T[];
      return { entries, total: Number(response.headers.get("x-total-count") ?? entries.length) };
    });
  }

  send<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    return this.json<T>(path, {
      ...withSignal(signal),
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  sized<T>(path: string, signal: AbortSignal, decode: (bytes: ArrayBuffer) => T): Promise<Sized<T>> {
    return this.read(path, { signal }, async (response) => {
      const bytes = await response.arrayBuffer();
      return { value: decode(bytes), bytes: bytes.byteLength };
    });
  }

  /** Ask, and read the answer: one that is cut off or damaged is refused, too. */
  private async read<T>(
    path: string,
    init: RequestInit,
    decode: (response: Response) => Promise<T>,
  ): Promise<T> {
    const response = await this.ask(path, init);
    try {
      return await decode(response);
    } catch (error) {
      if (isAbort(error)) throw error;
      throw new Refusal((language) => words(language).unreadable, "unreadable", 0);
    }
  }
}

/** The server's own message where there is one; otherwise words of ours. */
async function refusal(response: Response): Promise<Refusal> {
  const { status } = response;
  try {
    const { error } = (await response.json()) as ErrorResponse;
    const sentence = error.sentence.replace(/[{}]/g, "$&$&"); // until the page has its messages
    return new Refusal({ ...error.message, default: error.message.default ?? sentence }, error.code, status);
  } catch {
    // another server's answer: the status has to do
    return new Refusal((language) => words(language).answered(status), "refused", status);
  }
}

interface Question {
  readonly answer: Promise<unknown>;
  readonly controller: AbortController;
  bytes: number;
  askers: number; // callers that still wait; the fetch is aborted when the last one leaves
  settled: boolean;
}

/** Answers by question. The least recently used go first when there are too many bytes. */
export class Memory {
  private readonly questions = new Map<string, Question>();
  private bytes = 0;

  constructor(private readonly limit = REMEMBERED_BYTES) {}

  get size(): number {
    return this.bytes;
  }

  ask<T>(name: string, fetchIt: Fetch<T>, signal?: AbortSignal): Promise<T> {
    if (signal?.aborted) return Promise.reject(aborted());
    const question = this.questions.get(name) ?? this.open(name, fetchIt);
    this.questions.delete(name);
    this.questions.set(name, question); // last: the most recently used
    question.askers += 1;
    const answer = question.answer as Promise<T>;
    if (!signal) return answer; // a caller without a signal waits to the end
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        question.askers -= 1;
        if (question.askers === 0 && !question.settled) {
          if (this.questions.get(name) === question) this.questions.delete(name);
          question.controller.abort();
        }
        reject(aborted());
      };
      signal.addEventListener("abort", leave, { once: true });
      answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
    });
  }

  private open<T>(name: string, fetchIt: Fetch<T>): Question {
    const controller = new AbortController();
    const answer = fetchIt(controller.signal).then(
      ({ value, bytes }) => {
        question.settled = true;
        if (this.questions.get(name) === question) {
          question.bytes = bytes;
          this.bytes += bytes;
          this.shrink();
        }
        return value;
      },
      (error: unknown) => {
        question.settled = true;
        if (this.questions.get(name) === question) this.questions.delete(name);
        throw error;
      },
    );
    answer.catch(() => {}); // callers that still wait get the error
    const question: Question = { answer, controller, bytes: 0, askers: 0, settled: false };
    return question;
  }

  private shrink(): void {
    for (const [name, question] of this.questions) {
      if (this.bytes <= this.limit) return;
      if (!question.settled) continue;
      this.questions.delete(name);
      this.bytes -= question.bytes;
    }
  }
}

export function aborted(): DOMException {
  return new DOMException("No longer wanted.", "AbortError");
}

type Parameters = Readonly<Record<string, string | number | undefined>>;

/** A query string of what is not undefined. */
function withParameters(path: string, parameters: Parameters): string {
  const parts = Object.entries(parameters)
    .filter((pair): pair is [string, string | number] => pair[1] !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%3A", ":")}`);
  return parts.length > 0 ? `${path}?${parts.join("&")}` : path;
}

function span(range: Range | undefined): string | undefined {
  return range ? `${range[0]}:${range[1]}` : undefined;
}

/** `runs`: whether the host answers for training runs, too. */
export function createHttpSource(
  connection: Connection,
  { runs = false, memory = new Memory() }: { readonly runs?: boolean; readonly memory?: Memory } = {},
): Source {
  const json: Json = (path, signal) =>
    memory.ask(path, (stop) => connection.sizedJson(path, { signal: stop }), signal);
  const raw: Raw = (path, decode, signal) =>
    memory.ask(path, (stop) => connection.sized(path, stop, decode), signal);
  const source: Source = {
    // Lists grow while the page is open: never remembered.
    recordings: (signal) => connection.json("recordings", withSignal(signal)),
    findRecordings: (search, count, signal) =>
      connection.list(withParameters("recordings", { search, count }), withSignal(signal)),
    open: async (id, signal) =>
      recordingSource(
        await json<Description>(`recordings/${encodeURIComponent(id)}`, signal),
        json,
        raw,
        (path, stop) => connection.json(path, withSignal(stop)),
      ),
    metrics: (signal) => json("metrics", signal),
    messages: async (language, signal) =>
      (await json<{ readonly entries: Catalogue }>(`messages/${language}`, signal)).entries,
    ...(runs ? { runs: runList(connection) } : {}),
    atlases: atlasList(connection, (id, signal) => source.open(id, signal)),
    playground: {
      topics: (signal) => json("playground", signal),
      ask: (topic, settings, signal, anew) => {
        const path = withParameters(`playground/${encodeURIComponent(topic)}`, settings);
        return anew ? connection.json(path, withSignal(signal)) : json(path, signal);
      },
    },
  };
  return source;
}

/** The code that opens an atlas is fetched with the first one. */
function atlasList(connection: Connection, open: Source["open"]): AtlasList {
  const atlases: AtlasList = {
    list: (signal) => connection.json("atlases", withSignal(signal)),
    open: async (id, signal) => (await import("./atlases")).openAtlas(connection, open, id, signal),
  };
  return atlases;
}

/** The code that follows a run is fetched with the first one. */
function runList(connection: Connection): RunList {
  return {
    list: (signal, limit) => connection.json(withParameters("runs", { limit }), withSignal(signal)),
    open: async (id, signal) => (await import("./runs")).openRun(connection, id, signal),
    searches: (signal) => connection.json("searches", withSignal(signal)),
    search: (id, signal) => connection.json(`searches/${encodeURIComponent(id)}`, withSignal(signal)),
  };
}

type Json = <T>(path: string, signal?: AbortSignal) => Promise<T>;
type Raw = <T>(path: string, decode: (bytes: ArrayBuffer) => T, signal?: AbortSignal) => Promise<T>;

/** One recording; `scope` ends all its requests. */
function recordingSource(
  description: Description,
  askJson: Json,
  askRaw: Raw,
  askAgain: Json, // for what changes: never remembered
  scope?: AbortSignal,
): RecordingSource {
  const both = (signal?: AbortSignal): AbortSignal | undefined =>
    signal && scope ? AbortSignal.any([signal, scope]) : (signal ?? scope);
  const json: Json = (path, signal) => askJson(path, both(signal));
  const frame = (path: string, signal?: AbortSignal): Promise<Frame> =>
    askRaw(path, decodeFrame, both(signal));
  const here = `recordings/${encodeURIComponent(description.id)}`;
  const ofMap = (place: Place, what: string, parameters: Parameters = {}): string =>
    withParameters(`${here}/maps/${encodeURIComponent(writePlace(place))}/${what}`, parameters);
  const ofStack = (stack: string, what: string | number, parameters: Parameters): string =>
    withParameters(`${here}/hidden/${encodeURIComponent(stack)}/${what}`, parameters);
  return {
    description,
    within: (signal) => recordingSource(description, askJson, askRaw, askAgain, both(signal)),
    tokens: (side, range, signal) =>
      json(withParameters(`${here}/tokens/${side}`, { start: range?.[0], stop: range?.[1] }), signal),
    media: (what, side, signal) =>
      askRaw(withParameters(`${here}/${what}`, { side }), (bytes) => bytes, both(signal)),
    branches: () => askAgain(`${here}/branches`, scope),
    thumbnails: (how, signal) => frame(withParameters(`${here}/thumbnails`, { how }), signal),
    weights: (map, { head, queries, keys }, as, signal) =>
      frame(
        ofMap(map, "weights", {
          head: head === "all" ? undefined : head,
          queries: span(queries),
          keys: span(keys),
          as,
        }),
        signal,
      ),
    scores: (map, { head, queries, keys }, signal) =>
      frame(ofMap(map, "scores", { head, queries: span(queries), keys: span(keys), as: "float32" }), signal),
    average: (stack, kind, signal) =>
      frame(withParameters(`${here}/average`, { how: "model", stack, kind }), signal),
    tile: (map, head, level, row, column, how, as, signal) =>
      frame(ofMap(map, `tiles/${head}/${level}/${row}/${column}`, { how, as }), signal),
    statistics: (map, signal) => frame(ofMap(map, "statistics"), signal),
    vectors: (map, what, head, signal) => frame(ofMap(map, `vectors/${what}`, { head }), signal),
    hidden: (stack, layer, tokens, as, signal) =>
      frame(ofStack(stack, layer, { tokens: span(tokens), as }), signal),
    activations: (stack, by, neuron, signal) => frame(ofStack(stack, "activations", { by, neuron }), signal),
    distribution: (of, { map, ...where }, signal) =>
      json(withParameters(`${here}/distribution`, { of, ...where, place: map && writePlace(map) }), signal),
    score: (metric, over, parameters, signal) =>
      json(withParameters(`${here}/scores/${encodeURIComponent(metric)}`, { over, ...parameters }), signal),
    walk: (signal) => json(`${here}/walk`, signal),
    trace: (name, { rows, columns, head } = {}, signal) =>
      frame(
        withParameters(`${here}/trace/${name.split("/").map(encodeURIComponent).join("/")}`, {
          rows: span(rows),
          columns: span(columns),
          head,
        }),
        signal,
      ),
    cell: (step, { row, column, head }, signal) =>
      json(withParameters(`${here}/cell/${encodeURIComponent(step)}`, { row, column, head }), signal),
  };
}

export function withSignal(signal: AbortSignal | undefined): RequestInit {
  return signal ? { signal } : {};
}
