/** The state of the page without the page: for components that are tested alone. */

import { type ComponentChildren, render } from "preact";
import type { Source } from "../core/source";
import { noAddress } from "../shell/address";
import { AppContext } from "../shell/context";
import { App, type AppOptions } from "../shell/state";
import { Views } from "../shell/views";

const forgetful = { get: () => null, set: () => {} };

/** An app on a source that knows only what the test gives; `draw` renders a part of the page below `root`. */
export function makeApp({
  source = {},
  ...options
}: Partial<Omit<AppOptions, "source">> & { readonly source?: Partial<Source> }) {
  const root = document.body.appendChild(document.createElement("div"));
  const app = new App({
    root,
    source: { recordings: async () => [], metrics: async () => [], ...source } as Source,
    server: null,
    views: new Views(),
    place: noAddress(),
    remember: forgetful,
    session: forgetful,
    language: "en",
    theme: "light",
    reducedMotion: true,
    wholePage: false,
    ...options,
  });
  const draw = (children: ComponentChildren) =>
    render(<AppContext.Provider value={app}>{children}</AppContext.Provider>, root);
  return { app, root, draw };
}
