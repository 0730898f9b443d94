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
  const { app, root, draw } = makeApp({});
  await act(() => draw(<Speech model={{ sample_rate: 8000, max_seconds: 2 } as ModelDescription} />));
  root.querySelector<HTMLElement>('[data-action="speak"]')!.click();
  return { app, track, root, allow };
}

class Recorder extends EventTarget {
  state = "recording";
  start(): void {}
  stop(): void {
    this.state = "inactive";
    this.dispatchEvent(new Event("stop"));
  }
}

class Context {
  createAnalyser = () => ({ getFloatTimeDomainData() {} });
  createMediaStreamSource = () => ({ connect: () => {} });
  close = async () => {};
}

test("a microphone that is allowed after the panel has gone is given back", async () => {
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

test("the button that starts is the one that stops, in focus still; what is heard after the panel has gone is left", async () => {
  vi.stubGlobal("MediaRecorder", Recorder);
  vi.stubGlobal("AudioContext", Context);
  let decode = (): void => {};
  const decoding = vi.fn(
    () =>
      new Promise((done) => {
        decode = () => done({ length: 0, numberOfChannels: 0 });
      }),
  );
  class Decoder {
    decodeAudioData = decoding;
  }
  vi.stubGlobal("OfflineAudioContext", Decoder);
  const { app, root, allow } = await prepare();
  const glance = vi.spyOn(app.runs, "glance").mockResolvedValue();
  const button = root.querySelector<HTMLElement>('[data-action="speak"]')!;
  button.focus();
  await act(async () => allow());
  const stop = await vi.waitFor(() => {
    const found = root.querySelector<HTMLElement>('[data-action="stop-speaking"]');
    if (!found) throw new Error("not yet");
    return found;
  });
  expect(document.activeElement).toBe(stop);
  await act(() => stop.click());
  await vi.waitFor(() => expect(decoding).toHaveBeenCalled());
  await act(() => render(null, root)); // another model is chosen
  decode();
  await act(() => new Promise((done) => setTimeout(done)));
  expect(glance).not.toHaveBeenCalled();
});
