/**
 * Values: the numbers themselves, token by dimension, or query by key.
 *
 * In:   arrays of the layer in focus, block by block.
 * Out:  a table that scrolls through them; four digits in a cell, the exact float on hover.
 */

import { captionOf, focusOf, focusToken, mapName, tokenInFocus } from "../../core/focus";
import { count, digits, exact } from "../../core/formats";
import { writePlace } from "../../core/place";
import type { TableData } from "../../core/view";
import { ARRAYS, type ArrayName, type Grid, missing, openArray, readReach } from "../../data/layer_arrays";
import { RecordingTokens } from "../../data/side_tokens";
import { type ColourScale, colourScale } from "../../marks/cells";
import { make, relabel } from "../../marks/make";
import { inks, label } from "../../marks/paper";
import { ValueGrid } from "../../marks/table";
import { type Drawing, InsidePanel, type InsideSetting } from "./panel";

const PICTURED = { rows: 24, columns: 10 };
const TABLED = { rows: 200, columns: 64 };

export class Values extends InsidePanel {
  readonly element = make("div", { class: "values" });
  private readonly about: HTMLElement;
  private readonly window: ValueGrid;
  private readonly tokens = new RecordingTokens(this.stage.source, () => this.draw(), this.tasks.fail);
  private readonly loading = this.tasks.asker();
  private grid: Grid | null = null;
  private reach: readonly [low: number, high: number] = [-1, 1];
  private revealed: number | null = null;

  constructor(setting: InsideSetting) {
    super(setting);
    const { say } = this;
    this.about = make("p", { class: "note" }, () => this.describe());
    this.window = new ValueGrid(this.look());
    const values = ARRAYS.map((value) => ({ value, text: () => this.name(value) }));
    const chooser = this.controls.list("array", () => say.array, [{ label: null, options: values }]);
    this.element.append(make("div", { class: "drawn-bar" }, chooser), this.about, this.window.element);
    this.update();
  }

  update(): void {
    const { stage } = this;
    const focus = focusOf(stage);
    const name = this.options.now.array;
    const lacks = missing(name, focus, stage.source) !== null;
    this.window.element.hidden = lacks;
    if (lacks) {
      this.loading.stop();
      this.grid = null;
      relabel(this.about);
      return;
    }
    this.loading.ask(
      `${name} ${writePlace(focus.map.place)} ${focus.head} ${focus.rowSide}`,
      (source) => {
        this.grid = openArray(name, focus, source, () => this.draw(), this.tasks.fail);
        return readReach(source, name, focus);
      },
      (reach) => {
        this.reach = reach;
        this.window.show(this.look());
      },
    );
    relabel(this.about);
    this.window.show(this.look());
    this.reveal();
  }

  /** What is shown, or why it is not. */
  private describe(): string {
    const { say, grid, stage } = this;
    const { array } = this.options.now;
    const why = missing(array, focusOf(stage), stage.source);
    if (typeof why === "string") return `${this.name(array)}: ${say.notKept(why)}`;
    if (why !== null) return say.tooMany(count(why));
    return grid ? say.valuesAbout(this.name(array), count(grid.rows), count(grid.columns)) : "";
  }

  private draw(): void {
    if (!this.tasks.over) this.window.draw();
  }

  resize(): void {
    this.window.draw();
    this.revealed = null;
    this.reveal();
  }

  async picture(): Promise<Drawing> {
    const data = await this.read(PICTURED);
    const scale = this.scale();
    const ink = inks(this.stage.theme);
    const [left, wide, tall] = [140, 64, 20];
    let body = label(data.columns[0] ?? "", 0, 14, { fill: ink.soft, size: 11 });
    data.columns.slice(2).forEach((name, at) => {
      body += label(name, left + (at + 1) * wide - 6, 14, { fill: ink.soft, size: 11, anchor: "end" });
    });
    data.rows.forEach((row, down) => {
      const y = 24 + down * tall;
      body += label(`${row[0]} ${row[1]}`, 0, y + 14, { fill: ink.ink, size: 12 });
      row.slice(2).forEach((value, at) => {
        const colour = scale.css(value as number);
        if (colour !== null)
          body += `<rect x="${left + at * wide}" y="${y}" width="${wide - 1}" height="${tall - 1}" fill="${colour}"/>`;
        body += label(digits(value as number), left + (at + 1) * wide - 6, y + 14, {
          fill: scale.ink(value as number) ?? ink.ink,
          size: 11,
          anchor: "end",
        });
      });
    });
    const focus = focusOf(this.stage);
    return {
      width: left + PICTURED.columns * wide,
      height: 24 + data.rows.length * tall,
      body,
      title: `${this.name(this.options.now.array)} · ${mapName(focus.map, this.stage.language)}`,
      lines: captionOf(this.stage, this.about.textContent ?? ""),
    };
  }

