/**
 * The list of training runs: how each stands, the sparkline of its loss, its best score; several can be chosen to overlay.
 *
 * In:   the runs of the server; options "runs.…".
 * Out:  a table that can be searched and sorted. While a run goes on, the list is fetched again every few seconds.
 */

import type { RunEntry } from "../../api/types";
import { count, digits, percent } from "../../core/formats";
import { flag, Options, oneOf } from "../../core/options";
import { isAbort } from "../../core/tasks";
import type { Mounted, Stage, TableData, View } from "../../core/view";
import { introduce, liveWords } from "../../i18n/core";
import { type RunWords, words as runWords } from "../../i18n/runs";
import { spell } from "../../marks/cells";
import { button } from "../../marks/controls";
import { draw, drawText, make, relabel, write } from "../../marks/make";
import { inks, sheet } from "../../marks/paper";
import { refill } from "../../marks/refill";
import { drawSparkline, reach } from "../../marks/sparkline";
import { type Asked, COLUMNS, type Column, chooseRuns, lastLoss, seconds } from "./rows";
import { type Words, words } from "./words";
import "./style.css";

const PAUSE = 3000; // ms between two looks while a run goes on
const PART = 100; // rows that are added at a time
const MOST_DRAWN = 60; // rows in a picture
const STATES = ["running", "finished", "stopped", "failed", "killed"];
const COMMAND = "glassformer train recipes/first.toml --name first";

const options = {
  state: oneOf(["", ...STATES], ""),
  sort: oneOf<Column>([...COLUMNS], "started"),
  up: flag(),
};

type RunsOptions = Omit<Asked, "search">;

export const view: View<"none", RunsOptions> = {
  name: "runs",
  order: 108,
  ...introduce(words),
  needs: "none",
  panel: false,
  transport: false,
  options,
  fits: () => true,
  mount: (stage) => new RunTable(stage),
};

