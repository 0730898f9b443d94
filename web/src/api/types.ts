/** What the API speaks: JSON as the server sends it. Each subject has a file of its own. */

export type * from "./types/basics";
export type * from "./types/metrics";
export type * from "./types/playground";
export type * from "./types/recording";
export type * from "./types/runs";
export type * from "./types/walk";
export type * from "./types/work";
