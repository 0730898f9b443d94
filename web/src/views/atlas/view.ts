/**
 * The atlas of a model: a map of all heads by what they do, a search in words, the card of each, another atlas beside it.
 *
 * In:   an atlas; options "atlas.…"; the head of the selection.
 * Out:  squares, points and cards.
 */

import type { AtlasDescription, AtlasEntry, AtlasHead, Language } from "../../api/types";
import { count, significant } from "../../core/formats";
import { Options, text } from "../../core/options";
import { readPlace, writePlace } from "../../core/place";
import { MountedView, type Setting } from "../../core/recording_view";
import type { Selection } from "../../core/selection";
import { errorText, type StudySource } from "../../core/source";
import { Tasks } from "../../core/tasks";
import type { Mounted, TableData, View } from "../../core/view";
import { introduce, liveWords } from "../../i18n/core";
import { words as nameWords } from "../../i18n/focus";
import { drawColourBar, showColourBar, spell } from "../../marks/cells";
import { button } from "../../marks/controls";
import { drawHeadGrid, gridSize } from "../../marks/headgrid";
import { draw, drawText, make, relabel, setStyle, write } from "../../marks/make";
import { inks, sheet } from "../../marks/paper";
import { refill } from "../../marks/refill";
import { type Beside, describePairs, drawPairs, isHead, nameBoth } from "./beside";
import { type CardLook, drawCard, drawHeads, drawPart, scoresOf } from "./card";
import {
  type Colouring,
  colouringsOf,
  findDetector,
  inkOn,
  makeColouring,
  nameColouring,
  nameType,
  signOf,
  typeColour,
} from "./colouring";
import { Examples } from "./examples";
import { drawMap, type Family, familiesOf, layerOf } from "./map";
import { drawPoints } from "./points";
import { findDetectors, marginOf, strengthOf } from "./searching";
import { type Words, words } from "./words";
import "./style.css";

interface Asked {
  readonly colour: string;
  readonly search: string;
  readonly type: string; // only heads of this type
  readonly beside: string; // the id of another atlas
}

const options = { colour: text("type"), search: text(""), type: text(""), beside: text("") };
const FOUND = 12; // heads that are listed of a search
const [SMALLEST, LARGEST] = [16, 34]; // pixels of a square
const ASIDE = 108; // pixels beside the squares: the numbers of layers, and what they are

export const view: View<"study", Asked> = {
  name: "atlas",
  order: 106,
  ...introduce(words),
  needs: "study",
  panel: false,
  transport: false,
  options,
  fits: () => true,
  mount: (stage) => {
    const language = (): Language => stage.language;
    const tasks = new Tasks<StudySource>({ source: stage.source, fail: stage.fail });
    return new AtlasView({
      stage,
      say: liveWords(words, language),
      names: liveWords(nameWords, language),
      options: new Options("atlas", options, stage.selection),
      tasks,
    });
  },
};

class AtlasView extends MountedView<Words, Asked, "study", StudySource> implements Mounted {
  private readonly atlas: AtlasDescription;
  private readonly examples: Examples;
  private readonly asker;
  private readonly colours: HTMLSelectElement = make("select", {
    onchange: (): void => this.options.set({ colour: this.colours.value }),
  });
  private readonly others: HTMLSelectElement = make("select", {
    onchange: (): void => this.options.set({ beside: this.others.value }),
  });
  private readonly compares: HTMLElement;
  private readonly search: HTMLInputElement = make("input", {
    type: "text",
    name: "search",
    maxlength: 200,
    placeholder: () => this.say.searchHint,
    oninput: (): void => this.options.set({ search: this.search.value }),
  });
  private readonly found = make("div", { class: "found" });
  private readonly status = make("p", { role: "status" });
  private readonly legend = make("div", { class: "types" });
  private readonly bar = make("div", { class: "colours" });
  private readonly maps = make("div", { class: "maps" });
  private readonly points = make("section", { class: "points" });
  private readonly card: HTMLElement;
  private readonly pairs = make("div", { class: "beside" });
  private others_: readonly AtlasEntry[] = [];
  private beside: Beside | null = null;

