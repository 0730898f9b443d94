/** What can be done with the picture: zoom, reset, save, look at its numbers, share it. */

import { chooseMap } from "../core/maps";
import { fileName, pngBlob, save, svgBlob, withCaption } from "../core/saving";
import { Button } from "./button";
import { useApp } from "./context";
import { editMark } from "./edited";
import type { App } from "./state";

export function Toolbar(props: { readonly table: () => void }) {
  const app = useApp();
  const say = app.words.value;
  const mounted = app.mounted.value;
  const view = app.views.loaded.value.get(app.view.value);
  return (
    <div class="toolbar">
      <p class="toolbar-about">{view?.about(app.language.value)}</p>
      <div class="toolbar-buttons" role="toolbar" aria-label={say.picture}>
        <Button
          name="zoom-out"
          worded
          icon="minus"
          label={say.zoomOut}
          disabled={!mounted}
          act={() => app.zoom(-1)}
        />
        <Button
          name="zoom-in"
          worded
          icon="plus"
          label={say.zoomIn}
          disabled={!mounted}
          act={() => app.zoom(1)}
        />
        <Button name="fit" worded icon="fit" label={say.fit} disabled={!mounted} act={() => app.zoom(0)} />
        <Button
          name="reset"
          worded
          icon="reset"
          label={say.reset}
          disabled={!mounted}
          act={() => resetAll(app)}
        />
        <span class="toolbar-gap" />
        {(["png", "svg"] as const).map((kind) => (
          <Button
            key={kind}
            name={`save-${kind}`}
            icon="download"
            look="quiet"
            hint={kind === "png" ? say.savePng : say.saveSvg}
            disabled={!mounted}
            act={() => void savePicture(app, kind)}
          >
            {kind.toUpperCase()}
          </Button>
        ))}
        <Button name="table" worded icon="table" label={say.table} disabled={!mounted} act={props.table} />
        {app.open.value && view?.needs === "recording" && (
          <Button
            name="compare"
            worded
            icon="swap"
            label={say.compare}
            act={() => {
              app.comparing.value = !app.comparing.peek();
            }}
          />
        )}
        <Button
          name="link"
          worded
          icon="link"
          label={say.copyLink}
          disabled={!mounted}
          act={() => void copyLink(app)}
        />
      </div>
    </div>
  );
}

export function resetAll(app: App): void {
  app.zoom(0);
  app.reset(); // last: the example or link may begin with a part of the picture
}

export async function savePicture(app: App, how: "png" | "svg"): Promise<void> {
  const mounted = app.mounted.peek();
  if (!mounted) return;
  try {
    const drawn = await mounted.picture();
    const selection = app.store.get();
    const open = app.open.peek();
    const map = open && chooseMap(open.description, selection);
    const place = map
      ? [map.place.stack, map.place.kind, `layer-${map.place.layer}`, `head-${selection.head}`]
      : [];
    const name = fileName([selection.run || selection.recording, selection.view, ...place], how);
    const style = getComputedStyle(app.root);
    const ground = style.getPropertyValue("--panel").trim() || "white";
    const svg = withCaption(drawn, editMark(app), style.getPropertyValue("--warn").trim());
    save(how === "svg" ? svgBlob(svg) : await pngBlob(svg, ground), name);
    app.say(app.words.peek().saved(name));
  } catch (error) {
    app.complain(error);
  }
}

export async function copyLink(app: App): Promise<void> {
  const link = app.link();
  const say = app.words.peek();
  if (link === null) return;
  try {
    await navigator.clipboard.writeText(link);
    app.say(say.linkCopied);
  } catch {
    app.say(say.linkNotCopied);
  }
}
