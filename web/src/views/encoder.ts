/**
 * Encoder: every token after every layer, coloured by activation.
 *
 * In:   hidden states, as norms, changes or one neuron (layer, token).
 * Out:  a grid of tokens (down) and layers (across) that scrolls through texts of any length, a strip of the whole text
 *       beside it, and the way of the token in focus along the layers.
 */

import { asFloats, tensor } from "../bundle";
import { words } from "../i18n/encoder";
import { words as focusWords } from "../i18n/focus";
import { type ColourScale, colourScale, drawCells, drawColourBar, spell } from "../marks/cells";
import { type Control, choice, whole } from "../marks/controls";
import { count, digits, exact } from "../marks/digits";
import { captionOf, focusToken, SCREEN, tokenInFocus } from "../marks/focus";
import { draw, make, write } from "../marks/make";
import { figure, inks, label, sheet } from "../marks/paper";
import { drawProfile, summarise } from "../marks/profile";
import { reach } from "../marks/sparkline";
import { TokenLine } from "../marks/tokens";
import type { HiddenDescription } from "../types";
import type { Mounted, Stage, TableData, View } from "../view";

type By = "norm" | "change" | "neuron";

const ROW = 22;
const STRIP = 18; // width of the whole-text strip
const MOST_IN_PICTURE = 160;
const MOST_IN_TABLE = 2000;

export const view: View = {
  name: "encoder",
  order: 50,
  title: { en: words("en").title, zh: words("zh").title },
  about: { en: words("en").about, zh: words("zh").about },
  fits: ({ description }) =>
    description.hidden.length > 0 || { en: words("en").noHidden, zh: words("zh").noHidden },
  mount: (stage) => new EncoderView(stage),
};

class EncoderView implements Mounted {
  private readonly say;
  private readonly sayFocus;
  private readonly readout = make("p", { class: "readout", "aria-live": "off" });
  private readonly bar = draw("svg", { class: "legend", role: "img", width: 230, height: 28 });
  private readonly scroller: HTMLElement;
  private readonly spacer = make("div", { class: "spacer" });
  private readonly canvas = make("canvas", { "aria-hidden": "true" });
  private readonly labels = make("div", { class: "labels" });
  private readonly axis = make("div", { class: "axis", "aria-hidden": "true" });
  private readonly strip = make("canvas", { class: "strip" });
  private readonly meaning = make("p", { class: "meaning" });
  private readonly profile = make("div", { class: "profile" });
  private readonly neuronControl: Control<number>;
  private hidden: HiddenDescription;
  private tokens: TokenLine;
  private values: Float32Array | null = null; // (layer, token)
  private scale: ColourScale;
  private hovered: { token: number; layer: number } | null = null;
  private revealed: number | null = null; // the focus that was scrolled to
  private asked = 0;
  private frame = 0;
  private readonly watcher: ResizeObserver;

  constructor(private readonly stage: Stage) {
    this.say = words(stage.language);
    this.sayFocus = focusWords(stage.language);
    this.hidden = this.chosenHidden();
    this.tokens = this.line();
    this.scale = colourScale(null, "sequential", false, stage.theme);
    this.neuronControl = whole(
      this.say.neuronNumber,
      { minimum: 0, maximum: this.hidden.width - 1, value: this.neuron() },
      (neuron) => stage.selection.option("encoder.neuron", String(neuron)),
    );
    this.scroller = make(
      "div",
      { class: "grid", tabindex: 0, role: "application", "aria-label": this.say.grid },
      this.spacer,
    );
    this.spacer.append(make("div", { class: "sheet" }, this.labels, this.canvas));
    this.build();
    this.listen();
    this.watcher = new ResizeObserver(() => this.redraw());
    this.watcher.observe(this.scroller);
    this.update();
  }

  update(): void {
    const hidden = this.chosenHidden();
    if (hidden !== this.hidden) {
      this.hidden = hidden;
      this.tokens = this.line();
    }
    this.load();
    const focus = this.focus();
    if (focus !== null && focus !== this.revealed) this.reveal(focus);
    this.redraw();
  }

  resize(): void {
    this.redraw();
  }

  unmount(): void {
    this.asked = -1;
    cancelAnimationFrame(this.frame);
    this.watcher.disconnect();
    this.stage.element.replaceChildren();
  }

