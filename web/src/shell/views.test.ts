import { expect, test } from "vitest";
import type { Description } from "../api/types";
import { invent } from "../testing/recording";
import { Views, type ViewTitle } from "./views";

const title = (words: object): ViewTitle =>
  ({ title: () => "", needs: "recording", ...words }) as unknown as ViewTitle;
const views = new Views({}, [
  title({ name: "heatmap" }),
  title({ name: "picture", cutFrom: "picture" }),
  title({ name: "sound", cutFrom: "sound" }),
]);

function offered(change: object): readonly string[] {
  const { source } = invent();
  const description = { ...source.description, ...change } as Description;
  const open = { kind: "recording", now: { ...source, description }, before: null, whole: source } as const;
  return views.on(open as unknown as Parameters<Views["on"]>[0]).map(({ name }) => name);
}

test("views of pictures and sounds are offered where tokens of a text, or of a part, were cut from one", () => {
  expect(offered({})).toEqual(["heatmap"]);
  expect(offered({ source: { picture: {} } })).toEqual(["heatmap", "picture"]);
  expect(offered({ part: { picture: {} } })).toEqual(["heatmap", "picture"]); // CLIP: a text, and a tower
  expect(offered({ part2: { sound: {} } })).toEqual(["heatmap", "sound"]);
});
