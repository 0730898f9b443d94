import { expect, test } from "vitest";
import { signInAddress } from "./account";
import { panels as english } from "./panel_words.en";
import { panels as chinese } from "./panel_words.zh";

test("whoever signs in comes back to what was shown", () => {
  expect(signInAddress("?recording=a&view=b")).toBe("sign-in?next=%2F%3Frecording%3Da%26view%3Db");
});

test("a job that waits says how many are before it", () => {
  expect(english.place(0, null)).toBe("next");
  expect(english.place(1, null)).toBe("1 job before it");
  expect(english.place(3, 89.6)).toBe("3 jobs before it, about 90 s");
  expect(chinese.place(3, 89.6)).toContain("3");
});
