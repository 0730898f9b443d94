/** What can be done with the picture: zoom, reset, save, look at its numbers, share it. */

import { chooseMap } from "../core/maps";
import { fileName, pngBlob, save, svgBlob } from "../core/saving";
import { useApp } from "./context";
import { Icon, type IconName } from "./icons";
import type { App } from "./state";

export function Toolbar(props: { readonly table: () => void }) {
  const app = useApp();
  const say = app.words.value;
  const mounted = app.mounted.value;
  const view = app.views.loaded.value.get(app.view.value);
  const canZoom = mounted?.zoom !== undefined;
  return (
    <div class="toolbar">
      <p class="toolbar-about">{view?.about(app.language.value)}</p>
      <div class="toolbar-buttons" role="toolbar" aria-label={say.picture}>
        <Tool
          icon="minus"
          label={say.zoomOut}
          name="zoom-out"
          disabled={!canZoom}
          act={() => mounted?.zoom?.(-1)}
        />
        <Tool
          icon="plus"
          label={say.zoomIn}
          name="zoom-in"
          disabled={!canZoom}
          act={() => mounted?.zoom?.(1)}
        />
        <Tool icon="reset" label={say.reset} name="reset" disabled={!mounted} act={() => resetAll(app)} />
        <span class="toolbar-gap" />
        <button
          type="button"
          class="button quiet"
          disabled={!mounted}
          data-action="save-png"
          title={say.savePng}
          onClick={() => void savePicture(app, "png")}
        >
          <Icon name="download" /> PNG
        </button>
        <button
          type="button"
          class="button quiet"
          disabled={!mounted}
          data-action="save-svg"
          title={say.saveSvg}
          onClick={() => void savePicture(app, "svg")}
        >
          <Icon name="download" /> SVG
        </button>
        <Tool icon="table" label={say.table} name="table" disabled={!mounted} act={props.table} />
        <Tool
          icon="link"
          label={say.copyLink}
          name="link"
          disabled={!mounted}
          act={() => void copyLink(app)}
        />
      </div>
    </div>
  );
}

function Tool(props: {
  readonly icon: IconName;
  readonly label: string;
  readonly name: string;
  readonly disabled: boolean;
  readonly act: () => void;
}) {
  return (
    <button
      type="button"
      class="button quiet square"
      aria-label={props.label}
      title={props.label}
      data-action={props.name}
      disabled={props.disabled}
      onClick={props.act}
    >
      <Icon name={props.icon} />
    </button>
  );
}

export function resetAll(app: App): void {
  app.reset();
  app.mounted.peek()?.zoom?.(0);
}

export async function savePicture(app: App, how: "png" | "svg"): Promise<void> {
  const mounted = app.mounted.peek();
  if (!mounted) return;
  try {
    const svg = await mounted.picture();
    const selection = app.store.get();
    const open = app.open.peek();
    const map = open && chooseMap(open.description, selection);
    const place = map
      ? [map.place.stack, map.place.kind, `layer-${map.place.layer}`, `head-${selection.head}`]
      : [];
    const name = fileName([selection.run || selection.recording, selection.view, ...place], how);
    const ground = getComputedStyle(app.root).getPropertyValue("--panel").trim() || "white";
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
