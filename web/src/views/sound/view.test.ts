import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Spoken } from "../../api/types";
import { outlineWave } from "../../core/maths/wave";
import { cellAt, divideTime } from "../../core/media";
import type { RecordingSource } from "../../core/source";
import { invent, setStage, settle, shown, weightOf } from "../../testing/recording";
import { align, countInside } from "./alignment";
import { ticksOf } from "./chart";
import { view } from "./view";

const SOUND = {
  rate: 8,
  seconds: 2,
  spans: [
    [0, 0.5],
    [0.5, 1],
    [1, 1.5],
    [1.5, 2],
  ] as [number, number][],
  words: [
    { text: "One", start: 0, end: 0.9 },
    { text: "two", start: 1, end: 1.9 },
  ],
};

/** Four frames of a sound of two seconds, and two words that are heard. */
function sounding(): RecordingSource {
  const { source } = invent({
    source: ["0.25", "0.75", "1.25", "1.75"],
    target: ["<s>", " one", " two"],
    heads: 2,
  });
  const side = { ...source.description.source, sound: SOUND };
  const wav = new DataView(new ArrayBuffer(44 + 32));
  for (let at = 0; at < 16; at++) wav.setInt16(44 + 2 * at, 1000 * (at % 2 ? -1 : 1), true);
  const made: RecordingSource = {
    ...source,
    description: { ...source.description, source: side },
    media: async () => wav.buffer,
    within: () => made,
  };
  return made;
}

const LONG = 60_000; // milliseconds; ends only what hangs
const started: number[] = [];
let node: { onended?: () => void; stop(): void } | null = null;

class FakeAudio {
  state = "running";
  currentTime = 0;
  destination = {};
  resume = async () => {};
  close = async () => {};
  createBuffer = () => ({ copyToChannel: () => {} });
  createBufferSource() {
    node = {
      connect: () => {},
      start: (_: number, from: number) => started.push(from),
      stop: () => {},
    } as never;
    return node;
  }
}

beforeEach(() => {
  started.length = 0;
  vi.stubGlobal("AudioContext", FakeAudio);
});
afterEach(() => void vi.unstubAllGlobals());

async function open(change: Parameters<typeof setStage>[1] = {}) {
  const staged = setStage(sounding(), { map: 2, head: 1, ...change }); // cross-attention
  const mounted = view.mount(staged.stage);
  staged.selection.subscribe((now, before) => mounted.update(now, before));
  await settle();
  const chart = staged.element.querySelector<HTMLElement>(".sound-chart")!;
  const text = (name: string) => staged.element.querySelector(name)!.textContent ?? "";
  const press = async (key: string) => {
    chart.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await settle();
  };
  return { ...staged, mounted, chart, text, press };
}

test("a recording of a text says why there is no sound", () => {
  expect(view.fits(shown(sounding()))).toBe(true);
  expect((view.fits(shown(invent().source)) as Spoken)("en")).toContain("not made from a sound");
});

test("the table has the exact number of every frame, with its seconds", async () => {
  const { mounted, failures } = await open({ query: 1 });
  const { columns, rows } = await mounted.table();
  expect(columns).toEqual(["position", "token", "from (s)", "to (s)", "weight"]);
  expect(rows[2]).toEqual([2, "1.25", 1, 1.5, Math.fround(weightOf(0, 1, 1, 2, 4))]);
  const picture = await mounted.picture();
  expect(picture).toContain(`data-frame="2" data-value="${Math.fround(weightOf(0, 1, 1, 2, 4))}"`);
  expect(failures).toEqual([]);
  mounted.unmount();
});

test("a map of words alone has no sound to save", async () => {
  const { mounted, text, selection } = await open();
  selection.set({ place: { stack: "decoder", kind: "self", layer: 0, step: null } });
  await settle();
  expect(text(".sound-note")).toContain("Neither side");
  await expect(mounted.picture()).rejects.toMatchObject({ code: "no_sound" });
  mounted.unmount();
});

test("keys move through time, choose words and play; the end of the sound is heard of", async () => {
  const { mounted, text, press, selection } = await open();
  await press("ArrowRight");
  expect(text(".sound-clock")).toBe("0.25 of 2.00 s");
  expect(text(".sound-readout")).toMatch(/^0\.25 s: 0\.\d+\./);
  await press("ArrowDown");
  expect(selection.get().query).toBe(0);
  await press("ArrowDown");
  expect(selection.get().query).toBe(1);
  await press(" ");
  expect(started).toEqual([0.25]);
  expect(text(".drawn-bar .button")).toBe("Pause");
  node!.onended!();
  await settle();
  expect(text(".drawn-bar .button")).toBe("Play");
  expect(text(".sound-clock")).toBe("2.00 of 2.00 s");
  mounted.togglePlay!();
  expect(started).toEqual([0.25, 0]); // again from the beginning
  mounted.unmount();
});

