/**
 * What all panels agree on: the map and the token in focus, what is pointed at, and where that token looks.
 *
 * In:   the selection, and what a panel is pointed at.
 * Out:  marks and weights of any token; `changed` is called when they are others.
 */

import type { MapDescription, SideName } from "../../api/types";
import { focusToken, isSigned, tokenInFocus } from "../../core/focus";
import { chooseHead, chooseMap, type Head, selectedRows } from "../../core/maps";
import { strongest } from "../../core/maths/strongest";
import { writePlace } from "../../core/place";
import { rowSideOf } from "../../core/reading";
import type { Setting } from "../../core/recording_view";
import { RecordingTokens, type SideTokens } from "../../data/side_tokens";
import { readRow } from "../../data/weights";
import type { CanvasOptions } from "./cameras";
import type { Words } from "./words";

/** A row and a column of the map, and tokens of either side. */
interface Pointed {
  readonly query: number | null;
  readonly key: number | null;
  readonly marks: Partial<Readonly<Record<SideName, number>>>;
}

const NOTHING: Pointed = { query: null, key: null, marks: {} };

export class Looking {
  pointed = NOTHING;
  private readonly loading;
  private readonly sides: RecordingTokens;
  private weights: Float32Array | null = null; // of the row in `weightsOf`
  private weightsOf = "";

  constructor(
    private readonly setting: Setting<Words, CanvasOptions>,
    private readonly changed: () => void,
  ) {
    const { stage, tasks } = setting;
    this.loading = tasks.asker(() => {}); // panels say what they lack
    this.sides = new RecordingTokens(stage.source, () => !tasks.over && changed(), tasks.fail);
  }

  get map(): MapDescription | null {
    const { source, selection } = this.setting.stage;
    return chooseMap(source.description, selection.get());
  }

  get head(): Head {
    const { head } = this.setting.stage.selection.get();
    return this.map === null ? head : chooseHead(this.map, head);
  }

  /** The tokens of a side; rows of cross-attention are named by the reading that is chosen. */
  tokens(side: SideName): SideTokens {
    const { map } = this;
    const { selection } = this.setting.stage;
    return this.sides.of(side === map?.query_side ? rowSideOf(map, selection.get()) : side);
  }

  /** The row whose token is pointed at, or in focus. */
  get row(): number | null {
    return this.pointed.query ?? this.selected.query;
  }

  /** The row and the column that are chosen. */
  get selected(): Readonly<Record<"query" | "key", number | null>> {
    const { map } = this;
    return map === null ? NOTHING : selectedRows(map, this.setting.stage.selection.get());
  }

  /** The chosen token of a side. */
  focus(side: SideName): number | null {
    return tokenInFocus(this.setting.stage, side);
  }

  /** The token of a side that is pointed at in any panel. */
  mark(side: SideName): number | null {
    return this.pointed.marks[side] ?? null;
  }

  /** How much attention a token gets from the one that is pointed at, or in focus. */
  weight(side: SideName, token: number): number {
    const { map } = this;
    if (map === null || side !== map.key_side || this.weightsOf !== this.name()) return 0;
    return this.weights?.[token - map.key_start] ?? 0;
  }

  /** The keys that get most, strongest first. */
  strongest(most: number): readonly { readonly token: number; readonly weight: number }[] {
    const { map, weights } = this;
    if (map === null || weights === null || this.weightsOf !== this.name()) return [];
    return strongest(weights.length, (key) => weights[key]!, most, 0.01).map((key) => ({
      token: map.key_start + key,
      weight: weights[key]!,
    }));
  }

  /** A token of a side is pointed at; null: none is. */
  point(side: SideName, token: number | null): void {
    const { map } = this;
    const isQuery = side === map?.query_side;
    const isKey = side === map?.key_side && !isQuery;
    const query = isQuery && token !== null ? within(token - map.query_start, map.queries) : null;
    const key = isKey && token !== null ? within(token - map.key_start, map.keys) : null;
    this.set(token === null ? NOTHING : { query, key, marks: { [side]: token } });
  }

  /** A cell of the map is pointed at. */
  pointAtCell(cell: { readonly query: number; readonly key: number } | null): void {
    const { map } = this;
    if (cell === null || map === null) {
      this.set(NOTHING);
      return;
    }
    const marks = {
      [map.query_side]: map.query_start + cell.query,
      [map.key_side]: map.key_start + cell.key,
    };
    this.set({ ...cell, marks });
  }

  choose(hidden: { readonly stack: string; readonly side: SideName }, token: number): void {
    focusToken(this.setting.stage, hidden, token);
  }

  /** Fetch the weights of the row that is looked at. */
  load(): void {
    const { map, row, head } = this;
    const readable = map !== null && (map.has_weights || map.has_queries) && !isSigned([map]);
    if (!readable || row === null) return;
    const name = this.name();
    this.loading.ask(
      name,
      (source) => readRow(source, map, head, row),
      (weights) => {
        this.weights = weights;
        this.weightsOf = name;
        this.changed();
      },
    );
  }

  private set(pointed: Pointed): void {
    const { query, key, marks } = this.pointed;
    const same =
      query === pointed.query &&
      key === pointed.key &&
      marks.source === pointed.marks.source &&
      marks.target === pointed.marks.target;
    if (same) return;
    this.pointed = pointed;
    this.load();
    this.changed();
  }

  private name(): string {
    const { map, row, head } = this;
    return map === null || row === null ? "" : `${writePlace(map.place)} ${head} ${row}`;
  }
}

function within(at: number, count: number): number | null {
  return at >= 0 && at < count ? at : null;
}
