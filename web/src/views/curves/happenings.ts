/**
 * What happened in runs: their alarms, which open heads and steps, and events such as a start or a best score.
 *
 * In:   runs; what shows a step.
 * Out:  two lists; those that were open stay so.
 */

import type { RunAlarm, RunDescription } from "../../api/types";
import { count } from "../../core/formats";
import type { Names } from "../../core/recording_view";
import type { Stage } from "../../core/view";
import type { RunWords } from "../../i18n/runs";
import { drawAlarms } from "../../marks/alarms";
import { headColour } from "../../marks/colours";
import { button } from "../../marks/controls";
import { make } from "../../marks/make";
import { refill } from "../../marks/refill";
import type { Words } from "./words";

const MOST_LISTED = 200; // alarms, events

export class Happenings {
  readonly alarms = make("section", { class: "alarms" });
  readonly events = make("section", { class: "events" });

  constructor(
    private readonly stage: Stage<"runs">,
    private readonly say: Words,
    private readonly common: RunWords,
    private readonly names: Names,
    private readonly runs: () => readonly RunDescription[],
    private readonly focus: (step: number) => void,
  ) {}

  /** All alarms in order of steps, each with the number of its run. */
  all(): { readonly alarm: RunAlarm; readonly run: number }[] {
    return this.runs()
      .flatMap(({ alarm_list }, run) => alarm_list.map((alarm) => ({ alarm, run })))
      .sort((a, b) => a.alarm.first_step - b.alarm.first_step);
  }

  /** Bring the alarm of the step in focus into sight, and say it. */
  open(): void {
    const { step } = this.stage.selection.get();
    const found = this.all().find(({ alarm }) => alarm.first_step === step);
    if (!found) return;
    this.drawAlarms();
    this.alarms.querySelector("[data-chosen]")?.scrollIntoView?.({ block: "nearest" });
    this.stage.announce(`${this.common.stepIs(count(step!))}: ${this.stage.text(found.alarm.message)}`);
  }

  drawAlarms(): void {
    const { stage, common } = this;
    const { step } = stage.selection.get();
    const runs = this.runs();
    const items = this.all()
      .reverse()
      .slice(0, MOST_LISTED)
      .map(({ alarm, run }) => {
        const { cause, first_step, last_step, passed_at } = alarm;
        const { id } = runs[run]!;
        return {
          key: `alarm ${id} ${first_step} ${cause}`,
          name: stage.text({ code: `term.${cause.replaceAll("_", " ")}`, parameters: {}, default: cause }),
          when: common.steps(count(first_step), count(last_step)),
          end: passed_at === null ? common.open : common.passed(count(passed_at)),
          open: passed_at === null,
          text: stage.text(alarm.message),
          run: runs.length > 1 ? { name: id, ink: headColour(run, stage.theme) } : null,
          chosen: first_step === step,
          show: () => this.focus(first_step),
          heads: alarm.heads.map((heads) => ({
            text: common.headsOf(
              this.names.mapName(heads.place.stack, heads.place.layer, heads.place.kind === "cross"),
              heads.heads.map((head) => `H${head}`).join(" "),
            ),
            title: common.openHeads,
            show: () => this.openHeads(heads, run, first_step),
          })),
        };
      });
    refill(
      this.alarms,
      make("h2", {}, common.alarms),
      items.length === 0 ? make("p", {}, common.noAlarms) : drawAlarms(items),
    );
  }

  private openHeads({ place, heads }: RunAlarm["heads"][number], run: number, step: number): void {
    const { selection } = this.stage;
    const { "learning.run": _, ...options } = selection.get().options;
    selection.set({
      options: run === 0 ? options : { ...options, "learning.run": String(run) },
      view: "learning",
      place: { stack: place.stack, kind: place.kind, layer: place.layer, step: null },
      ...(heads[0] === undefined ? {} : { head: heads[0] }),
      step,
    });
  }

  drawEvents(): void {
    const { say, stage, common } = this;
    const runs = this.runs();
    const items = runs
      .flatMap((run) => run.events.map((event) => ({ event, run })))
      .sort((a, b) => b.event.step - a.event.step)
      .slice(0, MOST_LISTED)
      .map(({ event, run }) => {
        const words = `${runs.length > 1 ? `${run.id}: ` : ""}${stage.text(event.message)}`;
        const go = button(common.stepIs(count(event.step)), () => this.focus(event.step));
        go.classList.add("small", "quiet");
        go.dataset.key = `event ${run.id} ${event.step} ${event.kind}`;
        return make("li", { "data-kind": event.kind }, go, make("span", {}, words));
      });
    refill(
      this.events,
      make(
        "details",
        { "data-key": "events" },
        make("summary", { "data-key": "events summary" }, `${say.events} (${count(items.length)})`),
        make("ul", {}, ...items),
      ),
    );
  }
}
