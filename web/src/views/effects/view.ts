/**
 * Effects: what each head, layer and edge does to a word that the model writes.
 *
 * In:   a word, one to compare with, a position; options "effects.…". The server measures.
 * Out:  layers by heads in diverging colours, estimates first and then what real passes say; the strongest edges.
 */

import type { EffectsStep, TokenSlice } from "../../api/types";
import { captionOf, hasOnlyWeights, mapName, tokenInFocus } from "../../core/focus";
import { digits } from "../../core/formats";
import { formatText } from "../../core/messages";
import { type Place, readPlace, writePlace } from "../../core/place";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import { errorText } from "../../core/source";
import type { KeptWork, TableData } from "../../core/view";
import { Run } from "../../data/run";
import { readTokens } from "../../data/side_tokens";
import { type ColourScale, colourScale, drawColourBar, showColourBar, spell } from "../../marks/cells";
import { button, list, type Option } from "../../marks/controls";
import { draw, make, relabel } from "../../marks/make";
import { inks, sheet } from "../../marks/paper";
import { refill } from "../../marks/refill";
import { collect, type EdgeEffects, type Effect, type Found, known } from "./found";
import { type Block, cellLook, drawBlocks, isBeyond, makeBlocks, makeTable, type Row } from "./grid";
import {
  type EffectsOptions,
  hasOtherEdits,
  isClassifier,
  MOST_TOKENS,
  makeRequest,
  options,
  sideOf,
  usualPosition,
  type Word,
  wordsAt,
  wordText,
} from "./question";
import { type Words, words } from "./words";
import "./style.css";

export const view = recordingView({
  name: "effects",
  order: 102,
  words,
  options,
  transport: false,
  fits: hasOnlyWeights,
  mount: (setting) => new Effects(setting),
});

const NONE = ""; // no word to compare with
const OTHER = "?"; // a word that is typed

/** A measurement that goes on while another view is shown. */
interface Measured extends KeptWork {
  readonly key: string; // the question
  readonly run: Run<EffectsStep>;
}

class Effects extends MountedView<Words, EffectsOptions> {
  private readonly asking = this.tasks.asker();
  private readonly bar = make("div", { class: "drawn-bar" });
  private readonly note = make("p", { class: "note", role: "status" });
  private readonly scalebar = draw("svg", { width: 210, height: 30, role: "img" });
  private readonly legend: HTMLElement;
  private readonly samples: Readonly<Record<"estimate" | "beyond", HTMLElement>>;
  private readonly grids = make("div", { class: "effects-scroll" });
  private readonly focus = make("p", { class: "readout" });
  private readonly edges = make("section");
  private tokens: TokenSlice | null = null;
  private sources: TokenSlice | null = null; // what a translation reads
  private measured: Measured | null = null;
  private typing: "word" | "against" | null = null;
  private arranged = ""; // what the controls show

  constructor(setting: Setting<Words, EffectsOptions>) {
    super(setting);
    const { stage, say } = this;
    const sample = (look: string, text: () => string): HTMLElement =>
      make("span", {}, make("span", { class: `effects-cell ${look}` }), " ", text);
    this.samples = {
      estimate: sample("estimate", () => say.estimated),
      beyond: sample("beyond", () => say.beyond),
    };
    this.legend = make(
      "div",
      { class: "effects-legend", hidden: true },
      make("span", {}, () => say.legend),
      this.scalebar,
      this.samples.estimate,
      sample("", () => say.confirmed),
      this.samples.beyond,
      make("span", {}, () => say.legendHint),
    );
    const parts = [this.bar, this.note, this.legend, this.grids, this.focus, this.edges];
    stage.element.replaceChildren(make("div", { class: "drawn effects-view" }, ...parts));
    const kept = stage.kept as Measured | undefined;
    if (kept) this.follow(kept);
    this.load();
  }

  // What is asked

  /** Why nothing can be measured here; null where it can. */
  private whyNot(): string | null {
    const { stage, say } = this;
    const { rerunner, source } = stage;
    if (!rerunner?.measure) return say.noModel;
    const run = rerunner.again({});
    if (run === null) return say.noRequest;
    if (hasOtherEdits(source.description, run)) return say.branchEdits;
    const { count } = source.description[sideOf(source.description)] ?? source.description.source;
    return Math.max(count, source.description.source.count) > MOST_TOKENS ? say.tooLong(MOST_TOKENS) : null;
  }

  private load(): void {
    this.draw();
    if (this.whyNot() !== null) return;
    const side = sideOf(this.stage.source.description);
    this.asking.ask(
      "tokens",
      (source) =>
        Promise.all([
          readTokens(source, side, MOST_TOKENS),
          side === "source" ? null : readTokens(source, "source", MOST_TOKENS),
        ]),
      ([tokens, sources]) => {
        this.tokens = tokens;
        this.sources = sources;
        this.arrange();
        this.ask();
      },
    );
  }

