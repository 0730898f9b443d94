/** Words that every shape of the API uses. */

export type Language = "en" | "zh";
export type Phrase = Readonly<Record<Language, string>>;
export type SideName = "source" | "target";
export type Kind = "self" | "cross";
export type Stack = string; // "encoder" or "decoder"
