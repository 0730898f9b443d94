/**
 * What a chart plots: curves with names, colours and smoothing, marks at alarms, a legend with values.
 *
 * In:   the data of a chart, runs, what is chosen.
 * Out:  what marks/curves draws, in the page or in a saved picture.
 */

import type { RunDescription } from "../../api/types";
import { count, digits } from "../../core/formats";
import type { StepSpan } from "../../core/step_span";
import type { Stage } from "../../core/view";
import type { RunWords } from "../../i18n/runs";
import { headColour } from "../../marks/colours";
import { type Curve, type CurveMark, type CurvePlan, valueNear } from "../../marks/curves";
import { type Inks, SCREEN } from "../../marks/paper";
import type { Plot } from "./chart";
import { type ChartData, type Series, smoothed, titleOf } from "./charts";
import type { Words } from "./words";

export const TALL = 210; // pixels of a chart

export interface Look {
  readonly smoothing: number;
  readonly logy: boolean;
  readonly logx: boolean;
}

export class Plots {
  private readonly smooth = new WeakMap<Series, { readonly kept: number; readonly values: Float64Array }>();

  constructor(
    private readonly stage: Stage<"runs">,
    private readonly say: Words,
    private readonly common: RunWords,
    private readonly runs: () => readonly RunDescription[],
  ) {}

  plot(data: ChartData, look: Look, span: StepSpan, width: number, ink: Inks): Plot {
    const curves = data.series.flatMap((series): Curve[] => {
      const { steps, values, low, high, split } = series;
      const dashed = split !== "train";
      const curve = { name: this.nameOf(series), ink: this.inkOf(data, series), steps, values, dashed };
      if (look.smoothing === 0 || dashed) return [{ ...curve, low, high }];
      return [
        { ...curve, low, high, faint: true },
        { ...curve, values: this.smoothValues(series, look.smoothing) },
      ];
    });
    return [
      curves,
      {
        width,
        height: TALL,
        inks: ink,
        title: titleOf(data.name, this.say),
        span,
        logX: look.logx,
        logY: look.logy,
        marks: data.name === "loss" ? this.marks(ink) : [],
        focus: this.stage.selection.get().step,
        legend: this.legend(data, curves, span, ink),
      },
    ];
  }

  /** A curve by the run, where there are several, and by its split or part. */
  nameOf({ run, split, part }: Series, several = this.runs().length > 1): string {
    const id = several ? [this.runs()[run]!.id] : [];
    return [...id, part === "" ? this.say.split(split) : part].join(" · ");
  }

  inkOf({ series }: ChartData, { run, split, part }: Series): string {
    const { theme } = this.stage;
    if (this.runs().length > 1) return headColour(run, theme);
    const parts = [...new Set(series.map((each) => each.part))];
    if (parts.length > 1) return headColour(parts.indexOf(part), theme);
    return headColour(split === "train" ? 0 : split === "dev" ? 1 : 2, theme);
  }

  private smoothValues(series: Series, kept: number): Float64Array {
    const known = this.smooth.get(series);
    if (known?.kept === kept) return known.values;
    const values = smoothed(series, kept);
    this.smooth.set(series, { kept, values });
    return values;
  }

  /** Curves with their last values; several runs have their colours above the charts, and dashes tell splits apart. */
  private legend(
    { series }: ChartData,
    curves: readonly Curve[],
    span: StepSpan,
    { soft }: Inks,
  ): CurvePlan["look"]["legend"] {
    if (this.runs().length > 1) {
      const splits = [...new Set(series.map(({ split }) => split))];
      return splits.map((split) => ({ name: this.say.split(split), ink: soft, dashed: split !== "train" }));
    }
    const step = this.stage.selection.get().step ?? span[1];
    return curves
      .filter(({ faint }) => !faint)
      .map((curve) => ({ ...curve, name: `${curve.name} ${this.valueAt(curve, step)}` }));
  }

  /** The value of a curve; of a point that stands for several steps, their mean, and marked as that. */
  private valueAt({ steps, values, low, high }: Curve, step: number): string {
    const near = (numbers: Curve["values"]) => valueNear({ steps, values: numbers }, step)?.[1];
    const coarse = low && high && near(low) !== near(high);
    return `${coarse ? "≈ " : ""}${digits(near(values))}`;
  }

  private marks(paper: Inks): CurveMark[] {
    const { stage, common } = this;
    const several = this.runs().length > 1;
    return this.runs().flatMap((run, at) =>
      run.alarm_list.map(({ first_step, last_step, message }) => ({
        step: first_step,
        until: last_step,
        text: `${common.stepIs(count(first_step))}: ${stage.text(message)}`,
        ink: several ? headColour(at, stage.theme) : paper === SCREEN ? "var(--warn)" : paper.accent,
      })),
    );
  }
}