  /** Where the word is written. Before one is chosen, the row in focus is proposed: it writes the word after it. */
  private get position(): number {
    const { description } = this.stage.source;
    const { at, word } = this.options.now;
    const row = description.shape === "encoder" ? null : tokenInFocus(this.stage, sideOf(description));
    const proposed = word === null && row !== null && row < this.tokens!.ids.length ? row : null;
    return at ?? proposed ?? usualPosition(description, this.tokens!);
  }

  /** Choose a word, at the position that is shown: another row in focus is no other question. */
  private choose(name: "word" | "against", value: string | null): void {
    const at = this.position;
    const usual = at === usualPosition(this.stage.source.description, this.tokens!);
    this.options.set({ [name]: value, ...(usual ? {} : { at }) });
  }

  /** The controls. */
  private arrange(): void {
    const { say, tokens } = this;
    const { description } = this.stage.source;
    if (tokens === null) return;
    const { word, against } = this.options.now;
    const { typing, running, position: at } = this;
    const arranged = JSON.stringify([at, word, against, typing, running, this.stage.language]);
    if (arranged === this.arranged) return;
    this.arranged = arranged;
    const root = this.bar.getRootNode() as Document | ShadowRoot;
    const focused = root.activeElement?.closest<HTMLElement>("[data-option]")?.dataset.option;
    const found = wordsAt(description, tokens, at);
    const start = button(
      () => (running ? say.stop : say.measure),
      () => (running ? this.measured?.run.stop() : this.measure(found)),
    );
    start.dataset.option = "measure";
    start.classList.add("primary");
    this.bar.replaceChildren(...this.controls(found), start);
    const again = focused && this.bar.querySelector<HTMLElement>(`[data-option="${focused}"]`);
    if (again) (again.querySelector<HTMLElement>("input, select") ?? again).focus();
  }

  private controls(found: readonly Word[]): readonly HTMLElement[] {
    const { say } = this;
    const { description } = this.stage.source;
    const { word, against } = this.options.now;
    if (isClassifier(description)) return [this.wordList("word", () => say.label, found, word)];
    const places: Option<string>[] = this.tokens!.shown.map((text, at) => ({
      value: String(at),
      text: `${at} ${text}`,
    }));
    const where = () => (description.shape === "encoder" ? say.at : say.position);
    const position = list(where, [{ label: null, options: places }], String(this.position), (at) =>
      this.options.set({ at: Number(at), word: null, against: null }),
    );
    position.element.dataset.option = "at";
    return [
      position.element,
      this.wordList("word", () => say.word, found, word),
      this.wordList("against", () => say.against, found, against),
    ];
  }

