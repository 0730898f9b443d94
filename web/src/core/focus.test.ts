import { expect, test } from "vitest";
import type { Description } from "../api/types";
import { sideName } from "./focus";

const patches = { rows: 1, columns: 2, width: 2, height: 1, cells: [0, 1] };

test("sides are called by what they hold, and so is what a part of the model reads", () => {
  const name = (change: object, side: Parameters<typeof sideName>[1]) =>
    sideName({ source: {}, ...change } as unknown as Description, side, "en");
  expect(name({}, "source")).toBe("Source");
  expect(name({ source: { picture: patches } }, "target")).toBe("Caption");
  expect(name({ source: { picture: patches } }, "written")).toBe("Caption, being written");
  const tower = { part: { picture: patches }, part2: { picture: null } };
  expect(name(tower, "part")).toBe("Picture");
  expect(name(tower, "part2")).toBe("Another part");
  expect(name(tower, "source")).toBe("Source");
});
