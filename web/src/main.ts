/** The page: mounts the workbench on the server that sent it. */

import "./styles";
import { Connection, createHttpSource } from "./data/http";
import { createServerJobs } from "./data/server_jobs";
import { learn, preferredLanguage } from "./i18n/core";
import { addressBar } from "./shell/address";
import { mount } from "./shell/mount";
import type { App } from "./shell/state";
import { remember } from "./shell/storage";

const PAUSE = 2000; // ms between questions whether the server is back
const WORDLESS =
  "The words of this page did not arrive. See that Glassformer is running, then reload. · " +
  "页面文字未能加载。请确认 Glassformer 正在运行，然后刷新页面。";

let app: App | null = null;
let waiting = false;

const connection = new Connection({
  base: new URL("api/", document.baseURI).href,
  connected: (yes) => {
    if (app && app.connected.peek() !== yes) app.connected.value = yes;
    if (!yes) void waitForServer();
  },
});

/** Ask until the server answers; then try again what failed meanwhile. */
async function waitForServer(): Promise<void> {
  if (waiting) return;
  waiting = true;
  while (waiting) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    try {
      await connection.json("about");
      waiting = false;
    } catch {
      // still gone
    }
  }
  app?.reconnected();
}

/** The first picture has its words already. */
async function start(element: HTMLElement): Promise<void> {
  const language = preferredLanguage([remember.get("language") ?? "", ...navigator.languages]);
  try {
    await learn(language);
  } catch {
    element.textContent = WORDLESS; // a browser asks for a module once: only loading it all again helps
    return;
  }
  mount(element, createHttpSource(connection, { runs: true }), {
    server: createServerJobs(connection),
    place: addressBar(window),
    remember,
    language,
    wholePage: true,
    started: (started) => {
      app = started;
    },
  });
}

const element = document.getElementById("glassformer");
if (element) void start(element);
