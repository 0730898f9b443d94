import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, expect, test, vi } from "vitest";
import type { ModelDescription } from "../../api/types";
import { makeApp } from "../../testing/app";
import { emptyForm } from "../form";
import { MediaFields } from "./parts";

afterEach(() => vi.unstubAllGlobals());

const pause = () => act(() => new Promise((done) => setTimeout(done)));

/** The fields of a model that listens, with a sound that is being played. */
async function play(answer: () => Promise<unknown>) {
  const closed = vi.fn();
  const decode = vi.fn(answer);
  const nodes: { onended?: () => void }[] = [];
  class Context {
    decodeAudioData = decode;
    close = async () => closed();
  }
  class Node {
    onended?: () => void;
    constructor() {
      nodes.push(this);
    }
    connect(): void {}
    start(): void {
      if (closed.mock.calls.length > 0) throw new Error("closed");
    }
  }
  vi.stubGlobal("AudioContext", Context);
  vi.stubGlobal("AudioBufferSourceNode", Node);
  const { app, root, draw } = makeApp({});
  const said = vi.spyOn(app, "say");
  const model = { reads: "sound", sample_rate: 8000, max_seconds: 2 } as ModelDescription;
  const form = { ...emptyForm, file: new File(["x"], "x.wav") };
  await act(() => draw(<MediaFields form={form} model={model} />));
  await act(() => root.querySelector<HTMLElement>("[data-action=play-media]")!.click());
  await vi.waitFor(() => expect(decode).toHaveBeenCalled());
  return { closed, nodes, root, said };
}

test("the loudspeaker is given back when a sound is over", async () => {
  const { closed, nodes } = await play(async () => ({}));
  await vi.waitFor(() => expect(nodes).toHaveLength(1));
  expect(closed).not.toHaveBeenCalled();
  nodes[0]!.onended!();
  expect(closed).toHaveBeenCalledTimes(1);
});

test("so it is where the browser cannot play the sound, which is said", async () => {
  const { closed, said } = await play(() => Promise.reject(new Error("what is this?")));
  await vi.waitFor(() => expect(said).toHaveBeenCalledTimes(1));
  expect(closed).toHaveBeenCalledTimes(1);
});

test("nothing is said of a sound that is decoded after the panel has gone", async () => {
  let decoded = (): void => {};
  const coming = new Promise<object>((done) => {
    decoded = () => done({});
  });
  const { nodes, root, said } = await play(() => coming);
  await act(() => render(null, root));
  decoded();
  await pause();
  expect(nodes).toEqual([]);
  expect(said).not.toHaveBeenCalled();
});

test("another picture clears the pad; its own drawing does not", async () => {
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
  vi.spyOn(HTMLCanvasElement.prototype, "toBlob").mockImplementation((done) =>
    done(new Blob(["x"], { type: "image/png" })),
  );
  const { app, root, draw } = makeApp({});
  const glance = vi.spyOn(app.runs, "glance").mockResolvedValue();
  const model = { reads: "picture", drawing: null } as ModelDescription;
  const undo = () => root.querySelector<HTMLButtonElement>("[data-action=undo-stroke]")!;
  await act(() => draw(<MediaFields form={emptyForm} model={model} />));
  await act(() => root.querySelector<HTMLElement>("[data-action=draw-example]")!.click());
  await vi.waitFor(() => expect(glance).toHaveBeenCalledTimes(1));
  const [drawn] = glance.mock.lastCall!;
  await act(() => draw(<MediaFields form={{ ...emptyForm, file: drawn }} model={model} />));
  expect(undo().disabled).toBe(false);
  const chosen = new File(["y"], "y.png");
  await act(() => draw(<MediaFields form={{ ...emptyForm, file: chosen }} model={model} />));
  expect(undo().disabled).toBe(true);
  vi.restoreAllMocks();
});
