/// <reference types="vitest/config" />
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { listViews } from "./vite.views.ts";
import { lazyWords, WORDS } from "./vite.words.ts";

const LIMIT = 150_000; // bytes, gzip: what the workbench loads of scripts and styles, whatever view is opened
const LESSON = /\/(walk|playground)-/; // views that explain: fetched when they are opened
const OTHER = /-zh-/; // one language is loaded: English has the longer words

/** Says how large the page is; tests/browser/test_shell.py keeps the limit. */
function weigh(): Plugin {
  return {
    name: "weigh",
    apply: "build",
    writeBundle(_, bundle) {
      const weights = { workbench: 0, lessons: 0 };
      for (const file of Object.values(bundle)) {
        if (!/\.(js|css)$/.test(file.fileName) || OTHER.test(file.fileName)) continue;
        const size = gzipSync(file.type === "chunk" ? file.code : file.source, { level: 9 }).length;
        weights[LESSON.test(file.fileName) ? "lessons" : "workbench"] += size;
      }
      this.info(`gzip: workbench ${weights.workbench} bytes of ${LIMIT}, lessons ${weights.lessons}`);
      if (weights.workbench > LIMIT) this.warn("the workbench has grown beyond its limit; a test will fail");
    },
  };
}

/** Whose words a file has. */
function wordsOf(id: string): string {
  return /views\/(walk|playground)\//.exec(id)?.[1] ?? "words";
}

export default defineConfig({
  base: "./",
  plugins: [listViews(), lazyWords(), weigh()],
  build: {
    outDir: "../src/glassformer/api/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What the first picture needs, the other views, each lesson, and the words of each in a language.
          // Each view alone would compress worse.
          groups: [
            {
              name: (id) => `${wordsOf(id)}-${WORDS.exec(id)?.[1]}`,
              test: WORDS,
              priority: 4,
            },
            { name: "page", test: /src\/(main\.ts|views\/(overview|heatmap)\/view\.ts)$/, priority: 3 },
            { name: "more", test: /src\/views\/(?!walk|playground)\w+\/view\.ts$/, priority: 1 },
            {
              name: (id) => /views\/(\w+)\//.exec(id)?.[1] ?? null,
              test: /src\/views\/(walk|playground)\/view\.ts$/,
            },
          ],
        },
      },
    },
    assetsInlineLimit: 0, // the server's policy allows no inline styles or scripts, and images only from here
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
  },
});
