/**
 * Numbers: the interpretability panel. What every head, layer and the whole model measure.
 *
 * In:   scores of the source, measured anew when the threshold moves; statistics for the lines along the text.
 * Out:  cards for the whole model with what each number means, a table that sorts, a grid of all heads.
 */

import type { MetricDescription } from "../../api/types";
import { captionOf, copyText, hasMaps, hasOnlyWeights } from "../../core/focus";
import { significant } from "../../core/formats";
import { formatText } from "../../core/messages";
import { samePlace } from "../../core/place";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import { csv, markTable, saveText } from "../../core/saving";
import type { TableData } from "../../core/view";
import { type Level, measure } from "../../data/measures";
import { button, type Control, choice, slider } from "../../marks/controls";
import { make, relabel, write } from "../../marks/make";
import { OptionControls } from "../../marks/option_controls";
import { inks, sheet } from "../../marks/paper";
import { SortTable, type TableLook } from "../../marks/table";
import { makeCards, writeCards } from "./cards";
import { ALONG, Choices, type NumbersOptions, options } from "./choices";
import { makeChooser } from "./chooser";
import { makeColumns, plainTable } from "./columns";
import { familiesOf, Grids } from "./grids";
import { emptyRows, fillRows, type MeasureRow } from "./measures";
import { Sparks } from "./sparks";
import { type Words, words } from "./words";
import "./style.css";

const PATIENCE = 120; // milliseconds between the slider's last step and the question

export const view = recordingView({
  name: "numbers",
  order: 80,
  words,
  options,
  fits: (subject) => (subject.now.description.difference ? hasMaps(subject) : hasOnlyWeights(subject)),
  mount: (setting) => new NumbersView(setting),
});

class NumbersView extends MountedView<Words, NumbersOptions> {
  private readonly choices = new Choices(this.stage, this.options);
  private readonly controls = new OptionControls(this.options);
  private readonly measuring = this.tasks.asker();
  private readonly cards = make("div", { class: "cards" });
  private readonly state = make("span", { class: "state", role: "status" });
  private readonly tau: ReturnType<typeof slider>;
  private readonly relative: Control<"absolute" | "multiple">;
  private readonly sorted: SortTable<MeasureRow>;
  private readonly grids: Grids;
  private readonly sparks: Sparks;
  private readonly root: HTMLElement;
  private rows: readonly MeasureRow[] = [];
  private heads: readonly MeasureRow[] = []; // for the grid, whatever the level
  private whole: readonly MeasureRow[] = [];
  private several = false; // stacks or kinds

  constructor(setting: Setting<Words, NumbersOptions>) {
    super(setting);
    const { stage, choices, say, tasks } = this;
    this.sparks = new Sparks(stage, () => !tasks.over && this.sorted.window(true), tasks.fail);
    this.grids = new Grids(stage, say, { place: (row) => this.place(row), go: (row) => this.go(row) });
    this.tau = slider(
      {
        label: () => say.threshold,
        minimum: -4,
        maximum: 1,
        step: 0.05,
        value: Math.log10(choices.threshold.tau),
        text: (value) => this.tauWords(significant(10 ** value, 2)),
      },
      (value) => tasks.later("tau", PATIENCE, () => choices.setTau(significant(10 ** value, 2))),
    );
    const kinds = [
      { value: "absolute", text: () => say.absolute },
      { value: "multiple", text: () => say.multiple },
    ] as const;
    this.relative = choice(
      () => say.relative,
      kinds,
      "absolute",
      (value) => choices.setRelative(value === "multiple"),
    );
    this.sorted = new SortTable<MeasureRow>(this.tableLook());
    this.root = this.build();
    stage.element.replaceChildren(this.root);
    this.update();
  }

  update(): void {
    const { choices } = this;
    const { tau, relative } = choices.threshold;
    this.controls.follow();
    this.relative.set(relative ? "multiple" : "absolute");
    this.tau.input.min = relative ? "-1" : "-4";
    this.tau.input.max = relative ? "1" : "-0.3";
    this.tau.set(Math.log10(tau));
    const asked = [...choices.metrics, choices.grid].map(({ name }) => name);
    if (!this.measureAll(JSON.stringify([choices.level, choices.step, tau, relative, asked]))) this.show();
  }

  resize(): void {
    this.sorted.window(true);
  }

  restyle(): void {
    relabel(this.root);
    this.update();
  }

  async picture(): Promise<string> {
    const { theme, language } = this.stage;
    const ink = inks(theme);
    const grids = this.grids.writeSvg(ink);
    const width = Math.max(grids.width, 560);
    const cards = writeCards(this.choices.metrics, this.whole[0], this.say, { language, ink, width });
    return sheet({
      width,
      height: grids.height + 8 + cards.height,
      body: `${grids.body}<g transform="translate(0 ${grids.height + 8})">${cards.body}</g>`,
      title: `${this.say.title} · ${formatText(this.choices.grid.label, language)}`,
      caption: captionOf(this.stage, `${this.say.wholeModel}: ${this.tauWords(this.choices.threshold.tau)}`),
      theme,
    });
  }

  async table(): Promise<TableData> {
    return { caption: this.say.caption(this.say[this.choices.level]), ...this.plain() };
  }

