import { describe, expect, it } from "vitest";
import formats from "../../../tests/messages/formats.json";
import { type Catalogue, formatMessage, type Parameter } from "./messages";

const english: Catalogue = {
  "list.separator": ",_",
  "list.or": "_or_",
  "term.encoder": "encoder",
  "place.map": "{stack} layer {layer}, {kind}",
};

/** What Python formats, too: tests/messages/test_message.py. */
const cases = formats as unknown as [string, Record<string, Parameter>, string][];

describe("messages", () => {
  it.each(cases)("%s", (template, parameters, text) => {
    expect(formatMessage({ code: "none.such", parameters, default: template }, english)).toBe(text);
  });

  it("come from the catalogue first, and fall back to their code", () => {
    const place = { stack: { code: "term.encoder", parameters: {} }, layer: 3, kind: "self" };
    expect(formatMessage({ code: "place.map", parameters: place, default: "x" }, english)).toBe(
      "encoder layer 3, self",
    );
    expect(formatMessage({ code: "none.such", parameters: {} }, english)).toBe("none.such");
  });
});
