/**
 * Two recordings compared: which minus which, side by side or as a difference.
 *
 * In:   the open recording, and a second one of the list, or the two of a difference (its id is FIRST~SECOND).
 * Out:  a bar that chooses and names them; the second recording in a pane of its own, with the same selection.
 */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Description, RecordingEntry } from "../../api/types";
import { fitTo } from "../../core/maps";
import type { Selection, SelectionStore } from "../../core/selection";
import type { RecordingSource } from "../../core/source";
import { isAbort } from "../../core/tasks";
import type { AnyView, Mounted } from "../../core/view";
import { Button } from "../button";
import { useApp } from "../context";
import type { App } from "../state";
import { makeStage } from "../view_stage";
import { fitsIn } from "../views";
import { words } from "./words";
import "./style.css";

type Mode = "both" | "difference";

/** The ids of what is compared: "" where nothing is chosen yet. */
function compared({ difference }: Description, { recording, beside }: Selection): readonly [string, string] {
  return difference ? [difference.first.id, difference.second.id] : [recording, beside];
}

/** Open a comparison; view, place, head, tokens and options stay. */
function compare(app: App, first: string, second: string, mode: Mode): void {
  app.store.set(
    mode === "both" || second === ""
      ? { recording: first, beside: second }
      : { recording: `${first}~${second}`, beside: "" },
  );
}

/** A recording in a few words: its text, its model, what was edited. */
function nameOf(app: App, { title, model, mark }: Pick<RecordingEntry, "title" | "model" | "mark">): string {
  return [app.text(title), model, ...(mark ? [app.text(mark)] : [])].join(" · ");
}

function nameOpened(app: App, { title, model, evidence }: Description): string {
  return nameOf(app, { title, model, mark: evidence.messages.mark });
}

type Group = "parent" | "sameText" | "sameModel" | "others";
const GROUPS: readonly Group[] = ["parent", "sameText", "sameModel", "others"];

/** How a recording is related to the first one. */
function groupOf(entry: RecordingEntry, first: RecordingEntry | undefined): Group {
  if (entry.id === first?.parent || (first && entry.parent === first.id)) return "parent";
  if (entry.source_excerpt === first?.source_excerpt) return "sameText";
  return entry.model === first?.model ? "sameModel" : "others";
}

export function CompareBar({ source }: { readonly source: RecordingSource }) {
  const app = useApp();
  const say = words(app.language.value);
  const { description } = source;
  const { difference } = description;
  const [first, second] = compared(description, app.selection.value);
  const mode: Mode = difference ? "difference" : "both";
  const listed = app.recordings.value;
  const own = listed.find(({ id }) => id === first);
  const others = listed.filter(({ id }) => id !== first);
  const subject = app.subject.value;
  const beside = subject.kind === "recording" ? subject.beside : undefined;
  const names = difference
    ? [difference.first, difference.second].map((each) => nameOf(app, each))
    : beside
      ? [nameOpened(app, description), nameOpened(app, beside.description)]
      : null;
  const choose = (id: string): void => {
    const entry = others.find((each) => each.id === id);
    const group = entry && groupOf(entry, own);
    const alike = group === "parent" || (group === "sameText" && entry?.model === own?.model);
    const shown = second !== "" ? mode : alike ? "difference" : "both"; // heads of two models seldom correspond
    compare(app, first, id, shown);
  };
  return (
    <section class="compare-bar" aria-label={say.compare}>
      <label>
        {say.with}{" "}
        <select
          data-action="compare-with"
          value={second}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          <option value="">{say.choose}</option>
          {GROUPS.map((group) => {
            const inside = others.filter((entry) => groupOf(entry, own) === group);
            return (
              inside.length > 0 && (
                <optgroup key={group} label={say[group]}>
                  {inside.map((entry) => (
                    <option key={entry.id} value={entry.id}>
                      {nameOf(app, entry)}
                    </option>
                  ))}
                </optgroup>
              )
            );
          })}
          {second !== "" && !others.some(({ id }) => id === second) && (
            <option value={second}>{names?.[1] ?? second}</option>
          )}
        </select>
      </label>
      {others.length === 0 && second === "" && <p class="compare-reading">{say.none}</p>}
      {second !== "" && (
        <>
          <div class="compare-how" role="group" aria-label={say.how}>
            {(["both", "difference"] as const).map((each) => (
              <button
                key={each}
                type="button"
                class="button small"
                data-action={`compare-${each}`}
                aria-pressed={each === mode}
                onClick={() => compare(app, first, second, each)}
              >
                {say[each]}
              </button>
            ))}
          </div>
          <Button
            name="compare-swap"
            icon="swap"
            label={say.swap}
            act={() => compare(app, second, first, mode)}
          />
        </>
      )}
      <Button
        name="compare-end"
        icon="close"
        label={say.end}
        act={() => {
          app.comparing.value = false;
          compare(app, first, "", "both");
        }}
      />
      {names && difference && (
        <p class="compare-names" data-compared>
          <b title={say.minus(names[0]!, names[1]!)}>
            <span>{names[0]}</span> − <span>{names[1]}</span>
          </b>
        </p>
      )}
      {app.refused.value !== null && (
        <details class="compare-reading" data-refused>
          <summary>{say.refused}</summary>
          {app.explain(app.refused.value)}
        </details>
      )}
      {difference && <p class="compare-reading">{say.reading}</p>}
      {difference && difference.notes.length > 0 && (
        <details class="compare-reading" open={!difference.identical}>
          <summary>{say.aligned}</summary>
          {difference.notes.map((note, at) => (
            <div key={at}>{app.text(note)}</div>
          ))}
        </details>
      )}
    </section>
  );
}

