/**
 * Splits the words of the page by language. Sources have both in one place, where types hold them equal; a person
 * fetches one. Of `defineStrings({ en, zh })` in src/i18n, `file.ts?en` has the English object, `file.ts?zh` the
 * Chinese one, and `file.ts` itself fetches either.
 */
import type { Plugin } from "vite";

const ROOM = /\/src\/i18n\/(?!core\.ts)(\w+\.ts)(?:\?(en|zh))?$/;

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Definition extends Span {
  readonly name: string;
  readonly en: Span;
  readonly zh: Span;
}

/** A node of the syntax tree: only what is looked at here. */
interface Node extends Span {
  readonly type: string;
  readonly [part: string]: unknown;
}

export function splitWords(): Plugin {
  return {
    name: "split-words",
    apply: "build",
    enforce: "pre",
    transform(code, id) {
      const [, file, language] = ROOM.exec(id) ?? [];
      if (!file) return null;
      const found = findDefinitions(this.parse(code, { lang: "ts" }) as unknown as Node, code);
      let text = code;
      for (const each of found.toReversed()) {
        const here = each[language as "en" | "zh"];
        const files = ["en", "zh"].map(
          (which) => `${which}: () => import("./${file}?${which}").then((room) => room.${each.name})`,
        );
        const now = here ? code.slice(here.start, here.end) : `fetchStrings({ ${files.join(", ")} })`;
        text = text.slice(0, each.start) + now + text.slice(each.end);
      }
      return language ? text : `import { fetchStrings } from "./core";\n${text}`;
    },
  };
}

/** `const name = defineStrings({ en: …, zh: … })` at the top of a file, exported or not. */
function findDefinitions(program: Node, code: string): readonly Definition[] {
  return nodes(program.body)
    .map((node) => (node.type === "ExportNamedDeclaration" ? (node.declaration as Node | null) : node))
    .flatMap((node) => (node?.type === "VariableDeclaration" ? nodes(node.declarations) : []))
    .flatMap(({ id, init }) => {
      const [name, call] = [id as Node, init as Node | null];
      if (call?.type !== "CallExpression" || text(call.callee as Node) !== "defineStrings") return [];
      const [argument] = nodes(call.arguments);
      const value = (language: string): Node =>
        nodes(argument?.properties).find((each) => text(each.key as Node) === language)?.value as Node;
      return [{ name: text(name), start: call.start, end: call.end, en: value("en"), zh: value("zh") }];
    });

  function text({ start, end }: Span): string {
    return code.slice(start, end);
  }
}

function nodes(list: unknown): readonly Node[] {
  return (list ?? []) as readonly Node[];
}
