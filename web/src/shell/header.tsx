/** The header: what is open, examples, language, colours, help. */

import type { ComponentChildren } from "preact";
import { nameLanguage, nextLanguage } from "../i18n/core";
import { Account } from "./account";
import { Button } from "./button";
import { useApp } from "./context";
import { Mark } from "./icons";

const NEW = "/new"; // no run can be called so
const ALL = "/"; // no run and no recording can be called so
export const origins = ["shipped", "made", "file"] as const;

export function Header(props: { readonly help: () => void; readonly recordings: () => void }) {
  const app = useApp();
  const say = app.words.value;
  const dark = app.theme.value === "dark";
  const next = nextLanguage(app.language.value);
  return (
    <header class="header">
      <h1 class="name">
        <Mark />
        <span>{say.name}</span>
      </h1>
      <RecordingChooser all={props.recordings} />
      <PresetChooser />
      <RunChooser />
      <AtlasChooser />
      <div class="header-end">
        <Account />
        <button
          type="button"
          class="button quiet"
          lang={next}
          aria-label={say.changeLanguage(nameLanguage(next))}
          data-action="language"
          onClick={() => void app.chooseLanguage(next)}
        >
          {nameLanguage(next)}
        </button>
        <Button
          name="theme"
          worded
          icon={dark ? "sun" : "moon"}
          label={dark ? say.toLight : say.toDark}
          act={() => app.chooseTheme(dark ? "light" : "dark")}
        />
        <Button name="help" worded label={say.help} hint={`${say.help} (?)`} act={props.help}>
          ?
        </Button>
      </div>
      {app.runs.running.value && app.panel.value !== "input" && (
        <progress class="run-line" aria-label={say.running} />
      )}
    </header>
  );
}

/** A list to choose from. */
function Chooser(props: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly disabled?: boolean;
  readonly focus?: () => void;
  readonly choose: (value: string) => void;
  readonly children: ComponentChildren;
}) {
  return (
    <label class="chooser">
      <span class="chooser-label">{props.label}</span>
      <select
        data-action={props.name}
        value={props.value}
        disabled={props.disabled ?? false}
        onFocus={props.focus}
        onChange={({ currentTarget }) => {
          const wish = currentTarget.value;
          currentTarget.value = props.value; // until it is so
          if (wish) props.choose(wish);
        }}
      >
        {props.children}
      </select>
    </label>
  );
}

function RecordingChooser(props: { readonly all: () => void }) {
  const app = useApp();
  const say = app.words.value;
  const entries = app.recordings.value;
  const open = app.open.value?.description;
  const known = open && entries.some((entry) => entry.id === open.id);
  return (
    <Chooser
      label={say.recording}
      name="recording"
      value={open?.id ?? ""}
      disabled={entries.length === 0 && !open}
      choose={(id) => (id === ALL ? props.all() : void app.goToEntry(id))}
    >
      {app.source.findRecordings && <option value={ALL}>{say.allRecordings}</option>}
      {open && !known && <option value={open.id}>{app.text(open.title)}</option>}
      {!open && <option value="">–</option>}
      {origins.map((origin) => {
        const group = entries.filter((entry) => entry.origin === origin);
        if (group.length === 0) return null;
        return (
          <optgroup key={origin} label={say[origin]}>
            {group.map((entry) => (
              <option key={entry.id} value={entry.id}>
                {[entry.title, entry.mark].flatMap((each) => (each && app.text(each)) || []).join(" · ") ||
                  entry.model}
              </option>
            ))}
          </optgroup>
        );
      })}
    </Chooser>
  );
}

/** Training runs, where the host has any: the newest ones, and the way to all of them. */
function RunChooser() {
  const app = useApp();
  const say = app.words.value;
  const runs = app.trainingRuns.value;
  const ids = runs.map(({ id }) => id);
  const open = app.selection.value.run;
  if (!app.views.titles.some(({ needs }) => needs === "runs")) return null;
  const trains = app.about.value?.training === true;
  if (ids.length === 0 && open === "" && !trains) return null;
  return (
    <Chooser
      label={say.trainingRun}
      name="run"
      value={open}
      focus={() => void app.refreshTrainingRuns()}
      choose={(id) => {
        if (id === NEW) app.newRun.value = { fork: null, step: null };
        else if (id === ALL) app.chooseView("runs");
        else void app.goToRun(id);
      }}
    >
      <option value="">{say.chooseRun}</option>
      <option value={ALL}>{say.allRuns}</option>
      {trains && <option value={NEW}>{say.newRun}</option>}
      {[...new Set(open === "" ? ids : [...ids, open])].map((id) => (
        <option key={id} value={id}>
          {runs.some((run) => run.id === id && run.shipped) ? `${id} · ${say.shipped}` : id}
        </option>
      ))}
    </Chooser>
  );
}

/** What every head of a model does, where the host has atlases. */
function AtlasChooser() {
  const app = useApp();
  const say = app.words.value;
  const atlases = app.atlases.value;
  if (atlases.length === 0) return null;
  return (
    <Chooser
      label={say.atlas}
      name="atlas"
      value={app.selection.value.study}
      focus={() => void app.refreshAtlases()}
      choose={(id) => void app.goToAtlas(id)}
    >
      <option value="">{say.chooseAtlas}</option>
      {atlases.map(({ id, model, shipped }) => (
        <option key={id} value={id}>
          {[model.name === id ? id : `${id}: ${model.name}`, ...(shipped ? [say.shipped] : [])].join(" · ")}
        </option>
      ))}
    </Chooser>
  );
}

function PresetChooser() {
  const app = useApp();
  const say = app.words.value;
  const canRun = app.server !== null && app.about.value?.workbench !== false;
  const presets = app.presets.value.filter((preset) => preset.recording || canRun);
  if (presets.length === 0) return null;
  return (
    <Chooser
      label={say.preset}
      name="preset"
      value={app.preset.value?.id ?? ""}
      choose={(id) => {
        const preset = presets.find((each) => each.id === id);
        if (preset) void app.goToPreset(preset);
      }}
    >
      <option value="">{say.choosePreset}</option>
      {presets.map((preset) => (
        <option key={preset.id} value={preset.id}>
          {app.text(preset.title)}
        </option>
      ))}
    </Chooser>
  );
}
