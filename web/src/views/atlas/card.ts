/**
 * The card of a head: its type, what silencing it costs, examples, all scores beside chance, statistics by position.
 *
 * In:   a head of an atlas; the examples as far as they were opened.
 * Out:  elements.
 */

import type { AtlasDescription, AtlasHead, AtlasInterval, AtlasScore } from "../../api/types";
import { count, digits, figure, fixed, percent } from "../../core/formats";
import { button } from "../../marks/controls";
import { draw, drawChart, drawText, make, setStyle } from "../../marks/make";
import { findDetector, nameType, type Palette, typeColour } from "./colouring";
import { familiesOf, layerOf } from "./map";
import { marginOf } from "./searching";

const LEAST = 0.001; // smaller values of p are not told apart
const FIRST = 6; // scores that are shown before the others
const ALIKE = 5;
const ENOUGH = 8; // texts of a verdict: intervals of fewer hold the true mean too rarely
const [BAR, TALL] = [84, 16];
const BY_POSITION = ["entropy", "distance", "first_token", "self_token"] as const;

export interface CardLook extends Palette {
  readonly atlas: AtlasDescription;
  mapName(head: Pick<AtlasHead, "place" | "head">): string;
  examples(head: AtlasHead): readonly Element[];
  choose(head: AtlasHead | null): void;
}

export function drawCard(head: AtlasHead, look: CardLook): HTMLElement[] {
  const { say, atlas, theme } = look;
  const type = findDetector(atlas, head.type);
  const swatch = make("span", { class: "swatch" });
  if (head.type !== null) setStyle(swatch, { background: typeColour(atlas, head.type, theme) });
  const others = head.types.filter((each) => each !== head.type).map((each) => nameType(atlas, each, look));
  const close = button(say.close, () => look.choose(null));
  close.dataset.key = "close";
  return [
    make("div", { class: "card-head" }, make("h2", {}, look.mapName(head)), close),
    make("p", { class: "card-type" }, swatch, make("strong", {}, nameType(atlas, head.type, look))),
    make("p", {}, type ? look.text(type.about) : head.type === null ? say.untyped : ""),
    ...(others.length > 0 ? [make("p", {}, `${say.alsoPasses} ${others.join(say.or)}`)] : []),
    make("p", { class: "cost" }, describeCost(head, look)),
    drawPart(say.examples, ...look.examples(head)),
    drawScores(head, look),
    drawMeasures(head, look),
    ...drawPositions(head, look),
    ...drawAlike(head, look),
  ];
}

export function drawPart(title: string, ...content: readonly (Element | string)[]): HTMLElement {
  return make("section", {}, make("h3", {}, title), ...content);
}

export function describeCost({ cost }: AtlasHead, { say }: Palette): string {
  if (!cost) return say.noCost;
  const { mean, low, high, texts } = cost;
  if (low === null || high === null) return say.costOnce(fixed(mean, 3));
  const clear = low > 0 ? say.costUp : high < 0 ? say.costDown : say.costNone;
  const verdict = texts < ENOUGH ? say.costFew : clear;
  return `${say.costIs(fixed(mean, 3), fixed(low, 3), fixed(high, 3), count(texts))} ${verdict}`;
}

/** Scores of a head, those that it passes first, then the clearest. */
export function scoresOf(head: AtlasHead): readonly (readonly [name: string, score: AtlasScore])[] {
  const rank = (name: string): number =>
    (head.types.includes(name) ? 2 : 0) + Number(head.type === name) + marginOf(head, name);
  return Object.entries(head.scores)
    .flatMap(([name, score]) => (score ? [[name, score] as const] : []))
    .sort(([one], [other]) => rank(other) - rank(one));
}

function drawScores(head: AtlasHead, look: CardLook): HTMLElement {
  const { say, atlas } = look;
  const all = scoresOf(head);
  const nulls = new Set(all.map(([name]) => findDetector(atlas, name)?.null ?? "shuffled"));
  const hint = [...nulls].map((each) => say[each]).join(say.or);
  const rest = all.slice(FIRST);
  const more = make(
    "details",
    { "data-key": "more-scores" },
    make("summary", { "data-key": "more-scores-summary" }, say.more(count(rest.length))),
    drawTable(rest, head, look),
  );
  return drawPart(
    say.scoresOf,
    drawTable(all.slice(0, FIRST), head, look),
    make("p", { class: "hint" }, say.scoresHint(hint)),
    ...(rest.length > 0 ? [more] : []),
  );
}

function drawTable(scores: ReturnType<typeof scoresOf>, head: AtlasHead, look: CardLook): HTMLElement {
  const { say, atlas } = look;
  const columns = [say.detector, "", `${say.mean} (95 %)`, say.chance, say.baseline, say.p];
  const rows = scores.map(([name, score]) => {
    const detector = findDetector(atlas, name);
    const { baseline = null, offset = null } = detector ?? {};
    const cells = [
      `${fixed(score.mean, 2)} (${say.between(fixed(score.low, 2), fixed(score.high, 2))})`,
      fixed(score.null, 2),
      baseline === null
        ? "–"
        : say.baselineAt(fixed(baseline, 2), offset === null ? say.diagonal : fixed(offset, 0)),
      score.p < LEAST ? say.below(digits(LEAST, 1)) : digits(score.p, 1),
    ];
    return make(
      "tr",
      { "data-passes": head.types.includes(name) },
      make("th", { scope: "row" }, nameType(atlas, name, look)),
      make("td", {}, drawScore(score, baseline)),
      ...cells.map((cell) => make("td", { class: "number" }, cell)),
    );
  });
  const header = columns.map((each) =>
    make(each === "" ? "td" : "th", each === "" ? {} : { scope: "col" }, each),
  );
  return make(
    "div",
    { class: "scroll", tabindex: 0 },
    make(
      "table",
      { class: "scores" },
      make("thead", {}, make("tr", {}, ...header)),
      make("tbody", {}, ...rows),
    ),
  );
}

