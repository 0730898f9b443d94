/**
 * For notebooks and exported files, each a module by itself, styles and lazy parts inside:
 *   embedded.js               everything: notebooks, and files with the numbers of a walk or with hidden states
 *   file.js    --mode file    without canvas, walk, playground and runs: files of any other recording
 *   loader.js  --mode loader  the few lines that unpack either in a file
 */
import { defineConfig, type Plugin } from "vite";
import { listViews, noStyles } from "./vite.views.ts";

const LEFT_OUT = "/src/views/(canvas|walk|playground|runs|curves|learning)/";
const LEFT_OUT_VIEW = new RegExp(`${LEFT_OUT}view\\.ts$`);
const LEFT_OUT_STYLE = new RegExp(`${LEFT_OUT}style\\.css`);

/** Canvas, walk, playground and views of runs leave a sentence behind that says why; nobody asks for the arithmetic of the walk. */
const leaveOutViews: Plugin = {
  name: "leave-out-views",
  enforce: "pre",
  load(id) {
    const left = LEFT_OUT_VIEW.exec(id)?.[1];
    if (left) return `import { leaveOut } from "../left_out"; export const view = leaveOut("${left}");`;
    if (id.endsWith("/src/data/file_cells.ts")) return "export const answerCell = () => null;";
    return LEFT_OUT_STYLE.test(id) ? "" : null;
  },
};

export default defineConfig(({ mode }) => {
  const name = mode === "production" ? "embedded" : mode;
  return {
    plugins: [listViews(), noStyles, ...(name === "file" ? [leaveOutViews] : [])],
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
