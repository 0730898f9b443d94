import { expect, test } from "vitest";
import { encodeFrame } from "../api/frame_writer";
import { decodeFrame } from "../api/frames";
import type { CellArithmetic } from "../api/types";
import { noParameters } from "../testing/walk";
import { answerCell } from "./file_cells";

const HERE = "recordings/r";

test("a window of 2.5 hops that ends between two samples is rounded as the server does", async () => {
  const step = {
    id: "s",
    operation: "fourier",
    inputs: ["samples"],
    output: "out",
    axes: ["column", "frequency"],
    parameters: noParameters,
    numbers: { hop: 5, rate: 100 },
    words: {},
    shape: { inputs: [], output: [8, 17] },
    arithmetic: true,
  };
  const samples = { name: "values", dtype: "float32", shape: [40], scale: null, maximum: 1 } as const;
  const answers = {
    json: async <T>(path: string) =>
      (path === `${HERE}/walk` ? { chapters: [{ steps: [step] }] } : null) as T,
    frame: async () => decodeFrame(encodeFrame([{ ...samples, data: new Float32Array(40).fill(1) }], {})),
  };
  const bytes = await answerCell(HERE, "s", new URLSearchParams("row=2&column=0"), answers);
  const { numbers } = JSON.parse(new TextDecoder().decode(bytes!)) as CellArithmetic;
  expect([numbers.from_second, numbers.to_second]).toEqual([0.07, 0.19]); // 12 samples of 12.5
});