  async picture(): Promise<string> {
    const { theme } = this.stage;
    const ink = inks(theme);
    const [first, last] = this.pictured();
    await this.tokens.load(first, last);
    await this.wait();
    const [left, wide, tall] = [150, 34, 18];
    const layers = this.hidden.layers;
    const cells = drawCells({
      rows: last - first,
      columns: layers,
      wide,
      tall,
      scale: this.scale,
      none: ink.line,
      value: (row, column) => this.value(column, first + row),
    });
    let body = `<g transform="translate(${left} 0)">${spell(cells)}</g>`;
    for (let token = first; token < last; token++) {
      const shown = clip(this.tokens.shown(token), 18);
      body += label(shown, left - 8, (token - first) * tall + 13, { fill: ink.ink, anchor: "end", size: 12 });
    }
    const bottom = (last - first) * tall;
    for (let layer = 0; layer < layers; layer++) {
      body += label(String(layer), left + (layer + 0.5) * wide, bottom + 15, {
        fill: ink.soft,
        anchor: "middle",
        size: 11,
      });
    }
    body += label(this.say.layers, left + (layers * wide) / 2, bottom + 33, {
      fill: ink.soft,
      anchor: "middle",
      size: 11,
    });
    body += `<g transform="translate(${left} ${figure(bottom + 48)})">${spell(drawColourBar(this.scale, 200, ink, this.byWords()))}</g>`;
    const shown = this.sayFocus.tokensOf(count(first), count(last - 1), count(this.hidden.tokens));
    return sheet({
      width: left + layers * wide,
      height: bottom + 76,
      body,
      title: `${this.sayFocus.stackName(this.hidden.stack)} · ${this.byWords()}`,
      caption: captionOf(this.stage, `${this.means()} ${shown}`),
      theme,
    });
  }

  async table(): Promise<TableData> {
    await this.wait();
    const most = Math.min(this.hidden.tokens, MOST_IN_TABLE);
    await this.tokens.load(0, most);
    const layers = Array.from({ length: this.hidden.layers }, (_, layer) => layer);
    const rows = Array.from({ length: most }, (_, token) => [
      token,
      this.tokens.shown(token),
      ...layers.map((layer) => this.value(layer, token)),
    ]);
    const columns = [
      this.say.columnPosition,
      this.say.columnToken,
      ...layers.map((layer) => this.say.columnLayer(layer)),
    ];
    const more = this.hidden.tokens - most;
    return { caption: `${this.say.title}: ${this.byWords()}`, columns, rows, ...(more > 0 ? { more } : {}) };
  }

  private build(): void {
    const { stage, say } = this;
    const controls = make("div", { class: "controls" });
    const { hidden } = stage.source.description;
    if (hidden.length > 1) {
      const options = hidden.map(({ stack }) => ({ value: stack, text: this.sayFocus.stackName(stack) }));
      controls.append(
        choice(this.sayFocus.stack, options, this.hidden.stack, (stack) =>
          stage.selection.option("encoder.stack", stack),
        ).element,
      );
    }
    const ways = (["norm", "change", "neuron"] as const).map((value) => ({ value, text: say[value] }));
    const scales = [
      { value: "linear", text: say.linear },
      { value: "log", text: say.logarithmic },
    ] as const;
    controls.append(
      choice<By>(say.by, ways, this.by(), (by) =>
        stage.selection.option("encoder.by", by === "norm" ? null : by),
      ).element,
      this.neuronControl.element,
      choice(say.scale, scales, this.option("scale") === "log" ? "log" : "linear", (value) =>
        stage.selection.option("encoder.scale", value === "log" ? "log" : null),
      ).element,
    );
    const beside = make("aside", {}, make("h2", {}, say.profile), this.profile);
    const main = make("div", { class: "main" }, this.scroller, this.strip);
    const left = make(
      "div",
      { class: "left" },
      this.axis,
      main,
      make("p", { class: "axis-name" }, say.layers),
    );
    stage.element.replaceChildren(
      make(
        "div",
        { class: "encoder-view" },
        controls,
        make("div", { class: "line" }, this.bar, this.meaning),
        this.readout,
        make("div", { class: "body" }, left, beside),
      ),
    );
  }

  private listen(): void {
    this.scroller.addEventListener("scroll", () => this.redraw(), { passive: true });
    this.scroller.addEventListener("pointermove", (event) => this.hover(this.cellAt(event)));
    this.scroller.addEventListener("pointerleave", () => this.hover(null));
    this.scroller.addEventListener("click", (event) => {
      const cell = this.cellAt(event);
      if (cell === null) return;
      this.choose(cell.token, cell.layer);
    });
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    this.strip.addEventListener("pointerdown", (event) => this.jump(event));
    this.strip.addEventListener("pointermove", (event) => {
      if (event.buttons === 1) this.jump(event);
    });
  }

