/**
 * Patching: two sentences, and which vectors of the one restore its answer in the other.
 *
 * In:   a clean text, a corrupted one of as many tokens, two answers; options "patching.…". The server measures.
 * Out:  layers by tokens (or heads) in diverging colours; the numbers of a cell that is chosen.
 */

import type { JobRequest, PatchingStep } from "../../api/types";
import { captionOf, hasOnlyWeights } from "../../core/focus";
import { digits, fixed } from "../../core/formats";
import { findMasks } from "../../core/generation";
import { formatText } from "../../core/messages";
import { integer, oneOf, optional, type Schema, text } from "../../core/options";
import { MountedView, recordingView, type Setting } from "../../core/recording_view";
import { errorText } from "../../core/source";
import type { KeptWork, TableData } from "../../core/view";
import { Run } from "../../data/run";
import { readTokens } from "../../data/side_tokens";
import { colourScale, drawColourBar, showColourBar, spell } from "../../marks/cells";
import { button, choice } from "../../marks/controls";
import { draw, drawText, make, relabel } from "../../marks/make";
import { inks, sheet } from "../../marks/paper";
import { refill } from "../../marks/refill";
import { type PatchingMap, readMap } from "./map";
import { type Words, words } from "./words";
import "./style.css";

const PARTS = ["residual", "feed_forward", "heads"] as const;

interface PatchingOptions {
  readonly clean: string | null; // null: the text of the recording
  readonly corrupted: string;
  readonly answer: string;
  readonly other: string;
  readonly part: (typeof PARTS)[number];
  readonly at: number | null; // position of the answer; null: the usual one
  readonly cell: string | null; // "3,1": layer and column in focus
}

const options: Schema<PatchingOptions> = {
  clean: optional(text()),
  corrupted: text(),
  answer: text(),
  other: text(),
  part: oneOf(PARTS, "residual"),
  at: optional(integer(0, 0, 512)),
  cell: optional(text("", (value) => /^\d{1,4},\d{1,4}$/.test(value))),
};

/** A pair that works in this model; a test measures it. */
const EXAMPLE_MODEL = "zoo/gpt2";
const EXAMPLE = {
  clean: "The men on the road",
  corrupted: "The man on the road",
  answer: " were",
  other: " was",
  at: null,
  cell: null,
} as const satisfies Partial<PatchingOptions>;

export const view = recordingView({
  name: "patching",
  order: 104,
  words,
  options,
  transport: false,
  fits: (subject) => {
    const { source } = subject.now.description;
    return source.picture || source.sound ? (language) => words(language).noText : hasOnlyWeights(subject);
  },
  mount: (setting) => new Patching(setting),
});

interface Measured extends KeptWork {
  readonly key: string;
  readonly run: Run<PatchingStep>;
}

/** A token as the server shows it. */
function show(token: string): string {
  return token.replaceAll(" ", "␣");
}

class Patching extends MountedView<Words, PatchingOptions> {
  private readonly asking = this.tasks.asker();
  private readonly fields = new Map<"clean" | "corrupted" | "answer" | "other" | "at", HTMLInputElement>();
  private readonly form: HTMLFormElement;
  private readonly example: HTMLElement; // where nothing is measured yet
  private readonly note = make("p", { class: "note", role: "status" });
  private readonly scalebar = draw("svg", { width: 210, height: 30, role: "img" });
  private readonly legend: HTMLElement;
  private readonly grid = make("div", { class: "patching-scroll" });
  private readonly focus = make("p", { class: "readout", role: "status" });
  private readonly start: HTMLButtonElement;
  private readonly part = choice(
    () => this.say.part,
    PARTS.map((part) => ({ value: part, text: () => this.say[part] })),
    this.options.now.part,
    (part) => this.options.set({ part, cell: null }),
  );
  private mask = 0; // where the answer of a masked model stands
  private measured: Measured | null = null;
  private submitted = false; // whoever has pressed Measure is told what is missing

