/// <reference types="vitest/config" />
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { listViews } from "./vite.views.ts";
import { lazyWords, WORDS } from "./vite.words.ts";

/** Bytes, gzip, of scripts and styles in one language: the shell with the view that opens first, and all views. */
const LIMITS = { landing: 110_000, workbench: 150_000 };
const LESSON = /\/(walk|playground|later|recipes|runs)-/; // views that explain, dialogs, training runs: fetched when opened
const LATER = /\/more-/; // the other views
const FIRST = /\/canvas-/; // the view that opens first, which has a bar of its own in that test

/** Says how large the page is; tests/browser/test_shell.py keeps the limit. */
function weigh(): Plugin {
  return {
    name: "weigh",
    apply: "build",
    writeBundle(_, bundle) {
      const weights = { landing: 0, workbench: 0, lessons: 0 };
      const words = new Map<string, number>(); // of one language the page loads; the longest counts
      for (const file of Object.values(bundle)) {
        if (!/\.(js|css)$/.test(file.fileName)) continue;
        const size = gzipSync(file.type === "chunk" ? file.code : file.source, { level: 9 }).length;
        const language = /\/words-([\w]+)-/.exec(file.fileName)?.[1];
        if (language) words.set(language, size);
        else if (LESSON.test(file.fileName)) weights.lessons += size;
        else if (!FIRST.test(file.fileName)) weights.workbench += size;
        if (!language && !LESSON.test(file.fileName) && !LATER.test(file.fileName)) weights.landing += size;
      }
      for (const part of ["landing", "workbench"] as const) {
        weights[part] += Math.max(0, ...words.values());
        this.info(`gzip: ${part} ${weights[part]} bytes of ${LIMITS[part]}`);
        if (weights[part] > LIMITS[part]) this.warn(`${part} has grown beyond its limit; a test will fail`);
      }
      this.info(`gzip: lessons ${weights.lessons} bytes`);
    },
  };
}

const RUNS = /src\/(?:views\/(?:runs|curves|learning|search)\/|i18n\/runs|data\/runs?_?\w*\.ts)/; // of training runs

/** Whose words a file has. */
function wordsOf(id: string): string {
  if (RUNS.test(id)) return "runs";
  return /(?:views|shell)\/(walk|playground|later|recipes)\//.exec(id)?.[1] ?? "words";
}

export default defineConfig({
  base: "./",
  plugins: [listViews(), lazyWords(), weigh()],
  build: {
    outDir: "../src/glassformer/api/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false, // few chunks, from the same machine
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
            { name: "page", test: /src\/main\.ts$/, priority: 3 },
            { name: "canvas", test: /src\/views\/canvas\/view\.ts$/, priority: 2 },
            {
              name: "more",
              test: /src\/views\/(?!walk|playground|canvas|runs|curves|learning|search)\w+\/view\.ts$/,
              priority: 1,
            },
            { name: "runs", test: (id) => RUNS.test(id) && /(view|runs)\.ts$/.test(id) },
            { name: "later", test: /src\/shell\/later\// },
            { name: "recipes", test: /src\/shell\/recipes\// },
            {
              name: (id) => /src\/views\/(\w+)\//.exec(id)?.[1] ?? null,
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
    css: { include: /\?raw/ }, // tests read style sheets; otherwise they would be empty
    isolate: false, // with what vitest.setup.ts does instead: half the time of `npm test` went into new windows
    setupFiles: "vitest.setup.ts",
    include: ["src/**/*.test.{ts,tsx}"],
  },
});
