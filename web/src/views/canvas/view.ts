/**
 * The canvas: the four panels of a model at once. Encoder, attention weights, input embeddings, output embeddings.
 *
 * In:   the recording, and the selection of time step, layer and head.
 * Out:  panels that follow the selection together; a token that is pointed at in one is marked in all.
 */

import type { SideName } from "../../api/types";
import { captionOf, encoderHidden, isSigned, layerInFocus, signedRefused, whyNoMaps } from "../../core/focus";
import { percent } from "../../core/formats";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import type { TableData } from "../../core/view";
import { make, relabel, write } from "../../marks/make";
import { inks, label, sheet } from "../../marks/paper";
import { type CanvasOptions, options } from "./cameras";
import { HeatPanel } from "./heat";
import { Looking } from "./looking";
import { emptyPanel, type Panel } from "./panel";
import { type Plane, PointsPanel } from "./points";
import { Sentences } from "./sentences";
import { StatesPanel } from "./states";
import { type Words, words } from "./words";

const NAMED = 3; // keys in the sentence of what a token looks at
const MOST_IN_TABLE = 2000;

export const view = recordingView({
  name: "canvas",
  order: 5,
  words,
  options,
  controls: "above",
  fits: ({ now: { description } }) =>
    (isSigned(description.maps) && description.hidden.length === 0 && signedRefused) ||
    description.maps.length > 0 ||
    description.hidden.length > 0 ||
    whyNoMaps(description),
  sparse: ({ now: { description } }) => description.hidden.length === 0, // three of the four panels show them
  mount: (setting) => new CanvasView(setting),
});

class CanvasView extends MountedView<Words, CanvasOptions> {
  private readonly looking: Looking;
  private readonly readout = make("p", { class: "canvas-readout" });
  private readonly sentences: Sentences;
  private readonly states: StatesPanel | null;
  private readonly input: PointsPanel | null;
  private readonly output: PointsPanel | null;
  private readonly panels: readonly Panel[];

  constructor(setting: Setting<Words, CanvasOptions>) {
    super(setting);
    const { stage, say, names } = this;
    const { maps, hidden } = stage.source.description;
    this.looking = new Looking(setting, () => this.redraw());
    this.sentences = new Sentences(setting, this.looking);
    const { looking } = this;
    if (hidden.length > 0) {
      const first = encoderHidden(stage, null); // what reads the text
      const last = hidden.find(({ stack }) => stack === "decoder") ?? first; // what the output is made of
      this.states = new StatesPanel(setting, looking, () => this.open("encoder", {}));
      const one = first.layers === 1; // a recurrent network: states of its cells, no embeddings
      const input: Plane = {
        name: "input",
        hidden: first,
        layer: () => 0,
        title: () => (one ? say.states : say.input),
      };
      const output: Plane = {
        name: "output",
        hidden: last,
        layer: () => layerInFocus(stage, last) ?? last.layers - 1,
        title: () => (last.layers === 1 ? say.states : say.output),
      };
      this.input = new PointsPanel(setting, looking, input, () =>
        this.open("embeddings", { stack: first.stack }),
      );
      this.output = new PointsPanel(setting, looking, output, () =>
        this.open("embeddings", { stack: last.stack, layer: String(output.layer()) }),
      );
    } else this.states = this.input = this.output = null;
    const without = (name: string, title: () => string) => emptyPanel(name, title, () => names.noHidden);
    this.panels = [
      this.states ?? without("encoder", () => names.stackName(maps[0]?.place.stack ?? "encoder")),
      maps.length > 0
        ? new HeatPanel(setting, looking, () => this.open("heatmap", {}))
        : emptyPanel(
            "attention",
            () => say.attention,
            () => whyNoMaps(stage.source.description)(stage.language),
          ),
      this.input ?? without("input", () => say.input),
      this.output ?? without("output", () => say.output),
    ];
    const grid = make("div", { class: "canvas-grid" }, ...this.panels.map(({ frame }) => frame.element));
    stage.element.replaceChildren(
      make(
        "div",
        { class: "canvas-view drawn" },
        make("div", { class: "canvas-head" }, this.sentences.element, this.readout),
        grid,
      ),
    );
    this.update();
  }

