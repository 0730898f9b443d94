/** Edits of the open recording: what was changed, what the model said before and after, undo; and a menu on heads. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Choice } from "../../api/types";
import { chance } from "../../core/formats";
import { probability } from "../../core/generation";
import { chooseMap } from "../../core/maps";
import type { RecordingSource } from "../../core/source";
import { moveInCircle } from "../../marks/keys";
import { Button } from "../button";
import { edgeInFocus } from "../choice";
import { useApp } from "../context";
import { outcomeOf } from "../outcome";
import type { App } from "../state";
import { edits as words } from "./edit_words";

const SHOWN = 3; // words on each side
const EDGES = "workbench.effects.edges"; // the note of a recording whose maps are effects

const undone = new WeakMap<App, Map<string, string>>(); // what followed a recording before it was undone

function parentOf(app: App, source: RecordingSource): string | null {
  return app.runs.originalRequest(source)?.parent ?? null;
}

/** The recording that it was derived from, with no edits; as far back as recordings are there. */
async function findOriginal(app: App, source: RecordingSource): Promise<RecordingSource> {
  let found = source;
  for (let parent = parentOf(app, found); parent !== null; parent = parentOf(app, found)) {
    if ((app.runs.originalRequest(found)?.edits ?? []).length === 0) break;
    try {
      found = await app.source.open(parent);
    } catch {
      break; // it was removed
    }
  }
  return found;
}

/** The edits of a recording as a list, and the prediction on both sides of them. */
export function EditList({ source }: { readonly source: RecordingSource }) {
  const app = useApp();
  const say = words(app.language.value);
  const [original, setOriginal] = useState<RecordingSource | null>(null);
  const { evidence, id } = source.description;
  useEffect(() => {
    let over = false;
    setOriginal(null);
    findOriginal(app, source).then((found) => over || found === source || setOriginal(found));
    return () => {
      over = true;
    };
  }, [source]);
  const request = app.runs.originalRequest(source);
  const edits = request?.edits ?? [];
  const parent = parentOf(app, source);
  const notes = evidence.messages.notes.filter(({ code }) => code === EDGES);
  const history = undone.get(app) ?? new Map<string, string>();
  undone.set(app, history);
  const next = history.get(id);
  const busy = app.runs.running.value !== null;
  const go = (to: string): void => {
    if (notes.length === 0) history.set(to, id); // effects are no edit that could be made again
    void app.go(to);
  };
  if (edits.length === 0 && notes.length === 0 && next === undefined) return null;
  return (
    <section class="edits" aria-label={say.edits} data-edits={edits.length}>
      {notes.map((note) => (
        <p key={note.code} data-note={note.code}>
          {app.text(note)}
        </p>
      ))}
      {edits.length > 1 && (
        <ol>
          {edits.map((edit, at) => (
            <li key={JSON.stringify(edit)}>
              {app.text(evidence.messages.edits[at] ?? "")}{" "}
              <Button
                name="remove-edit"
                icon="close"
                label={say.removeEdit}
                look="quiet small"
                disabled={busy}
                act={() =>
                  app.runs
                    .withEdits(
                      source,
                      edits.filter((_, other) => other !== at),
                    )
                    ?.start()
                }
              />
            </li>
          ))}
        </ol>
      )}
      {original && edits.length > 0 && <BeforeAfter before={original} after={source} />}
      <div class="edits-ways">
        {parent && (
          <Button name="undo-edit" look="small" disabled={busy} act={() => go(parent)}>
            {notes.length > 0 ? say.back : say.undo}
          </Button>
        )}
        {next !== undefined && (
          <Button name="redo-edit" look="small" disabled={busy} act={() => void app.go(next)}>
            {say.redo}
          </Button>
        )}
        {original && edits.length > 0 && (
          <>
            <Button name="clear-edits" look="small" disabled={busy} act={() => go(original.description.id)}>
              {say.clear}
            </Button>
            <Button
              name="compare-edits"
              look="small"
              act={() => app.store.set({ beside: original.description.id })}
            >
              {say.compare}
            </Button>
          </>
        )}
      </div>
    </section>
  );
}

function BeforeAfter(props: { readonly before: RecordingSource; readonly after: RecordingSource }) {
  const app = useApp();
  const say = words(app.language.value);
  const sides = [
    [say.before, outcomeOf(props.before.description)],
    [say.after, outcomeOf(props.after.description)],
  ] as const;
  if (sides.some(([, outcome]) => outcome === null || outcome.kind === "masks")) return null;
  return (
    <dl class="edits-sides">
      {sides.map(([name, outcome]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {outcome && "text" in outcome && <bdi>{outcome.text}</bdi>}
            {outcome && "choices" in outcome && outcome.choices.slice(0, SHOWN).map(showChoice)}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function showChoice(choice: Choice) {
  return (
    <span key={choice.token} class="edits-choice">
      <bdi>{choice.text}</bdi> <span class="number">{chance(probability(choice))}</span>
    </span>
  );
}

/** What can be done with the head and the edge in focus, at the pointer. */
export function EditMenu(props: {
  readonly source: RecordingSource;
  readonly at: readonly [x: number, y: number];
  readonly close: () => void;
}) {
  const app = useApp();
  const say = words(app.language.value);
  const own = app.words.value;
  const menu = useRef<HTMLDivElement>(null);
  const { source, at, close } = props;
  const selection = app.selection.value;
  const map = chooseMap(source.description, selection);
  const { head } = selection;
  useEffect(() => {
    const before = app.root.ownerDocument.activeElement as HTMLElement | null;
    menu.current?.querySelector("button")?.focus();
    const away = (event: Event): void => {
      if (!event.composedPath().includes(menu.current!)) close();
    };
    const { ownerDocument } = app.root;
    ownerDocument.addEventListener("pointerdown", away);
    return () => {
      ownerDocument.removeEventListener("pointerdown", away);
      before?.focus({ preventScroll: true });
    };
  }, []);
  if (!map || typeof head !== "number" || map.content === "signed") return null;
  const silence = app.runs.edit(source, map.place, head);
  const edge = edgeInFocus(map, selection);
  const cut = edge && app.runs.edit(source, map.place, head, edge);
  const items = [
    silence && { name: "silence", text: silence.edited ? own.unsilence : own.silence, act: silence.start },
    cut && { name: "cut", text: cut.edited ? own.uncut : own.cut, act: cut.start },
    { name: "effects", text: say.openEffects, act: () => app.chooseView("effects") },
  ].filter((item) => item !== null);
  const press = (event: KeyboardEvent): void => {
    const all = [...(menu.current?.querySelectorAll("button") ?? [])];
    const now = all.indexOf(event.target as HTMLButtonElement);
    const to = moveInCircle(event.key, now, all.length, "both");
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (to === undefined) return;
    else all[to]?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={menu}
      class="edit-menu"
      role="menu"
      aria-label={say.edits}
      style={{ left: `min(${at[0]}px, 100vw - 220px)`, top: `min(${at[1]}px, 100dvh - 150px)` }}
      onKeyDown={press}
    >
      <p>{say.headAt(map.place.layer, head)}</p>
      {items.map(({ name, text, act }) => (
        <button
          key={name}
          type="button"
          role="menuitem"
          data-item={name}
          disabled={name !== "effects" && app.runs.running.value !== null}
          onClick={() => {
            close();
            act();
          }}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