  constructor(setting: Setting<Words, Asked, "study", StudySource>) {
    super(setting);
    const { stage, say, tasks } = this;
    this.atlas = stage.source.atlas;
    this.examples = new Examples(
      stage.source,
      () => tasks.frame(() => this.drawCard(), "card"),
      (error) => stage.announce(stage.text(errorText(error))),
    );
    this.asker = tasks.asker();
    this.card = make("section", { class: "card", "aria-label": () => say.card });
    const label = (name: () => string, control: HTMLElement): HTMLElement =>
      make("label", { class: "labelled" }, make("span", {}, name), control);
    this.compares = label(() => say.beside, this.others);
    stage.element.replaceChildren(
      make(
        "div",
        { class: "drawn atlas-view" },
        make(
          "div",
          { class: "drawn-bar" },
          label(() => say.colour, this.colours),
          label(() => say.search, this.search),
          this.compares,
        ),
        this.status,
        this.found,
        make(
          "div",
          { class: "parts" },
          make("div", { class: "left" }, this.legend, this.bar, this.maps, this.pairs, this.points),
          this.card,
        ),
      ),
    );
    tasks
      .asker(() => {})
      .ask(
        "others",
        (source) => source.others(),
        (all) => {
          this.others_ = all;
          this.draw();
        },
      );
    this.follow();
    this.draw();
  }

  update(now: Selection, before: Selection): void {
    this.follow();
    this.draw();
    const moved = now.head !== before.head || now.place !== before.place;
    const narrow = this.card.offsetTop > this.maps.offsetTop + 40;
    if (moved && narrow && this.chosen && !this.maps.contains(this.focused()))
      this.card.scrollIntoView?.({ block: "nearest" });
  }

  resize(): void {
    this.draw();
  }

  restyle(): void {
    relabel(this.stage.element);
    this.draw();
  }

  unmount(): void {
    this.tasks.end();
    this.stage.element.replaceChildren();
  }

  // What is chosen

  private get chosen(): AtlasHead | null {
    const { place, head } = this.stage.selection.get();
    if (place === null) return null;
    const address = writePlace({ ...place, step: null });
    return this.atlas.heads.find((each) => each.place === address && each.head === head) ?? null;
  }

  private choose(head: AtlasHead | null): void {
    const place = head && readPlace(head.place);
    this.stage.selection.set({ place, head: head?.head ?? 0 });
    if (head === null) this.maps.querySelector<HTMLElement>('.head-cell[tabindex="0"]')?.focus();
    else this.stage.announce(`${this.mapName(head)}: ${nameType(this.atlas, head.type, this.palette)}`);
  }

  private focused(): Element | null {
    return (this.stage.element.getRootNode() as Document | ShadowRoot).activeElement ?? null;
  }

  private follow(): void {
    const { beside } = this.options.now;
    if (beside === "") {
      this.beside = null;
      this.asker.stop();
      return;
    }
    this.asker.ask(
      beside,
      (source) => source.beside(beside),
      (found) => {
        this.beside = found;
        this.draw();
      },
    );
  }

  // Drawing

  private get palette(): CardLook {
    const { say, stage, atlas } = this;
    return {
      say,
      atlas,
      theme: stage.theme,
      text: (said) => stage.text(said),
      mapName: (head) => this.mapName(head),
      examples: (head) =>
        this.examples.draw(head, say, stage.theme, (recording, { query, key }) =>
          stage.selection.set({
            recording,
            study: "",
            view: "heatmap",
            place: readPlace(head.place),
            head: head.head,
            query,
            key,
            step: null,
          }),
        ),
      choose: (head) => this.choose(head),
    };
  }

  private mapName(head: Pick<AtlasHead, "place" | "head">): string {
    const place = readPlace(head.place);
    if (!place) return head.place;
    const map = this.names.mapName(place.stack, place.layer, place.kind === "cross");
    return this.names.headOf(map, head.head);
  }

  private familyName({ place }: Family): string {
    return this.names.familyName(place.stack, place.kind === "cross");
  }

  private get colouring(): Colouring {
    const all = this.beside ? [this.atlas, this.beside.atlas] : [this.atlas];
    return makeColouring(all, this.colour, this.palette);
  }

