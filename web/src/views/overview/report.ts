/**
 * The overview in words for paper and table.
 *
 * In:   what is measured, the boxes as they are laid out.
 * Out:  title and caption of the sheet; a row for each head.
 */

import type { Description, Language, MetricDescription } from "../../api/types";
import { evidenceLine, isSigned } from "../../core/focus";
import { digits } from "../../core/formats";
import { formatText } from "../../core/messages";
import type { Names } from "../../core/recording_view";
import type { TableData } from "../../core/view";
import type { Grid } from "./grid";
import type { Numbers } from "./numbers";
import type { Words } from "./words";

export interface Report {
  readonly say: Words;
  readonly names: Names;
  readonly language: Language;
  readonly heads: number;
  readonly metric: MetricDescription | null;
}

export function captionGallery(
  { say, language, heads, metric }: Report,
  { title, model, evidence, maps }: Description,
  numbers: Numbers | null,
  top: number | null, // of the colours; null: each head has its own
): { readonly title: string; readonly caption: readonly string[] } {
  const bars: string[] = [];
  if (metric !== null && numbers !== null) {
    const [least, most] = numbers.limits;
    bars.push(say.barCaption(formatText(metric.label, language), digits(least, 3), digits(most, 3)));
  }
  const signed = isSigned(maps) ? [say.signed] : [];
  const shared = (most: number): string =>
    signed.length > 0 ? say.reach(digits(most, 3)) : say.coloursShared;
  const colours = top === null ? say.coloursOwn : shared(top);
  return {
    title: `${say.title} · ${formatText(title, language)}`,
    caption: [say.caption(model, heads), ...bars, colours, ...signed, evidenceLine(evidence, language)],
  };
}

export function tabulate({ say, names, language, heads, metric }: Report, grid: Grid | null): TableData {
  const label = metric === null ? [] : [formatText(metric.label, language)];
  const boxes = grid?.boxes.filter((box) => box.kept) ?? [];
  const rows = boxes.map(({ map, head, value }) => [
    map.place.stack,
    map.place.kind,
    map.place.layer,
    head,
    ...label.map(() => value),
  ]);
  const columns = [names.stackColumn, names.kindColumn, names.layerColumn, names.headColumn, ...label];
  return { caption: say.tableCaption, columns, rows, more: heads - rows.length };
}
