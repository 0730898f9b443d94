/**
 * The source behind a server: the API of docs, asked with fetch.
 *
 * In:   questions of views and panels.
 * Out:  JSON and frames. A question asked twice is fetched once; answers are remembered up to a number of bytes.
 *       Whatever goes wrong arrives as a Refusal: one sentence for a person.
 */

import { decodeFrame, type Frame } from "../api/frames";
import type { Description } from "../api/types";
import { type Place, samePlace } from "../core/place";
import { type Range, type RecordingSource, Refusal, type Source } from "../core/source";

const REMEMBERED_BYTES = 96 * 2 ** 20;

export interface HttpOptions {
  /** Where the API is, with a slash at the end. */
  readonly base: string;
  /** Told when the server stops or starts answering. */
  readonly connected?: (connected: boolean) => void;
  readonly fetch?: typeof fetch;
}

/** Asks the server, and turns every failure into a Refusal. */
export class Connection {
  readonly base: string;
  private readonly fetch: typeof fetch;
  private readonly connected: (connected: boolean) => void;

  constructor(options: HttpOptions) {
    this.base = options.base;
    this.fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.connected = options.connected ?? (() => {});
  }

  async ask(path: string, init: RequestInit = {}): Promise<Response> {
    let response: Response;
    try {
      response = await this.fetch(this.base + path, { credentials: "same-origin", ...init });
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      this.connected(false);
      throw new Refusal("The server does not answer.", "unreachable", 0);
    }
    this.connected(true);
    if (!response.ok) throw await refusal(response);
    return response;
  }

  async json<T>(path: string, init: RequestInit = {}): Promise<T> {
    return (await this.weigh<T>(path, init)).value;
  }

  /** JSON, and about how many bytes it takes. */
  async weigh<T>(
    path: string,
    init: RequestInit = {},
  ): Promise<{ readonly value: T; readonly bytes: number }> {
    const response = await this.ask(path, init);
    const text = await response.text();
    return { value: JSON.parse(text) as T, bytes: text.length };
  }