  private build(): HTMLElement {
    const { say, stage, choices } = this;
    const name = `${stage.source.description.id}-numbers.csv`;
    const tools = make(
      "div",
      { class: "tools" },
      button(
        () => say.copy,
        () => void copyText(stage, this.csv()),
      ),
      button(
        () => say.save,
        () => saveText(name, this.csv(), "text/csv"),
      ),
    );
    const metrics = choices.offered
      .filter((metric) => choices.allows(metric))
      .map((metric) => ({ value: metric.name, text: () => formatText(metric.label, stage.language) }));
    const along = ALONG.map((value) => ({ value, text: () => say.alongOf(value) }));
    const levels = { head: () => say.head, layer: () => say.layer, model: () => say.model };
    const threshold = choices.long
      ? [make("p", { class: "state" }, () => say.tooLong)]
      : [this.tau.element, this.relative.element];
    return make(
      "div",
      { class: "numbers-view drawn" },
      make("div", { class: "drawn-bar" }, ...threshold, this.state),
      this.cards,
      make(
        "div",
        { class: "drawn-bar" },
        this.controls.choice("level", () => say.level, levels),
        this.controls.list("along", () => say.along, [{ label: null, options: along }]),
        tools,
      ),
      make(
        "div",
        { class: "body" },
        this.sorted.element,
        make(
          "section",
          { class: "overview" },
          this.controls.list("grid", () => say.grid, [{ label: null, options: metrics }]),
          this.grids.element,
          this.grids.legend,
        ),
      ),
      makeChooser(choices, () => stage.language, say, this.names),
    );
  }

  /** Ask for every chosen metric at the level, for heads and for the model; false: they are asked for already. */
  private measureAll(key: string): boolean {
    const { maps } = this.stage.source.description;
    const { level, step, threshold, metrics, grid } = this.choices;
    const levels = [...new Set<Level>(["model", "head", level])];
    const wanted = new Map(levels.map((each) => [each, emptyRows(maps, each, step)]));
    return this.measuring.ask(
      key,
      (source) => {
        this.root.classList.add("stale");
        this.sayState();
        const fill = async (metric: MetricDescription, each: Level): Promise<void> => {
          const answer = metric.levels.includes(each)
            ? await measure(source, metric, each, threshold)
            : [(language: string) => words(language).notLevel(words(language)[each])];
          fillRows(wanted.get(each)!, metric.name, answer);
        };
        const asked = [...new Set([...metrics, grid])];
        return Promise.all(asked.flatMap((metric) => levels.map((each) => fill(metric, each))));
      },
      () => {
        this.heads = wanted.get("head")!;
        this.several = familiesOf(this.heads).length > 1;
        this.whole = wanted.get("model")!;
        this.rows = wanted.get(level)!;
        this.root.classList.remove("stale");
        this.show();
      },
    );
  }

  private sayState(): void {
    const { step } = this.choices;
    const { measuring, step: stepWords } = this.say;
    const busy = this.root.classList.contains("stale");
    write(this.state, busy ? measuring : step === null ? "" : stepWords(step));
  }

  private show(): void {
    this.sayState();
    const { language, selection } = this.stage;
    const { place, head } = selection.get();
    const row = this.heads.find((each) => samePlace(each.place, place) && each.head === head);
    const here = row === undefined ? null : { row, name: this.place(row) };
    this.cards.replaceChildren(...makeCards(this.choices.metrics, this.whole[0], here, this.say, language));
    this.sorted.show(this.tableLook());
    this.sorted.reveal();
    this.grids.show(this.heads, this.choices.grid);
  }

  private tableLook(): TableLook<MeasureRow> {
    const { say, choices, options } = this;
    const { along, sort } = options.now;
    const { place, head } = this.stage.selection.get();
    const chosen = (row: MeasureRow) =>
      samePlace(row.place, place) && (row.head === null || row.head === head);
    return {
      caption: say.caption(say[choices.level]),
      columns: makeColumns(this.rows, this.rows.find(chosen), choices, along, this.stage.language, say, {
        place: (row) => this.place(row),
        spark: (row) => this.sparks.of(row, along),
      }),
      rows: this.rows,
      sorting: sort,
      none: say.undefined,
      chosen,
      sort: (sorting) => options.set({ sort: sorting }),
      choose: (row) => this.go(row),
    };
  }

  private go(row: MeasureRow): void {
    if (row.place === null) return;
    this.stage.selection.set({ place: row.place, head: row.head ?? "mean" });
    this.stage.announce(this.place(row));
  }

  private plain(): Pick<TableData, "columns" | "rows"> {
    return plainTable(this.sorted.rows(), this.choices.metrics, this.stage.language, this.say, this.names);
  }

  private csv(): string {
    const { mark } = this.stage.source.description.evidence.messages;
    return csv(markTable(this.plain(), mark ? this.stage.text(mark) : ""), "");
  }

  private place(row: MeasureRow): string {
    const { say } = this;
    if (row.layer === null) return say.wholeModel;
    const own = row.head === null ? say.rowLayer(row.layer) : say.rowHead(row.layer, row.head);
    if (!this.several) return own;
    return `${this.names.familyName(row.stack ?? "", row.kind === "cross")} ${own}`;
  }

  private tauWords(tau: number): string {
    const text = String(tau);
    return this.choices.threshold.relative ? this.say.tauRelative(text) : this.say.tauAbsolute(text);
  }
}
