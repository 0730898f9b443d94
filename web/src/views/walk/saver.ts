/**
 * The button that saves the walk, every scene of it, as one moving picture; pressed again, it gives up.
 *
 * In:   the scenes, and how one is drawn.
 * Out:  a file in the browser's download folder.
 */

import { fileName, save, sizeOf } from "../../core/saving";
import { make, relabel } from "../../marks/make";
import { makeGif, type Shot } from "./saving";
import type { Scene } from "./script";
import type { WalkWords } from "./words";

/** The walk as it is when saving begins: another language or theme does not change it half-way. */
export interface SavedWalk {
  readonly scenes: readonly Scene[];
  readonly ground: string; // the colour behind it
  readonly model: string; // its name
  /** A scene on a sheet of its own; what is too large for one, on several. */
  draw(scene: Scene): Promise<readonly string[]>;
}

export interface Saving {
  /** Null: nothing is there yet. */
  begin(): SavedWalk | null;
  /** True once the view is gone. */
  over(): boolean;
  saved(): void;
  failed(error: unknown): void;
}

const DRAWN = 0.4; // of the work: the rest is looking for colours

export class Saver {
  readonly element: HTMLButtonElement;
  private stopping: AbortController | null = null; // while it draws
  private share = 0; // of the work that is done

  constructor(
    say: WalkWords,
    private readonly saving: Saving,
  ) {
    const onclick = () => (this.stopping === null ? void this.save() : this.stopping.abort());
    const name = () => (this.stopping === null ? say.save : say.saving(Math.round(100 * this.share)));
    this.element = make("button", { type: "button", class: "button small walk-save", onclick }, name);
  }

  private async save(): Promise<void> {
    const { saving, element } = this;
    const walk = saving.begin();
    if (walk === null) return;
    const { scenes } = walk;
    const tell = (share: number) => {
      this.share = share;
      relabel(element);
    };
    const stopping = new AbortController();
    const over = () => stopping.signal.aborted || saving.over();
    this.stopping = stopping;
    tell(0);
    try {
      const shots: Shot[] = [];
      for (const [at, scene] of scenes.entries()) {
        for (const svg of await walk.draw(scene)) shots.push({ svg, ...sizeOf(svg) });
        if (over()) return;
        tell((DRAWN * (at + 1)) / scenes.length);
      }
      const gif = await makeGif(shots, walk.ground, (at) => {
        tell(DRAWN + ((1 - DRAWN) * (at + 1)) / shots.length);
        return !over();
      });
      if (gif === null) return;
      save(gif, fileName(["walk", walk.model], "gif"));
      saving.saved();
    } catch (error) {
      if (!saving.over()) saving.failed(error);
    } finally {
      this.stopping = null;
      relabel(element);
    }
  }
}