  private wordList(
    name: "word" | "against",
    label: () => string,
    found: readonly Word[],
    now: string | null,
  ): HTMLElement {
    const { say } = this;
    const known = found.map((word) => ({
      value: word.value,
      text: () => (word.own ? say.own(wordText(word)) : wordText(word)),
    }));
    if (now !== null && !found.some(({ value }) => value === now))
      known.unshift({ value: now, text: () => now.replaceAll(" ", "␣") });
    const none = { value: NONE, text: () => (name === "word" ? "–" : say.alone) };
    const others = isClassifier(this.stage.source.description)
      ? []
      : [{ value: OTHER, text: () => say.other }];
    const groups = [{ label: null, options: [none, ...known, ...others] }];
    const chosen = list(label, groups, this.typing === name ? OTHER : (now ?? NONE), (value) => {
      this.typing = value === OTHER ? name : null;
      if (value === OTHER) this.arrange();
      else this.choose(name, value === NONE ? null : value);
    });
    chosen.element.dataset.option = name;
    if (this.typing !== name) return chosen.element;
    const input = make("input", {
      type: "text",
      value: " ",
      title: () => say.typed,
      "aria-label": () => say.typed,
    });
    const use = (): void => {
      if (input.value.trim() === "") return;
      this.typing = null;
      this.choose(name, input.value);
    };
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") use();
    });
    queueMicrotask(() => input.focus());
    return make(
      "span",
      { class: "drawn-bar", "data-option": name },
      chosen.element,
      input,
      button(() => say.apply, use),
    );
  }

  /** Measures what is chosen, or else the likeliest word. */
  private measure(found: readonly Word[]): void {
    const { word } = this.options.now;
    if (word !== null) this.ask(true);
    else if (found[0]) this.choose("word", found[0].value);
  }

  private get running(): boolean {
    return this.measured?.run.state === "running";
  }

  /** Asks the server, where this has not been asked. */
  private ask(again = false): void {
    const { stage, tokens } = this;
    const { rerunner } = stage;
    const run = rerunner?.again({});
    const request =
      tokens && run ? makeRequest(stage.source.description, tokens, run, this.options.now) : null;
    const key = JSON.stringify(request);
    const measure = rerunner?.measure;
    if (!measure || (!again && key === this.measured?.key)) {
      this.draw();
      return;
    }
    this.measured?.stop?.();
    this.measured = null;
    if (request !== null) {
      const work = new Run<EffectsStep>((heard, signal) => measure("effects", request, heard, signal));
      this.follow({ key, run: work, stop: () => work.stop() });
    }
    this.arrange();
    this.draw();
  }

  private follow(measured: Measured): void {
    this.measured = measured;
    measured.run.show((step) => {
      if (this.tasks.over) return;
      if (step === null) this.arrange();
      this.tasks.frame(() => this.draw());
    });
  }

  // What is shown

  private found(): Found {
    return collect(this.measured?.run.steps ?? []);
  }

  private scale({ largest }: Found): ColourScale {
    return colourScale([-largest, largest], "diverging", false, this.stage.theme);
  }

  private blocks({ maps }: Found): readonly Block[] {
    return makeBlocks(maps, ({ stack, kind }) => this.names.familyName(stack, kind === "cross"));
  }

  private draw(): void {
    const { stage, say, measured } = this;
    const trouble = this.whyNot();
    const found = this.found();
    const failed = measured?.run.state === "failed" ? stage.text(errorText(measured.run.error)) : null;
    this.note.classList.toggle("effects-trouble", failed !== null);
    this.note.textContent = trouble ?? failed ?? this.tell(found);
    const any = found.maps.length > 0;
    this.legend.hidden = !any;
    const scale = this.scale(found);
    if (any) showColourBar(this.scalebar, scale, say.legend);
    this.samples.estimate.hidden = !found.estimated;
    this.samples.beyond.hidden = ![...found.maps.map(({ layer }) => layer), ...found.edges].some((effect) =>
      isBeyond(known(effect), scale),
    );
    const { place, head } = stage.selection.get();
    const look = {
      say,
      scale,
      chosen: place ? `${writePlace({ ...place, step: null })} ${head}` : "",
      name: (row: Row, at: number | null) => this.nameHead(row.at, at),
      choose: (row: Row, at: number) => stage.selection.set({ place: row.at, head: at }),
    };
    refill(this.grids, ...this.blocks(found).map((block) => makeTable(block, look)));
    this.focus.textContent = this.tellHead(found);
    this.drawEdges(found);
  }

  private tell(found: Found): string {
    const { say, measured } = this;
    if (this.tokens === null) return say.loading;
    if (measured === null) return isClassifier(this.stage.source.description) ? say.introClass : say.intro;
    const edited = (this.stage.rerunner?.again({})?.edits ?? []).length > 0;
    const { confirmed, heads, outcome, baseline } = found;
    if (outcome === null) return edited ? say.edited : say.estimating;
    const without = edited ? say.editedBaseline : say.baseline;
    const parts = [without(formatText(outcome, this.stage.language), digits(baseline))];
    if (edited) parts.push(say.edited);
    if (confirmed === heads) parts.push(say.complete(heads));
    else parts.push((measured.run.state === "cancelled" ? say.stopped : say.confirming)(confirmed, heads));
    return parts.join(this.names.betweenSentences);
  }

  private nameHead(place: Place, head: number | null): string {
    const map = this.stage.source.description.maps.find(
      (each) => writePlace({ ...each.place, step: null }) === writePlace(place),
    );
    const name = map
      ? mapName({ ...map, place: { ...map.place, step: null } }, this.stage.language)
      : writePlace(place);
    return head === null ? this.say.wholeLayer(name) : this.names.headOf(name, head);
  }

  private tellEffect({ measured, estimate }: Effect): string {
    const { say } = this;
    if (measured === null) return say.onlyEstimate(digits(estimate));
    return estimate === null
      ? say.onlyMeasured(digits(measured))
      : say.both(digits(measured), digits(estimate));
  }

  private tellHead({ maps }: Found): string {
    const { place, head } = this.stage.selection.get();
    if (place === null || typeof head !== "number") return "";
    const effect = maps.find((map) => map.place === writePlace({ ...place, step: null }))?.heads[head];
    return effect ? `${this.nameHead(place, head)}: ${this.tellEffect(effect)}` : "";
  }

  private drawEdges(found: Found): void {
    const { say, stage, measured } = this;
    this.edges.hidden = found.edges.length === 0;
    if (this.edges.hidden) return;
    const scale = this.scale(found);
    const items = found.edges.map((edge) => {
      const value = known(edge)!;
      const style = { "background-color": scale.css(value)!, color: scale.ink(value)! };
      const place = readPlace(edge.place)!;
      const act = (): void =>
        stage.selection.set({ place, head: edge.head, query: edge.query, key: edge.key, view: "heatmap" });
      const title = `${this.nameHead(place, edge.head)}: ${this.tellEffect(edge)}`;
      const name = `${this.family(place)}L${place.layer} H${edge.head}`;
      const [query, key] = this.edgeTokens(edge, place);
      return make(
        "li",
        {},
        make(
          "button",
          { type: "button", class: "button small", title, onclick: act },
          make("span", {}, name),
          make("bdi", {}, say.edge(query, key)),
          make("span", { class: cellLook(edge, scale), style, "data-effect": value }, digits(value, 2)),
        ),
      );
    });
    const id = measured?.run.result ?? "";
    const open = (name: string): void => {
      stage.selection.set({ view: name });
      stage.rerunner?.go(id);
    };
    const ways = make(
      "p",
      { class: "drawn-bar", hidden: id === "" },
      () => say.everyEdge,
      button(
        () => say.overview,
        () => open("overview"),
      ),
      button(
        () => say.heatmap,
        () => open("heatmap"),
      ),
      button(
        () => say.lines,
        () => open("lines"),
      ),
      button(
        () => say.text,
        () => open("text"),
      ),
    );
    refill(
      this.edges,
      make("h2", {}, () => say.edges(found.edges.length)),
      make("p", { class: "hint" }, () => say.edgesHint),
      make("ul", { class: "effects-edges" }, ...items),
    );
    this.edges.append(ways);
  }

  /** Which attention it is, where a model has several. */
  private family({ kind, stack }: Place): string {
    if (this.stage.source.description.shape !== "encoder-decoder") return "";
    return `${kind === "cross" ? this.say.cross : this.names.stackName(stack)} `;
  }

  /** The words at both ends of an edge. */
  private edgeTokens({ query, key }: EdgeEffects, { kind, stack }: Place): readonly [string, string] {
    const reads = stack === "encoder" || kind === "cross"; // the source
    const text = (at: number, source: boolean): string =>
      ((source && this.sources) || this.tokens)?.shown[at] ?? String(at);
    return [text(query, stack === "encoder"), text(key, reads)];
  }

  // The contract

  update(): void {
    this.arrange();
    this.ask();
  }

  resize(): void {}

  restyle(): void {
    relabel(this.stage.element);
    this.arrange();
    this.draw();
  }

  keep(): KeptWork | null {
    const { measured } = this;
    measured?.run.show(null);
    return measured;
  }

  async picture(): Promise<string> {
    const { stage, say } = this;
    const found = this.found();
    const colours = inks(stage.theme);
    const scale = this.scale(found);
    const { group, width, height } = drawBlocks(this.blocks(found), scale, colours, say);
    const bar = drawColourBar(scale, 200, colours, say.legend);
    bar.setAttribute("transform", `translate(0 ${height + 4})`);
    const lines = [
      this.tell(found),
      say.legendHint,
      ...(found.estimated ? [say.captionMark] : []),
      say.beyond,
    ];
    return sheet({
      width: Math.max(width, 420),
      height: height + 34,
      body: spell(group) + spell(bar),
      title: say.title,
      caption: captionOf(stage, ...lines),
      theme: stage.theme,
    });
  }

  async table(): Promise<TableData> {
    const { names, say } = this;
    const found = this.found();
    const { columns } = say;
    const place = (address: string) => {
      const { stack, kind, layer } = readPlace(address)!;
      return [stack, kind, layer];
    };
    const effect = ({ estimate, measured }: Effect) => [estimate, measured];
    const heads = found.maps.flatMap((map) => [
      ...map.heads.map((each, head) => [...place(map.place), head, null, null, ...effect(each)]),
      [...place(map.place), say.layerColumn, null, null, ...effect(map.layer)],
    ]);
    const edges = found.edges.map((edge) => [
      ...place(edge.place),
      edge.head,
      edge.query,
      edge.key,
      ...effect(edge),
    ]);
    const { stackColumn, kindColumn, layerColumn, headColumn } = names;
    const titles = [columns.query, columns.key, columns.estimate, columns.measured];
    return {
      caption: this.tell(found),
      columns: [stackColumn, kindColumn, layerColumn, headColumn, ...titles],
      rows: [...heads, ...edges],
    };
  }
}
