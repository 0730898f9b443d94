import { expect, test } from "vitest";
import { byteTable } from "../api/frames";
import type { Block } from "../core/weight_bytes";
import { fan, fillBoxes, firstByte, gather, strokeLines, writeLines } from "./arcs";

const values = byteTable("sqrt", 1);

function block(bytes: number[], heads: number, start: number, stop: number, keys: number): Block {
  return {
    start,
    stop,
    heads,
    keys,
    bytes: Uint8Array.from(bytes),
    values,
    weightOf: new Float32Array(heads * 256),
  };
}

// 2 heads, 2 queries, 3 keys
const one = block([0, 100, 255, 10, 0, 50, 5, 200, 0, 255, 1, 2], 2, 0, 2, 3);

test("lines come weakest first, and zeros are no lines", () => {
  const lines = gather([one], { heads: [0, 1], threshold: 0, queries: [0, 2], most: 100 });
  expect(lines.count).toBe(9);
  const weights = [...lines.weight];
  expect(weights).toEqual([...weights].sort((a, b) => a - b));
  expect([lines.query[8], lines.weight[8]]).toEqual([1, 1]);
});

test("a threshold, heads and rows choose lines", () => {
  const lines = gather([one], { heads: [1], threshold: 0.5, queries: [0, 1], most: 100 });
  expect(lines.count).toBe(1);
  expect([lines.query[0], lines.key[0], lines.head[0]]).toEqual([0, 1, 1]);
  expect(lines.weight[0]).toBeCloseTo((200 / 255) ** 2, 6);
  expect(gather([one], { heads: [], threshold: 0, queries: [0, 2], most: 100 }).count).toBe(0);
});

test("too many lines: the strongest stay, and what is left out is told", () => {
  const lines = gather([one], { heads: [0, 1], threshold: 0, queries: [0, 2], most: 3 });
  expect(lines.count).toBe(3);
  expect(Math.min(...lines.weight)).toBeCloseTo((200 / 255) ** 2, 6);
  const left = [100, 10, 50, 5, 1, 2].reduce((sum, byte) => sum + (byte / 255) ** 2, 0);
  expect(lines.left_out).toBeCloseTo(left, 4);
});

test("blocks of later rows count their queries on", () => {
  const later = block([0, 9, 0], 1, 7, 8, 3);
  const lines = gather([later], { heads: [0], threshold: 0, queries: [0, 10], most: 9 });
  expect([lines.count, lines.query[0], lines.key[0]]).toEqual([1, 7, 1]);
});

test("a fan is the lines of one token", () => {
  const weights = Float32Array.of(0.1, 0, 0.6, 0.3, 0.7, 0.01); // (head, key)
  const out = fan(weights, { query: 4 }, { heads: [0, 1], threshold: 0.05 }, 3);
  expect([...out.key]).toEqual([0, 0, 2, 1]);
  expect(new Set(out.query)).toEqual(new Set([4]));
  const back = fan(weights, { key: 2 }, { heads: [1], threshold: 0 }, 3);
  expect([...back.query]).toEqual([2, 0, 1]);
});

test("the first byte that reaches a threshold", () => {
  expect(firstByte(values, 0)).toBe(1);
  expect(firstByte(values, 0.25)).toBe(128);
  expect(firstByte(values, 2)).toBe(256);
});

const lane = { left: 10, right: 110, top: 5, row: 20 };
const brush = { colours: ["red", "blue"], width: 1.5, full: 1 };

/** A canvas that writes down what it is told. */
function spy() {
  const calls: { alpha: number; style: string; lines: number }[] = [];
  let lines = 0;
  const context = {
    globalAlpha: 1,
    strokeStyle: "",
    fillStyle: "",
    lineWidth: 1,
    beginPath: () => {
      lines = 0;
    },
    moveTo: () => {},
    bezierCurveTo: () => {
      lines += 1;
    },
    stroke: () => {
      calls.push({ alpha: context.globalAlpha, style: context.strokeStyle, lines });
    },
    fillRect: (x: number, y: number, wide: number, tall: number) => {
      calls.push({
        alpha: context.globalAlpha,
        style: `${context.fillStyle} ${x} ${y} ${wide} ${tall}`,
        lines: 0,
      });
    },
  };
  return { context: context as unknown as CanvasRenderingContext2D, calls };
}

test("a line on the canvas is as opaque as its weight", () => {
  const { context, calls } = spy();
  const lines = fan(
    Float32Array.of(0.1, 0, 0.6, 0.3, 0.7, 0.01),
    { query: 0 },
    { heads: [0, 1], threshold: 0.05 },
    3,
  );
  strokeLines(context, lines, lane, brush);
  expect(calls.map((call) => call.lines)).toEqual([1, 1, 1, 1]);
  expect(calls.map((call) => call.style)).toEqual(["red", "blue", "red", "blue"]);
  calls.forEach((call, at) => {
    expect(call.alpha).toBeCloseTo([0.1, 0.3, 0.6, 0.7][at]!, 5);
  });
});

test("many lines share strokes and none is lost", () => {
  const bytes = Array.from({ length: 2 * 40 * 40 }, (_, at) => 1 + (at % 255));
  const many = gather([block(bytes, 2, 0, 40, 40)], {
    heads: [0, 1],
    threshold: 0,
    queries: [0, 40],
    most: 1e6,
  });
  const { context, calls } = spy();
  strokeLines(context, many, lane, brush);
  expect(calls.reduce((sum, call) => sum + call.lines, 0)).toBe(3200);
  expect(calls.length).toBeLessThan(600);
});

test("lines as SVG name what they are", () => {
  const lines = fan(Float32Array.of(0.5), { query: 1 }, { heads: [0], threshold: 0 }, 1);
  expect(writeLines(lines, lane, brush)).toContain(
    'd="M10 25C52 25 68 5 110 5" stroke="red" stroke-opacity="0.5" data-query="1" data-key="0" data-head="0"',
  );
});

test("boxes stand beside their rows, as dark as the weight", () => {
  const { context, calls } = spy();
  const place = { x: 100, box: 8, lane, rows: [0, 3] as const, count: 3 };
  fillBoxes(context, Float32Array.of(0.2, 0, 0.4, 0, 0.9, 0), place, {
    heads: [0, 1],
    colours: ["red", "blue"],
    full: 1,
  });
  expect(calls.map((call) => call.style)).toEqual(["red 100 -3 7 16", "red 100 37 7 16", "blue 108 17 7 16"]);
  expect(calls[2]!.alpha).toBeCloseTo(0.9, 5);
});
