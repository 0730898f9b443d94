/**
 * Splits the words of the page by language. Sources have both in one place, where types hold them equal; a person
 * fetches one. Of `defineStrings({ en, zh })` in a file of words, `file.ts?en` has the English object, `file.ts?zh` the
 * Chinese one, and `file.ts` itself fetches either.
 */
import { dirname, relative } from "node:path/posix";
import type { Plugin } from "vite";

/** The words shared by several (i18n/), those of the shell and of each view. */
const WORDS =
  /^(.*\/src\/)(?:i18n\/(?!core\.ts)|shell\/(?=(?:\w+_)?words\.ts)|views\/\w+\/(?=(?:\w+_)?words\.ts))(\w+\.ts)(?:\?(en|zh))?$/;

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
      const [, sources, file, language] = WORDS.exec(id) ?? [];
      if (!sources || !file) return null;
      const program = this.parse(code, { lang: "ts" }) as unknown as Node;
      const definitions = findDefinitions(program, code);
      if (language) return keepWords(program, code, definitions, language as "en" | "zh");
      const changes = definitions.map(({ name, start, end }) => {
        const files = ["en", "zh"].map(
          (which) => `${which}: () => import("./${file}?${which}").then((room) => room.${name})`,
        );
        return { start, end, text: `fetchStrings({ ${files.join(", ")} })` };
      });
      const core = relative(dirname(id), `${sources}i18n/core`);
      return `import { fetchStrings } from "${core.startsWith(".") ? core : `./${core}`}";\n${change(code, changes)}`;
    },
  };
}

/** The words of one language and what they are made with: no neighbours, which would bring the page along with them. */
function keepWords(
  program: Node,
  code: string,
  definitions: readonly Definition[],
  language: "en" | "zh",
): string {
  const words = definitions.map((each) => ({
    ...each,
    text: code.slice(each[language].start, each[language].end),
  }));
  const others = nodes(program.body).flatMap((node) => {
    const text = code.slice(node.start, node.end);
    if (node.type === "ImportDeclaration") return [{ ...node, text: "" }];
    const holds = definitions.some(({ start, end }) => node.start < start && end < node.end);
    return text.startsWith("export ") && !holds ? [{ ...node, text: text.slice("export ".length) }] : [];
  });
  return change(code, [...words, ...others]);
}

function change(code: string, changes: readonly (Span & { readonly text: string })[]): string {
  return [...changes]
    .sort((one, other) => other.start - one.start)
    .reduce((text, each) => text.slice(0, each.start) + each.text + text.slice(each.end), code);
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
