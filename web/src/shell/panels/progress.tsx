/** How far a run is: its stages by name, a bar, a way to stop it; afterwards what went wrong, if something did. */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Job, JobStage } from "../../api/types";
import { Button } from "../button";
import { useApp } from "../context";
import type { AppWords } from "../words";

const stages: readonly JobStage[] = ["queued", "loading", "tokenising", "running", "statistics", "saving"];

export function Progress() {
  const app = useApp();
  const running = app.runs.running.value;
  const other = app.runs.other.value;
  const trouble = app.runs.trouble.value;
  if (running) return <Stages job={running.job} cancel={() => app.runs.cancel()} />;
  return (
    <>
      {trouble !== null && <Failure trouble={trouble} />}
      {other &&
        (other.recording === null ? (
          <Stages job={other} elsewhere cancel={() => app.runs.cancelOther()} />
        ) : (
          <Result job={other} />
        ))}
    </>
  );
}

/** Why there is no run. It is scrolled to, as progress is. */
function Failure({ trouble }: { readonly trouble: unknown }) {
  const app = useApp();
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => box.current?.closest(".run-bar")?.scrollIntoView({ block: "nearest" }), [trouble]);
  return (
    <div class="notice bad" role="alert" data-notice="run-failed" ref={box}>
      <p class="notice-title">{app.explain(trouble)}</p>
      <Button name="try-again" act={() => app.runs.start()}>
        {app.words.value.tryAgain}
      </Button>
    </div>
  );
}

/** What came of a run of another window: nobody is taken there against their will. */
function Result({ job }: { readonly job: Job }) {
  const app = useApp();
  const say = app.words.value;
  return (
    <div class="notice" role="status" data-notice="other-run">
      <p class="notice-title">{say.otherDone(job.model)}</p>
      <Button
        name="open-result"
        act={() => {
          app.runs.other.value = null;
          if (job.recording !== null) void app.go(job.recording);
        }}
      >
        {say.openResult}
      </Button>
    </div>
  );
}

export function stageName(stage: JobStage, say: AppWords): string {
  return stage === "running" ? say.runningStage : say[stage];
}

function Stages(props: {
  readonly job: Job | null;
  readonly elsewhere?: boolean;
  readonly cancel: () => void;
}) {
  const app = useApp();
  const say = app.words.value;
  const { job } = props;
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (!props.elsewhere) button.current?.closest(".run-bar")?.scrollIntoView({ block: "nearest" });
    return () => {
      if (!button.current?.matches(":focus")) return; // whoever cancelled by keys goes on where a run begins
      const form = button.current.closest("form");
      setTimeout(() => form?.querySelector<HTMLElement>("[data-action=run]")?.focus());
    };
  }, []);
  const stage = job?.stage ?? "queued";
  const at = stages.indexOf(stage);
  const share = job?.share ?? null;
  return (
    <div class="progress" data-part={props.elsewhere ? "other-progress" : "progress"} data-stage={stage}>
      {props.elsewhere && <p class="hint">{say.otherRun(job?.model ?? "")}</p>}
      <ol class="stages" aria-label={say.stages}>
        {stages.map((each, place) => (
          <li
            key={each}
            class={place < at ? "past" : place === at ? "now" : ""}
            aria-current={place === at ? "step" : undefined}
          >
            {stageName(each, say)}
          </li>
        ))}
      </ol>
      <p class="unseen" role="status">
        {stageName(stage, say)}
      </p>
      <progress aria-label={stageName(stage, say)} max={1} {...(share === null ? {} : { value: share })} />
      <div class="progress-end">
        <span class="hint" data-part="place">
          {job?.detail ??
            (job?.state === "queued" && job.position !== null ? say.place(job.position, job.wait) : null)}
        </span>
        <button type="button" class="button" data-action="cancel" ref={button} onClick={props.cancel}>
          {say.cancel}
        </button>
      </div>
    </div>
  );
}
