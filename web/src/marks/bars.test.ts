import { expect, test } from "vitest";
import { Bars, writeBars } from "./bars";

const bars = [
  { text: "cat", share: 0.75, chosen: true },
  { text: "<b>", share: 0.125, chosen: false },
];

test("a bar is as long as its chance", () => {
  const list = new Bars("Words");
  list.show(bars);
  const fills = [...list.element.querySelectorAll<HTMLElement>(".bars-fill")];
  expect(fills.map((fill) => fill.style.width)).toEqual(["75%", "12.5%"]);
  expect(list.element.querySelector("[data-chosen]")?.textContent).toBe("cat75.0\u202f%");
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
