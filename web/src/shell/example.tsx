/** What an example wants to show, beside its picture; where another map or head is shown, the way back. */

import type { Preset } from "../api/types";
import { chooseMap, fitTo } from "../core/maps";
import { nothingSelected } from "../core/selection";
import { words as placeWords } from "../i18n/focus";
import { Button } from "./button";
import { useApp } from "./context";
import { pickSelection } from "./form";
import type { App } from "./state";

export function ExampleNote() {
  const app = useApp();
  const say = app.words.value;
  const preset = app.preset.value;
  // A note speaks of the view that its example opens in.
  if (!preset || app.view.value !== (preset.selection?.view ?? app.view.value)) return null;
  const elsewhere = findElsewhere(app, preset);
  return (
    <aside class="preset-note" aria-label={say.lookAt}>
      <p>
        <strong>{say.lookAt}</strong>{" "}
        {elsewhere === null ? app.text(preset.point) : say.pointElsewhere(elsewhere)}
      </p>
      {elsewhere !== null && (
        <Button
          name="back-to-point"
          act={() => {
            app.focusTabs();
            app.store.set({ query: null, key: null, ...pickSelection(preset) });
          }}
        >
          {say.backToPoint}
        </Button>
      )}
      <Button
        name="dismiss"
        icon="close"
        label={say.dismiss}
        act={() => {
          app.focusTabs();
          app.preset.value = null;
        }}
      />
    </aside>
  );
}

/** The map and head that an example speaks of, where others are shown; null where its own are, or it names none. */
function findElsewhere(app: App, preset: Preset): string | null {
  const wish = pickSelection(preset);
  const { head } = wish;
  const description = app.open.value?.description;
  const now = app.selection.value;
  if (app.opening.value || app.runs.running.value || !description || wish.place === undefined) return null;
  const here = chooseMap(description, now);
  const there = chooseMap(description, fitTo(description)({ ...nothingSelected, ...wish }, now, wish));
  if (!there || !here) return null;
  const same =
    there.place.stack === here.place.stack &&
    there.place.kind === here.place.kind &&
    there.place.layer === here.place.layer;
  if (same && (head ?? now.head) === now.head) return null;
  const say = placeWords(app.language.value);
  const name = say.mapName(there.place.stack, there.place.layer, there.place.kind === "cross");
  return typeof head === "number" ? say.headOf(name, head) : name;
}
