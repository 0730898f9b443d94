/** Training from the page, where the server allows it: the form of a new run, and the buttons of the run that is open. */

import { useEffect, useState } from "preact/hooks";
import { learn } from "../i18n/core";
import { Button } from "./button";
import { useApp } from "./context";

type Parts = typeof import("./recipes/parts");

export function Training() {
  const app = useApp();
  const [parts, setParts] = useState<Parts | null>(null);
  const subject = app.subject.value;
  const open = subject.kind === "runs" && subject.runs.length === 1 ? subject.runs[0]! : null;
  const wish = app.newRun.value;
  const trains = app.about.value?.training === true;
  const wanted = trains && (open !== null || wish !== null);
  useEffect(() => {
    if (!wanted || parts) return;
    import("./recipes/parts")
      .then((found) => learn().then(() => setParts(found)))
      .catch((error: unknown) => app.complain(error));
  }, [wanted]);
  if (!trains) return null;
  return (
    <>
      {app.view.value === "runs" && (
        <Button
          name="new-run"
          act={() => {
            app.newRun.value = { fork: null, step: null };
          }}
        >
          {app.words.value.newRun}
        </Button>
      )}
      {parts && open && <parts.RunControls key={open.run.id} source={open} />}
      {parts && wish && <parts.NewRunDialog key={JSON.stringify(wish)} wish={wish} />}
    </>
  );
}
