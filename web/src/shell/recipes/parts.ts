/** What the page fetches where training is allowed: the form of a new run, the buttons of a run. */

import "./style.css";

export { RunControls } from "./controls";
export { NewRunDialog } from "./dialog";
