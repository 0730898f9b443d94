/**
 * For notebooks and exported files, each a module by itself, styles and lazy parts inside:
 *   embedded.js               everything: notebooks, and files with the numbers of a walk
 *   file.js    --mode file    without the walk: files of any other recording
 *   loader.js  --mode loader  the few lines that unpack either in a file
 */
import { defineConfig, type Plugin } from "vite";
import { listViews, noStyles } from "./vite.views.ts";

/** The walk leaves a sentence behind that says why; nobody asks for its arithmetic. */
const leaveOutWalk: Plugin = {
  name: "leave-out-walk",
  enforce: "pre",
  load(id) {
    if (id.endsWith("/src/views/walk/view.ts")) return 'export { view } from "./left_out";';
    if (id.endsWith("/src/data/file_cells.ts")) return "export const answerCell = () => null;";
    return /\/src\/views\/walk\/style\.css/.test(id) ? "" : null;
  },
};

export default defineConfig(({ mode }) => {
  const name = mode === "production" ? "embedded" : mode;
  return {
    plugins: [listViews(), noStyles, ...(name === "file" ? [leaveOutWalk] : [])],
    publicDir: false,
    build: {
      outDir: "../src/glassformer/api/static/embedded",
      emptyOutDir: name === "embedded",
      target: "es2022",
      lib: {
        entry: `src/${name === "loader" ? "loader" : "embedded"}.ts`,
        formats: ["es"],
        fileName: () => `${name}.js`,
      },
      rolldownOptions: { output: { codeSplitting: false, minify: true } },
    },
  };
});