/** Mean and interval between 0 and 1, chance as a grey area, the baseline as a line. */
function drawScore(
  { mean, low, high, null_high, ...score }: AtlasScore,
  baseline: number | null,
): SVGSVGElement {
  const x = (value: number): string => figure(2 + (BAR - 4) * Math.max(0, Math.min(1, value)), 1);
  const wide = (from: number, to: number): string => figure(Math.max(1, Number(x(to)) - Number(x(from))), 1);
  const middle = TALL / 2;
  return drawChart(
    BAR,
    TALL,
    null,
    draw("line", { x1: 2, x2: BAR - 2, y1: middle, y2: middle, stroke: "var(--line)" }),
    draw("rect", {
      x: x(0),
      y: 3,
      width: wide(0, Math.max(score.null, null_high)),
      height: TALL - 6,
      fill: "var(--ink-faint)",
      "fill-opacity": 0.35,
    }),
    draw("rect", { x: x(low), y: middle - 2, width: wide(low, high), height: 4, fill: "var(--accent)" }),
    draw("circle", { cx: x(mean), cy: middle, r: 4, fill: "var(--accent)" }),
    baseline !== null &&
      draw("line", {
        x1: x(baseline),
        x2: x(baseline),
        y1: 0,
        y2: TALL,
        stroke: "var(--ink)",
        "stroke-width": 2,
      }),
  );
}

function drawMeasures({ measures }: AtlasHead, { say }: CardLook): HTMLElement {
  const rows = Object.entries(measures).flatMap(([name, value]) =>
    value
      ? [
          make("dt", {}, say.measure(name)),
          make("dd", {}, `${digits(value.mean, 3)} (${nameInterval(value, say)})`),
        ]
      : [],
  );
  return drawPart(say.measures, make("dl", {}, ...rows));
}

function nameInterval({ low, high }: AtlasInterval, say: Palette["say"]): string {
  return low === null || high === null ? say.unknownInterval : say.between(digits(low, 3), digits(high, 3));
}

/** Means in ranges of positions, one chart for each measure. */
function drawPositions({ by_position }: AtlasHead, { say }: CardLook): HTMLElement[] {
  const { edges, ...series } = by_position;
  const charts = BY_POSITION.flatMap((name) => {
    const values = series[name] ?? []; // atlases of earlier versions have entropy alone
    if (values.every((each) => each === null)) return [];
    const share = name !== "distance";
    const most = share ? 1 : Math.max(...values.map((each) => each ?? 0), Number.MIN_VALUE);
    const ranges = values.flatMap((value, at) => {
      if (value === null) return [];
      const told = share ? percent(value, 0) : digits(value, 2);
      return [{ at, value, text: `${say.position(edges[at]!, edges[at + 1]! - 1)}: ${told}` }];
    });
    const label = `${say.measure(name)}: ${ranges.map(({ text }) => text).join(say.or)}`;
    const [step, tall] = [Math.min(28, 200 / values.length), 48];
    const every = step < 24 ? 2 : 1; // numbers of three digits would run into one another
    const bars = ranges.map(({ at, value, text }) => {
      const high = Math.max(1, (tall * Math.max(0, Math.min(most, value))) / most);
      const [x, y] = [figure(at * step + 1, 1), figure(tall - high, 1)];
      const size = { width: figure(step - 2, 1), height: figure(high, 1) };
      const look = { fill: "var(--accent)", "fill-opacity": 0.7 };
      return draw("rect", { x, y, ...size, ...look }, draw("title", {}, text));
    });
    const ticks = edges.flatMap((edge, at) => {
      if (at % every !== 0) return [];
      const anchor = at === 0 ? "start" : "middle";
      return [drawText(edge, at * step, tall + 12, "var(--ink-faint)", anchor, { "font-size": 10 })];
    });
    const chart = drawChart(values.length * step + 14, tall + 16, label, ...bars, ...ticks);
    const top = share ? percent(most, 0) : digits(most, 2);
    const caption = make("figcaption", { class: "hint" }, say.upTo(say.measure(name), top));
    return [make("figure", {}, caption, chart)];
  });
  if (charts.length === 0) return [];
  const across = make("p", { class: "hint" }, say.acrossPositions);
  return [drawPart(say.byPosition, make("div", { class: "positions" }, ...charts), across)];
}

/** The nearest heads of its cluster. */
function drawAlike(head: AtlasHead, look: CardLook): HTMLElement[] {
  const far = ({ point }: AtlasHead): number =>
    Math.hypot((point[0] ?? 0) - (head.point[0] ?? 0), (point[1] ?? 0) - (head.point[1] ?? 0));
  const near = look.atlas.heads
    .filter((each) => each !== head && each.cluster === head.cluster)
    .sort((one, other) => far(one) - far(other))
    .slice(0, ALIKE);
  return near.length === 0 ? [] : [drawPart(look.say.alike, drawHeads(near, look, "alike"))];
}

/** Heads as buttons that open their cards. */
export function drawHeads(heads: readonly AtlasHead[], look: CardLook, keys: string): HTMLElement {
  const several = familiesOf(look.atlas.heads).length > 1;
  const buttons = heads.map((each) => {
    const name = several ? look.mapName(each) : look.say.headName(layerOf(each), each.head);
    const element = button(name, () => look.choose(each));
    element.className = "link";
    element.dataset.key = `${keys} ${each.place}/${each.head}`;
    return element;
  });
  return make("div", { class: "heads" }, ...buttons);
}