  private get colour(): string {
    const known = colouringsOf(this.atlas);
    const { colour } = this.options.now;
    return known.includes(colour) ? colour : "type";
  }

  /** Whether a head is one of those that are searched for. */
  private get filter(): (head: AtlasHead) => boolean {
    const { search, type } = this.options.now;
    const wanted = search.trim() === "" ? null : findDetectors(this.atlas.detectors, search);
    return (head) =>
      (type === "" || head.types.includes(type)) && (wanted === null || strengthOf(head, wanted) > 0);
  }

  private draw(): void {
    this.drawBar();
    this.drawLegend();
    this.drawMaps();
    this.drawCard();
  }

  private drawBar(): void {
    const { say, atlas, palette } = this;
    const names = colouringsOf(atlas);
    const option = (name: string): HTMLOptionElement =>
      make("option", { value: name }, nameColouring(atlas, name, palette));
    const group = (label: string, prefix: string): HTMLElement[] => {
      const inside = names.filter((name) => name.startsWith(prefix));
      return inside.length > 0 ? [make("optgroup", { label }, ...inside.map(option))] : [];
    };
    refill(
      this.colours,
      ...names.filter((name) => !name.includes(":")).map(option),
      ...group(say.measures, "measure:"),
      ...group(say.scores, "score:"),
    );
    this.colours.value = this.colour;
    const { search, beside } = this.options.now;
    if (this.search.value !== search) this.search.value = search;
    this.compares.hidden = this.others_.length === 0;
    refill(
      this.others,
      make("option", { value: "" }, say.noBeside),
      ...this.others_.map(({ id, model }) =>
        make("option", { value: id }, model.name === id ? id : `${id}: ${model.name}`),
      ),
    );
    this.others.value = beside;
    this.drawFound(search);
  }

  private drawFound(search: string): void {
    const { say, atlas, palette } = this;
    const asked = search.trim() !== "";
    const names = asked ? findDetectors(atlas.detectors, search) : [];
    const heads = atlas.heads
      .filter((head) => strengthOf(head, names) > 0)
      .sort((one, other) => strengthOf(other, names) - strengthOf(one, names));
    const what = names.map((name) => nameType(atlas, name, palette)).join(say.or);
    write(
      this.status,
      !asked ? this.headline() : names.length === 0 ? say.nothingFound : say.found(count(heads.length), what),
    );
    refill(this.found, ...(heads.length > 0 ? [drawHeads(heads.slice(0, FOUND), palette, "found")] : []));
  }

  private headline(): string {
    const { entry } = this.atlas;
    const { texts, tokens, name, skipped } = entry.corpus;
    const said = [
      this.say.summary(entry.model.name, count(entry.heads), count(entry.named)),
      this.say.corpus(name, count(texts), count(tokens)),
      ...(skipped > 0 ? [this.say.skipped(count(skipped))] : []),
    ];
    return said.join(this.names.betweenSentences);
  }

  /** Types with their colours and numbers; each is a filter. */
  private typesOf(): readonly (readonly [type: string, heads: number])[] {
    const counts = new Map<string, number>();
    for (const { type } of this.atlas.heads) if (type !== null) counts.set(type, (counts.get(type) ?? 0) + 1);
    return [...counts].sort((one, other) => other[1] - one[1]);
  }

  private drawLegend(): void {
    const { say, atlas, palette, stage } = this;
    const { type: chosen } = this.options.now;
    const coloured = this.colour === "type";
    const chips = this.typesOf().map(([type, heads]) => {
      const name = nameType(atlas, type, palette);
      const chip = make(
        "button",
        {
          type: "button",
          class: "chip",
          "aria-pressed": String(type === chosen),
          title: say.only(name, count(heads)),
          "data-key": `type ${type}`,
          onclick: () => this.options.set({ type: type === chosen ? "" : type }),
        },
        coloured && make("span", { class: "swatch", "aria-hidden": "true" }, signOf(atlas, type, name)),
        name,
        make("span", { class: "count" }, count(heads)),
      );
      const swatch = chip.querySelector<HTMLElement>(".swatch");
      const colour = typeColour(atlas, type, stage.theme);
      if (swatch) setStyle(swatch, { background: colour, color: inkOn(colour) });
      return chip;
    });
    const all = button(say.all, () => this.options.set({ type: "", search: "" }));
    all.dataset.key = "all";
    const filtered = chosen !== "" || this.options.now.search !== "";
    refill(this.legend, ...chips, ...(filtered ? [all] : []));
    const { scale, title } = this.colouring;
    this.bar.hidden = scale === null;
    if (!scale) return;
    const svg = draw("svg", { width: 210, height: 30, role: "img" });
    showColourBar(svg, scale, title);
    const unit = this.colour === "cost" ? ` (${say.costUnit})` : "";
    refill(this.bar, svg, make("span", {}, `${title}${unit}`));
  }

