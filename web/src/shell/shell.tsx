/** The workbench on the screen: header, pictures left, tabbed control panel right (below on narrow screens). */

import { useCallback, useEffect, useId, useState } from "preact/hooks";
import { BackgroundRuns } from "./background_runs";
import { ErrorBoundary } from "./boundary";
import { Button } from "./button";
import { Choice, ControlBar } from "./choice";
import { useApp } from "./context";
import { EditedMark } from "./edited";
import { ExampleNote } from "./example";
import { perceives } from "./form";
import { Header } from "./header";
import { onKey } from "./keyboard";
import { useComparing, useLater, useTraining } from "./later";
import { Training } from "./new_run";
import { openFile } from "./open_file";
import { OutcomeBar } from "./outcome";
import { InputPanel } from "./panels/input";
import type { PanelName } from "./state";
import { Tabs } from "./tabs";
import { Toolbar } from "./toolbar";
import { Transport } from "./transport";
import { ViewStage } from "./view_stage";
import { fitsIn, subjectFor } from "./views";

type DialogName = "help" | "table" | "recordings";

export function Shell() {
  const app = useApp();
  const say = app.words.value;
  const id = useId();
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const later = useLater(dialog !== null);
  const help = useCallback(() => setDialog("help"), []);
  const table = useCallback(() => {
    if (app.mounted.peek()) setDialog("table");
  }, [app]);
  const recordings = useCallback(() => setDialog("recordings"), []);
  const close = useCallback(() => setDialog(null), []);
  const open = app.open.value;
  const title = app.views.titles.find(({ name }) => name === app.view.value);
  const alone = title?.panel === false;
  const above = title?.controls === "above";
  const probe = open?.description.probe ?? null;
  const subject = app.subject.value;
  const runs = subject.kind === "runs" ? subject.runs.map(({ run }) => run) : [];
  const pair = subject.kind === "recording" && (subject.beside ?? subject.now.description.difference);
  const compares = open !== null && Boolean(app.comparing.value || pair);
  const comparing = useComparing(compares);
  const training = useTraining(probe !== null || runs.some(({ probes }) => probes.length > 0));

  useEffect(() => {
    const stop = new AbortController();
    const listen = (event: KeyboardEvent): void => onKey(app, event, { help, table });
    app.root.addEventListener("keydown", listen, { signal: stop.signal });
    const page = app.root.ownerDocument;
    // On a page of our own, keys work wherever the focus is; in a notebook only within our element.
    const everywhere = (event: KeyboardEvent): void => {
      if (event.target === page.body) listen(event);
    };
    if (app.wholePage) page.addEventListener("keydown", everywhere, { signal: stop.signal });
    return () => stop.abort();
  }, [app, help, table]);

  return (
    <>
      <a
        class="skip"
        href={`#${id}-stage`}
        onClick={(event) => {
          event.preventDefault(); // the address is the selection's
          app.root.querySelector<HTMLElement>(`[id="${id}-stage"]`)?.focus();
        }}
      >
        {say.skip}
      </a>
      <ErrorBoundary part="header">
        <Header help={help} recordings={recordings} />
      </ErrorBoundary>
      <ErrorBoundary part="banner">
        <Banner />
      </ErrorBoundary>
      <main class={alone ? "desk alone" : "desk"}>
        <section class="pictures" aria-label={say.picture}>
          <ErrorBoundary part="views">
            <ViewTabs id={id} />
          </ErrorBoundary>
          <ErrorBoundary part="toolbar">
            <Toolbar table={table} />
            <EditedMark />
            {comparing && compares && <comparing.CompareBar source={open} />}
            <ExampleNote />
            <BackgroundRuns />
          </ErrorBoundary>
          <ErrorBoundary part="training">
            <div class="run-bar">
              <Training />
              {training && title?.needs === "runs" && <training.ProbeLinks runs={runs} />}
            </div>
          </ErrorBoundary>
          {open && above && (
            <ErrorBoundary part="controls">
              <ControlBar source={open} />
            </ErrorBoundary>
          )}
          <ErrorBoundary part="view" of={`${app.view.value} ${open?.description.id}`}>
            <ViewStage id={`${id}-stage`} prefix={`${id}-view`} />
          </ErrorBoundary>
          {training && open && probe && title?.needs === "recording" && (
            <ErrorBoundary part="training-time">
              <training.TrainingTime source={open} />
            </ErrorBoundary>
          )}
          {open && !probe && title?.transport && !above && (
            <ErrorBoundary part="transport">
              <Transport source={open} onlySteps={title.transport === "steps"} />
            </ErrorBoundary>
          )}
        </section>
        <section class="panel" aria-label={say.panel} hidden={alone}>
          {open && (
            <ErrorBoundary part="choice">
              <Choice source={open} short={above} />
            </ErrorBoundary>
          )}
          <Panels id={id} />
        </section>
      </main>
      {open && title?.needs === "recording" && (
        <ErrorBoundary part="outcome">
          <OutcomeBar source={open} />
        </ErrorBoundary>
      )}
      <Message />
      <div class="unseen" role="status" aria-live="polite">
        {app.announcement.value}
      </div>
      <DropTarget />
      <ErrorBoundary part="dialog" key={dialog}>
        {later && dialog === "help" && <later.HelpDialog close={close} />}
        {later && dialog === "table" && <later.TableDialog close={close} />}
        {later && dialog === "recordings" && <later.RecordingsDialog close={close} />}
      </ErrorBoundary>
    </>
  );
}

