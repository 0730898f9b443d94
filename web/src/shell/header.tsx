/** The header: what is open, examples, language, colours, help. */

import type { RecordingEntry } from "../api/types";
import { nameLanguage, nextLanguage } from "../i18n/core";
import { Button } from "./button";
import { useApp } from "./context";
import { Mark } from "./icons";

const origins = ["shipped", "made", "file"] as const;

export function Header(props: { readonly help: () => void }) {
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
      <RecordingChooser />
      <PresetChooser />
      <RunChooser />
      <div class="header-end">
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
          icon={dark ? "sun" : "moon"}
          label={dark ? say.toLight : say.toDark}
          act={() => app.chooseTheme(dark ? "light" : "dark")}
        />
        <Button name="help" label={say.help} hint={`${say.help} (?)`} act={props.help}>
          ?
        </Button>
      </div>
      {app.runs.running.value && app.panel.value !== "input" && (
        <progress class="run-line" aria-label={say.running} />
      )}
    </header>
  );
}

function RecordingChooser() {
  const app = useApp();
  const say = app.words.value;
  const entries = app.recordings.value;
  const open = app.open.value?.description;
  const known = open && entries.some((entry) => entry.id === open.id);
  const title = (entry: RecordingEntry): string => app.text(entry.title) || entry.model;
  return (
    <label class="chooser">
      <span class="chooser-label">{say.recording}</span>
      <select
        data-action="recording"
        value={open?.id ?? ""}
        onChange={(event) => void app.goToEntry(event.currentTarget.value)}
        disabled={entries.length === 0 && !open}
      >
        {open && !known && <option value={open.id}>{app.text(open.title)}</option>}
        {!open && <option value="">–</option>}
        {origins.map((origin) => {
          const group = entries.filter((entry) => entry.origin === origin);
          if (group.length === 0) return null;
          return (
            <optgroup key={origin} label={say[origin]}>
              {group.map((entry) => (
                <option key={entry.id} value={entry.id}>
                  {title(entry)}
                </option>
              ))}
            </optgroup>
          );
        })}
      </select>
    </label>
  );
}

/** Training runs, where the host has any. */
function RunChooser() {
  const app = useApp();
  const say = app.words.value;
  const runs = app.trainingRuns.value;
  const open = app.selection.value.run;
  if (runs.length === 0 && open === "") return null;
  const known = open === "" || runs.some(({ id }) => id === open);
  return (
    <label class="chooser">
      <span class="chooser-label">{say.trainingRun}</span>
      <select
        data-action="run"
        value={open}
        onFocus={() => void app.refreshTrainingRuns()}
        onChange={(event) => {
          if (event.currentTarget.value) void app.goToRun(event.currentTarget.value);
        }}
      >
        <option value="">{say.chooseRun}</option>
        {!known && <option value={open}>{open}</option>}
        {runs.map(({ id }) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </select>
    </label>
  );
}

function PresetChooser() {
  const app = useApp();
  const say = app.words.value;
  const canRun = app.server !== null && app.about.value?.workbench !== false;
  const presets = app.presets.value.filter((preset) => preset.recording || canRun);
  if (presets.length === 0) return null;
  return (
    <label class="chooser">
      <span class="chooser-label">{say.preset}</span>
      <select
        data-action="preset"
        value={app.preset.value?.id ?? ""}
        onChange={(event) => {
          const preset = presets.find((each) => each.id === event.currentTarget.value);
          if (preset) void app.goToPreset(preset);
        }}
      >
        <option value="">{say.choosePreset}</option>
        {presets.map((preset) => (
          <option key={preset.id} value={preset.id}>
            {app.text(preset.title)}
          </option>
        ))}
      </select>
    </label>
  );
}
