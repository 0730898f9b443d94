/** The debugging panel, in small: how each kind of number is spread, for the selected layer and head. */

import type { Distribution, DistributionOf } from "../../api/types";
import { whyNoMaps } from "../../core/focus";
import { digits } from "../../core/formats";
import { chooseMap } from "../../core/maps";
import type { RecordingSource } from "../../core/source";
import { useAnswer } from "../answer";
import { Button } from "../button";
import { useApp } from "../context";
import { Multipliers } from "./multipliers";

const BINS = 48;

export function DebuggingPanel({ source }: { readonly source: RecordingSource }) {
  const app = useApp();
  const say = app.words.value;
  const { head } = app.selection.value;
  const map = chooseMap(source.description, app.selection.value);
  if (!map) return <p class="hint">{app.text(whyNoMaps(source.description))}</p>;
  const { stack, layer } = map.place;
  const states = source.description.hidden.find((each) => each.stack === stack);
  const after = Math.min(layer + 1, (states?.layers ?? 1) - 1); // of the planes between layers
  const ofHidden = { stack, layer: after, bins: BINS };
  const ofMap = { map: map.place, ...(typeof head === "number" ? { head } : {}), bins: BINS };
  const rows: readonly (readonly [of: DistributionOf, title: string, there: boolean])[] = [
    [
      "hidden",
      after > 0 ? `${say.hiddenState}, ${say.afterLayer(after - 1)}` : say.hiddenState,
      states !== undefined,
    ],
    ["queries", say.queryVectors, map.has_queries],
    ["keys", say.keyVectors, map.has_keys],
    ["values", say.valueVectors, map.has_values],
    ["attention", say.attentionMatrix, map.has_weights || map.has_queries],
    ["scores", say.scores, map.has_scores || map.has_queries],
  ];
  return (
    <div class="panel-content">
      {map.scale !== null && (
        <dl class="facts">
          <dt>{say.multiplier}</dt>
          <dd class="number" data-fact="multiplier">
            {multiplier(map.scale, map.head_width)}
          </dd>
        </dl>
      )}
      <Multipliers source={source} now={map} />
      <ul class="spreads">
        {rows.map(([of, title, there]) => (
          <li class="spread" key={of} data-spread={of}>
            <span class="spread-title">{title}</span>
            {there ? (
              <Spread source={source} of={of} title={title} where={of === "hidden" ? ofHidden : ofMap} />
            ) : (
              <span class="hint">{say.notKept}</span>
            )}
          </li>
        ))}
      </ul>
      <Button name="open-inside" act={() => app.chooseView("inside")}>
        {say.openInside} →
      </Button>
    </div>
  );
}

function multiplier(scale: number, width: number | null): string {
  const root = width !== null && Math.abs(scale * Math.sqrt(width) - 1) < 1e-6 ? ` = 1/√${width}` : "";
  return `${digits(scale)}${root}`;
}

function Spread(props: {
  readonly source: RecordingSource;
  readonly of: DistributionOf;
  readonly title: string;
  readonly where: Parameters<RecordingSource["distribution"]>[1];
}) {
  const app = useApp();
  const say = app.words.value;
  const { of, where } = props;
  const { value, error } = useAnswer(props.source, JSON.stringify(where), (asked, signal) =>
    asked.distribution(of, where, signal),
  );
  if (error !== null) return <span class="hint bad-text">{app.explain(error)}</span>;
  if (!value) return null;
  return (
    <>
      <Bars distribution={value} label={props.title} />
      <span class="hint number">
        {say.fromTo(digits(value.minimum ?? 0), digits(value.maximum ?? 0))} ·{" "}
        {say.meanDeviation(digits(value.mean ?? 0), digits(value.deviation ?? 0))}
      </span>
    </>
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
