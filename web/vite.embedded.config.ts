/** One self-contained module for notebooks and exported files: styles and lazy parts inside. */
import { defineConfig } from "vite";
import { listViews } from "./vite.views.ts";

export default defineConfig({
  plugins: [listViews()],
  publicDir: false,
  build: {
    outDir: "../src/glassformer/show/static/embedded",
    emptyOutDir: true,
    target: "es2022",
    lib: { entry: "src/hosts/embedded.ts", formats: ["es"], fileName: () => "embedded.js" },
    rolldownOptions: { output: { codeSplitting: false, minify: true } },
  },
});
