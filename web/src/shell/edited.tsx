/**
 * That a recording is of an edited model: a mark above every view, on saved pictures and in saved tables; and the way back.
 */

import type { RecordingSource } from "../core/source";
import { useApp } from "./context";
import { useLater } from "./later";
import type { App } from "./state";

/** What was edited, in words; empty where nothing was. */
export function editMark(app: App): string {
  const mark = app.open.value?.description.evidence.messages.mark;
  return mark ? app.text(mark) : "";
}

export function EditedMark() {
  const app = useApp();
  const mark = editMark(app);
  const open = app.open.value;
  const parent = open && app.about.value?.workbench && app.runs.originalRequest(open)?.parent;
  return (
    <>
      {mark && (
        <p class="edited" role="note" data-edited>
          {mark}
        </p>
      )}
      {open && <Edits source={open} wanted={Boolean(parent)} />}
    </>
  );
}

/** The edits of a recording, once one was made: their list is fetched then, and stays for redo. */
function Edits({ source, wanted }: { readonly source: RecordingSource; readonly wanted: boolean }) {
  const later = useLater(wanted);
  return later && <later.EditList source={source} />;
}
