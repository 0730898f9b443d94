import { describe, expect, test } from "vitest";
import { Refusal } from "../source";
import { explain } from "./refusals";

describe("refusals", () => {
  test("are in Chinese where their code says enough; otherwise the server's words follow", () => {
    expect(explain(new Refusal("It died.", "crashed", 422), "zh")).not.toContain("It died");
    expect(explain(new Refusal("The model failed: x.", "failed", 422), "zh")).toMatch(
      /^模型运行失败：The model/,
    );
    expect(explain(new Refusal("New words.", "unheard_of", 422), "zh")).toBe("New words.");
    expect(explain(new Refusal("It died.", "crashed", 422), "en")).toBe("It died.");
  });
});
