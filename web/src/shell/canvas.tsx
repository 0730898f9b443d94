/**
 * The stage: mounts the chosen view on the open recording, keeps it told, and says so when it cannot be.
 *
 * In:   the app's signals.
 * Out:  a mounted view, known to the toolbar as `app.mounted`.
 */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RecordingSource } from "../core/source";
import type { Kept, Mounted, View } from "../core/view";
import { useApp } from "./context";
import { noteDown } from "./resuming";
import { sentenceOf, speaking } from "./speaking";
import type { App } from "./state";

export function Canvas(props: { readonly id: string; readonly prefix: string }) {
  const app = useApp();
  const say = app.words.value;
  const host = useRef<HTMLDivElement>(null);
  const noted = useRef<(() => () => void) | null>(null); // what a person was at, for the same view mounted anew
  const shelf = useRef(new Map<string, Kept>()); // what views left behind, by their names
  const [failure, setFailure] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  const source = app.open.value;
  const name = app.view.value;
  const view = app.views.loaded.value.get(name);
  const language = app.language.value;
  const theme = app.theme.value;
  const metrics = app.metrics.value;
  const canRun = app.about.value?.workbench !== false;
  const fits = source && view ? view.fits(source) : true;

  useLayoutEffect(() => {
    setFailure(null);
    if (!host.current || !source || !view || !metrics || view.fits(source) !== true) return;
    const { current } = shelf;
    const leave = mountView(app, view, source, host.current, current.get(name), setFailure);
    current.delete(name);
    const giveUp = noted.current?.();
    noted.current = null;
    return () => {
      const anew = app.open.peek() === source && app.view.peek() === name;
      giveUp?.();
      if (anew && host.current) noted.current = noteDown(host.current);
      const kept = leave(anew);
      if (kept) current.set(name, kept);
    };
  }, [source, view, language, theme, metrics, attempt, canRun]);
  useLayoutEffect(() => {
    const { current } = shelf;
    return () => {
      for (const kept of current.values()) kept.stop?.(); // it belonged to the recording that was open
      current.clear();
    };
  }, [source]);

  const trouble = app.trouble.value;
  return (
    <div
      class="stage"
      id={props.id}
      role="tabpanel"
      aria-labelledby={`${props.prefix}-${name}`}
      tabIndex={-1}
      aria-busy={app.opening.value}
    >
      <div class="view-host" ref={host} hidden={!source || failure !== null || fits !== true} />
      {fits !== true && view && (
        <Notice title={say.cannotShow(view.title[language])} text={fits[language]} name="does-not-fit" />
      )}
      {failure !== null && (
        <Notice title={say.failedHere} text={sentenceOf(failure, app)} name="failed">
          <button type="button" class="button" onClick={() => setAttempt(attempt + 1)}>
            {say.tryAgain}
          </button>
        </Notice>
      )}
      {!source && !trouble && (
        <Notice
          title={app.opening.value || !metrics ? say.opening : say.nothing}
          text={app.opening.value || !metrics ? "" : say.nothingHint}
          name="waiting"
        />
      )}
      {!source && trouble && <TroubleNotice />}
    </div>
  );
}

function TroubleNotice() {
  const app = useApp();
  const say = app.words.value;
  const trouble = app.trouble.value;
  const first = app.recordings.value[0];
  if (!trouble) return null;
  return (
    <Notice title={sentenceOf(trouble.error, app)} text="" name="trouble">
      {trouble.again && (
        <button type="button" class="button" onClick={trouble.again}>
          {say.tryAgain}
        </button>
      )}
      {first && (
        <button type="button" class="button" onClick={() => void app.go(first.id)}>
          {say.firstRecording}
        </button>
      )}
    </Notice>
  );
}

function Notice(props: {
  readonly title: string;
  readonly text: string;
  readonly name: string;
  readonly children?: preact.ComponentChildren;
}) {
  return (
    <div class="notice" data-notice={props.name}>
      <p class="notice-title">{props.title}</p>
      {props.text && <p>{props.text}</p>}
      <div class="notice-ways">{props.children}</div>
    </div>
  );
}

/** Mounts a view in an element of its own; gives back how to take it away, which gives what it leaves behind. */
function mountView(
  app: App,
  view: View,
  source: RecordingSource,
  host: HTMLElement,
  kept: Kept | undefined,
  setFailure: (error: unknown) => void,
): (anew: boolean) => Kept | null {
  let mounted: Mounted | null = null;
  let [gone, failed] = [false, false];
  let frame = 0;
  const element = document.createElement("div");
  element.className = `view view-${view.name}`;
  host.replaceChildren(element);

  const fail = (error: unknown): void => {
    if (gone || (error instanceof DOMException && error.name === "AbortError")) return;
    failed = true;
    setFailure(error);
    app.announceFailure(error);
  };
  const guarded = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      fail(error);
    }
  };

  guarded(() => {
    const language = app.language.peek();
    const rerunner = app.runs.rerunner(source);
    const { playground } = app.source;
    mounted = view.mount({
      element,
      source: speaking(source, language),
      metrics: app.metrics.peek() ?? [],
      selection: app.store,
      language,
      theme: app.theme.peek(),
      reducedMotion: app.reducedMotion,
      rerunner: rerunner && speaking(rerunner, language),
      playground: playground && speaking(playground, language),
      kept,
      announce: (sentence) => app.announce(sentence),
      fail,
    });
  });
  app.mounted.value = mounted;
  if (!mounted) kept?.stop?.(); // nobody took it

  const forget = app.store.subscribe((now, before) => {
    if (now.view !== view.name || now.recording !== source.description.id) return; // about to be unmounted
    guarded(() => mounted?.update(now, before));
  });
  const observer = new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => guarded(() => mounted?.resize()));
  });
  observer.observe(host);

  return (anew) => {
    let left: Kept | null = null;
    if (!failed) guarded(() => (left = mounted?.keep?.(anew) ?? null)); // who failed begins anew
    gone = true;
    forget();
    observer.disconnect();
    cancelAnimationFrame(frame);
    if (app.mounted.peek() === mounted) app.mounted.value = null;
    try {
      mounted?.unmount();
    } finally {
      element.remove();
    }
    return left;
  };
}
