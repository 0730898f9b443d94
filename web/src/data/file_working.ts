/**
 * What the arithmetic of one number needs, in an exported file; walk/working.py is the same on the server.
 *
 * In:   arrays that lie in the file, a step, a place in its output.
 * Out:  rows and numbers of these arrays; Working, filled by an operation.
 */

import type { CellArithmetic, WalkStep } from "../api/types";

export type Reading = CellArithmetic["reads"][number];
export type Row = ArrayLike<number>;

export interface NumberArray {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** How a number came about: Σ left · right, a bias, and what else was needed. */
export interface Working {
  readonly result: number;
  readonly left?: Row;
  readonly right?: Row;
  readonly products?: Row; // where they are not left times right
  readonly labels?: (index: number) => string; // where terms are not only numbered
  readonly sum?: number;
  readonly bias?: number;
  readonly numbers?: Readonly<Record<string, number>>;
  readonly reads?: readonly Reading[];
}

/** What stands on an axis, and what the words of a vocabulary are called. */
export interface Names {
  tokens(side: string): readonly string[];
  readonly words: ReadonlyMap<number, string>;
}

/** A place in the output of a step. */
export class Cell {
  constructor(
    readonly step: WalkStep,
    readonly head: number | null,
    readonly row: number,
    readonly column: number,
    private readonly arrays: ReadonlyMap<string, NumberArray>,
    readonly names: Names,
  ) {}

  /** The name of the first array that the step reads. */
  get input(): string {
    return this.step.inputs[0] ?? "";
  }

  array(name: string): NumberArray {
    return this.arrays.get(name)!; // all that a step names was found before
  }

  /** One row of an array (row, column) or (head, row, column); of (column,) all. */
  vector(name = this.input, row = this.row): Float32Array {
    const { shape, values } = this.array(name);
    const width = shape.at(-1) ?? 1;
    const start = shape.length < 2 ? 0 : (this.share(shape) * shape.at(-2)! + row) * width;
    return values.subarray(start, start + width);
  }

  /** A column of the head in question. */
  across(name = this.input, column = this.column): number[] {
    const { shape } = this.array(name);
    return Array.from({ length: shape.at(-2) ?? 1 }, (_, row) => this.vector(name, row)[column]!);
  }

  /** The number at this place. */
  value(name = this.input): number {
    return this.vector(name)[this.column]!;
  }

  /** A learned number of this column. */
  learned(name: string | null | undefined, column = this.column): number {
    return this.array(name!).values[column]!;
  }

  /** Where something was read from, for the page to point at. */
  read(name: string, row: number | null = null, column: number | null = null): Reading {
    const { shape } = this.array(name);
    return { name, head: shape.length === 3 && this.head !== null ? this.share(shape) : null, row, column };
  }

  /** The number at this place was read. */
  readHere(name = this.input): Reading {
    return this.read(name, this.row, this.column);
  }

  /** The head of an array that several heads may share. */
  private share(shape: readonly number[]): number {
    if (shape.length < 3) return 0;
    const head = this.head ?? 0;
    const output = this.step.shape.output ?? [];
    const heads = output.length === 3 ? output[0]! : 1;
    return shape[0]! < heads ? Math.floor(head / Math.max(1, Math.floor(heads / shape[0]!))) : head;
  }
}
