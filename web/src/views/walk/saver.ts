/**
 * The button that saves the walk, every scene of it, as one moving picture; pressed again, it gives up.
 *
 * In:   the scenes, and how one is drawn.
 * Out:  a file in the browser's download folder.
 */

import { fileName, save, sizeOf } from "../../core/saving";
import type { Theme } from "../../core/view";
import { make, write } from "../../marks/make";
import { inks } from "../../marks/paper";
import { makeGif, type Shot } from "./saving";
import type { Scene } from "./script";
import type { WalkWords } from "./words";

export interface Saving {
  /** The scenes to save; none: nothing is there yet. */
  scenes(): readonly Scene[];
  /** A scene on a sheet of its own; what is too large for one, on several. */
  draw(scene: Scene): Promise<readonly string[]>;
  /** The model's name. */
  model(): string;
  /** True once the view is gone. */
  over(): boolean;
  saved(): void;
  failed(error: unknown): void;
}

const DRAWN = 0.4; // of the work: the rest is looking for colours

export class Saver {
  readonly element: HTMLButtonElement;
  private stopping: AbortController | null = null; // while it draws

  constructor(
    private readonly say: WalkWords,
    private readonly theme: Theme,
    private readonly saving: Saving,
  ) {
    const onclick = () => (this.stopping === null ? void this.save() : this.stopping.abort());
    this.element = make("button", { type: "button", class: "button small walk-save", onclick }, say.save);
  }

  private async save(): Promise<void> {
    const { say, saving, element } = this;
    const scenes = saving.scenes();
    if (scenes.length === 0) return;
    const tell = (share: number) => write(element, say.saving(Math.round(100 * share)));
    const stopping = new AbortController();
    const over = () => stopping.signal.aborted || saving.over();
    this.stopping = stopping;
    tell(0);
    try {
      const shots: Shot[] = [];
      for (const [at, scene] of scenes.entries()) {
        for (const svg of await saving.draw(scene)) shots.push({ svg, ...sizeOf(svg) });
        if (over()) return;
        tell((DRAWN * (at + 1)) / scenes.length);
      }
      const bytes = await makeGif(shots, inks(this.theme).ground, (at) => {
        tell(DRAWN + ((1 - DRAWN) * (at + 1)) / shots.length);
        return !over();
      });
      if (bytes === null) return;
      save(new Blob([bytes], { type: "image/gif" }), fileName(["walk", saving.model()], "gif"));
      saving.saved();
    } catch (error) {
      if (!saving.over()) saving.failed(error);
    } finally {
      this.stopping = null;
      write(element, say.save);
    }
  }
}
