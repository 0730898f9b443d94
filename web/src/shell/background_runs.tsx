/** Runs that views have asked for and that go on while another view is looked at: how far each is, and its buttons. */

import { Button } from "./button";
import { useApp } from "./context";
import { stageName } from "./panels/progress";

export function BackgroundRuns() {
  const app = useApp();
  const say = app.words.value;
  const runs = app.runs.asked.value.filter(({ view }) => view !== app.view.value);
  const title = (view: string): string =>
    app.views.titles.find(({ name }) => name === view)?.title(app.language.value) ?? view;
  return (
    <>
      {runs.map(({ view, job, stop }, place) => (
        <aside
          class="preset-note background-run"
          key={place}
          data-background-run={view}
          aria-label={say.running}
        >
          <p>
            <strong>{title(view)}</strong> {say.runsOn}
            {[stageName(job?.stage ?? "queued", say), job?.detail]
              .filter(Boolean)
              .map((each) => ` · ${each}`)}
          </p>
          <Button name="show-run" look="quiet" act={() => app.chooseView(view)}>
            {say.showRun}
          </Button>
          <Button
            name="stop-run"
            act={() => {
              app.focusTabs();
              stop();
            }}
          >
            {say.cancel}
          </Button>
        </aside>
      ))}
    </>
  );
}
