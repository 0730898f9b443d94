/** What can be done with the run that is open: stop, resume, fork, delete. */

import { useEffect, useState } from "preact/hooks";
import type { RunRecipe, Training } from "../../api/types";
import { count } from "../../core/formats";
import type { RunSource } from "../../core/source";
import { Button } from "../button";
import { useApp } from "../context";
import { nearestStep } from "./form";
import { ask, follow } from "./training";
import { recipeWords } from "./words";

interface Props {
  readonly source: RunSource;
}

/** An example is only read: it has no controls. */
export function RunControls({ source }: Props) {
  return source.run.shipped ? null : <Controls source={source} />;
}

function Controls({ source }: Props) {
  const app = useApp();
  const say = recipeWords(app.language.value);
  const [state, setState] = useState(source.run.state);
  const [now, setNow] = useState<Training | null>(null); // while it starts or stops
  const [steps, setSteps] = useState<readonly number[]>([]);
  const [asking, setAsking] = useState(false);
  const [trouble, setTrouble] = useState("");
  const { id } = source.run;
  const path = `/${encodeURIComponent(id)}`;

  useEffect(() => source.follow((run) => setState(run.state)), [source]);
  useEffect(() => {
    ask<RunRecipe>(app, `${path}/recipe`).then(
      (recipe) => setSteps(recipe.steps),
      () => setSteps([]), // a run that cannot be changed from here: an old one, a link
    );
  }, [state]);
  useEffect(() => {
    if (now?.state !== "starting" && now?.state !== "stopping") return;
    const stop = new AbortController();
    follow(app, id, stop.signal, (training) => {
      setNow(training);
      if (training.problem) setTrouble(app.text(training.problem));
      if (training.state === "running") void app.goToRun(id); // a run that had ended is not followed any more
    }).catch((error: unknown) => setTrouble(app.explain(error)));
    return () => stop.abort();
  }, [now?.state]);

  const act = (what: string, method: "POST" | "DELETE" = "POST"): Promise<Training | null> => {
    setTrouble("");
    return ask<Training | null>(
      app,
      what,
      method,
      method === "POST" && what.endsWith("resume") ? {} : undefined,
    );
  };
  const failed = (error: unknown): void => setTrouble(app.explain(error));
  const step = nearestStep(steps, app.selection.value.step);
  const changing = now?.state === "starting" || now?.state === "stopping";
  const running = state === "running";
  const mine = app.mayChange(source.run.owner);
  return (
    <aside class="run-controls" aria-label={say.state} data-part="run-controls">
      {changing && <p role="status">{now.state === "starting" ? say.starting : say.stopping}</p>}
      {mine && !changing && running && (
        <Button name="stop-training" act={() => void act(`${path}/stop`).then(setNow, failed)}>
          {say.stop}
        </Button>
      )}
      {mine && !changing && !running && state !== "finished" && steps.length > 0 && (
        <Button name="resume-training" act={() => void act(`${path}/resume`).then(setNow, failed)}>
          {say.resume}
        </Button>
      )}
      {step !== null && (
        <Button
          name="fork-training"
          act={() => {
            app.newRun.value = { fork: id, step };
          }}
        >
          {say.fork(count(step))}
        </Button>
      )}
      {mine && !changing && !running && !asking && (
        <Button name="delete-run" look="quiet" act={() => setAsking(true)}>
          {say.delete}
        </Button>
      )}
      {asking && (
        <div class="run-question" role="alertdialog" aria-label={say.delete}>
          <p>{say.really(id)}</p>
          <Button
            name="delete-surely"
            act={() =>
              void act(path, "DELETE").then(() => {
                app.say(say.deleted(id));
                void app.refreshTrainingRuns();
                app.leaveRun();
              }, failed)
            }
          >
            {say.delete}
          </Button>
          <Button name="keep-run" look="quiet" act={() => setAsking(false)}>
            {say.keep}
          </Button>
        </div>
      )}
      {trouble && (
        <p role="alert" class="fault">
          {trouble}
        </p>
      )}
    </aside>
  );
}
