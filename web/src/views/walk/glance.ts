/**
 * All layers of a stack at a glance: lengths of the vectors, what each layer changes, where every head looks.
 *
 * In:   activations and thumbnails of the recording.
 * Out:  a scene of the walk; a click on a head opens its layer.
 */

import { asFloats, tensor } from "../../api/frames";
import type { MapDescription } from "../../api/types";
import { Refusal } from "../../core/source";
import type { TableData } from "../../core/view";
import { sequential } from "../../marks/colours";
import { make } from "../../marks/make";
import { inks, label } from "../../marks/paper";
import { type Drawn, naming, type WalkContext, type WalkScene } from "./context";
import { fitCell } from "./layout";
import { Matrix } from "./matrix";
import { grid } from "./values";

export class Glance implements WalkScene {
  readonly element = make("div", { class: "walk-glance", "aria-busy": "true" });
  readonly ready: Promise<void>;
  private readonly matrices: { title: string; matrix: Matrix }[] = [];
  private gone = false;

  constructor(
    private readonly context: WalkContext,
    private readonly stack: string,
    private readonly open: (map: MapDescription, head: number) => void,
  ) {
    this.ready = this.load();
  }

  private async load(): Promise<void> {
    try {
      await Promise.all([this.showStates(), this.showHeads()]);
    } catch (error) {
      if (this.gone) return;
      if (error instanceof Refusal)
        this.element.append(make("p", { class: "walk-missing" }, error.text(this.context.stage.language)));
      else this.context.failed(error);
    } finally {
      this.element.setAttribute("aria-busy", "false");
    }
  }

  private async showStates(): Promise<void> {
    const { context, stack } = this;
    const { say, source, stage } = context;
    const hidden = source.description.hidden.find((each) => each.stack === stack);
    if (hidden === undefined) {
      this.element.append(make("p", { class: "hint" }, say.noHidden));
      return;
    }
    const [norms, changes] = await Promise.all([
      source.activations(stack, "norm"),
      source.activations(stack, "change"),
    ]);
    if (this.gone) return;
    const cell = fitCell(hidden.tokens, (context.width() - 120) / (context.width() > 900 ? 2 : 1) - 100);
    const states = make("div", { class: "walk-states" });
    this.element.prepend(states);
    for (const [title, frame, first] of [
      [say.norms, norms, 0],
      [say.changes, changes, 1],
    ] as const) {
      const found = tensor(frame, "activations");
      const columns = found.shape.at(-1) ?? 1;
      const values = asFloats(found).slice(first * columns);
      const rows = values.length / columns;
      const row = (at: number) => (at + first === 0 ? say.embedding : say.layerNumber(at + first - 1));
      const table = grid({ rows, columns, values }, { row, column: naming(context, stack) });
      const matrix = new Matrix(
        { ...table, signed: false },
        {
          symbol: first === 0 ? "‖X‖" : "‖ΔX‖",
          about: title,
          role: "input",
          cellWidth: cell,
          cellHeight: 20,
          theme: stage.theme,
          still: true,
        },
        (at, column) => matrix.light({ row: at, column }),
      );
      this.matrices.push({ title, matrix });
      states.append(matrix.element);
    }
  }

  private async showHeads(): Promise<void> {
    const { context, stack } = this;
    const { say, source, stage } = context;
    const maps = source.description.maps.filter(
      (map) => map.place.stack === stack && map.place.step === null,
    );
    if (maps.length === 0) return;
    const frame = await source.thumbnails("max");
    if (this.gone) return;
    const list = make("div", { class: "walk-heads" });
    for (const map of maps) {
      const found = frame.arrays.get(map.place.address);
      if (found === undefined) continue;
      const [heads = 0, rows = 0, columns = 0] = found.shape;
      const line = make(
        "div",
        { class: "walk-headrow" },
        make(
          "span",
          {},
          `${say.layerNumber(map.place.layer)}${map.place.kind === "cross" ? ` · ${say.cross}` : ""}`,
        ),
      );
      for (let head = 0; head < heads; head++) {
        const data = found.data.slice(head * rows * columns, (head + 1) * rows * columns) as Uint8Array;
        const name = `${say.layerNumber(map.place.layer)}, ${say.headBand(head)}`;
        line.append(
          make(
            "button",
            { type: "button", title: name, "aria-label": name, onclick: () => this.open(map, head) },
            thumbnail(data, rows, columns, sequential(stage.theme)),
          ),
        );
      }
      list.append(line);
    }
    this.element.append(make("h3", {}, say.heads), list);
  }

  picture(): Drawn {
    const ink = inks(this.context.stage.theme);
    let [body, top, width] = ["", 0, 320];
    for (const { title, matrix } of this.matrices) {
      const drawn = matrix.picture();
      body += label(title, 0, top + 12, { fill: ink.soft, size: 12 });
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
          title,
          from.row?.(Math.floor(at / from.columns)) ?? "",
          from.column?.(at % from.columns) ?? "",
          value,
        ]),
      ),
    };
  }

  stop(): void {
    this.gone = true;
  }
}

function thumbnail(data: Uint8Array, rows: number, columns: number, table: Uint8Array): HTMLCanvasElement {
  const canvas = make("canvas", { width: columns, height: rows, "aria-hidden": "true" });
  const context = canvas.getContext?.("2d");
  if (!context || rows * columns === 0) return canvas;
  const image = new ImageData(columns, rows);
  data.forEach((byte, at) => {
    for (let part = 0; part < 3; part++) image.data[4 * at + part] = table[3 * byte + part]!;
    image.data[4 * at + 3] = 255;
  });
  context.putImageData(image, 0, 0);
  return canvas;
}