  send<T>(path: string, body: unknown): Promise<T> {
    return this.json<T>(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  async frame(path: string, signal: AbortSignal): Promise<{ readonly frame: Frame; readonly bytes: number }> {
    const response = await this.ask(path, { signal });
    const bytes = await response.arrayBuffer();
    return { frame: decodeFrame(bytes), bytes: bytes.byteLength };
  }
}

/** The server's own sentence where there is one; otherwise one of ours. */
async function refusal(response: Response): Promise<Refusal> {
  try {
    const body = (await response.json()) as {
      readonly error?: { readonly sentence?: unknown; readonly code?: unknown; readonly zh?: unknown };
    };
    const { sentence, code, zh } = body.error ?? {};
    if (typeof sentence === "string") {
      const known = typeof code === "string" ? code : "refused";
      return new Refusal(sentence, known, response.status, typeof zh === "string" ? zh : null);
    }
  } catch {
    // no JSON: the status has to do
  }
  const { status } = response;
  return new Refusal(`The server answered ${status}.`, "refused", status, `服务器的回答是 ${status}。`);
}

interface Question {
  readonly answer: Promise<unknown>;
  readonly controller: AbortController;
  bytes: number;
  askers: number; // those who still wait; the last one to leave stops the fetch
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

  ask<T>(
    name: string,
    fetchIt: (signal: AbortSignal) => Promise<{ readonly value: T; readonly bytes: number }>,
    signal?: AbortSignal,
  ): Promise<T> {
    if (signal?.aborted) return Promise.reject(aborted());
    let question = this.questions.get(name);
    if (question) {
      this.questions.delete(name); // to the end: most recently used
      this.questions.set(name, question);
    } else {
      question = this.open(name, fetchIt);
    }
    return this.wait(name, question, signal) as Promise<T>;
  }

  private open<T>(
    name: string,
    fetchIt: (signal: AbortSignal) => Promise<{ readonly value: T; readonly bytes: number }>,
  ): Question {
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
    answer.catch(() => {}); // whoever still waits hears of it
    const question: Question = { answer, controller, bytes: 0, askers: 0, settled: false };
    this.questions.set(name, question);
    return question;
  }

  private wait(name: string, question: Question, signal?: AbortSignal): Promise<unknown> {
    question.askers += 1;
    if (!signal) return question.answer; // an asker without a signal never leaves
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
      question.answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
    });
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

function aborted(): DOMException {
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

export function createHttpSource(connection: Connection, memory: Memory = new Memory()): Source {
  const json = <T>(path: string, signal?: AbortSignal): Promise<T> =>
    memory.ask(path, (stop) => connection.weigh<T>(path, { signal: stop }), signal);
  const frame = (path: string, signal?: AbortSignal): Promise<Frame> =>
    memory.ask(
      path,
      async (stop) => {
        const answer = await connection.frame(path, stop);
        return { value: answer.frame, bytes: answer.bytes };
      },
      signal,
    );

  const about = (description: Description): RecordingSource => {
    const here = `recordings/${encodeURIComponent(description.id)}`;
    const indexOf = (place: Place): number => description.maps.findIndex((each) => samePlace(each, place));
    return {
      description,
      tokens: (side, range) =>
        json(withParameters(`${here}/tokens/${side}`, { start: range?.[0], stop: range?.[1] })),
      thumbnails: (how) => frame(withParameters(`${here}/thumbnails`, { how })),
      weights: (map, where, as, signal) =>
        frame(
          withParameters(`${here}/maps/${indexOf(map)}/weights`, {
            head: where.head === "all" ? undefined : where.head,
            queries: span(where.queries),
            keys: span(where.keys),
            as,
          }),
          signal,
        ),
      scores: (map, where, signal) =>
        frame(
          withParameters(`${here}/maps/${indexOf(map)}/scores`, {
            head: where.head,
            queries: span(where.queries),
            keys: span(where.keys),
            as: "float32",
          }),
          signal,
        ),
      average: (stack, kind) => frame(withParameters(`${here}/average`, { how: "model", stack, kind })),
      tile: (map, head, level, row, column, how, as, signal) =>
        frame(
          withParameters(`${here}/maps/${indexOf(map)}/tiles/${head}/${level}/${row}/${column}`, { how, as }),
          signal,
        ),
      statistics: (map) => frame(`${here}/maps/${indexOf(map)}/statistics`),
      vectors: (map, what, head) =>
        frame(withParameters(`${here}/maps/${indexOf(map)}/vectors/${what}`, { head })),
      hidden: (stack, layer, tokens, as) =>
        frame(
          withParameters(`${here}/hidden/${encodeURIComponent(stack)}/${layer}`, {
            tokens: span(tokens),
            as,
          }),
        ),
      activations: (stack, by, neuron) =>
        frame(withParameters(`${here}/hidden/${encodeURIComponent(stack)}/activations`, { by, neuron })),
      distribution: (of, where, signal) =>
        json(
          withParameters(`${here}/distribution`, { of, ...where, map: where.map && indexOf(where.map) }),
          signal,
        ),
      flow: (stack) => frame(withParameters(`${here}/flow`, { stack })),
      score: (metric, over, parameters, signal) =>
        json(withParameters(`${here}/scores/${encodeURIComponent(metric)}`, { over, ...parameters }), signal),
      walk: () => json(`${here}/walk`),
      trace: (name, where = {}, signal) =>
        frame(
          withParameters(`${here}/trace/${name.split("/").map(encodeURIComponent).join("/")}`, {
            rows: span(where.rows),
            columns: span(where.columns),
            head: where.head,
          }),
          signal,
        ),
      cell: (step, where, signal) =>
        json(
          withParameters(`${here}/cell/${encodeURIComponent(step)}`, {
            row: where.row,
            column: where.column,
            head: where.head,
          }),
          signal,
        ),
    };
  };

  return {
    // The list grows while the page is open: never remembered.
    recordings: () => connection.json("recordings"),
    open: async (id) => about(await json<Description>(`recordings/${encodeURIComponent(id)}`)),
    metrics: () => json("metrics"),
    playground: {
      topics: () => json("playground"),
      ask: (topic, settings, signal, anew) => {
        const path = withParameters(`playground/${encodeURIComponent(topic)}`, settings);
        return anew ? connection.json(path, signal ? { signal } : {}) : json(path, signal);
      },
    },
  };
}
