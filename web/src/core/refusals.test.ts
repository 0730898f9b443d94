import { describe, expect, test } from "vitest";
import { explain } from "./refusals";
import { Refusal } from "./source";

describe("refusals", () => {
  test("are in the language of the page; where the server has no Chinese, its own words", () => {
    const refusal = new Refusal("There is no head 9.", "no_head", 422, "没有第 9 头。");
    expect(explain(refusal, "zh")).toBe("没有第 9 头。");
    expect(explain(refusal, "en")).toBe("There is no head 9.");
    expect(explain(new Refusal("New words.", "unheard_of", 422), "zh")).toBe("New words.");
  });
});
