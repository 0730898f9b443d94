/**
 * The styles inside another page (a notebook, a web site): in a shadow root, so that neither affects the other.
 *
 * In:   an element of the host.
 * Out:  a fresh element inside its shadow root, styled.
 */

const files = import.meta.glob<string>(
  ["./styles/*.css", "./shell/style.css", "./shell/*/style.css", "./marks/*.css", "./views/*/style.css"],
  {
    eager: true,
    query: "?inline",
    import: "default",
  },
);
const first = ["./styles/tokens.css", "./styles/reset.css", "./styles/controls.css", "./shell/style.css"];
const text = [...first, ...Object.keys(files).filter((name) => !first.includes(name))]
  .map((name) => files[name] ?? "")
  .join("\n");

export function attachStyles(host: HTMLElement): HTMLElement {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  root.adoptedStyleSheets = [sheet];
  const element = host.ownerDocument.createElement("div");
  root.replaceChildren(element);
  return element;
}
