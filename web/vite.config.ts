/// <reference types="vitest/config" />
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { ALONE, listViews } from "./vite.views.ts";
import { lazyWords, WORDS } from "./vite.words.ts";

/** Bytes, gzip, of scripts and styles in one language: the shell with the view that opens first, and all views. */
const LIMITS = { landing: 110_000, workbench: 150_000 };
const WANTED_LATER = new RegExp(`^(${ALONE.join("|")}|media|input|atlases|runs|training|recipes|comparing)$`); // fetched when opened
const CHUNK = /\/([a-z-]+?)(?:-([a-z]{2}))?-[\w-]{8}\.(?:js|css)$/; // its name, and its language if it holds words

/** Says how large the page is; tests/browser/test_shell.py keeps the limit. */
function weigh(): Plugin {
  return {
    name: "weigh",
    apply: "build",
    writeBundle(_, bundle) {
      const plain = { landing: 0, workbench: 0, later: 0 };
      const words = new Map<string, typeof plain>(); // by language: a page loads one; the longest counts
      for (const file of Object.values(bundle)) {
        const [, name, language] = CHUNK.exec(file.fileName) ?? [];
        if (!name) continue;
        const size = gzipSync(file.type === "chunk" ? file.code : file.source, { level: 9 }).length;
        if (language && !words.has(language)) words.set(language, { landing: 0, workbench: 0, later: 0 });
        const weights = language ? words.get(language)! : plain;
        if (WANTED_LATER.test(name)) weights.later += size;
        else {
          if (name !== "more") weights.landing += size;
          if (name !== "later" && name !== "canvas") weights.workbench += size; // the canvas has a bar of its own
        }
      }
      for (const part of ["landing", "workbench", "later"] as const) {
        const weight = plain[part] + Math.max(0, ...[...words.values()].map((each) => each[part]));
        const limit = part === "later" ? Number.POSITIVE_INFINITY : LIMITS[part];
        this.info(`gzip: ${part} ${weight} bytes of ${limit}`);
        if (weight > limit) this.warn(`${part} has grown beyond its limit; a test will fail`);
      }
    },
  };
}

const RUNS = /src\/(?:views\/(?:runs|curves|learning|search)\/|i18n\/runs|data\/runs?_?\w*\.ts)/; // of training runs

/** The chunk of a view, by a file of its folder; undefined for other files. */
function viewChunk(id: string): string | undefined {
  const view = /src\/views\/(\w+)\//.exec(id)?.[1];
  if (view === "picture" || view === "sound") return "media"; // who wants one of them may want both
  if (view === "effects") return "patching"; // the same
  if (view === undefined || view === "canvas" || ALONE.includes(view)) return view;
  return RUNS.test(id) ? "runs" : "more";
}

/** The chunk of a part of the shell that is fetched when it is wanted; undefined for other files. */
function shellChunk(id: string): string | undefined {
  const part = /src\/shell\/(\w+)\//.exec(id)?.[1];
  return part === "media" ? "input" : part; // "media" are the views of pictures and sounds
}

/** The chunk that the words of a file belong to: they come with those who say them. */
function wordsChunk(id: string): string {
  if (RUNS.test(id)) return "runs";
  const chunk = viewChunk(id) ?? shellChunk(id);
  return chunk === undefined || chunk === "canvas" ? "words" : chunk;
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
          // What the first picture needs, the other views, each view that is large, and the words of each in a
          // language. Each view alone would compress worse.
          groups: [
            {
              name: (id) => `${wordsChunk(id)}-${WORDS.exec(id)?.[1]}`,
              test: WORDS,
              priority: 4,
            },
            { name: "page", test: /src\/main\.ts$/, priority: 3 },
            { name: "canvas", test: /src\/views\/canvas\/view\.ts$/, priority: 2 },
            {
              name: "more",
              test: (id) => /\/view\.ts$/.test(id) && viewChunk(id) === "more",
              priority: 1,
            },
            { name: "runs", test: (id) => RUNS.test(id) && /(view|runs)\.ts$/.test(id) },
            {
              name: (id) => shellChunk(id) ?? null,
              test: /src\/shell\/(later|recipes|training|comparing|people|media)\//,
            },
            {
              name: (id) => viewChunk(id) ?? null,
              test: (id) => ALONE.includes(/views\/(\w+)\/view\.ts$/.exec(id)?.[1] ?? ""),
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
    testTimeout: 300_000, // ms; reached only by what hangs: a busy machine is slow, not wrong
    hookTimeout: 300_000,
    include: ["src/**/*.test.{ts,tsx}"],
  },
});
