/**
 * Mounts the page: one element, one source, and the workbench is there.
 *
 * In:   an element, a Source, and what the host can offer.
 * Out:  unmount().
 */

import { render } from "preact";
import type { Language } from "../api/types";
import type { Source } from "../core/source";
import type { Theme } from "../core/view";
import type { ServerJobs } from "../data/server_jobs";
import { preferredLanguage } from "../i18n/core";
import { noAddress, type SelectionAddress } from "./address";
import { AppContext } from "./context";
import { Shell } from "./shell";
import { effect } from "./signals";
import { App, type PageStorage } from "./state";
import { session } from "./storage";
import { Views } from "./views";

export interface MountOptions {
  /** Runs models; null (the default) where the host has none. */
  readonly server?: ServerJobs | null;
  /** Where the selection is written; nowhere by default. */
  readonly place?: SelectionAddress;
  /** Where the choice of language and colours is kept; nowhere by default. */
  readonly remember?: PageStorage;
  readonly language?: Language;
  readonly theme?: Theme;
  readonly views?: Views;
  /** The element is the whole page: shortcuts work everywhere, and the page's language follows. */
  readonly wholePage?: boolean;
  /** Called with the app, for hosts that change it from outside. */
  readonly started?: (app: App) => void;
}

const noStorage: PageStorage = { get: () => null, set: () => {} };

export function mount(element: HTMLElement, source: Source, options: MountOptions = {}): () => void {
  const remember = options.remember ?? noStorage;
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const saved = remember.get("theme");
  const chosen = options.theme ?? (saved === "light" || saved === "dark" ? saved : null);
  const spoken =
    options.language ?? preferredLanguage([remember.get("language") ?? "", ...navigator.languages]);
  const app = new App({
    root: element,
    source,
    server: options.server ?? null,
    views: options.views ?? new Views(),
    place: options.place ?? noAddress(),
    remember,
    session: options.wholePage ? session : noStorage,
    language: spoken,
    theme: chosen ?? (darkness.matches ? "dark" : "light"),
    reducedMotion: matchMedia("(prefers-reduced-motion: reduce)").matches,
    wholePage: options.wholePage ?? false,
  });
  const follow = (): void => {
    if (!options.theme && remember.get("theme") === null)
      app.theme.value = darkness.matches ? "dark" : "light";
  };
  darkness.addEventListener("change", follow);
  element.classList.add("glassformer");
  const forget = effect(() => {
    element.dataset.theme = app.theme.value;
    element.lang = app.language.value;
    if (!app.wholePage) return;
    const page = element.ownerDocument.documentElement;
    page.dataset.theme = app.theme.value;
    page.lang = element.lang;
    const view = app.views.loaded.value.get(app.view.value);
    const subject = app.subject.value;
    const title =
      view?.needs === "none"
        ? view.title(app.language.value)
        : subject.kind === "recording"
          ? app.text(subject.now.description.title)
          : subject.kind === "study"
            ? subject.study.atlas.entry.model.name
            : subject.kind === "runs" && subject.runs.map(({ run }) => run.id).join(", ");
    element.ownerDocument.title = title ? `${title} – Glassformer` : "Glassformer";
  });
  render(
    <AppContext.Provider value={app}>
      <Shell />
    </AppContext.Provider>,
    element,
  );
  options.started?.(app);
  void app.start();
  return () => {
    app.stop();
    forget();
    darkness.removeEventListener("change", follow);
    render(null, element);
    element.classList.remove("glassformer");
  };
}
