/**
 * The first panel: every token after every layer of the encoder, or of the stack that the model has instead.
 *
 * In:   hidden states, as changes from layer to layer.
 * Out:  a field of cells; tokens that are looked at have a bar behind their names.
 */

import type { HiddenDescription } from "../../api/types";
import { encoderHidden, layerInFocus } from "../../core/focus";
import type { LinkedCamera } from "../../core/linked_camera";
import type { Setting } from "../../core/recording_view";
import { errorText } from "../../core/source";
import { readActivations } from "../../data/states";
import type { ColourScale } from "../../marks/cells";
import { sequential } from "../../marks/colours";
import { type Cell, Field, layerScales, type Shown } from "../../marks/field";
import { make } from "../../marks/make";
import type { Inks } from "../../marks/paper";
import { type CanvasOptions, linkPanel } from "./cameras";
import type { Looking } from "./looking";
import { type Drawing, Frame, type Panel } from "./panel";
import type { Words } from "./words";

const MOST_IN_PICTURE = 24;

export class StatesPanel implements Panel {
  readonly frame: Frame;
  readonly hidden: HiddenDescription;
  private readonly loading;
  private readonly field: Field;
  private readonly camera: LinkedCamera;
  private values: Float32Array | null = null; // (layer, token)
  private scales: readonly ColourScale[] = [];

  constructor(
    private readonly setting: Setting<Words, CanvasOptions>,
    private readonly looking: Looking,
    open: () => void,
  ) {
    const { stage, say, names, tasks } = setting;
    this.loading = tasks.asker((error) => this.frame.say(stage.text(errorText(error))));
    this.hidden = encoderHidden(stage, null);
    const { side, stack } = this.hidden;
    const walk = (token: number): void => {
      looking.choose(this.hidden, token);
      stage.announce(looking.tokens(side).shown(token));
    };
    const handlers = {
      shown: () => this.shown(),
      hover: (cell: Cell | null) => looking.point(side, cell?.token ?? null),
      choose: ({ token }: Cell) => looking.choose(this.hidden, token),
      walk: ({ token }: Cell) => walk(token),
      zoomed: () => this.camera.moved(),
    };
    this.field = new Field(say, handlers, true);
    this.camera = linkPanel(setting, "encoder", this.field);
    const body = make("div", { class: "canvas-states" }, this.field.axis, this.field.element);
    this.frame = new Frame("encoder", body, () => say.enlarge(names.stackName(stack)), open);
  }

  /** What colours the cells: a single plane has not changed. */
  get by(): "change" | "norm" {
    return this.hidden.layers > 1 ? "change" : "norm";
  }

  get layer(): number {
    return layerInFocus(this.setting.stage, this.hidden) ?? this.hidden.layers - 1;
  }

  value(layer: number, token: number): number | null {
    if (this.values === null || (layer === 0 && this.by === "change")) return null;
    return this.values[layer * this.hidden.tokens + token] ?? null;
  }

  update(): void {
    const { say, names } = this.setting;
    const { stack } = this.hidden;
    this.frame.name(names.stackName(stack), say[this.by]);
    this.frame.colours(sequential(this.setting.stage.theme), say.least, say.most);
    const asked = this.loading.ask(
      stack,
      (source) => readActivations(source, stack, this.by),
      (values) => {
        this.frame.say(null);
        this.values = values;
        this.colour();
        this.redraw();
      },
    );
    if (!asked) this.colour();
    this.camera.follow();
    this.field.reveal();
    this.redraw();
  }

  redraw(): void {
    this.field.redraw();
  }

  zoom(direction: -1 | 0 | 1): void {
    this.field.zoom(direction);
  }

  async write(inks: Inks): Promise<Drawing> {
    const { layers, tokens, side } = this.hidden;
    const first = Math.max(0, Math.min(this.field.first(), tokens - MOST_IN_PICTURE));
    const rows = Math.min(tokens - first, MOST_IN_PICTURE);
    await this.looking.tokens(side).load(first, first + rows);
    return this.field.write(first, first + rows, Math.min(40, 280 / layers), inks);
  }

  unmount(): void {
    this.field.unmount();
  }

  private colour(): void {
    const { theme } = this.setting.stage;
    const look = { each: true, from: 0, kind: "sequential", log: false, theme } as const;
    this.scales = layerScales(this.values, this.hidden.layers, look);
  }

  private shown(): Shown {
    const { hidden, looking, scales, values } = this;
    const { tokens, layers, side } = hidden;
    const names = looking.tokens(side);
    const focus = looking.focus(side);
    return {
      tokens,
      layers,
      focus: focus === null || focus >= tokens ? null : focus,
      layer: layerInFocus(this.setting.stage, hidden) ?? -1, // that of another stack is none of these
      colour: (layer, token) => scales[layer]?.css(this.value(layer, token)) ?? null,
      mean: (chosen, from, to) => {
        const layer = chosen < 0 ? layers - 1 : chosen;
        let sum = 0;
        for (let token = from; token < to; token++) sum += values?.[layer * tokens + token] ?? Number.NaN;
        return scales[layer]?.css(sum / (to - from)) ?? null;
      },
      label: (token) => names.shown(token),
      special: (token) => names.isSpecial(token),
      weight: (token) => looking.weight(side, token),
      marked: looking.mark(side),
    };
  }
}
