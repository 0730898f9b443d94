import { expect, test } from "vitest";
import { makeMap } from "../testing/recording";
import { ABSOLUTE, readThreshold, writeRelative, writeTau } from "./threshold";

const maps = [makeMap(0, {})];

test("each kind has its own default", () => {
  expect(readThreshold({}, maps)).toEqual({ tau: 0.01, relative: false });
  expect(readThreshold({ "numbers.relative": "1" }, maps)).toEqual({ tau: 1, relative: true });
  expect(readThreshold({ "numbers.relative": "1", "numbers.tau": "2" }, maps).tau).toBe(2);
});

test("what is no threshold is the default", () => {
  for (const tau of ["0", "-1", "x", "", "Infinity", "NaN"])
    expect(readThreshold({ "numbers.tau": tau }, maps)).toEqual(ABSOLUTE);
});

test("a map too long to count again has the recorded one", () => {
  const long = [makeMap(0, { queries: 100_000, keys: 100_000 })];
  expect(readThreshold({ "numbers.tau": "0.2", "numbers.relative": "1" }, long)).toBe(ABSOLUTE);
});

test("defaults are left out of links, and the other kind begins at its own", () => {
  const other = { "heatmap.scale": "row" };
  expect(writeTau({ ...other, "numbers.tau": "0.2" }, 0.01)).toEqual(other);
  expect(writeTau({ "numbers.relative": "1" }, 0.01)).toEqual({
    "numbers.relative": "1",
    "numbers.tau": "0.01",
  });
  expect(writeRelative({ ...other, "numbers.tau": "0.2" }, true)).toEqual({
    ...other,
    "numbers.relative": "1",
  });
  expect(writeRelative({ "numbers.relative": "1", "numbers.tau": "2" }, false)).toEqual({});
});