  constructor(setting: Setting<Words, PatchingOptions>) {
    super(setting);
    const { say, stage } = this;
    const { shape } = stage.source.description;
    this.start = make("button", { type: "submit", class: "button primary" }, () =>
      this.running ? say.stop : say.measure,
    );
    const decides = shape === "decoder" || this.classifies;
    this.form = make(
      "form",
      { class: "drawn-bar patching-form" },
      this.field("clean", () => say.clean, "patching-text"),
      this.field("corrupted", () => say.corrupted, "patching-text"),
      this.field("answer", () => (this.classifies ? say.label : say.answer), "patching-word"),
      !this.classifies && this.field("other", () => say.other, "patching-word"),
      !decides && this.field("at", () => say.position, "patching-word"),
      this.part.element,
      this.start,
    );
    this.example = make(
      "p",
      { class: "drawn-bar patching-example" },
      make("span", {}, () => say.exampleHint),
      make(
        "bdi",
        { lang: "en" },
        `${EXAMPLE.clean} / ${EXAMPLE.corrupted} → ${show(EXAMPLE.answer)} / ${show(EXAMPLE.other)}`,
      ),
      button(
        () => say.example,
        () => this.options.set(EXAMPLE),
      ),
    );
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.running) this.measured?.run.stop();
      else this.submit();
    });
    this.legend = make(
      "div",
      { class: "patching-legend", hidden: true },
      make("span", {}, () => say.legend),
      this.scalebar,
      make("span", {}, () => say.legendHint),
    );
    const parts = [this.form, this.note, this.example, this.legend, this.grid, this.focus];
    stage.element.replaceChildren(make("div", { class: "drawn patching-view" }, ...parts));
    const kept = stage.kept as Measured | undefined;
    if (kept) this.follow(kept);
    this.show();
    if (shape === "encoder" && !this.classifies) this.findMask();
    else this.ask();
  }

  private get classifies(): boolean {
    return this.stage.source.description.output?.kind === "classes";
  }

  private get running(): boolean {
    return this.measured?.run.state === "running";
  }

  private get clean(): string {
    return this.options.now.clean ?? this.stage.source.description.source.text ?? "";
  }

  private field(
    name: "clean" | "corrupted" | "answer" | "other" | "at",
    label: () => string,
    look: string,
  ): HTMLElement {
    const input = make("input", { type: name === "at" ? "number" : "text", min: 0, class: look, name });
    if (name === "answer" || name === "other") input.title = this.classifies ? "" : this.say.typed;
    this.fields.set(name, input);
    return make("label", { class: "control" }, make("span", {}, label), input);
  }

  private findMask(): void {
    this.asking.ask(
      "mask",
      (source) => readTokens(source, "source", 512),
      (tokens) => {
        this.mask = findMasks(tokens)[0] ?? 0;
        this.show();
        this.ask();
      },
    );
  }

  private get position(): number {
    const { shape } = this.stage.source.description;
    return this.options.now.at ?? (shape === "decoder" ? -1 : shape === "encoder" ? this.mask : 0);
  }

  /** The fields show what the link says. */
  private show(): void {
    const { corrupted, answer, other, part } = this.options.now;
    const values = { clean: this.clean, corrupted, answer, other, at: String(this.position) };
    for (const [name, input] of this.fields) input.value = values[name];
    this.part.set(part);
  }

  private submit(): void {
    this.submitted = true;
    const value = (name: "clean" | "corrupted" | "answer" | "other"): string =>
      this.fields.get(name)?.value ?? "";
    const at = this.fields.get("at")?.value ?? "";
    const clean = value("clean");
    this.options.set({
      clean: clean === (this.stage.source.description.source.text ?? "") ? null : clean,
      corrupted: value("corrupted"),
      answer: value("answer"),
      other: value("other"),
      at: /^\d+$/.test(at) ? Number(at) : null,
      cell: null,
    });
    this.ask(true);
  }

  private request(): object | null {
    const { corrupted, answer, other, part } = this.options.now;
    const again = this.stage.rerunner?.again({});
    if (!again || !this.clean || !corrupted || !answer || !(other || this.classifies)) return null;
    if (this.clean === corrupted) return null;
    const run: JobRequest = {
      ...again,
      kind: "record",
      sequence: "text",
      text: this.clean,
      target: null,
      length: null,
      seed: null,
      decode: null,
      prefix: null,
      edits: [],
      want: null,
    };
    const outcome = this.classifies
      ? { label: answer }
      : { token: answer, against: other, position: this.position };
    return { run, corrupted, outcome, part };
  }

  private ask(again = false): void {
    const measure = this.stage.rerunner?.measure;
    const request = this.request();
    const key = JSON.stringify(request);
    if (!measure || (key === this.measured?.key && (!again || this.running))) {
      this.draw();
      return;
    }
    this.measured?.stop?.();
    this.measured = null;
    if (request !== null) {
      const run = new Run<PatchingStep>((heard, signal) => measure("patching", request, heard, signal));
      this.follow({ key, run, stop: () => run.stop() });
    }
    this.draw();
  }

  private follow(measured: Measured): void {
    this.measured = measured;
    measured.run.show(() => {
      if (this.running && this.map()?.same) measured.run.stop(); // nothing to restore in other layers, either
      this.tasks.frame(() => this.draw());
    });
  }

  private map(): PatchingMap | null {
    return readMap(this.measured?.run.steps ?? []);
  }

  private scale() {
    return colourScale([-1, 1], "diverging", false, this.stage.theme);
  }

  private tell(map: PatchingMap | null): string {
    const { say, stage, measured } = this;
    if (!stage.rerunner?.measure) return say.noModel;
    if (stage.rerunner.again({}) === null) return say.noRequest;
    if (measured?.run.state === "failed") return stage.text(errorText(measured.run.error));
    if (map) {
      const outcome = formatText(map.outcome, stage.language);
      const parts = [say.baselines(outcome, digits(map.clean), digits(map.corrupted))];
      if (map.same) parts.push(say.same);
      else if (this.running) parts.push(say.progress(map.rows.length, map.layers));
      return parts.join(this.names.betweenSentences);
    }
    if (this.running) return say.running;
    const { corrupted, answer, other } = this.options.now;
    if (!this.submitted && !corrupted && !answer && !other) return say.intro;
    if (this.clean === corrupted) return say.equal;
    return this.request() === null ? (this.classifies ? say.missingClass : say.missing) : say.intro;
  }

  private draw(): void {
    const { say, measured } = this;
    const map = this.map();
    this.note.textContent = this.tell(map);
    this.note.classList.toggle("patching-trouble", measured?.run.state === "failed");
    this.form.hidden = !this.stage.rerunner?.measure || this.stage.rerunner.again({}) === null;
    relabel(this.start);
    this.example.hidden =
      this.form.hidden || measured !== null || this.stage.rerunner?.again({})?.model !== EXAMPLE_MODEL;
    const shown = map !== null && !map.same;
    this.legend.hidden = !shown;
    showColourBar(this.scalebar, this.scale(), say.legend);
    refill(this.grid, ...(shown ? [this.makeTable(map)] : []));
    const chosen = this.chosen(map);
    this.focus.textContent = shown && chosen ? this.tellCell(map, ...chosen) : "";
  }

  private chosen(map: PatchingMap | null): readonly [layer: number, column: number] | null {
    const [layer = -1, column = -1] = (this.options.now.cell ?? "").split(",").map(Number);
    const row = map?.rows.find((each) => each.layer === layer);
    return row && column >= 0 && column < row.cells.length ? [layer, column] : null;
  }

  private column(map: PatchingMap, at: number): string {
    if (this.options.now.part === "heads") return this.say.head(at);
    const [clean = "", corrupted = ""] = map.tokens[at] ?? [];
    return clean === corrupted ? clean : this.say.changed(clean, corrupted);
  }

  private tellCell(map: PatchingMap, layer: number, column: number): string {
    const cell = map.rows.find((each) => each.layer === layer)?.cells[column];
    return this.say.cell(layer, this.column(map, column), digits(cell?.share), digits(cell?.value));
  }

  private makeTable(map: PatchingMap): HTMLElement {
    const { say } = this;
    const scale = this.scale();
    const columns = map.rows[0]?.cells.length ?? 0;
    const chosen = this.chosen(map)?.join();
    const heads = this.options.now.part === "heads";
    const names = Array.from({ length: columns }, (_, at) => {
      const [clean, corrupted] = map.tokens[at] ?? ["", ""];
      const differs = !heads && clean !== corrupted;
      return make(
        "th",
        { scope: "col", class: differs ? "differs" : null },
        make("bdi", {}, this.column(map, at)),
      );
    });
    const rows = map.rows.map(({ layer, cells }) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, say.layer(layer)),
        ...cells.map(({ share, value }, at) => {
          const said = this.tellCell(map, layer, at);
          const fill = share ?? 0;
          const attributes = {
            type: "button",
            class: "patching-cell",
            style: { "background-color": scale.css(fill)!, color: scale.ink(fill)! },
            title: said,
            "aria-label": said,
            "aria-pressed": String(`${layer},${at}` === chosen),
            "data-key": `${layer},${at}`,
            "data-share": share,
            "data-value": value,
            onclick: () => this.options.set({ cell: `${layer},${at}` }),
          };
          return make("td", {}, make("button", attributes, share === null ? "–" : fixed(share, 2)));
        }),
      ),
    );
    return make(
      "table",
      { class: "patching-map" },
      make("caption", {}, heads ? say.mapOfHeads : say.map),
      make("thead", {}, make("tr", {}, make("td"), ...names)),
      make("tbody", {}, ...rows),
    );
  }

  update(): void {
    this.show();
    this.ask();
  }

  resize(): void {}

  restyle(): void {
    relabel(this.stage.element);
    this.draw();
  }

  keep(): KeptWork | null {
    this.measured?.run.show(null);
    return this.measured;
  }

  async picture(): Promise<string> {
    const { say, stage } = this;
    const map = this.map();
    const colours = inks(stage.theme);
    const scale = this.scale();
    const [wide, tall, left] = [64, 22, 64];
    const columns = map?.rows[0]?.cells.length ?? 0;
    const group = draw("g");
    for (let at = 0; at < columns; at++)
      group.append(drawText(this.column(map!, at), left + (at + 0.5) * wide, 10, colours.soft, "middle"));
    map?.rows.forEach(({ layer, cells }, row) => {
      const y = 18 + row * tall;
      group.append(drawText(say.layer(layer), 0, y + 14, colours.soft));
      cells.forEach(({ share }, at) => {
        const x = left + at * wide;
        const fill = share ?? 0;
        group.append(
          draw("rect", { x, y, width: wide - 2, height: tall - 2, fill: scale.css(fill)! }),
          drawText(
            share === null ? "–" : fixed(share, 2),
            x + wide / 2 - 1,
            y + 14,
            scale.ink(fill)!,
            "middle",
          ),
        );
      });
    });
    const height = 18 + (map?.rows.length ?? 0) * tall;
    const bar = drawColourBar(scale, 200, colours, say.legend);
    bar.setAttribute("transform", `translate(0 ${height + 6})`);
    const { corrupted, answer, other, part } = this.options.now;
    const asked = [
      `${say.clean}: ${this.clean}`,
      `${say.corrupted}: ${corrupted}`,
      `${say.answer}: ${answer}${other && ` · ${say.other}: ${other}`} · ${say.part}: ${say[part]}`,
    ];
    const lines = [...(map ? asked : []), this.tell(map), say.legendHint];
    return sheet({
      width: Math.max(420, left + columns * wide),
      height: height + 36,
      body: spell(group) + spell(bar),
      title: say.title,
      caption: captionOf(stage, ...lines),
      theme: stage.theme,
    });
  }

  async table(): Promise<TableData> {
    const { say } = this;
    const { columns } = say;
    const map = this.map();
    const heads = this.options.now.part === "heads";
    return {
      caption: this.tell(map),
      columns: [
        columns.layer,
        ...(heads ? [columns.head] : [columns.token, columns.clean, columns.corrupted]),
        columns.value,
        columns.share,
      ],
      rows: (map?.rows ?? []).flatMap(({ layer, cells }) =>
        cells.map(({ value, share }, at) => [layer, at, ...(heads ? [] : map!.tokens[at]!), value, share]),
      ),
    };
  }
}