function ViewTabs(props: { readonly id: string }) {
  const app = useApp();
  const say = app.words.value;
  const language = app.language.value;
  const open = app.subject.value;
  const selection = app.selection.value;
  const loaded = app.views.loaded.value;
  const offered = app.views
    .on(open)
    .filter(({ name }) => !["runs", "search"].includes(name) || app.source.runs);
  const tabs = offered.map(({ name, title, about }) => {
    const view = loaded.get(name);
    const fits = view ? fitsIn(view, open) : true;
    const subject = view && fits === true ? subjectFor(view, open) : null;
    return {
      name,
      title: ((subject && view?.named?.(subject, selection)) ?? title)(language),
      hint: fits === true ? ((view?.about ?? about)?.(language) ?? "") : app.text(fits),
      muted: fits !== true,
    };
  });
  return (
    <Tabs
      label={say.views}
      tabs={tabs}
      chosen={app.view.value}
      controls={`${props.id}-stage`}
      prefix={`${props.id}-view`}
      choose={(name) => app.chooseView(name)}
    />
  );
}

function Panels(props: { readonly id: string }) {
  const app = useApp();
  const say = app.words.value;
  const open = app.open.value;
  const chosen = app.panel.value;
  const later = useLater(chosen !== "input");
  const names: readonly PanelName[] = ["input", "interpretability", "debugging", "about"];
  return (
    <div class="panels">
      <Tabs
        label={say.panel}
        tabs={names.map((name) => ({ name, title: say[name] }))}
        chosen={chosen}
        controls={`${props.id}-panel`}
        prefix={`${props.id}-tab`}
        choose={(name) => {
          app.panel.value = name as PanelName;
        }}
      />
      <div
        class="panel-body"
        id={`${props.id}-panel`}
        role="tabpanel"
        aria-labelledby={`${props.id}-tab-${chosen}`}
        data-panel={chosen}
      >
        <ErrorBoundary part={chosen} key={chosen}>
          {chosen === "input" && <InputPanel />}
          {later && open && chosen === "interpretability" && <later.InterpretabilityPanel source={open} />}
          {later && open && chosen === "debugging" && <later.DebuggingPanel source={open} />}
          {later && open && chosen === "about" && <later.AboutPanel source={open} />}
        </ErrorBoundary>
      </div>
    </div>
  );
}

/** The server is gone, or something was refused; where nothing can be drawn, the stage says the latter. */
function Banner() {
  const app = useApp();
  const say = app.words.value;
  const trouble = app.trouble.value;
  if (!app.connected.value) {
    return (
      <div class="banner" role="alert" data-banner="unreachable">
        {say.unreachable}
      </div>
    );
  }
  const alwaysDrawn = app.views.loaded.value.get(app.view.value)?.needs === "none"; // the playground
  if (!trouble || (app.subject.value.kind === "none" && !alwaysDrawn)) return null;
  return (
    <div class="banner" role="alert" data-banner="trouble">
      <span>{app.explain(trouble.error)}</span>
      {trouble.again && (
        <Button name="try-again" act={trouble.again}>
          {say.tryAgain}
        </Button>
      )}
      <Button
        name="dismiss"
        look="quiet"
        act={() => {
          app.focusTabs();
          app.trouble.value = null;
        }}
      >
        {say.dismiss}
      </Button>
    </div>
  );
}

const MOMENT = 4000; // ms

function Message() {
  const app = useApp();
  const message = app.message.value;
  useEffect(() => {
    if (!message) return;
    const timer = setTimeout(() => {
      app.message.value = "";
    }, MOMENT);
    return () => clearTimeout(timer);
  }, [message, app]);
  if (!message) return null;
  return (
    <div class="message" aria-hidden="true">
      {message}
    </div>
  );
}

/** A recording can be dropped anywhere. */
function DropTarget() {
  const app = useApp();
  const [over, setOver] = useState(false);
  useEffect(() => {
    if (!app.server) return;
    const stop = new AbortController();
    const listen = (name: "dragover" | "drop", isOver: boolean, act: (file?: File) => void): void => {
      const heard = (event: DragEvent): void => {
        if (!event.dataTransfer?.types.includes("Files") || !app.mayUpload()) return;
        event.preventDefault();
        setOver(isOver);
        act(event.dataTransfer.files[0]);
      };
      app.root.addEventListener(name, heard, { signal: stop.signal });
    };
    listen("dragover", true, () => {});
    listen("drop", false, (file) => {
      const isMedia = perceives(app.runs.model()) && !file?.name.endsWith(".bundle");
      if (file && isMedia) app.runs.change({ file });
      else if (file) void openFile(app, file);
    });
    const leave = (event: DragEvent): void => {
      if (!event.relatedTarget) setOver(false);
    };
    app.root.addEventListener("dragleave", leave, { signal: stop.signal });
    return () => stop.abort();
  }, [app]);
  return over ? (
    <div class="drop">
      {perceives(app.runs.model()) ? app.words.value.dropMedia : app.words.value.dropHere}
    </div>
  ) : null;
}
