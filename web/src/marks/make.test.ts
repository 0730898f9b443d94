import { expect, test } from "vitest";
import { make, relabel } from "./make";

test("texts given as functions follow the language, all others stay", () => {
  let language = "en";
  const say = (): string => (language === "en" ? "key" : "键");
  let clicks = 0;
  const button = make("button", { "aria-label": say, title: "same", onclick: () => clicks++ }, say, " 3");
  const root = make("div", {}, make("p", {}, button), "fixed");
  expect(root.textContent).toBe("key 3fixed");
  language = "zh";
  relabel(root);
  expect(root.textContent).toBe("键 3fixed");
  expect(button.getAttribute("aria-label")).toBe("键");
  expect(button.title).toBe("same");
  button.click();
  expect(clicks).toBe(1);
});
