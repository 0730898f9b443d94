/**
 * What a model expects without writing: the classes of a text, the word behind a mask, the next word after each token.
 *
 * In:   the recorded output distributions.
 * Out:  a panel with bars for the chosen token, or for the whole text.
 */

import type { OutputDescription, SideName, TokenSlice } from "../../api/types";
import { findMasks, probability } from "../../core/generation";
import { MountedView } from "../../core/recording_view";
import type { TableData } from "../../core/view";
import { type Bar, Bars } from "../../marks/bars";
import { make, write } from "../../marks/make";
import type { Drawing, GenerationOptions, GenerationPanel, GenerationSetting } from "./panel";
import { Text } from "./text";
import type { Words } from "./words";

export class Output extends MountedView<Words, GenerationOptions> implements GenerationPanel {
  readonly element = make("div", { class: "generation-part" });
  private readonly bars: Bars;
  private readonly text: Text | null;
  private readonly title = make("h2");
  private readonly button: HTMLButtonElement;

  constructor(
    setting: GenerationSetting,
    private readonly output: OutputDescription,
    private readonly mask: ((text: string) => void) | null, // run again with this text
  ) {
    super(setting);
    const { say: word, stage } = this;
    const { description } = stage.source;
    this.bars = new Bars(() => word.choicesName);
    this.button = make("button", {
      type: "button",
      class: "button generation-mask",
      hidden: true,
      onclick: () => this.maskIt(),
    });
    const choices = make(
      "section",
      { class: "generation-choices" },
      this.title,
      this.bars.element,
      this.button,
    );
    if (output.kind === "classes") {
      this.text = null;
      choices.classList.add("generation-alone");
      this.title.after(make("p", { class: "hint" }, () => word.classesHint));
      this.element.append(choices);
      return;
    }
    const side: SideName = output.stack === "decoder" && description.target !== null ? "target" : "source";
    const name = (): string => (description.shape === "encoder" ? word.positions : word.nextWord);
    this.text = new Text(setting, side, name, (token) => stage.selection.set({ query: token }));
    const looked = make(
      "section",
      { class: "generation-looked" },
      make("p", { class: "hint" }, () => word.chooseToken),
      this.text.element,
    );
    this.element.append(make("div", { class: "generation-grid" }, looked, choices));
    this.text.open(() => this.follow());
  }

  follow(): void {
    const slice = this.text?.slice;
    if (slice === null) return;
    const { title, bars } = this.chances();
    write(this.title, title);
    this.bars.show(bars);
    if (slice === undefined) return;
    const position = this.position(slice);
    this.text!.passage.mark(position);
    this.button.hidden = this.mask === null || this.masked(slice, position) === null;
    write(this.button, this.say.maskIt(slice.shown[position - slice.start] ?? ""));
  }

  /** The token whose prediction is shown: chosen, else the first mask, else the last. */
  private position(slice: TokenSlice): number {
    const { query } = this.stage.selection.get();
    const count = this.output.positions.length;
    if (query !== null && query < count) return query;
    return findMasks(slice)[0] ?? count - 1;
  }

  /** The text with one token masked; null where the token is no part of the text. */
  private masked(slice: TokenSlice, position: number): string | null {
    const index = position - slice.start;
    const { text } = this.stage.source.description.source;
    const span = slice.offsets?.[index];
    const masks = findMasks(slice);
    if (text === null || span === undefined || slice.special[index] || span[0] === span[1]) return null;
    if (masks.includes(position)) return null;
    const mask = masks.length > 0 ? slice.texts[masks[0]! - slice.start]!.trim() : "[MASK]";
    const letters = [...text];
    return letters.slice(0, span[0]).join("") + mask + letters.slice(span[1]).join("");
  }

  private maskIt(): void {
    const slice = this.text?.slice;
    const text = slice ? this.masked(slice, this.position(slice)) : null;
    if (text !== null) this.mask?.(text);
  }

  chances(): { title: string; bars: Bar[] } {
    const { say: word, stage } = this;
    const slice = this.text?.slice;
    const position = slice ? this.position(slice) : 0;
    const choices = this.output.positions[position] ?? [];
    const bars = choices.map((choice, rank) => ({
      text: choice.text,
      share: probability(choice),
      chosen: rank === 0,
    }));
    if (!slice) return { title: word.classes, bars };
    const name = slice.shown[position - slice.start] ?? "";
    const encoder = stage.source.description.shape === "encoder";
    return { title: encoder ? word.atToken(name, position) : word.afterToken(name, position), bars };
  }

  drawings(): { above: Drawing[]; below: Drawing[] } {
    return { above: this.text === null ? [] : [this.text.drawing()], below: [] };
  }

  table(): TableData {
    const { say: word, names } = this;
    const slice = this.text?.slice;
    return {
      caption: this.output.kind === "classes" ? word.classes : word.positions,
      columns: [names.position, names.token, word.columnRank, word.columnChoice, word.columnShare],
      rows: this.output.positions.flatMap((choices, position) =>
        choices.map((choice, rank) => [
          position,
          slice?.shown[position - slice.start] ?? "",
          rank + 1,
          choice.text,
          probability(choice),
        ]),
      ),
    };
  }
}
