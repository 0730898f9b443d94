/**
 * For notebooks and exported files, each a module by itself, styles and lazy parts inside; files have no model, and
 * leave out the views that run one:
 *   embedded.js               everything: notebooks, and files with hidden states
 *   file.js    --mode file    without canvas, walk, playground, runs, picture and sound: files of any other recording
 *   walk.js    --mode walk    without canvas, runs and atlas: files with the numbers of a walk, a picture or a sound
 *   run.js     --mode run     without canvas, walk and playground: files of training runs
 *   atlas.js   --mode atlas   as file.js, with the atlas: files of atlases
 *   loader.js  --mode loader  the few lines that unpack either in a file
 */
import { defineConfig, type Plugin } from "vite";
import { listViews, noStyles } from "./vite.views.ts";

const NO_MODEL = "effects|patching|"; // that could be run
const LEFT_OUT: Readonly<Record<string, string>> = {
  file: `${NO_MODEL}canvas|walk|playground|runs|curves|learning|search|atlas|picture|sound`,
  walk: `${NO_MODEL}canvas|runs|curves|learning|search|atlas`,
  run: `${NO_MODEL}canvas|walk|playground|runs|search|atlas|picture|sound`,
  atlas: `${NO_MODEL}canvas|walk|playground|runs|curves|learning|search|picture|sound`,
};

/** Views that are left out leave a sentence behind that says why; nobody asks for the arithmetic of the walk. */
function leaveOutViews(mode: string): Plugin {
  const folder = `/src/views/(${LEFT_OUT[mode]})/`;
  const [view, style] = [new RegExp(`${folder}view\\.ts$`), new RegExp(`${folder}style\\.css`)];
  return {
    name: "leave-out-views",
    enforce: "pre",
    load(id) {
      const left = view.exec(id)?.[1];
      if (left)
        return `import { leaveOut } from "../left_out"; export const view = leaveOut("${left}", ${mode === "run"});`;
      if (mode !== "walk" && id.endsWith("/src/data/file_cells.ts"))
        return "export const answerCell = () => null;";
      if (mode !== "run" && id.endsWith("/src/shell/training/parts.tsx"))
        return "export const TrainingTime = () => null; export const ProbeLinks = TrainingTime;";
      return style.test(id) ? "" : null;
    },
  };
}

/** No notebook and no file trains, takes a picture or a sound of a visitor, or has accounts: those forms stay out of both. */
const NEEDS_SERVER: Readonly<Record<string, string>> = {
  "/src/shell/recipes/parts.ts":
    "export const RunControls = () => null; export const NewRunDialog = () => null;",
  "/src/shell/media/parts.tsx": "export const MediaFields = () => null;",
  "/src/shell/people/parts.tsx": "export const AccountDialog = () => null;",
};

const leaveOutForms: Plugin = {
  name: "leave-out-forms",
  enforce: "pre",
  load: (id) => Object.entries(NEEDS_SERVER).find(([file]) => id.endsWith(file))?.[1] ?? null,
};

export default defineConfig(({ mode }) => {
  const name = mode === "production" ? "embedded" : mode;
  return {
    plugins: [listViews(), noStyles, leaveOutForms, ...(name in LEFT_OUT ? [leaveOutViews(name)] : [])],
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