  private choose(token: number, layer: number): void {
    if (layer >= 0) this.stage.selection.option("encoder.layer", String(layer));
    focusToken(this.stage, this.hidden, token);
  }

  private key(event: KeyboardEvent): void {
    const moves: Record<string, readonly [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      PageUp: [-20, 0],
      PageDown: [20, 0],
      Home: [-1e9, 0],
      End: [1e9, 0],
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const token = Math.max(0, Math.min(this.hidden.tokens - 1, (this.focus() ?? -1) + move[0]));
    const layer = Math.max(0, Math.min(this.hidden.layers - 1, this.layer() + move[1]));
    this.choose(token, layer);
    this.reveal(token);
    this.stage.announce(this.sentence(token, layer));
  }

  private reveal(token: number): void {
    this.revealed = token;
    this.spacer.style.setProperty("height", `${this.hidden.tokens * ROW}px`);
    const { scrollTop, clientHeight } = this.scroller;
    if (token * ROW < scrollTop) this.scroller.scrollTop = token * ROW;
    else if ((token + 1) * ROW > scrollTop + clientHeight)
      this.scroller.scrollTop = (token + 1) * ROW - clientHeight;
  }

  private jump(event: PointerEvent): void {
    const box = this.strip.getBoundingClientRect();
    const share = (event.clientY - box.top) / Math.max(1, box.height);
    this.scroller.scrollTop = share * this.hidden.tokens * ROW - this.scroller.clientHeight / 2;
  }

  private cellAt(event: MouseEvent): { token: number; layer: number } | null {
    const box = this.scroller.getBoundingClientRect();
    const token = Math.floor((event.clientY - box.top + this.scroller.scrollTop) / ROW);
    const { left, wide } = this.measures();
    const layer = Math.floor((event.clientX - box.left - left) / wide);
    if (token < 0 || token >= this.hidden.tokens || layer >= this.hidden.layers) return null;
    return { token, layer };
  }

  private hover(cell: { token: number; layer: number } | null): void {
    if (cell?.token === this.hovered?.token && cell?.layer === this.hovered?.layer) return;
    this.hovered = cell;
    this.redraw();
  }

  private load(): void {
    const by = this.by();
    this.neuronControl.element.hidden = by !== "neuron";
    this.neuronControl.set(this.neuron());
    write(this.meaning, this.means());
    const key = `${this.hidden.stack} ${by} ${by === "neuron" ? this.neuron() : ""}`;
    if (key === this.loaded) {
      this.rescale();
      return;
    }
    this.loaded = key;
    const asked = ++this.asked;
    if (this.values === null) write(this.readout, this.say.loading);
    this.coming = this.stage.source
      .activations(this.hidden.stack, by, ...(by === "neuron" ? [this.neuron()] : []))
      .then((frame) => {
        if (asked !== this.asked) return;
        this.values = asFloats(tensor(frame, "activations"));
        this.rescale();
        this.redraw();
      })
      .catch((error: unknown) => {
        if (asked === this.asked) this.stage.fail(error);
      });
  }

  private loaded = "";
  private coming: Promise<void> = Promise.resolve();

  private async wait(): Promise<void> {
    await this.coming;
  }

  private rescale(): void {
    const from = this.by() === "change" ? this.hidden.tokens : 0; // embeddings have not changed yet
    const kind = this.by() === "neuron" ? "diverging" : "sequential";
    this.scale = colourScale(
      this.values === null ? null : reach(this.values.subarray(from)),
      kind,
      this.option("scale") === "log",
      this.stage.theme,
    );
    const bar = drawColourBar(this.scale, 200, SCREEN);
    bar.setAttribute("transform", "translate(4 2)");
    this.bar.replaceChildren(bar);
    this.bar.setAttribute(
      "aria-label",
      `${this.byWords()}: ${digits(this.scale.domain[0])} – ${digits(this.scale.domain[1])}`,
    );
  }

  /** What fits: the width of labels and of a cell. */
  private measures(): { left: number; wide: number } {
    const width = (this.scroller.parentElement?.clientWidth || 600) - STRIP - 20;
    const left = Math.round(Math.min(150, width * 0.32));
    return { left, wide: Math.max(4, Math.min(120, (width - left - 4) / this.hidden.layers)) };
  }

  private redraw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    if (this.asked < 0) return;
    const { left, wide } = this.measures();
    const tall = Math.min(this.hidden.tokens * ROW, this.scroller.clientHeight || 400);
    this.spacer.style.setProperty("height", `${this.hidden.tokens * ROW}px`);
    // In a host without a height of its own (a notebook) the window's must do.
    const most = Math.min(this.hidden.tokens * ROW, Math.max(320, 0.8 * window.innerHeight));
    this.scroller.parentElement?.style.setProperty("max-height", `${most}px`);
    this.scroller.style.setProperty("width", `${left + this.hidden.layers * wide + 12}px`);
    this.paintAxis(left, wide);
    const top = this.scroller.scrollTop;
    const first = Math.max(0, Math.floor(top / ROW));
    const last = Math.min(this.hidden.tokens, Math.ceil((top + tall) / ROW) + 1);
    this.paintLabels(first, last, left, top);
    this.paintCells(first, last, { left, wide, tall, top });
    this.paintStrip(first, last);
    this.tell();
  }

