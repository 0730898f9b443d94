/**
 * The text: it becomes tokens with numbers.
 *
 * In:   a side of the recording.
 * Out:  a scene of the walk.
 */

import type { SideName } from "../../api/types";
import type { TableData } from "../../core/view";
import { make } from "../../marks/make";
import { inks, label } from "../../marks/paper";
import type { Drawn, WalkContext, WalkScene } from "./context";
import { sideOf } from "./script";

export class TextScene implements WalkScene {
  readonly element: HTMLElement;
  private readonly side: SideName;

  constructor(
    private readonly context: WalkContext,
    stack: string | null,
  ) {
    const { say } = context;
    const { description } = context.source;
    this.side = sideOf(stack, description);
    const text = (this.side === "target" ? description.target : description.source)?.text ?? "";
    const slice = context.tokens[this.side];
    const list = make("ol", { class: "walk-tokens", start: 0 });
    slice?.shown.forEach((shown, at) => {
      list.append(
        make(
          "li",
          { "data-special": slice.special[at] ?? false },
          make("small", {}, String(at)),
          make("bdi", { class: "token" }, shown),
          make("span", { class: "walk-id" }, String(slice.ids[at])),
        ),
      );
    });
    this.element = make(
      "div",
      { class: "walk-text" },
      make("blockquote", { dir: "auto" }, text),
      make("p", { class: "walk-down", "aria-hidden": "true" }, "↓"),
      list,
      make("p", { class: "hint" }, () => `${say.place} · ${say.token.toLowerCase()} · ${say.id}`),
    );
  }

  picture(): Drawn {
    const ink = inks(this.context.stage.theme);
    const slice = this.context.tokens[this.side];
    let body = "";
    (slice?.shown ?? []).forEach((shown, at) => {
      const [x, y] = [(at % 8) * 96, Math.floor(at / 8) * 64];
      body +=
        `<rect x="${x}" y="${y}" width="88" height="54" rx="4" fill="none" stroke="${ink.line}"/>` +
        label(String(at), x + 6, y + 14, { fill: ink.faint, size: 10 }) +
        label(shown, x + 6, y + 30, { fill: ink.ink, size: 13 }) +
        label(String(slice!.ids[at]), x + 6, y + 46, { fill: ink.soft, size: 11 });
    });
    const count = slice?.shown.length ?? 0;
    return { body, width: 8 * 96, height: Math.ceil(count / 8) * 64 };
  }

  table(): TableData {
    const slice = this.context.tokens[this.side];
    const { say } = this.context;
    return {
      caption: say.text,
      columns: [say.place, say.token.toLowerCase(), say.id],
      rows: (slice?.shown ?? []).map((shown, at) => [at, shown, slice!.ids[at] ?? null]),
    };
  }
}
