/** What hosts without a server say. */

export const words = {
  notInFile:
    "This file was exported without these numbers. Export it again with more (hidden, vectors, exact), or open the recording in Glassformer.",
  noWalk:
    "The walk shows the numbers of every step, which this recording did not keep. Record with `want` trace and export again.",
};
