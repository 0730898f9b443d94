/**
 * One of the texts beside the chances: its last tokens, coloured, under a heading.
 *
 * In:   a side of the recording.
 * Out:  a passage; tells when its tokens are there.
 */

import type { SideName, TokenSlice } from "../../api/types";
import type { Theme } from "../../core/view";
import { readLayout } from "../../data/media";
import { readLast } from "../../data/weights";
import { make, write } from "../../marks/make";
import { inks } from "../../marks/paper";
import { Passage } from "../../marks/passage";
import type { Drawing, GenerationSetting } from "./panel";

const MOST = 2000; // tokens shown

export class Text {
  readonly element: HTMLElement;
  readonly passage: Passage;
  slice: TokenSlice | null = null;
  private readonly note = make("p", { class: "generation-note", hidden: true });

  constructor(
    private readonly setting: GenerationSetting,
    readonly side: SideName,
    private readonly name: () => string,
    choose: (token: number) => void,
  ) {
    const theme = (): Theme => setting.stage.theme;
    this.passage = new Passage({ label: name, theme, choose, point: () => {} });
    this.element = make(
      "div",
      { class: "generation-text" },
      make("h3", {}, name),
      this.note,
      this.passage.element,
    );
  }

  open(ready: (slice: TokenSlice) => void): void {
    const { stage, tasks } = this.setting;
    const side = stage.source.description[this.side];
    tasks.asker().ask(
      null,
      (source) => Promise.all([readLast(source, this.side, MOST), readLayout(source, this.side)]),
      ([slice, patches]) => {
        this.slice = slice;
        this.passage.setTokens(slice, side?.text ?? null, side?.count ?? 0, patches);
        ready(slice);
      },
    );
  }

  /** Colour by weights of the keys from `start` on; the last colour is the largest. */
  colour(weights: Float32Array, start: number): void {
    const { slice } = this;
    if (slice === null) return;
    const part = Float32Array.from(slice.shown, (_, index) => weights[slice.start + index - start] ?? 0);
    this.passage.colour(
      part,
      part.reduce((one, other) => Math.max(one, other), 0),
    );
  }

  /** A sentence under the heading; none for "". */
  say(sentence: string): void {
    this.note.hidden = sentence === "";
    write(this.note, sentence);
  }

  drawing(): Drawing {
    return { title: this.name(), ...this.passage.picture(inks(this.setting.stage.theme)) };
  }
}