test("words light up at the moments to which they listen with half of their largest weight", async () => {
  const { mounted, element, press } = await open();
  const lit = () => [...element.querySelectorAll("[data-lit]")].map(({ textContent }) => textContent);
  expect(lit()).toEqual([]);
  await press("ArrowRight"); // weights of this frame, of the largest: 6 of 13, 9 of 10, 12 of 13
  expect(lit()).toEqual(["two", "</s>"]);
  await press("ArrowRight"); // 13 of 13, 3 of 10, 6 of 13
  expect(lit()).toEqual(["one"]);
  mounted.unmount();
});

test("boundaries belong to words that are written: a row of the word that entered serves the next one", async () => {
  const { mounted, text, selection } = await open();
  const boxes = async () =>
    (await mounted.picture()).match(/fill="none" stroke="[^"]+" stroke-width="1.5"/g) ?? [];
  expect(text(".sound-readout")).toMatch(/of 2 words listen most to a moment inside their true boundaries/);
  expect(await boxes()).toHaveLength(2);
  selection.option("map.reading", "entered");
  await settle();
  expect(text(".sound-words")).toContain("<s>onetwo");
  expect(text(".sound-readout")).not.toContain("boundaries");
  expect(await boxes()).toHaveLength(0);
  mounted.unmount();
});

test("a sound that the browser cannot play is refused with a sentence", async () => {
  class Refusing extends FakeAudio {
    override createBuffer = (): never => {
      throw new DOMException("sample rate 8 is outside the range [3000, 768000]", "NotSupportedError");
    };
  }
  vi.stubGlobal("AudioContext", Refusing);
  const { mounted, text, press, stage, failures } = await open();
  const announced: string[] = [];
  stage.announce = (said) => void announced.push(said);
  expect(() => mounted.togglePlay!()).not.toThrow();
  await settle();
  const sentence = "This browser cannot play this sound (8 samples per second).";
  expect(text(".sound-readout")).toContain(sentence);
  expect(announced).toEqual([sentence]);
  expect(text(".drawn-bar .button")).toBe("Play");
  await press("ArrowRight"); // the view goes on
  expect(text(".sound-clock")).toBe("0.25 of 2.00 s");
  expect(started).toEqual([]);
  expect(failures).toEqual([]);
  mounted.unmount();
});

test("where there is no loudspeaker time runs all the same, and a sentence says so", {
  timeout: 2 * LONG,
}, async () => {
  let context: Waiting | undefined;
  class Waiting extends FakeAudio {
    override state = "suspended"; // for ever
    onstatechange?: () => void;
    constructor() {
      super();
      context = this;
    }
  }
  vi.stubGlobal("AudioContext", Waiting);
  const { mounted, text, stage, press } = await open();
  const announced: string[] = [];
  stage.announce = (said) => void announced.push(said);
  mounted.togglePlay!();
  const sentence = "No loudspeaker can be used here: the cursor runs without sound.";
  await vi.waitFor(() => expect(text(".sound-readout")).toContain(sentence), LONG);
  expect(announced).toEqual([sentence]);
  await vi.waitFor(() => expect(text(".sound-clock")).toBe("2.00 of 2.00 s"), LONG); // after two seconds
  expect(text(".drawn-bar .button")).toBe("Play");
  expect(started).toEqual([0]); // it was to be heard
  context!.state = "running"; // a loudspeaker was connected
  context!.onstatechange!();
  await press("ArrowRight");
  expect(text(".sound-readout")).not.toContain(sentence);
  mounted.unmount();
});

test("frames that overlap share the time; words find the moments they are spoken", () => {
  const spans = [
    [0, 0.4],
    [0.2, 0.6],
    [-1, -1],
    [0.4, 0.8],
  ] as const;
  const cells = divideTime({ side: "source", sound: { ...SOUND, seconds: 1 }, spans });
  expect(cells.map(({ row, from, to }) => [row, from, to].map((each) => Number(each.toFixed(3))))).toEqual([
    [0, 0, 0.3],
    [1, 0.3, 0.5],
    [3, 0.5, 0.8],
  ]);
  expect(cellAt(cells, 0.45)?.row).toBe(1);
  expect(cellAt(cells, 0.9)).toBeNull();
  const words = ["␣one", "␣three", "␣two"].map((text, row) => ({ row, text, special: false }));
  const frames = divideTime({ side: "source", sound: SOUND, spans: SOUND.spans });
  const heard = align(
    words,
    frames,
    (row, key) => (row === 2 ? Number(key === 0) : Number(key === 1)),
    SOUND.words,
  );
  expect(heard.map(({ spoken }) => spoken)).toEqual([0, null, 1]);
  expect(countInside(heard, SOUND)).toEqual([1, 2]);
  const inside = (middle: number) => {
    const peak = { row: 0, from: middle - 0.01, to: middle + 0.01 };
    return countInside([{ ...heard[0]!, peak }], SOUND)[0];
  };
  expect([0.5, 0.97, 0.99].map(inside)).toEqual([1, 1, 0]); // it ends at 0.9; 80 ms beside it count
});

test("the outline of a wave, and round seconds", () => {
  expect(outlineWave(Int16Array.of(100, -50, 0, 25), 2)).toEqual([
    [0, -0.5, 1],
    [1, 0, 0.25],
  ]);
  expect(ticksOf(2, 5)).toEqual([0, 0.5, 1, 1.5, 2]);
});
