/** That a recording is of an edited model: a mark above every view, on saved pictures and in saved tables. */

import { useApp } from "./context";
import type { App } from "./state";

/** What was edited, in words; empty where nothing was. */
export function editMark(app: App): string {
  const mark = app.open.value?.description.evidence.messages.mark;
  return mark ? app.text(mark) : "";
}

export function EditedMark() {
  const mark = editMark(useApp());
  return mark ? (
    <p class="edited" role="note" data-edited>
      {mark}
    </p>
  ) : null;
}
