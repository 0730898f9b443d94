/** Words of edits: their list, undo, the menu on a head. */

export const edits = {
  edits: "Edits of the model",
  removeEdit: "Take this edit back",
  undo: "Undo",
  redo: "Redo",
  clear: "Without edits",
  back: "Back to the recording",
  compare: "Compare with the unedited",
  before: "before",
  after: "after",
  openEffects: "Effects of every head …",
  headAt: (layer: number, head: number) => `Layer ${layer}, head ${head}`,
};
