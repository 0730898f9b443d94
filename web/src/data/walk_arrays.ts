/**
 * The arrays of one step of a walk: inputs, learned parameters, the result.
 *
 * In:   a source, a step of its plan, the head and the row in focus.
 * Out:  tables of numbers; of a vocabulary only the columns of the words that are likeliest in that row.
 */

import { asFloats, type Frame, tensor } from "../api/frames";
import type { WalkPlan, WalkStep } from "../api/types";
import { type RecordingSource, Refusal } from "../core/source";

export interface Table {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

export interface StepArrays {
  readonly inputs: readonly ((Table & { readonly head: number | null }) | null)[]; // null: ids, or not kept
  readonly weight: Table | null;
  readonly bias: Table | null;
  readonly firstColumn: number; // of the weight
  readonly result: Table & { readonly head: number | null };
  readonly words: readonly number[] | null; // of a vocabulary: the column of each word that is shown
}

const WORDS = 10; // of a vocabulary
const COMPARING: readonly string[] = ["dot", "cosine", "bilinear", "additive"];

/** Whether an input of a step is read with its rows as columns: the keys of a comparison. */
export function isTurned({ operation }: WalkStep, input: number): boolean {
  return input === 1 && COMPARING.includes(operation);
}

/** The last two axes of a frame's values; axes before them are laid one below the other. */
export function readTable(frame: Frame, turned = false): Table {
  const found = tensor(frame, "values");
  const values = asFloats(found);
  const columns = found.shape.at(-1) ?? 1;
  const table = { rows: columns === 0 ? 0 : values.length / columns, columns, values };
  return turned ? turn(table) : table;
}

function turn({ rows, columns, values }: Table): Table {
  const turned = new Float32Array(values.length);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      turned[column * rows + row] = values[row * columns + column]!;
  return { rows: columns, columns: rows, values: turned };
}

function pickColumns({ rows, columns, values }: Table, chosen: readonly number[]): Table {
  const picked = new Float32Array(rows * chosen.length);
  for (let row = 0; row < rows; row++)
    chosen.forEach((column, at) => {
      picked[row * chosen.length + at] = values[row * columns + column]!;
    });
  return { rows, columns: chosen.length, values: picked };
}

/** The head of an array that several heads may share. */
function sharedHead(shape: readonly number[], head: number, heads: number): number {
  const own = shape[0] ?? 1;
  return own >= heads ? Math.min(head, own - 1) : Math.floor(head / Math.max(1, Math.floor(heads / own)));
}

/** The head of a step's result for a head of attention: where heads share keys, those have fewer heads. */
export function headIn(plan: WalkPlan, { stack, shape }: WalkStep, head: number): number {
  const own = shape.output ?? [];
  const heads = plan.stacks.find((each) => each.stack === stack)?.heads ?? own[0] ?? 1;
  return own.length === 3 ? sharedHead(own, head, heads) : head;
}

export async function readStep(
  source: RecordingSource,
  plan: WalkPlan,
  step: WalkStep,
  { head, row }: { readonly head: number; readonly row: number },
  signal: AbortSignal,
): Promise<StepArrays> {
  const reader = new StepReader(source, step, headIn(plan, step, head), signal);
  const words = step.axes.at(-1) === "vocabulary" ? await reader.likelyWords(row) : null;
  const [inputs, learned, result] = await Promise.all([
    Promise.all(step.inputs.map((name, at) => reader.readInput(name, at, words))),
    step.operation === "product" && plan.parameters ? reader.readParameters(words) : null,
    reader.readResult(words),
  ]);
  const { weight = null, bias = null } = learned ?? {};
  return { inputs, weight, bias, firstColumn: words === null ? reader.firstColumn : 0, result, words };
}

class StepReader {
  private readonly shape: readonly number[]; // of the result

  constructor(
    private readonly source: RecordingSource,
    private readonly step: WalkStep,
    private readonly head: number, // of the result
    private readonly signal: AbortSignal,
  ) {
    this.shape = step.shape.output ?? [];
  }

  get firstColumn(): number {
    const own = this.shape.length === 3 ? this.head * (this.shape[2] ?? 0) : 0;
    return (this.step.parameters.columns?.[0] ?? 0) + own;
  }

  private async read(name: string, where: Parameters<RecordingSource["trace"]>[1], turned = false) {
    return readTable(await this.source.trace(name, where, this.signal), turned);
  }

  /** The words that come first in a row; the step reads all logits anyway. */
  async likelyWords(row: number): Promise<readonly number[]> {
    const { columns, values } = await this.read("output/logits", {});
    const own = values.subarray(row * columns, (row + 1) * columns);
    return Array.from(own.keys())
      .sort((one, other) => own[other]! - own[one]!)
      .slice(0, WORDS);
  }

  async readInput(name: string, at: number, words: readonly number[] | null) {
    const { step } = this;
    const shape = step.shape.inputs[at];
    if (!shape || name.endsWith("/ids") || name.endsWith("/samples")) return null; // a wave is no matrix
    const heads = step.axes[0] === "head" ? (this.shape[0] ?? 1) : shape[0]!;
    const head = shape.length === 3 ? sharedHead(shape, this.head, heads) : null;
    const table = await this.read(name, head === null ? {} : { head }, isTurned(step, at));
    const spoken = words !== null && table.columns === (this.shape.at(-1) ?? 0);
    return { ...(spoken ? pickColumns(table, words) : table), head };
  }

  async readResult(words: readonly number[] | null) {
    const { shape } = this;
    const head = shape.length === 3 ? this.head : null;
    const table = await this.read(this.step.output, head === null ? {} : { head });
    return { ...(words === null ? table : pickColumns(table, words)), head };
  }

  /** What is learned; null where the host does not have it: an exported file does not. */
  async readParameters(words: readonly number[] | null) {
    const { weight, bias, transposed } = this.step.parameters;
    if (!weight) return null;
    try {
      if (words !== null) {
        const rows = await Promise.all(words.map((id) => this.read(weight, { rows: [id, id + 1] })));
        const values = Float32Array.from(rows.flatMap((row) => [...row.values]));
        const table = turn({ rows: rows.length, columns: rows[0]?.values.length ?? 0, values });
        return { weight: table, bias: bias ? pickColumns(await this.read(bias, {}), words) : null };
      }
      const range = [this.firstColumn, this.firstColumn + (this.shape.at(-1) ?? 0)] as const;
      const [table, shift] = await Promise.all([
        this.read(weight, transposed ? { rows: range } : { columns: range }, transposed === true),
        bias ? this.read(bias, { columns: range }) : null,
      ]);
      return { weight: table, bias: shift };
    } catch (error) {
      if (error instanceof Refusal) return null;
      throw error;
    }
  }
}
