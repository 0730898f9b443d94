/** What the page fetches when it is first wanted: dialogs, panels, the details of a guessed word. */

import "./style.css";

export { AboutPanel } from "./about";
export { DebuggingPanel } from "./debugging";
export { HelpDialog, TableDialog } from "./dialogs";
export { EditList, EditMenu } from "./edits";
export { Guess } from "./guess";
export { InterpretabilityPanel } from "./interpretability";
export { RecordingsDialog } from "./recordings";
export { Tags } from "./tags";
