import { expect, test, vi } from "vitest";
import { learn, loadWords } from "./core";

test("a language is fetched once, when it is spoken, and views that come later speak the last one", async () => {
  const files = {
    en: vi.fn(async () => ({ words: { hello: "Hello" } })),
    zh: vi.fn(async () => ({ words: { hello: "你好" } })),
  };
  const words = loadWords({ "./words.en.ts": files.en, "./words.zh.ts": files.zh }, "words");
  await learn("en");
  expect(words("en").hello).toBe("Hello");
  expect(words("zh").hello).toBe("Hello"); // until it is here
  expect(files.zh).not.toHaveBeenCalled();
  await learn("zh");
  await learn("en");
  await learn("zh");
  expect([words("en").hello, words("zh").hello]).toEqual(["Hello", "你好"]);
  expect([files.en.mock.calls.length, files.zh.mock.calls.length]).toEqual([1, 1]);
  const later = loadWords(
    {
      "./words.en.ts": async () => ({ words: { bye: "Bye" } }),
      "./words.zh.ts": async () => ({ words: { bye: "再见" } }),
    },
    "words",
  );
  await learn();
  expect(later("zh").bye).toBe("再见");
});

test("a language that does not arrive is said, and asked for again", async () => {
  const zh = vi.fn(async () => ({ words: { hello: "你好" } })).mockRejectedValueOnce(new Error("gone"));
  const english = async () => ({ words: { hello: "Hello" } });
  const words = loadWords({ "./words.en.ts": english, "./words.zh.ts": zh }, "words");
  await learn("en");
  await expect(learn("zh")).rejects.toThrow("gone");
  expect(words("zh").hello).toBe("Hello");
  await learn("zh");
  expect(words("zh").hello).toBe("你好");
});
