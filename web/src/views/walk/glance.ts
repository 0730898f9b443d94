/**
 * All layers of a stack at a glance: lengths of the vectors, what each layer changes, where every head looks.
 *
 * In:   activations and thumbnails of the recording.
 * Out:  a scene of the walk; a click on a head opens its layer.
 */

import type { MapDescription } from "../../api/types";
import { type RecordingSource, Refusal } from "../../core/source";
import { Asker } from "../../core/tasks";
import type { TableData } from "../../core/view";
import { readActivations } from "../../data/states";
import { type HeadPictures, readThumbnails } from "../../data/thumbnails";
import { make } from "../../marks/make";
import { inks, label } from "../../marks/paper";
import { type Drawn, naming, type WalkContext, type WalkScene } from "./context";
import { fitCell, fitGlance } from "./layout";
import { Matrix } from "./matrix";
import { pixelsOf } from "./pixels";
import { type Grid, grid } from "./values";

interface Read {
  readonly norms: Float32Array; // of the embedding, then of each layer: (layer, token)
  readonly changes: Float32Array;
  readonly tokens: number;
}

export class Glance implements WalkScene {
  readonly element = make("div", { class: "walk-glance", "aria-busy": "true" });
  private readonly loading: Asker;
  private matrices: { title: () => string; matrix: Matrix }[] = [];
  private readonly heads: { readonly button: HTMLElement; readonly grid: Grid }[] = [];

  constructor(
    private readonly context: WalkContext,
    private readonly stack: string,
  ) {
    const { stage, source, say, failed } = context;
    const end = (...children: readonly HTMLElement[]) => {
      this.element.setAttribute("aria-busy", "false");
      this.element.append(...children);
    };
    this.loading = new Asker(stage, (error) => {
      if (error instanceof Refusal)
        end(make("p", { class: "walk-missing" }, () => error.text(stage.language)));
      else failed(error);
    });
    const maps = source.description.maps.filter(
      (map) => map.place.stack === stack && map.place.step === null,
    );
    this.loading.ask(
      null,
      (_, signal) => {
        const asked = source.within(signal);
        return Promise.all([this.readStates(asked), maps.length > 0 ? readThumbnails(asked, "max") : null]);
      },
      ([states, thumbnails]) => {
        const room = [context.width(), context.height()] as const;
        const planes = states ? states.norms.length / states.tokens : 0;
        const heads = Math.max(0, ...maps.map((map) => map.heads));
        const fit = fitGlance(room, { planes, rows: maps.length, heads });
        this.element.style.setProperty("--columns", String(fit.columns));
        this.element.style.setProperty("--head", `${fit.head}px`);
        end(states ? this.makeStates(states, fit) : make("p", { class: "hint" }, () => say.noHidden));
        if (thumbnails)
          end(
            make("h3", {}, () => say.heads),
            this.makeHeads(maps, thumbnails),
          );
      },
    );
  }

  get ready(): Promise<void> {
    return this.loading.coming;
  }

  private async readStates(source: RecordingSource): Promise<Read | null> {
    const hidden = source.description.hidden.find((each) => each.stack === this.stack);
    if (hidden === undefined) return null;
    const [norms, changes] = await Promise.all([
      readActivations(source, this.stack, "norm"),
      readActivations(source, this.stack, "change"),
    ]);
    return { norms, changes, tokens: hidden.tokens };
  }

  private makeStates(
    { norms, changes, tokens }: Read,
    { beside, high }: ReturnType<typeof fitGlance>,
  ): HTMLElement {
    const { context } = this;
    const { say, stage } = context;
    const cellWidth = fitCell(tokens, (context.width() - 40) / (beside ? 2 : 1) - 96);
    const row = (at: number) => (at === 0 ? say.embedding : say.layerNumber(at - 1));
    const parts = [
      { title: () => say.norms, symbol: "‖X‖", values: norms, first: 0 },
      { title: () => say.changes, symbol: "‖ΔX‖", values: changes.slice(tokens), first: 1 }, // nothing comes before the embedding
    ];
    this.matrices = parts.map(({ title, symbol, values, first }) => {
      const table = { rows: values.length / tokens, columns: tokens, values };
      const names = { row: (at: number) => row(at + first), column: naming(context, this.stack) };
      const matrix: Matrix = new Matrix(
        { ...grid(table, names), signed: false },
        {
          symbol,
          about: title,
          role: "input",
          cellWidth,
          cellHeight: high,
          get theme() {
            return stage.theme;
          },
          still: true,
        },
        (at, column) => matrix.light({ row: at, column }),
      );
      return { title, matrix };
    });
    const all = this.matrices.map(({ matrix }) => matrix.element);
    return make("div", { class: "walk-states", "data-beside": beside || null }, ...all);
  }

  private makeHeads(
    maps: readonly MapDescription[],
    thumbnails: (map: MapDescription) => HeadPictures,
  ): HTMLElement {
    const { say } = this.context;
    const lines = maps.map((map) => {
      const { layer, kind } = map.place;
      const { heads, height: rows, width: columns, bytes } = thumbnails(map);
      const named = () => say.layerNumber(layer) + (kind === "cross" ? ` · ${say.cross}` : "");
      const buttons = Array.from({ length: heads }, (_, head) => {
        const own = bytes.subarray(head * rows * columns, (head + 1) * rows * columns);
        const values = Float32Array.from(own, (byte) => (byte / 255) ** 2);
        const name = () => `${say.layerNumber(layer)}, ${say.headBand(head)}`;
        const onclick = () => this.context.openHead(map, head);
        const button = make("button", { type: "button", title: name, "aria-label": name, onclick });
        this.heads.push({ button, grid: grid({ rows, columns, values }, { share: true }) });
        return button;
      });
      return make("div", { class: "walk-headrow" }, make("span", { title: named }, named), ...buttons);
    });
    this.drawHeads();
    return make("div", { class: "walk-heads" }, ...lines);
  }

  restyle(): void {
    for (const { matrix } of this.matrices) matrix.restyle();
    this.drawHeads();
  }

  private drawHeads(): void {
    for (const { button, grid: of } of this.heads) {
      const canvas = pixelsOf(of, this.context.stage.theme);
      canvas?.setAttribute("aria-hidden", "true");
      button.replaceChildren(...(canvas ? [canvas] : []));
    }
  }

  picture(): Drawn {
    const ink = inks(this.context.stage.theme);
    let [body, top, width] = ["", 0, 320];
    for (const { title, matrix } of this.matrices) {
      const drawn = matrix.picture();
      body += label(title(), 0, top + 12, { fill: ink.soft, size: 12 });
      body += `<g transform="translate(0 ${top + 20})">${drawn.body}</g>`;
      top += drawn.height + 44;
      width = Math.max(width, drawn.width);
    }
    return { body, width, height: top };
  }

  table(): TableData {
    const { say } = this.context;
    return {
      caption: say.glance,
      columns: ["", say.layer, say.token, ""],
      rows: this.matrices.flatMap(({ title, matrix: { grid: from } }) =>
        Array.from(from.values, (value, at) => [
          title(),
          from.row?.(Math.floor(at / from.columns)) ?? "",
          from.column?.(at % from.columns) ?? "",
          value,
        ]),
      ),
    };
  }

  stop(): void {
    this.loading.stop();
  }
}
