/**
 * Files of tests share one window per process: a new one for each file takes longer than most of them run.
 * Before each file the window is made as good as new; modules are loaded anew by vitest.
 */
import { beforeAll, vi } from "vitest";

const PATIENCE = 120_000; // ms; instead of one second, which a busy machine may take

const { waitFor } = vi;
if (waitFor.name !== "waitLong")
  vi.waitFor = function waitLong(look) {
    return waitFor(look, { timeout: PATIENCE });
  };

beforeAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  for (const element of [document.documentElement, document.head, document.body])
    for (const name of element.getAttributeNames()) element.removeAttribute(name);
  document.head.replaceChildren();
  document.body.replaceChildren();
  localStorage.clear();
  sessionStorage.clear();
  history.replaceState(null, "", "/");
});
