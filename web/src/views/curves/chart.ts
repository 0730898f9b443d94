/**
 * One chart of curves in the page: painted on a canvas below its axes and marks; zoomed, dragged and pointed at.
 *
 * In:   what is plotted; what gestures do.
 * Out:  an element that stays while it is drawn again, so that a drag goes on.
 */

import {
  type CurveMark,
  type CurvePlan,
  drawFrame,
  namesBelow,
  paintCurves,
  type planCurves,
} from "../../marks/curves";
import { listen, pointIn } from "../../marks/gestures";
import { make } from "../../marks/make";
import type { ChartData } from "./charts";

export type Plot = Parameters<typeof planCurves>;

const MARKS = 34; // pixels at the top where marks can be tapped
const NEAR = 10; // pixels beside a mark
const SHORTEST = 6; // pixels of a drag that chooses steps

/** What gestures do; places are steps. */
export interface ChartActions {
  zoomAt(step: number, factor: number): void;
  pan(by: number): void;
  choose(first: number, last: number): void;
  showAll(): void;
  point(chart: Chart, step: number | null): void;
  tap(step: number, mark: CurveMark | undefined): void;
  /** Whether all steps are shown: then a drag chooses some of them. */
  isWhole(): boolean;
}

export class Chart {
  readonly element: HTMLElement;
  plan: CurvePlan | null = null;
  private readonly canvas = make("canvas", { "aria-hidden": "true" });
  private readonly frame = make("div", { class: "frame" }); // axes and marks
  private readonly cursor = make("div", { class: "cursor", hidden: true }); // a line at the step under the pointer
  private readonly brush = make("div", { class: "brush", hidden: true });
  private readonly area = make("div", { class: "area" }, this.frame, this.canvas, this.cursor, this.brush);
  private readonly key = make("figcaption"); // names of curves, where they do not fit beside the title
  private readonly life = new AbortController();
  private from: number | null = null; // where a drag over all steps began

  constructor(
    public data: ChartData,
    private readonly act: ChartActions,
  ) {
    this.element = make("figure", { class: "chart", "data-chart": data.name }, this.area, this.key);
    const stop = listen(this.area, {
      zoom: (x, _, factor) => act.zoomAt(this.step(x), factor),
      pan: (dx) => {
        if (!act.isWhole() && this.from === null) act.pan(this.step(0) - this.step(dx));
      },
      hover: (x) => act.point(this, Math.round(this.step(x))),
      leave: () => act.point(this, null),
      tap: (x, y) => {
        if (!this.plan) return;
        const mark = this.markNear(x, y);
        act.tap(mark?.step ?? Math.round(this.step(x)), mark);
      },
    });
    this.life.signal.addEventListener("abort", stop);
    this.listenToDrags();
  }

  draw(data: ChartData, plan: CurvePlan): void {
    [this.data, this.plan] = [data, plan];
    this.frame.replaceChildren(drawFrame(plan));
    paintCurves(this.canvas, plan);
    this.key.style.setProperty("max-width", `${plan.look.width}px`);
    this.key.replaceChildren(
      ...namesBelow(plan).map(({ name, ink }) =>
        make("span", {}, make("span", { class: "dot", style: { background: ink } }), name),
      ),
    );
  }

  /** Show where a step is; null: none. */
  mark(step: number | null): void {
    this.cursor.hidden = step === null;
    if (step !== null && this.plan)
      this.cursor.style.setProperty("transform", `translateX(${Math.round(this.plan.across(step))}px)`);
  }

  remove(): void {
    this.life.abort();
    this.element.remove();
  }

  private step(x: number): number {
    return this.plan?.across.back(x) ?? 0;
  }

  private markNear(x: number, y: number): CurveMark | undefined {
    const { plan } = this;
    if (!plan || y > MARKS) return undefined;
    const distance = ({ step }: CurveMark): number => Math.abs(plan.across(step) - x);
    return plan.look.marks
      .filter((mark) => distance(mark) <= NEAR)
      .sort((a, b) => distance(a) - distance(b))[0];
  }

  private listenToDrags(): void {
    const { area, brush, act } = this;
    const { signal } = this.life;
    const stretch = (event: PointerEvent, from: number): readonly [number, number] => {
      const { x } = pointIn(area, event);
      return [Math.min(from, x), Math.max(from, x)];
    };
    const down = (event: PointerEvent): void => {
      if (event.button === 0 && event.pointerType !== "touch" && act.isWhole())
        this.from = pointIn(area, event).x;
    };
    const move = (event: PointerEvent): void => {
      if (this.from === null) return;
      const [left, right] = stretch(event, this.from);
      brush.hidden = right - left < SHORTEST;
      brush.style.setProperty("left", `${left}px`);
      brush.style.setProperty("width", `${right - left}px`);
    };
    const up = (event: PointerEvent): void => {
      if (this.from === null) return;
      const [left, right] = stretch(event, this.from);
      this.from = null;
      brush.hidden = true;
      if (right - left >= SHORTEST) act.choose(this.step(left), this.step(right));
    };
    area.addEventListener("pointerdown", down, { signal });
    area.addEventListener("pointermove", move, { signal });
    area.addEventListener("pointerup", up, { signal });
    area.addEventListener("dblclick", () => act.showAll(), { signal });
  }
}