  private drawMaps(): void {
    const { say, beside, chosen, filter, colouring } = this;
    const changed = new Set(
      beside?.pairs.pairs
        .filter((pair) => pair.first.type !== pair.second.type)
        .map(({ first }) => `${first.place}/${first.head}`),
    );
    const partner = beside?.pairs.pairs.find(({ first }) => chosen && isHead(chosen, first))?.second;
    const width = Math.max(240, this.maps.clientWidth || 640);
    const room = beside ? width / 2 - 12 : width;
    const one = (atlas: AtlasDescription, keys: string, heading: string): HTMLElement => {
      const mine = atlas === this.atlas;
      const drawn = familiesOf(atlas.heads).map((family) => {
        const columns = Math.max(...family.heads.map(({ head }) => head)) + 1;
        const unit = Math.max(SMALLEST, Math.min(LARGEST, Math.floor((room - ASIDE) / columns) - 2));
        return drawMap(family, {
          say,
          label: this.familyName(family),
          colouring,
          unit,
          keys,
          chosen: mine ? chosen : (atlas.heads.find((head) => partner && isHead(head, partner)) ?? null),
          shown: filter,
          marked: (head) => mine && changed.has(`${head.place}/${head.head}`),
          choose: (head) => this.chooseIn(atlas, head),
        });
      });
      return make("div", { class: "one" }, ...(heading ? [make("h2", {}, heading)] : []), ...drawn);
    };
    const [here, there] = beside ? nameBoth(beside, this.palette) : ["", ""];
    refill(this.maps, one(this.atlas, "", here), ...(beside ? [one(beside.atlas, "b ", there)] : []));
    refill(
      this.pairs,
      ...(beside
        ? [
            ...describePairs(beside, this.palette).map((said) => make("p", {}, said)),
            drawPairs(beside, this.palette),
          ]
        : []),
    );
    const side = Math.min(width, 460);
    const chart = drawPoints(this.atlas.heads, {
      width: side,
      height: Math.round(side * 0.6),
      say,
      colouring,
      chosen,
      ink: "var(--ink)",
      line: "var(--ink-faint)",
      shown: filter,
      choose: (head) => this.choose(head),
    });
    refill(
      this.points,
      make("h2", {}, say.behaviour),
      make("p", { class: "hint" }, say.behaviourHint),
      chart,
    );
  }

  /** A head of the other atlas leads to its partner here. */
  private chooseIn(atlas: AtlasDescription, head: AtlasHead): void {
    const pair =
      atlas === this.atlas ? undefined : this.beside?.pairs.pairs.find(({ second }) => isHead(head, second));
    const partner =
      atlas === this.atlas ? head : this.atlas.heads.find((each) => pair && isHead(each, pair.first));
    if (partner) this.choose(partner);
  }

  private drawCard(): void {
    const { chosen, palette } = this;
    refill(this.card, ...(chosen ? drawCard(chosen, palette) : this.drawOverview()));
  }

  /** Where no head is chosen: what one sees, and the strongest heads of each type. */
  private drawOverview(): HTMLElement[] {
    const { say, atlas, palette } = this;
    const types = this.typesOf().map(([type, heads]) => {
      const best = atlas.heads
        .filter((head) => head.type === type)
        .sort((one, other) => marginOf(other, type) - marginOf(one, type))
        .slice(0, 3);
      const detector = findDetector(atlas, type);
      return make(
        "div",
        { class: "type-line" },
        make("h4", {}, say.typeLine(nameType(atlas, type, palette), count(heads))),
        make("p", { class: "hint" }, detector ? palette.text(detector.about) : ""),
        drawHeads(best, palette, `best ${type}`),
      );
    });
    const notes = atlas.notes.map((note) => make("li", {}, palette.text(note)));
    return [
      make("p", {}, say.explain),
      drawPart(say.strongest, ...types),
      ...(notes.length > 0 ? [drawPart(say.notes, make("ul", {}, ...notes))] : []),
    ];
  }

