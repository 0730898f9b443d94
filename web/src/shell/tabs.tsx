/**
 * A row of tabs: one is in the tab order, arrows move among them (WAI-ARIA tabs). Where they do not fit, the row scrolls,
 * and an arrow at its end shows the next ones.
 */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { moveInCircle } from "../marks/keys";
import { Icon } from "./icons";

const ARROW = 40; // pixels at an end that an arrow may cover

export interface Tab {
  readonly name: string;
  readonly title: string;
  readonly hint?: string;
  readonly muted?: boolean; // can be chosen, but says why there is nothing to see
}

export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly controls: string; // id of the panel
  readonly prefix: string; // of the tabs' ids
  readonly choose: (name: string) => void;
}) {
  const row = useRef<HTMLDivElement>(null);
  const { tabs, chosen } = props;
  const [hidden, setHidden] = useState(""); // the ends at which there are more: "left right"

  const look = (): void => {
    if (!row.current) return;
    const { scrollLeft, clientWidth, scrollWidth } = row.current;
    const ends = [scrollLeft > 1 && "left", scrollLeft + clientWidth < scrollWidth - 1 && "right"];
    setHidden(ends.filter(Boolean).join(" "));
  };
  useLayoutEffect(look, [tabs.map(({ title }) => title).join()]);
  useEffect(() => {
    const observer = new ResizeObserver(look);
    if (row.current) observer.observe(row.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const tab = row.current?.querySelector<HTMLElement>('[aria-selected="true"]');
    if (!row.current || !tab) return;
    const { scrollLeft, clientWidth, offsetLeft } = row.current;
    const left = tab.offsetLeft - offsetLeft;
    const right = left + tab.offsetWidth;
    if (left < scrollLeft + ARROW) row.current.scrollLeft = left - ARROW;
    else if (right > scrollLeft + clientWidth - ARROW) row.current.scrollLeft = right - clientWidth + ARROW;
  }, [chosen]);

  const move = (event: KeyboardEvent): void => {
    const at = tabs.findIndex((tab) => tab.name === chosen);
    const to = moveInCircle(event.key, at, tabs.length, "both");
    const tab = to === undefined ? undefined : tabs[to];
    if (!tab) return;
    event.preventDefault();
    props.choose(tab.name);
    row.current?.querySelector<HTMLElement>(`[data-name="${tab.name}"]`)?.focus();
  };

  return (
    <div class="tab-row" data-more={hidden}>
      <div class="tabs" role="tablist" aria-label={props.label} ref={row} onKeyDown={move} onScroll={look}>
        {tabs.map((tab) => (
          <button
            key={tab.name}
            type="button"
            role="tab"
            id={`${props.prefix}-${tab.name}`}
            data-name={tab.name}
            class={tab.muted ? "tab muted" : "tab"}
            aria-selected={tab.name === chosen}
            aria-controls={props.controls}
            tabIndex={tab.name === chosen ? 0 : -1}
            title={tab.hint}
            onClick={(event) => {
              props.choose(tab.name);
              if (event.detail > 0) event.currentTarget.blur(); // clicked: arrow keys are for what was opened
            }}
          >
            {tab.title}
          </button>
        ))}
      </div>
      {(["left", "right"] as const).map(
        (end) =>
          hidden.includes(end) && (
            // keys move among the tabs themselves
            <button
              key={end}
              type="button"
              class={`tab-more ${end}`}
              tabIndex={-1}
              aria-hidden="true"
              onClick={() => {
                const { current } = row;
                current?.scrollBy({ left: (end === "left" ? -0.7 : 0.7) * current.clientWidth });
              }}
            >
              <Icon name={end} />
            </button>
          ),
      )}
    </div>
  );
}
