/** All recordings of the host, searched in its index: the list in the header has the newest ones alone. */

import { useState } from "preact/hooks";
import type { RecordingEntry } from "../../api/types";
import { count } from "../../core/formats";
import { useAnswer } from "../answer";
import { Button } from "../button";
import { useApp } from "../context";
import { origins } from "../header";
import { Dialog } from "./dialog";
import { later } from "./later_words";

const PART = 100; // recordings of an origin
const MOST = 1000; // that the server gives at once
const PAUSE = 60; // ms after the last letter

export function RecordingsDialog(props: { readonly close: () => void }) {
  const app = useApp();
  const say = app.words.value;
  const own = later(app.language.value);
  const [search, setSearch] = useState("");
  const [shown, setShown] = useState(PART);
  const { value, error, fresh } = useAnswer(
    app.source,
    JSON.stringify([search.trim(), shown]),
    (source, signal) => source.findRecordings!(search.trim(), shown, signal),
    search === "" ? 0 : PAUSE,
  );
  const entries = value?.entries ?? [];
  const left = (value?.total ?? 0) - entries.length;
  return (
    <Dialog title={own.recordings} name="recordings" close={props.close}>
      <div class="recordings" aria-busy={!fresh}>
        <input
          type="text"
          // biome-ignore lint/a11y/noAutofocus: the dialog was opened to search
          autofocus
          data-field="recordings"
          aria-label={own.searchRecordings}
          placeholder={own.searchRecordings}
          value={search}
          onInput={(event) => {
            setSearch(event.currentTarget.value);
            setShown(PART);
          }}
        />
        {error !== null && <p role="alert">{app.explain(error)}</p>}
        {value && (
          <p class="hint" role="status">
            {own.foundRecordings(count(value.total))}
          </p>
        )}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <div class="recordings-list" tabIndex={0} role="region" aria-label={own.recordings}>
          {origins.map((origin) => (
            <Group
              key={origin}
              title={say[origin]}
              entries={entries.filter((entry) => entry.origin === origin)}
              close={props.close}
            />
          ))}
          {left > 0 && shown < MOST && (
            <Button
              name="more-recordings"
              act={() => setShown(Math.min(MOST, shown + (shown < 300 ? PART : 300)))}
            >
              {own.moreRecordings(count(left))}
            </Button>
          )}
          {left > 0 && shown >= MOST && <p class="hint">{own.narrow(count(left))}</p>}
        </div>
      </div>
    </Dialog>
  );
}

function Group(props: {
  readonly title: string;
  readonly entries: readonly RecordingEntry[];
  readonly close: () => void;
}) {
  const app = useApp();
  const own = later(app.language.value);
  if (props.entries.length === 0) return null;
  return (
    <section>
      <h3>{props.title}</h3>
      <ul>
        {props.entries.map(({ id, title, model, source_tokens, target_tokens }) => (
          <li key={id}>
            <button
              type="button"
              data-recording={id}
              aria-current={id === app.open.value?.description.id ? "true" : undefined}
              onClick={() => {
                props.close();
                void app.goToEntry(id);
              }}
            >
              <span dir="auto">{app.text(title) || model}</span>
              <small>
                {model} · {own.tokensOf(count(source_tokens + (target_tokens ?? 0)))}
              </small>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
