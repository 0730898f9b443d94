import { expect, test } from "vitest";
import { signInAddress } from "./account";
import { addressBar } from "./address";
import { panels as english } from "./panel_words.en";
import { panels as chinese } from "./panel_words.zh";

test("whoever signs in comes back to what was shown", () => {
  expect(signInAddress("http://h/glass/?recording=a&view=b")).toBe(
    "sign-in?next=%2F%3Frecording%3Da%26view%3Db",
  );
});

test("a job that waits says how many are before it", () => {
  expect(english.place(0, null)).toBe("it is next");
  expect(english.place(1, null)).toBe("1 job before it");
  expect(english.place(3, 89.6)).toBe("3 jobs before it, about 90 s");
  expect(chinese.place(3, 89.6)).toContain("3");
});

test("on a server with users a link tells the server what it leads to, and the page reads it", () => {
  const at = (href: string) => addressBar({ location: new URL(href) } as unknown as Window);
  const place = at("http://h/glass/?run=old#recording=a");
  expect(place.link("recording=b&view=c", true)).toBe("http://h/glass/?recording=b&view=c");
  expect(place.link("recording=b&view=c")).toBe("http://h/glass/?run=old#recording=b&view=c");
  expect(place.read()).toBe("recording=a");
  expect(at("http://h/?recording=b&view=c").read()).toBe("recording=b&view=c");
  expect(at("http://h/?language=zh").read()).toBe("");
});
