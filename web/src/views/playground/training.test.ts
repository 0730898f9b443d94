import { describe, expect, test, vi } from "vitest";
import type { PlayResult, PlayStep } from "../../api/types";
import { Refusal } from "../../core/source";
import type { Rerunner } from "../../core/view";
import { aPlay, figures } from "../../testing/playground";
import { openPlayground as open, text } from "../../testing/playing";
import { restyle, settle } from "../../testing/recording";

describe("live training", () => {
  function trained(answer?: () => Promise<PlayResult>) {
    let tell: (step: PlayStep) => void = () => {};
    let finish: (play: PlayResult) => void = () => {};
    let signal: AbortSignal | null = null;
    const rerunner = {
      play: (_: string, __: unknown, heard: (step: PlayStep) => void, stop: AbortSignal) => {
        [tell, signal] = [heard, stop];
        return new Promise<PlayResult>((resolve, reject) => {
          finish = resolve;
          stop.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
        });
      },
    } as unknown as Rerunner;
    const opened = open({ "playground.topic": "output" }, answer, rerunner);
    return {
      ...opened,
      tell: (step: PlayStep) => tell(step),
      finish: (play: PlayResult) => finish(play),
      stopped: () => signal?.aborted ?? false,
    };
  }

  test("it goes on in another language, and ends on another tab", async () => {
    const { element, stage, mine, tell, finish, stopped } = trained();
    await settle();
    element.querySelector<HTMLButtonElement>(".play-training button")!.click();
    tell({ step: 4, loss: 2, rows: [[1]] });
    restyle(mine, stage);
    await settle();
    expect([text(element, ".play-training button"), stopped()]).toEqual(["停止", false]);
    expect(text(element, ".play-training .play-state")).toBe("第 4 步，损失 2");
    finish(aPlay("output", figures, "All learnt."));
    await settle();
    expect(text(element, ".play-training .play-state")).toBe("训练完成：共 4 步。");
    restyle(mine, stage, "en");
    restyle(mine, stage);
    await settle();
    expect(text(element, ".play-training .play-state")).toBe("训练完成：共 4 步。");
    element.querySelector<HTMLButtonElement>(".play-training button")!.click();
    expect(mine.keep).toBeUndefined();
    mine.unmount();
    expect(stopped()).toBe(true);
  });

  test("left before the page in another language is drawn, it ends, too", async () => {
    const { element, stage, mine, stopped } = trained();
    await settle();
    element.querySelector<HTMLButtonElement>(".play-training button")!.click();
    restyle(mine, stage); // its topics are on their way
    restyle(mine, stage, "en");
    expect(stopped()).toBe(false);
    expect(mine.keep).toBeUndefined(); // another tab
    mine.unmount();
    expect(stopped()).toBe(true);
  });

  test("the curve grows with each step, and the end is the server's", async () => {
    const { element, tell, finish } = trained();
    await settle();
    const button = element.querySelector<HTMLButtonElement>(".play-training button")!;
    button.click();
    expect(button.textContent).toBe("Stop");
    const dots = () => element.querySelectorAll('[data-figure="loss"] circle').length;
    expect(dots()).toBe(3);
    tell({ step: 0, loss: 2, rows: [[1]] });
    await vi.waitFor(() => expect(dots()).toBe(1));
    tell({ step: 1, loss: 1, rows: [[1]] });
    await vi.waitFor(() => expect(dots()).toBe(2));
    expect(text(element, ".play-training .play-state")).toBe("Step 1, loss 1");
    finish(aPlay("output", figures, "All learnt."));
    await settle();
    expect(text(element, ".play-found")).toBe("All learnt.");
    expect(dots()).toBe(3);
    expect(button.textContent).toBe("Train again");
  });

  test.each([
    ["has not come", () => new Promise<PlayResult>(() => {})],
    ["was refused", () => Promise.reject(new Refusal("No answer came in time.", "too_slow", 422))],
  ])("it starts at once where the first answer %s", async (_, answer) => {
    const { element, tell, finish } = trained(answer);
    await settle();
    const button = element.querySelector<HTMLButtonElement>(".play-training button")!;
    button.click();
    expect(button.textContent).toBe("Stop");
    expect(element.querySelector(".asking")).toBeNull();
    expect(element.querySelector<HTMLElement>(".play-trouble")!.hidden).toBe(true);
    tell({ step: 3, loss: 1, rows: [[1]] });
    await vi.waitFor(() => expect(text(element, ".play-training .play-state")).toBe("Step 3, loss 1"));
    finish(aPlay("output", figures, "All learnt."));
    await settle();
    expect(text(element, ".play-found")).toBe("All learnt.");
    expect(element.querySelectorAll(".play-figure")).toHaveLength(figures.length);
  });

  test("it can be stopped, and stops when one leaves", async () => {
    const { element, tell, stopped } = trained();
    await settle();
    const button = element.querySelector<HTMLButtonElement>(".play-training button")!;
    button.click();
    tell({ step: 4, loss: 2, rows: [[1]] });
    button.click();
    await settle();
    expect(stopped()).toBe(true);
    expect(text(element, ".play-training .play-state")).toBe("Stopped after step 4.");
    button.click();
    expect(stopped()).toBe(false);
    element.querySelector<HTMLButtonElement>('[data-topic="masks"]')!.click();
    expect(stopped()).toBe(true);
  });

  test("without models there are the first settings, and a sentence why", async () => {
    const { element, asked } = open(
      { "playground.topic": "output", "playground.steps": "7" },
      undefined,
      null,
    );
    await settle();
    expect(asked).toEqual(["output {}"]);
    expect(element.querySelector<HTMLFieldSetElement>(".play-controls")!.disabled).toBe(true);
    expect(element.querySelector<HTMLElement>(".play-training")!.hidden).toBe(true);
    expect(text(element, ".play-hint")).toContain("Without a model");
    expect(text(element, ".play-found")).toBe("Found with {}.");
  });
});
