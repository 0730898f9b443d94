/** Runs of views that are left behind while they go on: which, how far, and a way to see or to stop each. */

import { useApp } from "./context";
import { nameStages } from "./panels/progress";
import type { Asked } from "./runs";

export function Behind() {
  const app = useApp();
  const say = app.words.value;
  const names = nameStages(say);
  const looked = app.view.value;
  const title = (view: string): string =>
    app.views.titles.find(({ name }) => name === view)?.title(app.language.value) ?? view;
  /** The button goes away with the run: whoever used it is left at the tabs. */
  const stop = ({ stop }: Asked): void => {
    app.root.querySelector<HTMLElement>('.pictures [role=tab][aria-selected="true"]')?.focus();
    stop();
  };
  return (
    <>
      {app.runs.asked.value
        .filter(({ view }) => view !== looked)
        .map((asked, place) => (
          <aside class="preset-note behind" key={place} data-behind={asked.view} aria-label={say.running}>
            <p>
              <strong>{title(asked.view)}</strong> {say.runsOn}
              {[names[asked.job?.stage ?? "queued"], asked.job?.detail]
                .filter(Boolean)
                .map((each) => ` · ${each}`)}
            </p>
            <button
              type="button"
              class="button quiet"
              data-action="show-run"
              onClick={() => app.chooseView(asked.view)}
            >
              {say.showRun}
            </button>
            <button type="button" class="button" data-action="stop-run" onClick={() => stop(asked)}>
              {say.cancel}
            </button>
          </aside>
        ))}
    </>
  );
}