  private paintAxis(left: number, wide: number): void {
    const every = Math.max(1, Math.ceil(18 / wide));
    const marks = Array.from({ length: this.hidden.layers }, (_, layer) => layer)
      .filter((layer) => layer % every === 0)
      .map((layer) => {
        const mark = make("span", {}, String(layer));
        mark.style.setProperty("left", `${left + (layer + 0.5) * wide}px`);
        return mark;
      });
    this.axis.replaceChildren(...marks);
  }

  private paintLabels(first: number, last: number, left: number, top: number): void {
    const focus = this.focus();
    const rows = Array.from({ length: last - first }, (_, at) => {
      const token = first + at;
      const classes = [token === focus ? "focus" : "", this.tokens.special(token) ? "special" : ""]
        .join(" ")
        .trim();
      const row = make("span", { dir: "auto", class: classes, title: `${token}` }, this.tokens.shown(token));
      row.style.setProperty("top", `${token * ROW - top}px`);
      row.style.setProperty("width", `${left - 10}px`);
      return row;
    });
    this.labels.replaceChildren(...rows);
  }

  private paintCells(
    first: number,
    last: number,
    at: { left: number; wide: number; tall: number; top: number },
  ): void {
    const width = Math.ceil(this.hidden.layers * at.wide);
    const context = fitCanvas(this.canvas, width, at.tall);
    this.canvas.style.setProperty("left", `${at.left}px`);
    if (context === null || this.values === null) return;
    const style = getComputedStyle(this.stage.element);
    const gap = at.wide >= 16 ? 1 : 0;
    for (let token = first; token < last; token++) {
      const y = token * ROW - at.top;
      for (let layer = 0; layer < this.hidden.layers; layer++) {
        context.fillStyle = this.scale.css(this.value(layer, token)) ?? style.getPropertyValue("--line");
        context.fillRect(layer * at.wide, y, at.wide - gap, ROW - gap);
      }
    }
    const focus = this.focus();
    context.strokeStyle = style.getPropertyValue("--accent");
    context.lineWidth = 2;
    if (focus !== null) context.strokeRect(1, focus * ROW - at.top, width - 2, ROW - gap);
    const cell = this.hovered ?? (focus === null ? null : { token: focus, layer: this.layer() });
    if (cell !== null && cell.layer >= 0) {
      context.strokeStyle = style.getPropertyValue("--ink");
      context.lineWidth = 1.5;
      context.strokeRect(
        cell.layer * at.wide + 0.75,
        cell.token * ROW - at.top + 0.75,
        at.wide - gap - 1.5,
        ROW - gap - 1.5,
      );
    }
  }

  /** The whole text on one strip: the mean of as many tokens as share a pixel; only where not all rows fit. */
  private paintStrip(first: number, last: number): void {
    const tall = this.scroller.clientHeight;
    const needed = this.hidden.tokens * ROW > tall + 1;
    this.strip.hidden = !needed;
    if (!needed || this.values === null) return;
    this.strip.title = this.say.whole;
    const context = fitCanvas(this.strip, STRIP, tall);
    if (context === null) return;
    const layer = this.layer();
    for (let pixel = 0; pixel < tall; pixel++) {
      const from = Math.floor((pixel * this.hidden.tokens) / tall);
      const to = Math.max(from + 1, Math.floor(((pixel + 1) * this.hidden.tokens) / tall));
      let sum = 0;
      for (let token = from; token < to; token++) sum += this.values[layer * this.hidden.tokens + token]!;
      context.fillStyle = this.scale.css(sum / (to - from)) ?? "transparent";
      context.fillRect(0, pixel, STRIP - 4, 1);
    }
    const style = getComputedStyle(this.stage.element);
    context.strokeStyle = style.getPropertyValue("--ink");
    const y = (first / this.hidden.tokens) * tall;
    context.strokeRect(
      0.5,
      y + 0.5,
      STRIP - 1,
      Math.max(3, ((last - first) / this.hidden.tokens) * tall - 1),
    );
  }

