/**
 * The stage: mounts the chosen view on the open recording, keeps it told, and says so when it cannot be.
 *
 * In:   the app's signals.
 * Out:  a mounted view, known to the toolbar as `app.mounted`.
 */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Language } from "../api/types";
import type { Selection } from "../core/selection";
import { isAbort } from "../core/tasks";
import type { AnyView, KeptWork, Mounted, Stage, Subject, SubjectKind, Theme } from "../core/view";
import { Button } from "./button";
import { useApp } from "./context";
import type { App } from "./state";
import { fitsIn, subjectFor } from "./views";
import { Magnifier, zoomOption } from "./zoom";

export function ViewStage(props: { readonly id: string; readonly prefix: string }) {
  const app = useApp();
  const say = app.words.value;
  const host = useRef<HTMLDivElement>(null);
  const keptByView = useRef(new Map<string, KeptWork>()); // what goes on while another view is shown
  const [failure, setFailure] = useState<unknown>(null);
  const [attempt, setAttempt] = useState(0);
  const styled = useRef<{ readonly language: Language; readonly theme: Theme } | null>(null);
  const open = app.subject.value;
  const name = app.view.value;
  const view = app.views.loaded.value.get(name);
  const language = app.language.value;
  const theme = app.theme.value;
  const metrics = app.metrics.value;
  const canRun = app.about.value?.workbench !== false;
  const subject = view ? subjectFor(view, open) : null;
  const fits = view && subject ? fitsIn(view, subject) : true;

  useLayoutEffect(() => {
    setFailure(null);
    if (!host.current || !subject || !view || !metrics || fits !== true) return;
    const { current } = keptByView;
    const leave = mountView(app, view, subject, host.current, current.get(name), setFailure);
    styled.current = { language, theme };
    current.delete(name);
    return () => {
      const kept = leave();
      if (kept) current.set(name, kept);
    };
  }, [subject, view, metrics, attempt, canRun]);
  useLayoutEffect(() => {
    const before = styled.current;
    if (before === null || (before.language === language && before.theme === theme)) return;
    styled.current = { language, theme };
    const mounted = app.mounted.peek();
    if (!mounted) return;
    try {
      mounted.restyle(language, theme);
      // Longer or shorter words leave another size for what is drawn.
      const frame = requestAnimationFrame(() => {
        if (app.mounted.peek() === mounted) mounted.resize();
      });
      return () => cancelAnimationFrame(frame);
    } catch (error) {
      setFailure(error);
      app.announceFailure(error);
    }
  }, [language, theme]);
  useLayoutEffect(() => {
    const { current } = keptByView;
    return () => {
      for (const kept of current.values()) kept.stop?.(); // it belonged to the recording that was open
      current.clear();
    };
  }, [open]);

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
      <div class="view-host" ref={host} hidden={!subject || failure !== null || fits !== true} />
      {fits !== true && view && (
        <Notice title={say.cannotShow(view.title(language))} text={app.text(fits)} name="does-not-fit">
          {[...app.views.loaded.value.values()]
            .filter((other) => other.needs === view.needs && fitsIn(other, open) === true)
            .map((other) => (
              <Button key={other.name} name={`show-${other.name}`} act={() => app.chooseView(other.name)}>
                {other.title(language)}
              </Button>
            ))}
        </Notice>
      )}
      {failure !== null && (
        <Notice title={say.failedHere} text={app.explain(failure)} name="failed">
          <Button name="try-again" act={() => setAttempt(attempt + 1)}>
            {say.tryAgain}
          </Button>
        </Notice>
      )}
      {!subject && !trouble && (
        <Notice
          title={app.opening.value || !metrics ? say.opening : say.nothing}
          text={app.opening.value || !metrics ? "" : say.nothingHint}
          name="waiting"
        />
      )}
      {!subject && trouble && <TroubleNotice />}
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
    <Notice title={app.explain(trouble.error)} text="" name="trouble">
      {trouble.again && (
        <Button name="try-again" act={trouble.again}>
          {say.tryAgain}
        </Button>
      )}
      {first && (
        <Button name="first-recording" act={() => void app.go(first.id)}>
          {say.firstRecording}
        </Button>
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
  view: AnyView,
  subject: Subject,
  host: HTMLElement,
  kept: KeptWork | undefined,
  setFailure: (error: unknown) => void,
): () => KeptWork | null {
  let mounted: Mounted | null = null;
  let [gone, failed] = [false, false];
  let frame = 0;
  let followZoom = (_: Selection): void => {};
  const life = new AbortController();
  const element = document.createElement("div");
  element.className = `view view-${view.name}`;
  host.replaceChildren(element);

  const fail = (error: unknown): void => {
    if (gone || isAbort(error)) return;
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
    const drawn = view.mount(makeStage(app, subject, element, kept, life.signal, fail));
    mounted = drawn;
    const option = zoomOption(view.name);
    const owner = {
      isWanted: () => drawn.zoom === undefined,
      changed: () => guarded(() => drawn.resize()),
      keep: (zoom: string | null) => app.store.option(option, zoom),
    };
    const magnifier = new Magnifier(host, element, owner, life.signal);
    followZoom = (now) => magnifier.follow(now.options[option]);
    app.magnify = (direction) => magnifier.step(direction);
  });
  app.mounted.value = mounted;
  if (!mounted) kept?.stop?.(); // the view did not take it over

  const forget = app.store.subscribe((now, before) => {
    if (now.view !== view.name || subjectFor(view, app.subject.peek()) !== subject) return; // about to be unmounted
    guarded(() => mounted?.update(now, before));
    followZoom(now);
  });
  const observer = new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => guarded(() => mounted?.resize()));
  });
  observer.observe(host);
  followZoom(app.store.get());

  return () => {
    let left: KeptWork | null = null;
    if (!failed) guarded(() => (left = mounted?.keep?.() ?? null)); // a view that failed starts anew
    gone = true;
    forget();
    observer.disconnect();
    cancelAnimationFrame(frame);
    if (app.mounted.peek() === mounted) {
      app.mounted.value = null;
      app.magnify = null;
    }
    try {
      mounted?.unmount();
    } catch (error) {
      app.complain(error); // the next view is mounted all the same
    } finally {
      life.abort();
      element.remove();
    }
    return left;
  };
}

function makeStage(
  app: App,
  subject: Subject,
  element: HTMLElement,
  kept: KeptWork | undefined,
  signal: AbortSignal,
  fail: (error: unknown) => void,
): Stage<SubjectKind> {
  const scoped = within(subject, signal);
  const recording = scoped.kind === "recording" ? scoped.now : null;
  return {
    element,
    metrics: app.metrics.peek() ?? [],
    selection: app.store,
    reducedMotion: app.reducedMotion,
    page: app.wholePage ? app.root.ownerDocument : undefined,
    signal,
    kept,
    subject: scoped,
    source: recording ?? (scoped.kind === "runs" ? scoped.runs : null),
    rerunner: app.runs.rerunner(recording),
    playground: app.source.playground,
    runs: app.source.runs,
    get language() {
      return app.language.peek();
    },
    get theme() {
      return app.theme.peek();
    },
    text: (said) => app.text(said),
    announce: (sentence) => app.announce(sentence),
    fail,
  };
}

/** A subject whose requests all end with a signal. */
function within(subject: Subject, signal: AbortSignal): Subject {
  if (subject.kind === "runs") return { ...subject, runs: subject.runs.map((run) => run.within(signal)) };
  if (subject.kind === "none") return subject;
  return { ...subject, now: subject.now.within(signal), beside: subject.beside?.within(signal) };
}
