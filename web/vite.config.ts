/// <reference types="vitest/config" />
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const LIMIT = 150; // KB, gzip, everything that a browser may fetch

/** Says how large the page is, and refuses to grow beyond the limit. */
function weigh(): Plugin {
  return {
    name: "weigh",
    apply: "build",
    writeBundle(_, bundle) {
      let bytes = 0;
      for (const file of Object.values(bundle)) {
        bytes += gzipSync(file.type === "chunk" ? file.code : file.source, { level: 9 }).length;
      }
      const size = `the page is ${(bytes / 1000).toFixed(1)} KB gzip in all, of ${LIMIT} KB`;
      if (bytes > LIMIT * 1000) this.error(size);
      this.info(size);
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [weigh()],
  build: {
    outDir: "../src/glassformer/show/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the server's policy allows no inline styles or scripts, and images only from here
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
  },
});
