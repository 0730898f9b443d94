/**
 * The columns of the table: where a row is, a line along the text, and a number for each metric.
 *
 * In:   rows with their readings, the metrics that were chosen.
 * Out:  columns that sort; the same as plain cells for copying.
 */

import type { Language, MetricDescription } from "../../api/types";
import { joinSentences } from "../../core/focus";
import { formatText } from "../../core/messages";
import type { Names } from "../../core/recording_view";
import type { TableData } from "../../core/view";
import { SCREEN } from "../../marks/paper";
import { drawStrip, reach } from "../../marks/sparkline";
import type { Column } from "../../marks/table";
import type { Along, Choices } from "./choices";
import type { MeasureRow } from "./measures";
import type { Words } from "./words";

/** `here`: the row of the selection, marked in the strips above the columns. */
export function makeColumns(
  rows: readonly MeasureRow[],
  here: MeasureRow | undefined,
  choices: Choices,
  along: Along,
  language: Language,
  say: Words,
  cells: { place(row: MeasureRow): string; spark(row: MeasureRow): Node },
): Column<MeasureRow>[] {
  const columns: Column<MeasureRow>[] = [
    { name: "where", label: say.where, value: (row) => row.order, cell: (row) => cells.place(row) },
  ];
  if (choices.level !== "model" && choices.hasAlong) {
    const name = say.alongOf(along);
    columns.push({
      name: "along",
      label: `${say.along}: ${name}`,
      title: say.alongMeans(name),
      fixed: true,
      value: (row) => row.order,
      cell: (row) => cells.spark(row),
    });
  }
  for (const { name, label, caption, unit } of choices.metrics) {
    const value = (row: MeasureRow) => row.readings.get(name)?.value ?? null;
    const values = rows.map(value);
    const domain = values.length < 3 ? null : reach(values);
    const mark = here === undefined ? null : value(here);
    const look = { width: 84, height: 12, ink: SCREEN.ink, markInk: SCREEN.accent, mark };
    columns.push({
      name,
      label: formatText(label, language),
      title: `${formatText(caption, language)} (${say.unit(unit)})`,
      beside: domain === null ? undefined : drawStrip(values, { ...look, domain }),
      value,
      why: (row) => joinSentences(row.readings.get(name)?.why ?? [], language),
    });
  }
  return columns;
}

export function plainTable(
  rows: readonly MeasureRow[],
  metrics: readonly MetricDescription[],
  language: Language,
  say: Words,
  { stackColumn, kindColumn, layerColumn, headColumn }: Names,
): Pick<TableData, "columns" | "rows"> {
  const names = metrics.map((metric) => `${formatText(metric.label, language)} (${say.unit(metric.unit)})`);
  return {
    columns: [stackColumn, kindColumn, layerColumn, headColumn, ...names],
    rows: rows.map((row) => [
      row.stack,
      row.kind,
      row.layer,
      row.head,
      ...metrics.map(({ name }) => row.readings.get(name)?.value ?? null),
    ]),
  };
}
