/** How far a run is: its stages by name, a bar, a way to stop it; afterwards what went wrong, if something did. */

import type { JobStage } from "../../types";
import { useApp } from "../context";

const stages: readonly JobStage[] = ["queued", "loading", "tokenising", "running", "statistics", "saving"];

export function Progress() {
  const app = useApp();
  const say = app.words.value;
  const running = app.runs.running.value;
  const trouble = app.runs.trouble.value;
  const names: Readonly<Record<JobStage, string>> = {
    queued: say.queued,
    loading: say.loading,
    tokenising: say.tokenising,
    running: say.runningStage,
    statistics: say.statistics,
    saving: say.saving,
  };
  if (!running) {
    if (trouble === null) return null;
    return (
      <div class="notice bad" role="alert" data-notice="run-failed">
        <p class="notice-title">{trouble}</p>
        <button type="button" class="button" onClick={() => app.runs.start()}>
          {say.tryAgain}
        </button>
      </div>
    );
  }
  const stage = running.job?.stage ?? "queued";
  const at = stages.indexOf(stage);
  const share = running.job?.share ?? null;
  return (
    <div class="progress" data-part="progress" data-stage={stage}>
      <ol class="stages" aria-label={say.stages}>
        {stages.map((each, place) => (
          <li
            key={each}
            class={place < at ? "past" : place === at ? "now" : ""}
            aria-current={place === at ? "step" : undefined}
          >
            {names[each]}
          </li>
        ))}
      </ol>
      <progress aria-label={names[stage]} max={1} {...(share === null ? {} : { value: share })} />
      <div class="progress-end">
        <span class="hint">{running.job?.detail}</span>
        <button type="button" class="button" data-action="cancel" onClick={() => app.runs.cancel()}>
          {say.cancel}
        </button>
      </div>
    </div>
  );
}