  private tell(): void {
    const focus = this.hovered?.token ?? this.focus();
    const layer = this.hovered === null ? this.layer() : Math.max(0, this.hovered.layer);
    write(this.readout, focus === null || this.values === null ? this.say.idle : this.sentence(focus, layer));
    const value = focus === null ? null : this.value(layer, focus);
    this.readout.title = value === null ? "" : exact(value);
    if (this.values === null) return;
    const width = Math.max(220, this.profile.clientWidth || 280);
    const tokens = this.hidden.tokens;
    this.summary ??= { key: "", levels: [] };
    if (this.summary.key !== this.loaded) {
      this.summary = { key: this.loaded, levels: summarise(this.values, this.hidden.layers, tokens) };
    }
    const way =
      focus === null ? null : Array.from({ length: this.hidden.layers }, (_, at) => this.value(at, focus));
    const svg = drawProfile(this.summary.levels, way, {
      width,
      height: 220,
      inks: SCREEN,
      mark: layer,
      from: this.by() === "change" ? 1 : 0,
      names: {
        median: this.say.median,
        band: this.say.band,
        way: focus === null ? "" : clip(this.tokens.shown(focus), 16),
      },
    });
    this.profile.replaceChildren(svg);
  }

  private summary: { key: string; levels: ReturnType<typeof summarise> } | null = null;

  private sentence(token: number, layer: number): string {
    const value = this.value(layer, token);
    return this.say.readout(
      this.tokens.shown(token),
      String(token),
      this.sayFocus.afterLayers(layer),
      value === null ? this.say.undefined : digits(value),
    );
  }

  private value(layer: number, token: number): number | null {
    if (this.values === null || (layer === 0 && this.by() === "change")) return null;
    return this.values[layer * this.hidden.tokens + token] ?? null;
  }

  private pictured(): readonly [number, number] {
    if (this.hidden.tokens <= MOST_IN_PICTURE) return [0, this.hidden.tokens];
    const first = Math.min(Math.floor(this.scroller.scrollTop / ROW), this.hidden.tokens - MOST_IN_PICTURE);
    return [first, first + MOST_IN_PICTURE];
  }

  private chosenHidden(): HiddenDescription {
    const { hidden, maps } = this.stage.source.description;
    const selection = this.stage.selection.get();
    const stack = selection.options["encoder.stack"] ?? maps[selection.map]?.stack;
    return hidden.find((each) => each.stack === stack) ?? hidden[0]!;
  }

  private line(): TokenLine {
    return new TokenLine(
      this.stage.source,
      this.hidden.side,
      () => this.redraw(),
      (error) => this.stage.fail(error),
    );
  }

  private option(name: string): string | undefined {
    return this.stage.selection.get().options[`encoder.${name}`];
  }

  private by(): By {
    const by = this.option("by");
    return by === "change" || by === "neuron" ? by : "norm";
  }

  private neuron(): number {
    const wish = Number(this.option("neuron") ?? 0);
    return Number.isInteger(wish) ? Math.max(0, Math.min(this.hidden.width - 1, wish)) : 0;
  }

  private layer(): number {
    const wish = Number(this.option("layer") ?? this.hidden.layers - 1);
    return Number.isInteger(wish) ? Math.max(0, Math.min(this.hidden.layers - 1, wish)) : 0;
  }

  private focus(): number | null {
    const token = tokenInFocus(this.stage, this.hidden.side);
    return token === null || token >= this.hidden.tokens ? null : token;
  }

  private byWords(): string {
    return this.by() === "neuron" ? `${this.say.neuron} ${this.neuron()}` : this.say[this.by()];
  }

  private means(): string {
    return this.by() === "neuron"
      ? this.say.neuronMeans(this.neuron())
      : this.say[this.by() === "norm" ? "normMeans" : "changeMeans"];
  }
}

function clip(text: string, most: number): string {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : text;
}

/** A canvas of so many CSS pixels, sharp on any screen. */
function fitCanvas(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.setProperty("width", `${width}px`);
  canvas.style.setProperty("height", `${height}px`);
  const context = canvas.getContext("2d");
  context?.scale(ratio, ratio);
  return context;
}
