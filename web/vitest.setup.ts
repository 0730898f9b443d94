/**
 * Files of tests share one window per process: a new one for each file takes longer than most of them run.
 * Before each file the window is made as good as new; modules are loaded anew by vitest.
 */
import { beforeAll, vi } from "vitest";

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