  table(): Promise<TableData> {
    return this.read(TABLED);
  }

  /** The upper left part, once it is here. */
  private async read(most: { rows: number; columns: number }): Promise<TableData> {
    const { grid } = this;
    const caption = this.name(this.options.now.array);
    if (grid === null) return { caption, columns: [], rows: [] };
    const rows = Math.min(grid.rows, most.rows);
    const columns = Math.min(grid.columns, most.columns);
    await this.tokens.of(grid.side).load(grid.start, grid.start + rows);
    for (let patience = 0; patience < 100; patience++) {
      if (grid.value(rows - 1, columns - 1) !== null && grid.value(0, 0) !== null) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return {
      caption,
      columns: [
        "",
        this.say.token,
        ...Array.from({ length: columns }, (_, column) => this.columnName(grid, column)),
      ],
      rows: Array.from({ length: rows }, (_, row) => [
        grid.start + row,
        this.tokens.of(grid.side).shown(grid.start + row),
        ...Array.from({ length: columns }, (_, column) => grid.value(row, column)),
      ]),
      ...(grid.rows > rows ? { more: grid.rows - rows } : {}),
    };
  }

  private look() {
    const { grid } = this;
    const scale = this.scale();
    const narrow = (this.stage.element.clientWidth || 900) < 480;
    return {
      label: this.name(this.options.now.array),
      corner: this.say.token,
      rows: grid?.rows ?? 1,
      columns: grid?.columns ?? 1,
      rowWidth: narrow ? 88 : 140,
      cellWidth: 80,
      row: (at: number) =>
        grid === null ? "" : `${grid.start + at} ${this.tokens.of(grid.side).shown(grid.start + at)}`,
      column: (at: number) => (grid === null ? "" : this.columnName(grid, at)),
      cell: (row: number, column: number) => {
        const value = grid?.value(row, column) ?? null;
        if (value === null) return null;
        if (value === -Infinity) return { text: "−∞", title: this.say.masked };
        return {
          text: digits(value),
          title: exact(value),
          colour: scale.css(value) ?? undefined,
          ink: scale.ink(value),
        };
      },
      point: (row: number, column: number) => this.point(row, column),
    };
  }

  /** Scroll to the token in focus, where it has changed. */
  private reveal(): void {
    const { grid } = this;
    const token = grid === null ? null : tokenInFocus(this.stage, grid.side);
    if (grid === null || token === null || token === this.revealed) return;
    this.revealed = token;
    const row = token - grid.start;
    if (row >= 0 && row < grid.rows) this.window.reveal(row);
  }

  private scale(): ColourScale {
    const kind = this.options.now.array === "attention" ? "sequential" : "diverging";
    return colourScale(this.reach, kind, false, this.stage.theme);
  }

  private point(row: number, column: number): void {
    const { grid } = this;
    if (grid === null) return;
    if (grid.keys !== null)
      this.stage.selection.set({ query: grid.start + row, key: grid.keys.start + column });
    else
      focusToken(
        this.stage,
        { stack: focusOf(this.stage).map.place.stack, side: grid.side },
        grid.start + row,
      );
  }

  private columnName(grid: Grid, column: number): string {
    if (grid.keys === null) return String(column);
    return this.tokens.of(grid.keys.side).shown(grid.keys.start + column);
  }

  private name(name: ArrayName): string {
    return name === "values" ? this.say.valueVectors : this.say[name];
  }
}
