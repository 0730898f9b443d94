/**
 * The stage: mounts the chosen view on the open recording, keeps it told, and says so when it cannot be.
 *
 * In:   the app's signals.
 * Out:  a mounted view, known to the toolbar as `app.mounted`.
 */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Language } from "../api/types";
import { areOneSeries } from "../core/probes";
import type { Selection } from "../core/selection";
import type { RecordingSource } from "../core/source";
import { isAbort } from "../core/tasks";
import type { AnyView, KeptWork, Mounted, Stage, Subject, SubjectKind, Theme } from "../core/view";
import { Button } from "./button";
import { useApp } from "./context";
import { useComparing, useLater } from "./later";
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
  const [menu, setMenu] = useState<readonly [x: number, y: number] | null>(null);
  const later = useLater(menu !== null);
  const shown = useRef<MountedStage | null>(null);
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
  // Another step of the same training: a view that can draws it in place, others are mounted again.
  const before = shown.current;
  const swaps =
    before !== null && before.view === view && subject && fits === true && before.canSwap(subject);
  const base = swaps && before ? before.base : subject;

  useLayoutEffect(() => {
    setFailure(null);
    if (!host.current || !subject || !view || !metrics || fits !== true) return;
    const { current } = keptByView;
    const mounted = mountView(app, view, subject, host.current, current.get(name), setFailure);
    shown.current = mounted;
    styled.current = { language, theme };
    current.delete(name);
    return () => {
      shown.current = null;
      const kept = mounted.leave();
      if (kept) current.set(name, kept);
    };
  }, [base, view, metrics, attempt, canRun]);
  useLayoutEffect(() => {
    if (subject) shown.current?.swap(subject);
  }, [subject]);
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

  useLayoutEffect(() => setMenu(null), [name, open]); // it was about what is no longer shown

  const trouble = app.trouble.value;
  const pair = subject?.kind === "recording" && fits === true && failure === null ? subject : null;
  const comparing = useComparing(pair?.beside !== undefined);
  return (
    <div
      class="stage"
      data-beside={comparing && pair?.beside ? "" : undefined}
      id={props.id}
      role="tabpanel"
      aria-labelledby={`${props.prefix}-${name}`}
      tabIndex={-1}
      aria-busy={app.opening.value}
      onContextMenu={(event) => {
        if (event.defaultPrevented) setMenu([event.clientX, event.clientY]); // the view has chosen what it is about
      }}
    >
      {menu && later && app.open.value && (
        <later.EditMenu source={app.open.value} at={menu} close={() => setMenu(null)} />
      )}
      <div class="view-host" ref={host} hidden={!subject || failure !== null || fits !== true} />
      {comparing && view && pair?.beside && (
        <comparing.Beside view={view} first={pair.now} source={pair.beside} />
      )}
      {fits !== true && view && (
        <Notice
          title={(open.kind === "recording" ? say.cannotShow : say.notHere)(view.title(language))}
          text={app.text(fits)}
          name="does-not-fit"
        >
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
      {!subject && !trouble && <WaitingNotice needs={view?.needs} />}
      {!subject && trouble && <TroubleNotice />}
    </div>
  );
}

/** What is still to come; where nothing is, what the view needs and the ways to it. */
function WaitingNotice(props: { readonly needs: SubjectKind | undefined }) {
  const app = useApp();
  const say = app.words.value;
  const { needs } = props;
  if (app.opening.value || !app.metrics.value) return <Notice title={say.opening} text="" name="waiting" />;
  if (needs !== "runs" && needs !== "study")
    return <Notice title={say.nothing} text={say.nothingHint} name="waiting" />;
  return (
    <Notice title={needs === "runs" ? say.runNeeded : say.atlasNeeded} text="" name="waiting">
      {needs === "runs" && (
        <Button name="show-runs" act={() => app.chooseView("runs")}>
          {say.allRuns}
        </Button>
      )}
      {needs === "study" &&
        app.atlases.value.map(({ id }) => (
          <Button key={id} name={`atlas-${id}`} act={() => void app.goToAtlas(id)}>
            {id}
          </Button>
        ))}
    </Notice>
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

/** A view that is mounted. */
interface MountedStage {
  readonly view: AnyView;
  readonly base: Subject; // what it was mounted on
  /** Whether another subject can be drawn in place of the one that is shown. */
  canSwap(subject: Subject): boolean;
  swap(subject: Subject): void;
  /** Take it away; what it leaves behind. */
  leave(): KeptWork | null;
}

/** Mounts a view in an element of its own. */
function mountView(
  app: App,
  view: AnyView,
  subject: Subject,
  host: HTMLElement,
  kept: KeptWork | undefined,
  setFailure: (error: unknown) => void,
): MountedStage {
  let mounted: Mounted | null = null;
  let [gone, failed] = [false, false];
  let frame = 0;
  let followZoom = (_: Selection): void => {};
  const life = new AbortController();
  const element = document.createElement("div");
  element.className = `view view-${view.name}`;
  for (const still of host.querySelectorAll(".view-still"))
    if (!still.classList.contains(`view-${view.name}`)) still.remove();
  host.prepend(element); // a still picture of the step before may lie over it
  let now = subject;
  app.questions.forget(); // those of another view

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
    const drawn = view.mount(makeStage(app, () => now, element, kept, life.signal, fail));
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

  const forget = app.store.subscribe((selected, before) => {
    if (selected.view !== view.name || subjectFor(view, app.subject.peek()) !== now) return; // about to be unmounted
    if (shownPart(selected) !== shownPart(before)) app.questions.age();
    guarded(() => mounted?.update(selected, before));
    followZoom(selected);
  });
  const observer = new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => guarded(() => mounted?.resize()));
  });
  observer.observe(host);
  followZoom(app.store.get());

  const leave = (): KeptWork | null => {
    let left: KeptWork | null = null;
    const next = app.subject.peek();
    if (!failed && view.name === app.view.peek() && isNextStep(now, next)) holdStill(app, element);
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
  return {
    view,
    base: subject,
    canSwap: (next) => !failed && mounted?.swap !== undefined && (next === now || isNextStep(now, next)),
    swap(next) {
      if (next === now) return;
      now = next;
      guarded(() => mounted?.swap?.());
    },
    leave,
  };
}

/** What of a selection decides which numbers a view asks for. */
function shownPart({ place, head, options }: Selection): string {
  return JSON.stringify([place, head, options]);
}

/** Whether two subjects are the same text at two steps of one training, and nothing else. */
function isNextStep(one: Subject, other: Subject): boolean {
  if (one.kind !== "recording" || other.kind !== "recording" || one.beside || other.beside) return false;
  return areOneSeries(one.now.description.id, other.now.description.id);
}

const LONGEST_STILL = 1500; // ms

/** Leave a picture of a view over its place until the next one has what it draws: steps follow without a blink. */
function holdStill(app: App, element: HTMLElement): void {
  const still = element.cloneNode(true) as HTMLElement;
  still.classList.add("view-still");
  still.inert = true;
  still.setAttribute("aria-hidden", "true");
  const copies = still.querySelectorAll("canvas");
  element.querySelectorAll("canvas").forEach((canvas, at) => {
    if (canvas.width > 0 && canvas.height > 0) copies[at]?.getContext("2d")?.drawImage(canvas, 0, 0);
  });
  for (const older of element.parentElement?.querySelectorAll(".view-still") ?? []) older.remove();
  element.after(still);
  const timer = setTimeout(() => still.remove(), LONGEST_STILL);
  // The next view has asked when this frame is over.
  requestAnimationFrame(() => {
    void app.questions.settled().then(() =>
      requestAnimationFrame(() => {
        clearTimeout(timer);
        still.remove();
      }),
    );
  });
}

export function makeStage(
  app: App,
  subject: () => Subject,
  element: HTMLElement,
  kept: KeptWork | undefined,
  signal: AbortSignal,
  fail: (error: unknown) => void,
): Stage<SubjectKind> {
  let [given, scoped] = [subject(), within(app, subject(), signal)];
  const now = (): Subject => {
    if (given !== subject()) [given, scoped] = [subject(), within(app, subject(), signal)];
    return scoped;
  };
  const recording = (): RecordingSource | null => {
    const open = now();
    return open.kind === "recording" ? open.now : null;
  };
  return {
    element,
    metrics: app.metrics.peek() ?? [],
    selection: app.store,
    reducedMotion: app.reducedMotion,
    page: app.wholePage ? app.root.ownerDocument : undefined,
    signal,
    kept,
    get subject() {
      return now();
    },
    get source() {
      const open = now();
      if (open.kind === "study") return open.study;
      return recording() ?? (open.kind === "runs" ? open.runs : null);
    },
    rerunner: app.runs.rerunner(recording()),
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

/** A subject whose requests all end with a signal; what is asked about a step of training is remembered. */
function within(app: App, subject: Subject, signal: AbortSignal): Subject {
  if (subject.kind === "runs") return { ...subject, runs: subject.runs.map((run) => run.within(signal)) };
  if (subject.kind === "study") return { ...subject, study: subject.study.within(signal) };
  if (subject.kind === "none") return subject;
  const source = subject.now.within(signal);
  const recording = source.description.probe ? app.questions.watch(source) : source;
  return { ...subject, now: recording, beside: subject.beside?.within(signal) };
}