  update(): void {
    this.looking.load();
    for (const panel of this.panels) panel.update();
    this.redraw();
  }

  resize(): void {
    for (const panel of this.panels) panel.redraw();
  }

  restyle(): void {
    relabel(this.stage.element);
    this.update();
  }

  zoom(direction: -1 | 0 | 1): void {
    for (const panel of this.panels) panel.zoom(direction);
  }

  unmount(): void {
    for (const panel of this.panels) panel.unmount();
  }

  async picture(): Promise<string> {
    const { theme } = this.stage;
    const ink = inks(theme);
    const drawings = await Promise.all(this.panels.map((panel) => panel.write(ink)));
    const [wide, gap, head] = [440, 36, 44];
    const high = [0, 2].map((first) =>
      Math.max(...drawings.slice(first, first + 2).map(({ height }) => height)),
    );
    let body = "";
    drawings.forEach((drawing, at) => {
      const { frame } = this.panels[at]!;
      const y = at < 2 ? 0 : high[0]! + head + gap;
      body += `<g transform="translate(${(at % 2) * (wide + gap)} ${y})">`;
      body += label(frame.title, 0, 14, { fill: ink.ink, size: 13, weight: 600 });
      body += label(frame.about, 0, 30, { fill: ink.soft, size: 10 });
      body += `<g transform="translate(0 ${head})">${drawing.body}</g></g>`;
    });
    const { readout, say } = this;
    return sheet({
      width: 2 * wide + gap,
      height: high[0]! + high[1]! + 2 * head + gap,
      body,
      title: readout.textContent || say.title,
      caption: captionOf(this.stage, say.caption),
      theme,
    });
  }

  /** A row for each token: what the four panels show of it. */
  async table(): Promise<TableData> {
    const { say, names, looking, states, input, output } = this;
    const { source } = this.stage;
    const rows: (string | number | null)[][] = [];
    let left = 0;
    const layer = states?.layer ?? 0;
    for (const side of ["source", "target"] as const) {
      const count = source.description[side]?.count ?? 0;
      const most = Math.min(count, MOST_IN_TABLE);
      left += count - most;
      await looking.tokens(side).load(0, most);
      for (let token = 0; token < most; token++) {
        const at = (panel: PointsPanel | null) =>
          (panel?.hidden.side === side ? panel.place(token) : null) ?? [null, null];
        const isKey = looking.map?.key_side === side && looking.row !== null;
        rows.push([
          say[side],
          token,
          looking.tokens(side).shown(token),
          isKey ? looking.weight(side, token) : null,
          states?.hidden.side === side ? states.value(layer, token) : null,
          ...at(input),
          ...at(output),
        ]);
      }
    }
    const planes = (["x", "y"] as const).map(say.columnInput).concat(["x", "y"].map(say.columnOutput));
    const columns = [
      say.columnSide,
      names.position,
      names.token,
      say.columnWeight,
      say.columnState(layer),
      ...planes,
    ];
    return { caption: this.readout.textContent || say.title, columns, rows, more: left };
  }

  private redraw(): void {
    write(this.readout, this.tell());
    this.sentences.show();
    for (const panel of this.panels) panel.redraw();
  }

  /** Where the token looks that is pointed at, or in focus. */
  private tell(): string {
    const { looking, say } = this;
    const { map, row } = looking;
    if (map === null || row === null) return say.idle;
    const found = looking
      .strongest(NAMED)
      .map(({ token, weight }) => say.looksAt(`“${name(looking, map.key_side, token)}”`, percent(weight)));
    const query = name(looking, map.query_side, map.query_start + row);
    return found.length === 0 ? `“${query}”` : say.looks(`“${query}”`, found.join(", "));
  }

  /** A full view of what a panel shows; options of that view are those given. */
  private open(view: string, wanted: Readonly<Record<string, string>>): void {
    const { selection } = this.stage;
    const kept = Object.entries(selection.get().options).filter(([name]) => !name.startsWith(`${view}.`));
    const given = Object.entries(wanted).map(([name, value]) => [`${view}.${name}`, value]);
    selection.set({ view, options: Object.fromEntries([...kept, ...given]) });
  }
}

function name(looking: Looking, side: SideName, token: number): string {
  return looking.tokens(side).shown(token).replace("␣", "").trim();
}
