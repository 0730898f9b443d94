/**
 * The third and the fourth panel: tokens as points, before the first layer and after the chosen one.
 *
 * In:   hidden states of a stack after a layer.
 * Out:  a cloud that glides from layer to layer; tokens that are looked at have a disc behind them.
 */

import type { HiddenDescription } from "../../api/types";
import { count, percent } from "../../core/formats";
import type { LinkedCamera } from "../../core/linked_camera";
import type { Projection } from "../../core/maths/projection";
import { procrustes, type Turn, turnPoints, UNTURNED } from "../../core/maths/turn";
import type { Setting } from "../../core/recording_view";
import { errorText } from "../../core/source";
import { Projections } from "../../data/states";
import { Cloud, type CloudLook } from "../../marks/cloud";
import { consume, moveInList, ZOOMS } from "../../marks/keys";
import { make } from "../../marks/make";
import type { Inks } from "../../marks/paper";
import { type CanvasOptions, linkPanel } from "./cameras";
import type { Looking } from "./looking";
import { type Drawing, Frame, type Panel } from "./panel";
import type { Words } from "./words";

const MOST = 2000; // points
const STEP = 1.5; // of zooming

/** Which states a panel shows, and what they are called. */
export interface Plane {
  readonly name: "input" | "output";
  readonly hidden: HiddenDescription;
  layer(): number; // layers passed
  title(): string;
}

export class PointsPanel implements Panel {
  readonly frame: Frame;
  readonly hidden: HiddenDescription;
  private readonly loading;
  private readonly cloud: Cloud;
  private readonly camera: LinkedCamera;
  private readonly projections: Projections;
  private projection: Projection | null = null;
  private turned: Float64Array | null = null;
  private turn: Turn = UNTURNED;

  constructor(
    private readonly setting: Setting<Words, CanvasOptions>,
    private readonly looking: Looking,
    private readonly plane: Plane,
    open: () => void,
  ) {
    const { stage, say, tasks } = setting;
    this.loading = tasks.asker((error) => this.frame.say(stage.text(errorText(error))));
    this.hidden = plane.hidden;
    const { side, tokens } = this.hidden;
    this.projections = new Projections(this.hidden, 0, Math.min(MOST, tokens));
    const handlers = {
      hover: (point: number | null) => looking.point(side, point),
      choose: (point: number) => looking.choose(this.hidden, point),
      key: (event: KeyboardEvent) => this.press(event),
      moved: () => this.camera.moved(),
    };
    this.cloud = new Cloud(() => say.cloud(plane.title()), handlers, true);
    this.camera = linkPanel(setting, plane.name, this.cloud);
    const body = make("div", { class: "canvas-points" }, this.cloud.element);
    this.frame = new Frame(plane.name, body, () => say.enlarge(plane.title()), open);
  }

  get layer(): number {
    return this.plane.layer();
  }

  /** Where a token lies; null until that is known. */
  place(token: number): readonly [number, number] | null {
    const { projection } = this;
    if (projection === null || token >= this.projections.count) return null;
    return [projection.points[2 * token]!, projection.points[2 * token + 1]!];
  }

  update(): void {
    const { stage } = this.setting;
    const { layer } = this;
    this.camera.follow();
    this.tell();
    const asked = this.loading.ask(
      String(layer),
      (source, signal) => this.projections.projection(source, signal, layer, "pca"),
      (projection) => {
        this.frame.say(null);
        const before = this.turned;
        this.projection = projection;
        this.turn = before === null ? UNTURNED : procrustes(projection.points, before);
        this.turned = turnPoints(projection.points, this.turn);
        this.cloud.show(this.turned, this.look(), before !== null && !stage.reducedMotion);
        this.tell();
      },
    );
    if (!asked) this.redraw();
  }

  redraw(): void {
    const mark = this.looking.mark(this.hidden.side);
    this.cloud.mark(mark !== null && mark < this.projections.count ? mark : null);
    this.cloud.redraw(this.look());
  }

  zoom(direction: -1 | 0 | 1): void {
    if (direction === 0) this.cloud.reset();
    else this.cloud.zoomBy(STEP ** direction);
  }

  async write(inks: Inks): Promise<Drawing> {
    const [width, height] = [420, 320];
    await this.looking.tokens(this.hidden.side).load(0, this.projections.count);
    return { body: this.cloud.write(width, height, inks), width, height };
  }

  unmount(): void {
    this.cloud.unmount();
  }

  private look(): CloudLook {
    const { looking, hidden, projection } = this;
    const names = looking.tokens(hidden.side);
    const focus = looking.focus(hidden.side);
    const shares = projection?.shares ?? null;
    return {
      theme: this.setting.stage.theme,
      focus: focus !== null && focus < this.projections.count ? focus : null,
      turn: shares === null ? null : this.turn,
      axes: ["", ""],
      label: (point) => names.shown(point),
      weight: (point) => looking.weight(hidden.side, point),
    };
  }

  private tell(): void {
    const { say, names } = this.setting;
    const { hidden, projection, projections } = this;
    const { layers, tokens, stack } = hidden;
    const parts = [names.stackName(stack)];
    if (layers > 1) parts.push(say.ofLayers(this.layer, layers - 1));
    const [first, second] = projection?.shares ?? [];
    parts.push(
      first === undefined || second === undefined ? say.plane : say.shares(percent(first), percent(second)),
    );
    if (projections.count < tokens) parts.push(say.some(count(projections.count), count(tokens)));
    this.frame.name(this.plane.title(), parts.join(" · "));
  }

  private press(event: KeyboardEvent): void {
    const { side } = this.hidden;
    const zoom = ZOOMS[event.key];
    const focus = this.looking.focus(side) ?? -1;
    const point = moveInList(event.key, focus, this.projections.count, "both");
    if (zoom) this.zoom(zoom);
    else if (point === undefined) return;
    else {
      this.looking.choose(this.hidden, point);
      this.setting.stage.announce(this.looking.tokens(side).shown(point));
    }
    consume(event);
  }
}
