/** The list of views for their tabs, made when the page is built: a view's code is fetched when it is wanted. */
import { fileURLToPath } from "node:url";
import { type Plugin, runnerImport } from "vite";
import type { AnyView } from "./src/core/view";

const NAME = "virtual:views";
const LESSON = /^(walk|playground)$/; // large, and not for everybody: fetched when they are opened

/** Titles need no styles, and a module for other pages has them inside: those that views bring are left out. */
export const noStyles: Plugin = {
  name: "no-styles",
  enforce: "pre",
  resolveId: (id) => (id.endsWith(".css") ? "\0no-styles" : null),
  load: (id) => (id === "\0no-styles" ? "" : null),
};

export function listViews(): Plugin {
  return {
    name: "list-views",
    resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
    async load(id) {
      if (id !== `\0${NAME}`) return null;
      const path = fileURLToPath(new URL("./src/all_views.ts", import.meta.url));
      const { module } = await runnerImport<{ readonly allViews: readonly AnyView[] }>(path, {
        configFile: false,
        plugins: [noStyles],
        logLevel: "error",
      });
      const list = module.allViews.map(({ name, title, about, needs, panel, transport }) => {
        const tab = { name, title, needs, panel, transport };
        return LESSON.test(name) ? { ...tab, about } : tab;
      });
      return `export default ${JSON.stringify(list)}`;
    },
  };
}