  // Leaving the page

  async picture(): Promise<string> {
    await this.tasks.settled();
    const { theme } = this.stage;
    const { atlas, colouring, palette, say } = this;
    const ink = inks(theme);
    const body = draw("g", {});
    let [wide, top] = [320, 0];
    for (const family of familiesOf(atlas.heads)) {
      const heads = Math.max(...family.heads.map(({ head }) => head)) + 1;
      const size = { layers: family.layers, heads, cell: 22, title: this.familyName(family) };
      const fills = family.heads.map((head) => colouring.fill(head));
      const grid = drawHeadGrid(
        family.heads.map((head, value) => ({
          layer: layerOf(head),
          head: head.head,
          value,
          title: colouring.describe(head),
          chosen: head === this.chosen,
        })),
        {
          ...size,
          scale: { css: (at) => fills[at ?? -1] ?? null },
          inks: ink,
          none: ink.line,
          names: { layer: say.layer, head: say.head },
        },
      );
      const [width, height] = gridSize(size);
      body.append(draw("g", { transform: `translate(0 ${top})` }, ...grid.children));
      [wide, top] = [Math.max(wide, width), top + height + 16];
    }
    const { scale, title } = colouring;
    if (scale) {
      body.append(draw("g", { transform: `translate(0 ${top})` }, drawColourBar(scale, 200, ink, title)));
      top += 30;
    } else if (this.colour === "type") {
      for (const [type, heads] of this.typesOf()) {
        const name = say.typeLine(nameType(atlas, type, palette), count(heads));
        body.append(
          draw("rect", { x: 0, y: top, width: 12, height: 12, fill: typeColour(atlas, type, theme) }),
          drawText(name, 20, top + 10, ink.ink),
        );
        top += 18;
      }
    }
    return sheet({
      width: wide,
      height: top,
      body: spell(body),
      title: `${say.title}: ${atlas.entry.model.name}`,
      caption: [this.headline()],
      theme,
    });
  }

  async table(): Promise<TableData> {
    const { atlas, palette, say, names, chosen } = this;
    const short = (value: number | null | undefined): number | null =>
      value === null || value === undefined ? null : significant(value, 4);
    if (chosen)
      return {
        caption: `${this.mapName(chosen)}: ${nameType(atlas, chosen.type, palette)}`,
        columns: [
          say.detector,
          say.passes,
          say.mean,
          "95 % −",
          "95 % +",
          say.chance,
          say.baseline,
          say.p,
          say.texts,
        ],
        rows: scoresOf(chosen).map(([name, score]) => [
          nameType(atlas, name, palette),
          chosen.types.includes(name) ? 1 : 0,
          ...[
            score.mean,
            score.low,
            score.high,
            score.null,
            findDetector(atlas, name)?.baseline,
            score.p,
          ].map(short),
          score.texts,
        ]),
      };
    const measured = [...new Set(atlas.heads.flatMap((head) => Object.keys(head.measures)))];
    return {
      caption: this.headline(),
      columns: [
        ...[names.stackColumn, names.kindColumn, names.layerColumn, names.headColumn, say.type, say.cost],
        ...measured.map((name) => say.measure(name)),
        ...atlas.detectors.map(({ name }) => nameType(atlas, name, palette)),
      ],
      rows: atlas.heads.map((head) => {
        const place = readPlace(head.place);
        return [
          ...[place?.stack ?? "", place?.kind ?? "", layerOf(head), head.head],
          nameType(atlas, head.type, palette),
          short(head.cost?.mean),
          ...measured.map((name) => short(head.measures[name]?.mean)),
          ...atlas.detectors.map(({ name }) => short(head.scores[name]?.mean)),
        ];
      }),
    };
  }
}
