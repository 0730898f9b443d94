/** The debugging panel (B6), in small: how each kind of number is spread, for the selected layer and head. */

import { useEffect, useState } from "preact/hooks";
import type { Distribution, MapDescription } from "../../api/types";
import { digits } from "../../core/formats";
import { chooseMap } from "../../core/maps";
import type { DistributionOf, RecordingSource } from "../../core/source";
import { useApp } from "../context";

const BINS = 48;

interface Item {
  readonly of: DistributionOf;
  readonly title: string;
  readonly there: boolean;
  readonly where: Parameters<RecordingSource["distribution"]>[1];
}

export function DebuggingPanel(props: { readonly source: RecordingSource }) {
  const app = useApp();
  const say = app.words.value;
  const { source } = props;
  const selection = app.selection.value;
  const map = chooseMap(source.description, selection);
  if (!map) return <p class="hint">{say.noNumbers}</p>;
  const head = typeof selection.head === "number" ? { head: selection.head } : {};
  const states = source.description.hidden.find((each) => each.stack === map.place.stack);
  const plane = Math.min(map.place.layer + 1, (states?.layers ?? 1) - 1);
  const items: readonly Item[] = [
    {
      of: "hidden",
      title: `${say.hiddenState}, ${say.afterLayer(plane - 1)}`,
      there: states !== undefined,
      where: { stack: map.place.stack, layer: plane, bins: BINS },
    },
    {
      of: "queries",
      title: say.queryVectors,
      there: map.has_queries,
      where: { map: map.place, ...head, bins: BINS },
    },
    {
      of: "keys",
      title: say.keyVectors,
      there: map.has_keys,
      where: { map: map.place, ...head, bins: BINS },
    },
    {
      of: "values",
      title: say.valueVectors,
      there: map.has_values,
      where: { map: map.place, ...head, bins: BINS },
    },
    {
      of: "attention",
      title: say.attentionMatrix,
      there: map.has_weights || map.has_queries,
      where: { map: map.place, ...head, bins: BINS },
    },
    {
      of: "scores",
      title: say.scores,
      there: map.has_scores || map.has_queries,
      where: { map: map.place, ...head, bins: BINS },
    },
  ];
  return (
    <div class="panel-content">
      <dl class="facts">
        <dt>{say.multiplier}</dt>
        <dd class="number" data-fact="multiplier">
          {multiplier(map)}
        </dd>
      </dl>
      <ul class="spreads">
        {items.map((item) => (
          <Spread key={item.of} source={source} item={item} />
        ))}
      </ul>
      <button type="button" class="button" data-action="open-inside" onClick={() => app.chooseView("inside")}>
        {say.openInside} →
      </button>
    </div>
  );
}

function multiplier(map: MapDescription): string {
  if (map.scale === null) return "–";
  const width = map.head_width;
  const root = width !== null && Math.abs(map.scale * Math.sqrt(width) - 1) < 1e-6 ? ` = 1/√${width}` : "";
  return `${digits(map.scale)}${root}`;
}

interface Failure {
  readonly error: unknown;
}

function Spread(props: { readonly source: RecordingSource; readonly item: Item }) {
  const app = useApp();
  const say = app.words.value;
  const { source, item } = props;
  const [found, setFound] = useState<Distribution | Failure | null>(null);
  const where = JSON.stringify(item.where);
  useEffect(() => {
    if (!item.there) {
      setFound(null);
      return;
    }
    const stop = new AbortController();
    source.distribution(item.of, item.where, stop.signal).then(setFound, (error: unknown) => {
      if (!stop.signal.aborted) setFound({ error });
    });
    return () => stop.abort();
  }, [source, item.of, item.there, where]);
  return (
    <li class="spread" data-spread={item.of}>
      <span class="spread-title">{item.title}</span>
      {!item.there && <span class="hint">{say.notKept}</span>}
      {found && "error" in found && <span class="hint bad-text">{app.explain(found.error)}</span>}
      {found && !("error" in found) && item.there && (
        <>
          <Bars distribution={found} label={item.title} />
          <span class="hint number">
            {say.fromTo(digits(found.minimum ?? 0), digits(found.maximum ?? 0))} ·{" "}
            {say.meanDeviation(digits(found.mean ?? 0), digits(found.deviation ?? 0))}
          </span>
        </>
      )}
    </li>
  );
}

/** A histogram the height of a line; its scale is a square root, so that rare values are seen. */
function Bars(props: { readonly distribution: Distribution; readonly label: string }) {
  const { counts } = props.distribution;
  const most = Math.max(1, ...counts);
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${counts.length} 20`}
      preserveAspectRatio="none"
      role="img"
      aria-label={props.label}
    >
      {counts.map((count, place) => {
        const height = count === 0 ? 0 : Math.max(0.5, 20 * Math.sqrt(count / most));
        return <rect key={place} x={place} y={20 - height} width={0.9} height={height} />;
      })}
    </svg>
  );
}
