import { expect, test } from "vitest";
import { makeApp } from "../testing/app";
import { Toolbar } from "./toolbar";
import { words } from "./words";

const { "./style.css": sheet = "" } = import.meta.glob<string>("./style.css", {
  eager: true,
  query: "?raw",
  import: "default",
});

/** The rules of a style sheet that hold in a window so wide. */
function rulesAt(width: number): string {
  const css = sheet.replace(/\/\*[\s\S]*?\*\//g, "");
  return css.replace(/@media \(min-width: (\d+)px\) \{((?:[^{}]|\{[^{}]*\})*)\}/g, (_, least, rules) =>
    width >= Number(least) ? rules : "",
  );
}

/** How the words beside symbols are displayed in a window so wide: the last rule holds. */
function displayAt(width: number): string | undefined {
  const found = rulesAt(width).matchAll(/\.button-word \{[^}]*display: (\w+)/g);
  return [...found].at(-1)?.[1];
}

test("every symbol of the toolbar has its word, which is seen from 1400 pixels on", () => {
  const { app, root, draw } = makeApp({});
  draw(<Toolbar table={() => {}} />);
  const say = words("en");
  const shown = [...root.querySelectorAll("button")].map((button) => button.textContent?.trim());
  expect(shown).toEqual([
    ...[say.zoomOut, say.zoomIn, say.fit, say.reset],
    ...["PNG", "SVG", say.table, say.copyLink],
  ]);
  for (const button of root.querySelectorAll("button.square"))
    expect(button.querySelector(".button-word")?.textContent).toBe(button.getAttribute("aria-label"));
  expect([1399, 1400, 2560].map(displayAt)).toEqual(["none", "inline", "inline"]);
  expect(app.mounted.peek()).toBeNull();
});