/** The selection as the second recording can have it: what it lacks is moved to the nearest that is there. */
function follow(store: SelectionStore, description: Description): SelectionStore {
  const adapt = fitTo(description);
  const see = (now: Selection): Selection => adapt(now, now, {});
  return {
    get: () => see(store.get()),
    set: (change) => store.set(change),
    option: (name, value) => store.option(name, value),
    subscribe: (listener) => store.subscribe((now, before) => listener(see(now), see(before))),
  };
}

/** The second recording beside the first, in the same view. */
export function Beside(props: {
  readonly view: AnyView;
  readonly first: RecordingSource;
  readonly source: RecordingSource;
}) {
  const { view, first, source } = props;
  const app = useApp();
  const say = words(app.language.value);
  const host = useRef<HTMLDivElement>(null);
  const mounted = useRef<Mounted | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [language, theme] = [app.language.value, app.theme.value];
  const fits = fitsIn(view, { kind: "recording", now: source });

  useLayoutEffect(() => {
    setFailure(null);
    if (!host.current || fits !== true) return;
    const life = new AbortController();
    const element = document.createElement("div");
    element.className = `view view-${view.name}`;
    host.current.replaceChildren(element);
    const fail = (error: unknown): void => {
      if (!life.signal.aborted && !isAbort(error)) setFailure(error);
    };
    const guarded = (act: () => void): void => {
      try {
        act();
      } catch (error) {
        fail(error);
      }
    };
    const selection = follow(app.store, source.description);
    guarded(() => {
      const stage = makeStage(
        app,
        () => ({ kind: "recording", now: source }),
        element,
        undefined,
        life.signal,
        fail,
      );
      mounted.current = view.mount(Object.create(stage, { selection: { value: selection } }));
    });
    const forget = selection.subscribe((now, before) => {
      if (now.view === view.name) guarded(() => mounted.current?.update(now, before));
    });
    let frame = 0;
    const observer = new ResizeObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => guarded(() => mounted.current?.resize()));
    });
    observer.observe(host.current);
    return () => {
      forget();
      observer.disconnect();
      cancelAnimationFrame(frame);
      const leaving = mounted.current;
      mounted.current = null;
      guarded(() => leaving?.unmount());
      life.abort();
      element.remove();
    };
  }, [view, source, fits === true]);
  useLayoutEffect(() => mounted.current?.restyle(language, theme), [language, theme]);

  const trouble = fits !== true ? app.text(fits) : failure !== null ? app.explain(failure) : "";
  return (
    <>
      <p class="pane-name">
        <b>{say.first}</b> {nameOpened(app, first.description)}
      </p>
      <p class="pane-name">
        <b>{say.second}</b> {nameOpened(app, source.description)}
      </p>
      <div class="beside-host" ref={host} hidden={trouble !== ""} data-beside-host />
      {trouble && (
        <div class="beside-host" role="note">
          <p>
            <b>{say.cannot(view.title(language))}</b>
          </p>
          <p>{trouble}</p>
        </div>
      )}
    </>
  );
}
