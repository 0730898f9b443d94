import { describe, expect, it } from "vitest";

import { sequential } from "./colours";
import { Legend, spanOf, ticksOf, writeLegend } from "./legend";

describe("the ticks of a square-root scale", () => {
  it("stand where their weights are, from 0 to the top", () => {
    for (const top of [1, 0.37, 0.016, 0.0039, 2e-6]) {
      const ticks = ticksOf(top, false);
      expect(ticks[0]).toEqual({ value: 0, at: 0, text: "0" });
      expect(ticks.at(-1)).toMatchObject({ value: top, at: 1 });
      expect(ticks.length).toBeGreaterThan(2);
      for (const { value, at } of ticks) expect(at).toBeCloseTo(Math.sqrt(value / top), 9);
    }
  });

  it("have labels that never touch, whatever the top and however narrow the bar", () => {
    for (const percent of [false, true]) {
      for (const width of [120, 200, 240]) {
        for (let step = 0; step <= 600; step++) {
          const ticks = ticksOf(percent ? 1 : 10 ** (-step / 100), percent, width);
          const spans = ticks.map((tick) => spanOf(tick, width));
          expect(spans[0]![0]).toBe(0);
          expect(spans.at(-1)![1]).toBeCloseTo(width, 9);
          for (const [place, [start]] of spans.entries())
            if (place > 0) expect(start - spans[place - 1]![1]).toBeGreaterThanOrEqual(7.5);
        }
      }
    }
  });
});

describe("the legend", () => {
  const words = {
    note: "square-root scale",
    said: "from 0 to 1",
    keys: [{ text: "masked <b>", falling: false }],
  };

  it("shows ticks, words and hatched keys as text", () => {
    const legend = new Legend();
    legend.show(sequential("light"), 1, false, words);
    expect(legend.element.textContent).toContain("0.05");
    expect(legend.element.querySelector(".legend-keys")?.textContent).toBe("masked <b>");
    expect(legend.element.querySelector("[role=img]")?.getAttribute("aria-label")).toBe("from 0 to 1");
    legend.show(sequential("light"), 1, true, words);
    expect(legend.element.textContent).toContain("100 %");
  });

  it("is drawn as well-formed SVG", () => {
    const look = { table: sequential("dark"), top: 0.2, percent: false, words, width: 200 };
    const text = `<svg xmlns="http://www.w3.org/2000/svg">${writeLegend(look, { soft: "#888", line: "#ccc", ground: "#fff" })}</svg>`;
    expect(text).not.toContain("<b>");
    expect(
      new DOMParser().parseFromString(text, "image/svg+xml").querySelectorAll("rect").length,
    ).toBeGreaterThan(60);
  });
});
