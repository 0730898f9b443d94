import { describe, expect, it } from "vitest";
import { inventRun } from "../testing/run";
import { Connection } from "./http";
import { createStillRuns } from "./still_runs";

const SERIES = {
  exact: true,
  first: [1, 2, 3, 4],
  last: null,
  mean: [[4], [3], [2], [1]],
  low: null,
  high: null,
  count: null,
};

describe("runs of a file", () => {
  it("are asked about once, and cut to the steps that are shown", async () => {
    const asked: string[] = [];
    const connection = new Connection({
      base: "glassformer:",
      fetch: async (path) => {
        asked.push(String(path).replace("glassformer:", ""));
        const answer = String(path).includes("?") ? { series: { loss: SERIES, rate: SERIES } } : inventRun();
        return new Response(JSON.stringify(answer));
      },
    });
    const source = await createStillRuns(connection).open("a run");
    const stop = source.follow(() => {
      throw new Error("nothing comes");
    });
    const whole = await source.within(new AbortController().signal).series([], null, 50);
    expect(whole).toEqual({ loss: SERIES, rate: SERIES }); // none is named: all
    const part = await source.series(["loss"], [2, 3], 700);
    expect(Object.keys(part)).toEqual(["loss"]);
    expect(part.loss).toMatchObject({ first: [2, 3], mean: [[3], [2]], last: null });
    await source.heads("entropy_share", null, 100);
    stop();
    expect(asked).toEqual([
      "runs/a%20run",
      "runs/a%20run/series?points=2000",
      "runs/a%20run/heads?statistic=entropy_share&points=1000",
    ]);
  });
});
