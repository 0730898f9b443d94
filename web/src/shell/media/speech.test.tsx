import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, expect, test, vi } from "vitest";
import type { ModelDescription } from "../../api/types";
import { makeApp } from "../../testing/app";
import { Speech } from "./speech";

afterEach(() => vi.unstubAllGlobals());

/** A microphone that is given when `allow` is called. */
async function prepare() {
  const track = { stop: vi.fn() };
  let allow = (): void => {};
  const given = new Promise((done) => {
    allow = () => done({ getTracks: () => [track] });
  });
  vi.stubGlobal("navigator", { mediaDevices: { getUserMedia: () => given } });
  const { root, draw } = makeApp({});
  await act(() => draw(<Speech model={{ sample_rate: 8000, max_seconds: 2 } as ModelDescription} />));
  root.querySelector<HTMLElement>('[data-action="speak"]')!.click();
  return { track, root, allow };
}

test("a microphone that is allowed after the panel has gone is given back", async () => {
  class Recorder extends EventTarget {
    state = "recording";
    start(): void {}
    stop(): void {
      this.state = "inactive";
    }
  }
  class Context {
    createAnalyser = () => ({});
    createMediaStreamSource = () => ({ connect: () => {} });
    close = async () => {};
  }
  vi.stubGlobal("MediaRecorder", Recorder);
  vi.stubGlobal("AudioContext", Context);
  const { track, root, allow } = await prepare();
  await act(() => render(null, root));
  allow();
  await vi.waitFor(() => expect(track.stop).toHaveBeenCalled());
});

test("a microphone that the browser cannot record is given back", async () => {
  class Recorder {
    constructor() {
      throw new Error("no codec");
    }
  }
  vi.stubGlobal("MediaRecorder", Recorder);
  vi.stubGlobal("AudioContext", class {});
  const { track, root, allow } = await prepare();
  const said = root.querySelector('[data-part="microphone"]')!;
  await act(async () => allow());
  await vi.waitFor(() => expect(said.textContent).toContain("no codec"));
  expect(track.stop).toHaveBeenCalled();
});
