/** The list of views for their tabs, made when the page is built: a view's code is fetched when it is wanted. */
import { fileURLToPath } from "node:url";
import { type Plugin, runnerImport } from "vite";
import type { Spoken } from "./src/api/types";

const NAME = "virtual:views";

/** Views that are fetched when they are opened: large, and not for everybody. A view named here needs no other line. */
export const ALONE: readonly string[] = [
  "walk",
  "playground",
  "atlas",
  "effects",
  "patching",
  "picture",
  "sound",
];

/** Titles need no styles, and a module for other pages has them inside: those that views bring are left out. */
export const noStyles: Plugin = {
  name: "no-styles",
  enforce: "pre",
  resolveId: (id) => (id.endsWith(".css") ? "\0no-styles" : null),
  load: (id) => (id === "\0no-styles" ? "" : null),
};

export function listViews(): Plugin {
  let names: readonly string[] = [];
  return {
    name: "list-views",
    resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
    async load(id) {
      if (id !== `\0${NAME}`) return null;
      const path = fileURLToPath(new URL("./src/all_views.ts", import.meta.url));
      const { module } = await runnerImport<typeof import("./src/all_views")>(path, {
        configFile: false,
        plugins: [noStyles],
        logLevel: "error",
      });
      names = module.allViews
        .filter(({ name, needs }) => needs !== "runs" && needs !== "study" && name !== "runs")
        .map(({ name }) => name);
      const inAll = (text: Spoken): string => {
        const texts = module.languages.map((language) => [language, text(language)]);
        return `say(${JSON.stringify(Object.fromEntries(texts))})`;
      };
      const list = module.allViews.map(
        ({ name, title, about, needs, panel, transport, controls, cutFrom }) => {
          const words = `title: ${inAll(title)}${ALONE.includes(name) && !cutFrom ? `, about: ${inAll(about)}` : ""}`;
          return `{ ...${JSON.stringify({ name, needs, panel, transport, controls, cutFrom })}, ${words} }`;
        },
      );
      return `const say = (texts) => (language) => texts[language] ?? texts.en;\nexport default [${list}]`;
    },
    /** For programs beside the page: which views a recording can be shown in. */
    generateBundle() {
      if (names.length > 0)
        this.emitFile({ type: "asset", fileName: "views.json", source: JSON.stringify(names) });
    },
  };
}
