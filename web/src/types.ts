/** What the API speaks: JSON as the server sends it. The door to every shape that crosses; each subject has its room. */

export type * from "./types/metrics";
export type * from "./types/playground";
export type * from "./types/recording";
export type * from "./types/walk";
export type * from "./types/words";
export type * from "./types/work";
