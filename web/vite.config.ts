/// <reference types="vitest/config" />
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { listViews } from "./vite.views.ts";

const LIMIT = 150 * 1024; // bytes, gzip: scripts and styles of the workbench, whatever view is opened

const LESSON = /\/(walk|playground)-/; // views that explain: counted for themselves

/** Says how large the page is; tests/browser/test_shell.py keeps the limit. */
function weigh(): Plugin {
  return {
    name: "weigh",
    apply: "build",
    writeBundle(_, bundle) {
      const weights = { workbench: 0, lessons: 0 };
      for (const file of Object.values(bundle)) {
        const size = gzipSync(file.type === "chunk" ? file.code : file.source, { level: 9 }).length;
        weights[LESSON.test(file.fileName) ? "lessons" : "workbench"] += size;
      }
      const [page, lessons] = [weights.workbench, weights.lessons].map(
        (bytes) => `${(bytes / 1024).toFixed(1)} KiB`,
      );
      this.info(`gzip: workbench ${page} of ${LIMIT / 1024} KiB, lessons ${lessons}`);
      if (weights.workbench > LIMIT) this.warn("the workbench has grown beyond its limit; a test will fail");
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [listViews(), weigh()],
  build: {
    outDir: "../src/glassformer/show/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What the first picture needs, the other views, and each lesson. Each view alone would compress worse.
          groups: [
            { name: "page", test: /src\/(main\.ts|views\/(overview|heatmap)\.ts)$/, priority: 3 },
            { name: "more", test: /src\/views\/(?!walk|playground)/, priority: 1 },
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
