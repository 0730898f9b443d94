/**
 * For notebooks and exported files: one self-contained module, styles and lazy parts inside; and with `--mode loader`
 * the few lines that unpack it in a file.
 */
import { defineConfig } from "vite";
import { listViews } from "./vite.views.ts";

export default defineConfig(({ mode }) => {
  const name = mode === "loader" ? "loader" : "embedded";
  return {
    plugins: [listViews()],
    publicDir: false,
    build: {
      outDir: "../src/glassformer/show/static/embedded",
      emptyOutDir: name === "embedded",
      target: "es2022",
      lib: { entry: `src/hosts/${name}.ts`, formats: ["es"], fileName: () => `${name}.js` },
      rolldownOptions: { output: { codeSplitting: false, minify: true } },
    },
  };
});