class RunTable implements Mounted {
  private readonly say: Words;
  private readonly common: RunWords;
  private readonly options: Options<RunsOptions>;
  private readonly search: HTMLInputElement;
  private readonly state: HTMLSelectElement;
  private readonly found = make("span", { class: "found", role: "status" });
  private readonly overlay: HTMLButtonElement;
  private readonly clear: HTMLButtonElement;
  private readonly head = make("tr");
  private readonly body = make("tbody");
  private readonly grid: HTMLTableElement;
  private readonly note = make("div", { class: "note" });
  private readonly more: HTMLButtonElement;
  private readonly chosen = new Set<string>();
  private readonly rows = new Map<string, { readonly key: string; readonly row: HTMLElement }>(); // drawn before
  private runs: readonly RunEntry[] | null = null;
  private shown = PART;
  private dates: { readonly language: string; readonly format: Intl.DateTimeFormat } | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly stage: Stage<"none">) {
    const language = () => stage.language;
    this.say = liveWords(words, language);
    this.common = liveWords(runWords, language);
    this.options = new Options("runs", options, stage.selection);
    const { say } = this;
    this.search = make("input", {
      type: "search",
      "aria-label": () => say.search,
      placeholder: () => say.search,
      oninput: () => this.draw(),
    });
    this.state = make(
      "select",
      { "aria-label": () => say.states, onchange: () => this.options.set({ state: this.state.value }) },
      make("option", { value: "" }, () => `${say.states}: ${say.anyState}`),
      ...STATES.map((state) => make("option", { value: state }, () => this.common.state(state))),
    );
    this.overlay = button("", () => this.open([...this.chosen]));
    this.overlay.classList.add("primary");
    this.clear = button(
      () => say.clear,
      () => {
        this.chosen.clear();
        this.draw();
      },
    );
    this.more = button("", () => {
      this.shown += PART;
      this.draw();
    });
    this.grid = make("table", { "aria-label": () => say.title }, make("thead", {}, this.head), this.body);
    stage.element.replaceChildren(
      make(
        "div",
        { class: "drawn runs-view" },
        make("div", { class: "drawn-bar" }, this.search, this.state, this.found, this.overlay, this.clear),
        this.note,
        make("div", { class: "scroll" }, this.grid),
        this.more,
      ),
    );
    this.draw();
    void this.fetchRuns();
  }

  update(): void {
    this.draw();
  }

  resize(): void {}

  restyle(): void {
    this.rows.clear();
    relabel(this.stage.element);
    this.draw();
  }

  unmount(): void {
    clearTimeout(this.timer);
    this.stage.element.replaceChildren();
  }

  async picture(): Promise<string> {
    const { theme } = this.stage;
    const ink = inks(theme);
    const places = [0, 190, 270, 390, 470, 580, 650, 760, 850];
    const names = COLUMNS.map((name) => this.say.column(name));
    const group = draw("g");
    const write = (cells: readonly string[], y: number, fill: string): void => {
      cells.forEach((cell, at) => void group.append(drawText(cell, places[at]!, y, fill)));
    };
    write(names, 12, ink.soft);
    const drawn = this.wanted().slice(0, MOST_DRAWN);
    drawn.forEach((run, at) => {
      const y = 34 + at * 22;
      const cells = this.cells(run);
      write(
        COLUMNS.map((name) =>
          name === "name" && cells.name.length > 28 ? `${cells.name.slice(0, 27)}…` : cells[name],
        ),
        y,
        ink.ink,
      );
      const line = this.sparkline(run, ink.accent);
      if (line) {
        const place = { transform: `translate(320 ${y - 14}) scale(0.6 0.8)` };
        group.append(draw("g", place, ...line.children));
      }
    });
    const height = 40 + drawn.length * 22;
    const about = [this.say.found(count(drawn.length), count(this.runs?.length ?? 0))];
    return sheet({ width: 900, height, body: spell(group), title: this.say.title, caption: about, theme });
  }

  async table(): Promise<TableData> {
    const rows = this.wanted().map((run) => [
      run.id,
      run.state,
      lastLoss(run),
      run.score_name,
      run.score ?? null,
      run.last_step,
      run.started === null ? null : new Date(1000 * run.started).toISOString(),
      seconds(run),
      run.alarms,
    ]);
    const names = COLUMNS.flatMap((name) =>
      name === "score" ? [this.say.column("score"), ""] : [this.say.column(name)],
    );
    return { caption: this.say.about, columns: names, rows };
  }

  // Fetching

  private async fetchRuns(): Promise<void> {
    const { runs } = this.stage;
    if (!runs) return;
    try {
      this.runs = await runs.list(this.stage.signal);
    } catch (error) {
      if (isAbort(error)) return;
      if (this.runs === null) {
        this.stage.fail(error);
        return;
      } // a later one is tried again
    }
    if (this.stage.signal.aborted) return;
    this.draw();
    if (this.runs?.some(({ state, indexing }) => state === "running" || indexing !== null))
      this.timer = setTimeout(() => void this.fetchRuns(), PAUSE);
  }

  // Drawing

  private wanted(): RunEntry[] {
    return chooseRuns(this.runs ?? [], { ...this.options.now, search: this.search.value });
  }

  private draw(): void {
    const { say, runs } = this;
    const now = this.options.now;
    this.state.value = now.state;
    const wanted = this.wanted();
    const known = new Set(runs?.map(({ id }) => id));
    if (runs) for (const id of this.chosen) if (!known.has(id)) this.chosen.delete(id);
    refill(this.head, make("td"), ...COLUMNS.map((name) => this.drawHeading(name)));
    this.placeRows(wanted.slice(0, this.shown).map((run) => this.drawRow(run)));
    const rest = wanted.length - this.shown;
    this.more.hidden = rest <= 0;
    this.more.textContent = say.more(count(Math.min(PART, rest)));
    write(this.found, runs ? say.found(count(wanted.length), count(runs.length)) : "");
    this.grid.hidden = wanted.length === 0;
    refill(this.note, ...this.explain(wanted.length));
    const chosen = this.chosen.size;
    this.overlay.hidden = this.clear.hidden = chosen === 0;
    this.overlay.textContent = say.overlay(count(chosen));
  }

  private explain(shown: number): (HTMLElement | string)[] {
    const { say, runs } = this;
    if (!this.stage.runs) return [say.notHere];
    if (runs?.length === 0) return [make("p", {}, say.none), make("pre", { tabindex: 0 }, COMMAND)];
    return runs && shown === 0 ? [say.nothingFound] : [];
  }

  private drawHeading(name: Column): HTMLElement {
    const { sort, up } = this.options.now;
    const isSorted = sort === name;
    const sorter = make(
      "button",
      {
        type: "button",
        "data-key": name,
        onclick: () =>
          this.options.set({ sort: name, up: isSorted ? !up : name === "name" || name === "loss" }),
      },
      this.say.column(name),
      isSorted && make("span", { "aria-hidden": "true" }, up ? " ▲" : " ▼"),
    );
    const order = isSorted ? (up ? "ascending" : "descending") : "none";
    return make("th", { scope: "col", "data-column": name, "aria-sort": order }, sorter);
  }

  /** Rows that are in their place stay there: one that is moved loses the focus. */
  private placeRows(rows: readonly HTMLElement[]): void {
    const wanted = new Set<Element>(rows);
    for (const row of [...this.body.children]) if (!wanted.has(row)) row.remove();
    rows.forEach((row, at) => {
      const there = this.body.children[at] ?? null;
      if (there !== row) this.body.insertBefore(row, there);
    });
  }

  private drawRow(run: RunEntry): HTMLElement {
    const isChosen = this.chosen.has(run.id);
    const key = JSON.stringify(run);
    const known = this.rows.get(run.id);
    const row = known?.row ?? this.makeRow(run);
    if (known && known.key !== key) {
      const fresh = this.makeRow(run);
      refill(row, ...fresh.children);
      Object.assign(row.dataset, fresh.dataset);
    }
    this.rows.set(run.id, { key, row });
    row.querySelector("input")!.checked = isChosen;
    row.toggleAttribute("data-chosen", isChosen);
    row.toggleAttribute("data-alarmed", run.alarms > 0);
    return row;
  }

  private makeRow(run: RunEntry): HTMLElement {
    const { say } = this;
    const box = make("input", {
      type: "checkbox",
      "aria-label": say.choose(run.id),
      onchange: () => {
        if (box.checked) this.chosen.add(run.id);
        else this.chosen.delete(run.id);
        this.draw();
      },
    });
    const cells = this.cells(run);
    const line = this.sparkline(run, "var(--accent)");
    line?.setAttribute("role", "img");
    line?.removeAttribute("aria-hidden");
    line?.setAttribute("aria-label", say.sparkline(run.id, cells.loss));
    const opener = make(
      "button",
      { type: "button", class: "run-name", onclick: () => this.open([run.id]) },
      cells.name,
    );
    return make(
      "tr",
      { "data-run": run.id, "data-state": run.state },
      make("td", {}, box),
      ...COLUMNS.map((name) => {
        const content =
          name === "name"
            ? opener
            : name === "state"
              ? make("span", { class: "run-state" }, cells.state)
              : name === "loss"
                ? make("span", { class: "spark" }, line, cells.loss)
                : cells[name];
        return make("td", { "data-column": name, "data-label": say.column(name) }, content);
      }),
    );
  }

  /** What the columns say of a run. */
  private cells(run: RunEntry): Readonly<Record<Column, string>> {
    const { say, common, stage } = this;
    if (this.dates?.language !== stage.language) {
      const format = new Intl.DateTimeFormat(stage.language, { dateStyle: "medium", timeStyle: "short" });
      this.dates = { language: stage.language, format }; // takes long to make
    }
    const date = this.dates.format;
    const loss = lastLoss(run);
    return {
      name: run.shipped ? say.example(run.id) : run.id,
      state: run.indexing === null ? common.state(run.state) : say.indexing(percent(run.indexing ?? 0)),
      loss: loss === null ? say.noValue : digits(loss),
      score: run.score_name === null ? say.noValue : say.score(run.score_name, digits(run.score)),
      steps: count(run.last_step),
      started: run.started === null ? say.noValue : date.format(1000 * run.started),
      time: this.duration(seconds(run)),
      alarms: run.alarms === 0 ? say.noValue : count(run.alarms),
    };
  }

  private duration(value: number | null): string {
    const { say } = this;
    if (value === null) return say.noValue;
    const whole = (unit: number, most = Infinity): string => count(Math.floor(value / unit) % most);
    if (value < 60) return say.seconds(whole(1));
    if (value < 3600) return say.minutes(whole(60));
    return value < 86_400 ? say.hours(whole(3600), whole(60, 60)) : say.days(whole(86_400), whole(3600, 24));
  }

  private sparkline({ loss }: RunEntry, ink: string): SVGSVGElement | null {
    const domain = reach(loss);
    if (!domain || loss.length < 2) return null;
    const values = Float64Array.from(loss, (value) => value ?? Number.NaN);
    return drawSparkline(values, {
      width: 96,
      height: 24,
      ink,
      domain: domain[1] > domain[0] ? domain : [0, 1],
    });
  }

  private open(ids: readonly string[]): void {
    this.stage.selection.set({ recording: "", beside: "", run: ids.join(","), step: null, view: "curves" });
  }
}
