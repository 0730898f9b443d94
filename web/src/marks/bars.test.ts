import { expect, test } from "vitest";
import { Bars, percent, writeBars } from "./bars";

const bars = [
  { text: "cat", share: 0.75, chosen: true },
  { text: "<b>", share: 0.125, chosen: false },
];

test("a bar is as long as its chance", () => {
  const list = new Bars("Words");
  list.show(bars);
  const fills = [...list.element.querySelectorAll<HTMLElement>(".bars-fill")];
  expect(fills.map((fill) => fill.style.width)).toEqual(["75%", "12.5%"]);
  expect(list.element.querySelector("[data-chosen]")?.textContent).toBe("cat75.0 %");
  expect(list.element.querySelector("b")).toBeNull();
  list.show([]);
  expect(list.element.children).toHaveLength(0);
});

test("as SVG, lengths keep their proportion and text is escaped", () => {
  const { body, height } = writeBars(bars, 480, "light");
  const widths = [...body.matchAll(/width="([\d.]+)" height="12" fill="[^"]+" data-share/g)].map((match) =>
    Number(match[1]),
  );
  expect(widths[0]! / widths[1]!).toBeCloseTo(6, 6);
  expect(body).toContain("&lt;b&gt;");
  expect(height).toBe(40);
});

test("small chances are not rounded to nothing", () => {
  expect([percent(0), percent(1e-7), percent(0.0123), percent(0.5)]).toEqual([
    "0 %",
    "< 0.01 %",
    "1.23 %",
    "50.0 %",
  ]);
});
