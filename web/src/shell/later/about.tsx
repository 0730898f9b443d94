/** About this recording: how its numbers came about, its tokens, and taking it along. */

import { Fragment } from "preact";
import { useRef } from "preact/hooks";
import type { SideName } from "../../api/types";
import { evidenceLine, joinSentences } from "../../core/focus";
import { digits, count as grouped } from "../../core/formats";
import type { RecordingSource } from "../../core/source";
import { useAnswer } from "../answer";
import { Button } from "../button";
import { useApp } from "../context";
import { Icon } from "../icons";
import { openFile } from "../open_file";
import type { App } from "../state";

const SHOWN = 400; // tokens

export function AboutPanel(props: { readonly source: RecordingSource }) {
  const app = useApp();
  const say = app.words.value;
  const { description } = props.source;
  const { evidence } = description;
  const { messages } = evidence;
  const entry = app.recordings.value.find((each) => each.id === description.id);
  const facts: readonly (readonly [title: string, text: string])[] = [
    [say.model, evidence.model],
    [say.hash, evidence.model_hash],
    [say.kernel, app.text(messages.kernel)],
    [say.precision, evidence.dtype],
    [say.largestError, evidence.largest_error === null ? "" : digits(evidence.largest_error)],
    [say.reference, messages.reference ? app.text(messages.reference) : ""],
    [say.edits, messages.edits.map((edit) => app.text(edit)).join("; ")],
    [say.notes, joinSentences(messages.notes, app.language.value)],
    [
      say.versions,
      Object.entries(evidence.versions)
        .map((pair) => pair.join(" "))
        .join(", "),
    ],
  ];
  return (
    <div class="panel-content">
      <h2 class="panel-title">{app.text(description.title)}</h2>
      {entry?.note && <p>{app.text(entry.note)}</p>}
      <section aria-label={say.evidence}>
        <p class="stamp" data-exact={evidence.exact}>
          {evidenceLine(evidence, app.language.value)}
        </p>
        <dl class="facts">
          {facts.map(
            ([title, text]) =>
              text && (
                <Fragment key={title}>
                  <dt>{title}</dt>
                  <dd class={title === say.hash ? "code" : ""}>{text}</dd>
                </Fragment>
              ),
          )}
        </dl>
      </section>
      <Tokens source={props.source} side="source" />
      {description.target && <Tokens source={props.source} side="target" />}
      <p class="hint">{say.markers}</p>
      <Files
        source={props.source}
        removable={entry !== undefined && entry.origin !== "shipped" && app.mayChange(entry.owner)}
      />
      {app.about.value && (
        <p class="hint">
          {say.version(app.about.value.version)} · <a href="api/docs">API</a>
        </p>
      )}
    </div>
  );
}

function Tokens(props: { readonly source: RecordingSource; readonly side: SideName }) {
  const app = useApp();
  const say = app.words.value;
  const { source, side } = props;
  const count = source.description[side]?.count ?? 0;
  const { value, fresh } = useAnswer(source, side, (asked, signal) =>
    asked.tokens(side, [0, Math.min(SHOWN, count)], signal),
  );
  const slice = fresh ? value : null;
  return (
    <details class="token-list">
      <summary>
        {side === "source" ? say.sourceSide : say.targetSide} ·{" "}
        <span class="number">{say.tokens(count, grouped(count))}</span>
      </summary>
      <p class="token-run" dir="auto">
        {slice?.shown.map((text, place) => (
          <bdi
            key={place}
            class={slice.special[place] ? "token special" : "token"}
            title={`${place} · ${slice.ids[place]}`}
          >
            {text}
          </bdi>
        ))}
        {slice && count > slice.shown.length && " …"}
      </p>
    </details>
  );
}

function Files(props: { readonly source: RecordingSource; readonly removable: boolean }) {
  const app = useApp();
  const say = app.words.value;
  const chooser = useRef<HTMLInputElement>(null);
  const { server } = app;
  if (!server) return null;
  const { id } = props.source.description;
  const url = server.download(id);
  return (
    <div class="files">
      {url !== null && (
        <a class="button" href={url} download data-action="download">
          <Icon name="download" /> {say.download}
        </a>
      )}
      {app.mayUpload() && (
        <Button name="upload" icon="upload" act={() => chooser.current?.click()}>
          {say.upload}
        </Button>
      )}
      <input
        type="file"
        hidden
        ref={chooser}
        data-field="upload"
        aria-label={say.upload}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          event.currentTarget.value = "";
          if (file) void openFile(app, file);
        }}
      />
      {props.removable && (
        <Button name="remove" icon="bin" act={() => void remove(app, id)}>
          {say.remove}
        </Button>
      )}
      {app.mayUpload() && <p class="hint">{say.uploadHint}</p>}
    </div>
  );
}

async function remove(app: App, id: string): Promise<void> {
  try {
    await app.server?.remove(id);
    await app.refreshRecordings();
    app.say(app.words.peek().removed);
    const first = app.recordings.peek()[0];
    if (first) await app.go(first.id);
  } catch (error) {
    app.complain(error);
  }
}
