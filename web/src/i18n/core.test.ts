import { expect, test, vi } from "vitest";
import { fetchStrings, inBoth, learn } from "./core";

test("a language is fetched once, when it is spoken, and the last one is that of rooms that come later", async () => {
  const files = { en: vi.fn(async () => ({ hello: "Hello" })), zh: vi.fn(async () => ({ hello: "你好" })) };
  const words = fetchStrings(files);
  const greeting = inBoth(words, (say) => say.hello); // before any words are here
  await learn("en");
  expect(words("en").hello).toBe("Hello");
  expect(words("zh").hello).toBe("Hello"); // until it is here
  expect(files.zh).not.toHaveBeenCalled();
  await learn("zh");
  await learn("en");
  await learn("zh");
  expect([words("en").hello, words("zh").hello]).toEqual(["Hello", "你好"]);
  expect([greeting.en, greeting.zh]).toEqual(["Hello", "你好"]);
  expect([files.en.mock.calls.length, files.zh.mock.calls.length]).toEqual([1, 1]);
  const later = fetchStrings({ en: async () => ({ bye: "Bye" }), zh: async () => ({ bye: "再见" }) });
  await learn();
  expect(later("zh").bye).toBe("再见");
});

test("a language that does not arrive is said, and asked for again", async () => {
  const zh = vi.fn(async () => ({ hello: "你好" })).mockRejectedValueOnce(new Error("gone"));
  const words = fetchStrings({ en: async () => ({ hello: "Hello" }), zh });
  await learn("en");
  await expect(learn("zh")).rejects.toThrow("gone");
  expect(words("zh").hello).toBe("Hello");
  await learn("zh");
  expect(words("zh").hello).toBe("你好");
});
