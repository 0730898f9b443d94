import { expect, test } from "vitest";
import { aParameter, aTopic, word } from "../../testing/playground";
import { applies, changedSettings, chosenTopic, readSettings, withSettings } from "./settings";

const topic = aTopic("scaling", [
  aParameter("width", { kind: "integer", default: 6, minimum: 0, maximum: 10, step: 1 }),
  aParameter("how", {
    kind: "choice",
    default: "soft",
    choices: [
      { value: "soft", label: word("soft") },
      { value: "best", label: word("best") },
    ],
  }),
  aParameter("k", { kind: "integer", default: 2, minimum: 1, maximum: 4, needs: { how: ["best"] } }),
  aParameter("padding", { kind: "flag", default: false }),
  aParameter("text", { kind: "text", default: "我爱你", max_length: 4 }),
]);

test("settings are the topic's own where the address says nothing", () => {
  expect(readSettings(topic, {})).toEqual({
    width: "6",
    how: "soft",
    k: "2",
    padding: "false",
    text: "我爱你",
  });
});

test("what the address states is made valid, or left out", () => {
  const read = (name: string, wish: string) =>
    readSettings(topic, { [`playground.${name}`]: wish })[name as "width"];
  expect(read("width", "99")).toBe("10");
  expect(read("width", "3.6")).toBe("4");
  expect(read("width", "wide")).toBe("6");
  expect(read("how", "hard")).toBe("soft");
  expect(read("how", "best")).toBe("best");
  expect(read("padding", "true")).toBe("true");
  expect(read("padding", "yes")).toBe("false");
  expect(read("text", "一步两步三步")).toBe("一步两步");
  expect(read("text", "  ")).toBe("我爱你");
});

test("the server is asked only what differs and does something", () => {
  const settings = { ...readSettings(topic, {}), k: "3", width: "8" };
  expect(changedSettings(topic, settings)).toEqual({ width: "8" });
  expect(changedSettings(topic, { ...settings, how: "best" })).toEqual({ width: "8", how: "best", k: "3" });
  expect(applies(topic.parameters[2]!, settings)).toBe(false);
});

test("a link states the topic and what differs; options of other views stay", () => {
  const options = { "heatmap.zoom": "2", "playground.topic": "masks", "playground.mask": "both" };
  const settings = { ...readSettings(topic, {}), width: "8" };
  const written = withSettings(options, topic, settings);
  expect(written).toEqual({
    "heatmap.zoom": "2",
    "playground.topic": "scaling",
    "playground.width": "8",
  });
  expect(readSettings(topic, written)).toEqual(settings);
});

test("an unknown topic is the first one", () => {
  expect(chosenTopic([topic], { "playground.topic": "nothing" })).toBe(topic);
  expect(chosenTopic([], {})).toBeNull();
});

test("a text begins in the language of the page, and is sent where the server's own is another", () => {
  const question = {
    ...topic.parameters[0]!,
    name: "q",
    kind: "text",
    default: "谁？",
    max_length: 60,
  } as const;
  const asked = { ...topic, parameters: [{ ...question, by_language: { en: "Who?" } }] };
  expect(readSettings(asked, {}, "en")).toEqual({ q: "Who?" });
  expect(readSettings(asked, {}, "zh")).toEqual({ q: "谁？" });
  expect(readSettings(asked, { "playground.q": "Why?" }, "en")).toEqual({ q: "Why?" });
  expect(changedSettings(asked, { q: "Who?" })).toEqual({ q: "Who?" });
  expect(withSettings({}, asked, { q: "Who?" }, "en")["playground.q"]).toBeUndefined();
});
