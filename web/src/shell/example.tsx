/** What an example wants to show, beside its picture; the places it speaks of, and the way back from others. */

import type { Description, Preset } from "../api/types";
import { chooseMap, fitTo } from "../core/maps";
import { nothingSelected } from "../core/selection";
import { words as placeWords } from "../i18n/focus";
import { Button } from "./button";
import { useApp } from "./context";
import { pickSelection } from "./form";
import type { App } from "./state";

type Sight = Pick<Preset, "selection">;

export function ExampleNote() {
  const app = useApp();
  const say = app.words.value;
  const preset = app.preset.value;
  const description = app.open.value?.description;
  // A note speaks of its recording, in the view that the example opens in.
  if (!preset || !description || preset.recording !== description.id) return null;
  if (app.view.value !== (preset.selection?.view ?? app.view.value)) return null;
  const sights = preset.also.length === 0 ? [preset] : preset.also;
  const shown = sights.find((sight) => isShown(app, description, sight));
  const elsewhere = shown ? null : nameSight(app, description, preset);
  const go = (sight: Sight): void => {
    app.focusTabs();
    app.store.set({ query: null, key: null, ...pickSelection(sight) });
  };
  return (
    <aside class="preset-note" aria-label={say.lookAt}>
      <p>
        <strong>{say.lookAt}</strong>{" "}
        {elsewhere === null ? app.text(preset.point) : say.pointElsewhere(elsewhere)}
        {preset.also.map((sight, at) => (
          <>
            {" "}
            <Button
              key={at}
              name={`sight-${at}`}
              look="small"
              disabled={sight === shown}
              act={() => go(sight)}
            >
              {app.text(sight.title)}
            </Button>
          </>
        ))}
      </p>
      {elsewhere !== null && preset.also.length === 0 && (
        <Button name="back-to-point" act={() => go(preset)}>
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

/** Whether the map and head of a sight are on show; true where it names none. */
function isShown(app: App, description: Description, sight: Sight): boolean {
  const { head } = pickSelection(sight);
  const now = app.selection.value;
  const here = chooseMap(description, now)?.place;
  const there = placeOf(app, description, sight);
  if (app.runs.running.value || !there || !here) return true;
  const same = there.stack === here.stack && there.kind === here.kind && there.layer === here.layer;
  return same && (head ?? now.head) === now.head;
}

function placeOf(app: App, description: Description, sight: Sight) {
  const wish = pickSelection(sight);
  if (wish.place === undefined) return undefined;
  const now = app.selection.value;
  return chooseMap(description, fitTo(description)({ ...nothingSelected, ...wish }, now, wish))?.place;
}

/** The map and head that an example speaks of. */
function nameSight(app: App, description: Description, sight: Sight): string | null {
  const there = placeOf(app, description, sight);
  if (!there) return null;
  const { head } = pickSelection(sight);
  const say = placeWords(app.language.value);
  const name = say.mapName(there.stack, there.layer, there.kind === "cross");
  return typeof head === "number" ? say.headOf(name, head) : name;
}
