import { describe, expect, it } from "vitest";

import { sequential } from "./colours";
import { Legend, sketchLegend, ticksOf } from "./legend";

describe("the ticks of a square-root scale", () => {
  it("stand where their weights are, not too near each other, from 0 to the top", () => {
    for (const top of [1, 0.37, 0.0039, 2e-6]) {
      const ticks = ticksOf(top);
      expect(ticks[0]).toEqual({ value: 0, at: 0 });
      expect(ticks.at(-1)).toEqual({ value: top, at: 1 });
      expect(ticks.length).toBeGreaterThan(2);
      for (const [place, { value, at }] of ticks.entries()) {
        expect(at).toBeCloseTo(Math.sqrt(value / top), 9);
        if (place > 0) expect(at - ticks[place - 1]!.at).toBeGreaterThan(0.13);
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
    const text = `<svg xmlns="http://www.w3.org/2000/svg">${sketchLegend(look, { soft: "#888", line: "#ccc", ground: "#fff" })}</svg>`;
    expect(text).not.toContain("<b>");
    expect(
      new DOMParser().parseFromString(text, "image/svg+xml").querySelectorAll("rect").length,
    ).toBeGreaterThan(60);
  });
});
