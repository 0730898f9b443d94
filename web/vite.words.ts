/**
 * The page fetches the words of one language: `import.meta.glob("./words.*.ts", { eager: true })` becomes a lazy one.
 * Tests, notebooks and exported files keep all languages inside.
 */
import type { Plugin } from "vite";

export const WORDS =
  /\/src\/(?:i18n|shell(?:\/later|\/recipes|\/training|\/comparing|\/people|\/media)?|views\/\w+)\/\w+\.([a-z-]{2,})\.ts$/; // a file of words, and its language
const EAGER = /(import\.meta\.glob(?:<[^(]*>)?\("\.\/\w+\.\*\.ts"), \{ eager: true \}\)/g;

export function lazyWords(): Plugin {
  return {
    name: "lazy-words",
    apply: "build",
    enforce: "pre",
    transform: (code, id) => (/\/src\/.*\.ts$/.test(id) ? code.replace(EAGER, "$1)") : null),
  };
}
