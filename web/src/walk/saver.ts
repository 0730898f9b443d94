/**
 * The button that saves the walk: every step of the stack that is looked at as one moving picture.
 *
 * In:   the scenes, and how one is drawn.
 * Out:  a file in the browser's download folder.
 */

import { fileName, save, sizeOf } from "../app/saving";
import type { WalkWords } from "../i18n/walk";
import { make, write } from "../marks/make";
import { inks } from "../marks/paper";
import type { Theme } from "../view";
import { makeGif, type Shot } from "./saving";
import type { Scene } from "./script";

export interface Saving {
  /** The scenes to save; none: nothing is there yet. */
  scenes(): readonly Scene[];
  /** A scene on a sheet of its own. */
  draw(scene: Scene): Promise<string>;
  /** The model's name. */
  model(): string;
  /** True once the view is gone. */
  over(): boolean;
  saved(): void;
  failed(error: unknown): void;
}

export class Saver {
  readonly element: HTMLButtonElement;

  constructor(
    private readonly say: WalkWords,
    private readonly theme: Theme,
    private readonly saving: Saving,
  ) {
    const onclick = () => void this.save();
    this.element = make("button", { type: "button", class: "button small walk-save", onclick }, say.save);
  }

  private async save(): Promise<void> {
    const { say, saving, element } = this;
    const scenes = saving.scenes();
    if (scenes.length === 0) return;
    const tell = (at: number) => write(element, say.saving(at + 1, scenes.length));
    element.disabled = true;
    try {
      const shots: Shot[] = [];
      for (const [at, scene] of scenes.entries()) {
        tell(at);
        const svg = await saving.draw(scene);
        shots.push({ svg, ...sizeOf(svg) });
        if (saving.over()) return;
      }
      const bytes = await makeGif(shots, inks(this.theme).ground, tell);
      if (saving.over()) return;
      save(new Blob([bytes], { type: "image/gif" }), fileName(["walk", saving.model()], "gif"));
      saving.saved();
    } catch (error) {
      if (!saving.over()) saving.failed(error);
    } finally {
      element.disabled = false;
      write(element, say.save);
    }
  }
}
