/**
 * Searches for the best configuration: the best one with its evidence, what mattered, and every trial.
 *
 * In:   the searches of the server; options "search.…".
 * Out:  a table of settings, charts and a table of trials. While a search goes on, it is fetched again every few seconds.
 */

import type { SearchDescription, SearchEntry } from "../../api/types";
import { joinSentences } from "../../core/focus";
import { count, figure } from "../../core/formats";
import { flag, Options, text } from "../../core/options";
import { isAbort } from "../../core/tasks";
import type { Mounted, Stage, TableData, View } from "../../core/view";
import { introduce, liveWords } from "../../i18n/core";
import { spell } from "../../marks/cells";
import { draw, make, relabel, write } from "../../marks/make";
import { inks, sheet } from "../../marks/paper";
import { refill } from "../../marks/refill";
import { BestAttention } from "./attention";
import { describeBest, drawBest } from "./best";
import { drawFront, drawHistory, drawImportance, TALL } from "./charts";
import { AXES, drawAxes, drawParallel } from "./parallel";
import { type Asked, drawSection, PAGE_INKS, type Shown } from "./parts";
import { isBrush } from "./shapes";
import { drawTrials, tableOf } from "./trials";
import { type Words, words } from "./words";
import "./style.css";

const PAUSE = 3000; // ms between two looks while a search goes on
const COMMAND = "glassformer search recipes/search.toml --jobs 4";

const options = {
  id: text("", (value) => value.length <= 255),
  sort: text(""),
  up: flag(),
  brush: text("", isBrush),
};

export const view: View<"none", Asked> = {
  name: "search",
  order: 109,
  ...introduce(words),
  needs: "none",
  panel: false,
  transport: false,
  options,
  fits: () => true,
  mount: (stage) => new Searches(stage),
};

class Searches implements Mounted {
  private readonly say: Words;
  private readonly options: Options<Asked>;
  private readonly chooser: HTMLSelectElement;
  private readonly head = make("p", { class: "head", role: "status" });
  private readonly note = make("div", { class: "note" });
  private readonly parts = make("div", { class: "parts" });
  private list: readonly SearchEntry[] | null = null;
  private search: SearchDescription | null = null;
  private asked = ""; // the search that was asked for last
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking = new AbortController(); // of the newest answer that is awaited
  private readonly attention: BestAttention;

  constructor(private readonly stage: Stage<"none">) {
    this.say = liveWords(words, () => stage.language);
    this.options = new Options("search", options, stage.selection);
    this.attention = new BestAttention(stage, this.say, () => this.draw());
    this.chooser = make("select", {
      "aria-label": () => this.say.choose,
      onchange: () => this.options.set({ id: this.chooser.value, brush: "", sort: "" }),
    });
    stage.element.replaceChildren(
      make(
        "div",
        { class: "drawn search-view" },
        make("div", { class: "drawn-bar" }, this.chooser, this.head),
        this.note,
        this.parts,
      ),
    );
    this.draw();
    void this.fetchSearch();
  }

  update(): void {
    if (this.list && this.wanted() !== this.asked) void this.fetchSearch();
    this.draw();
  }

  resize(): void {
    this.draw();
  }

  restyle(): void {
    relabel(this.stage.element);
    this.draw();
  }

  unmount(): void {
    clearTimeout(this.timer);
    this.asking.abort();
    this.attention.stop();
    this.stage.element.replaceChildren();
  }

  async picture(): Promise<string> {
    const { theme } = this.stage;
    const { search, say } = this;
    if (!search) return sheet({ width: 400, height: 20, body: "", title: say.title, caption: [], theme });
    const shown = this.shown(search);
    const group = draw(
      "g",
      {},
      draw("g", {}, ...drawHistory(shown, 640, inks(theme)).children),
      draw("g", { transform: `translate(0 ${TALL + 20})` }, ...drawAxes(shown, 640, inks(theme)).children),
    );
    return sheet({
      width: 640,
      height: TALL + 20 + AXES,
      body: spell(group),
      title: `${say.title}: ${search.id}`,
      caption: [this.headline(search), describeBest(shown)],
      theme,
    });
  }

  async table(): Promise<TableData> {
    const data = this.search ? tableOf(this.shown(this.search)) : { columns: [], rows: [] };
    return { caption: this.say.about, ...data };
  }

  // Fetching

  private wanted(): string {
    return this.options.now.id || (this.list?.[0]?.id ?? "");
  }

  private async fetchSearch(): Promise<void> {
    clearTimeout(this.timer);
    this.asking.abort();
    this.asking = new AbortController();
    const { runs } = this.stage;
    const { signal } = this.asking;
    if (!runs?.searches || !runs.search) return;
    try {
      const list = await runs.searches(signal);
      if (signal.aborted) return;
      this.list = list;
      this.asked = this.wanted();
      const found = this.asked === "" ? null : await runs.search(this.asked, signal);
      if (signal.aborted) return; // another one was chosen meanwhile
      this.search = found;
      if (found) void this.attention.follow(found, signal);
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      if (this.search === null || this.search.id !== this.wanted()) {
        this.stage.fail(error);
        return;
      } // a later one is tried again
    }
    this.draw();
    if (this.search?.state === "running") this.timer = setTimeout(() => void this.fetchSearch(), PAUSE);
  }

  // Drawing

  private draw(): void {
    const { say, search, list } = this;
    const label = ({ id, shipped }: SearchEntry): string => (shipped ? say.example(id) : id);
    refill(this.chooser, ...(list ?? []).map((entry) => make("option", { value: entry.id }, label(entry))));
    this.chooser.value = this.wanted();
    this.chooser.hidden = (list?.length ?? 0) === 0;
    write(this.head, search ? this.headline(search) : "");
    refill(this.note, ...this.explain());
    if (!search) {
      this.parts.replaceChildren();
      return;
    }
    const width = Math.max(280, this.parts.clientWidth || 720);
    const half = width >= 760 ? (width - 24) / 2 : width;
    const shown = this.shown(search);
    const [first, second] = search.objectives;
    const history = drawSection(say.history, drawHistory(shown, half, PAGE_INKS));
    const front =
      second && drawSection(say.front(first!.name, second.name), drawFront(shown, half, PAGE_INKS));
    refill(
      this.parts,
      drawBest(shown, this.attention),
      make("div", { class: "pair" }, history, drawImportance(shown)),
      ...(front ? [front] : []),
      drawParallel(shown, width),
      drawTrials(shown),
    );
  }

  private shown(search: SearchDescription): Shown {
    const { say, options, stage } = this;
    return {
      search,
      say,
      options,
      language: stage.language,
      text: (said) => stage.text(said),
      open: (run) => stage.selection.set({ recording: "", beside: "", run, step: null, view: "curves" }),
    };
  }

  private explain(): (HTMLElement | string)[] {
    if (!this.stage.runs?.searches) return [this.say.notHere];
    if (this.list?.length === 0) return [make("p", {}, this.say.none), make("pre", { tabindex: 0 }, COMMAND)];
    return [];
  }

  private headline(search: SearchDescription): string {
    const minutes = figure(search.seconds / 60, 1);
    const { say } = this;
    const [pruned, infeasible] = (["pruned", "infeasible"] as const).map(
      (state) => search.trials.filter((trial) => trial.state === state).length,
    ) as [number, number];
    return joinSentences(
      [
        say.head(say.state(search.state), count(search.trained), count(search.wanted), minutes),
        pruned ? say.pruned(count(pruned)) : null,
        infeasible ? say.infeasible(count(infeasible)) : null,
      ],
      this.stage.language,
    );
  }
}
