/**
 * Elements in one line, without markup in strings: what is data stays text.
 *
 * In:   a tag, attributes, children.
 * Out:  an element. `on…` names are listeners, `style` is an object, true and false set or leave an attribute. A text that depends on the
 *       language is given as a function: `relabel` asks it again when the language has changed.
 */

export type Text = string | (() => string);
type Styles = Readonly<Record<string, string>>;
type Value = Text | number | boolean | null | undefined | Styles | ((event: never) => void);
type Child = Node | Text | number | null | undefined | false;

const texts = new WeakMap<Node, () => string>(); // of text nodes
const labels = new WeakMap<Element, Map<string, () => string>>(); // of elements: attributes by name

const SVG = "http://www.w3.org/2000/svg";

export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, Value>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  dress(element, attributes, children);
  return element;
}

/** The same for SVG. */
export function draw<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, Value>> = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS(SVG, tag);
  dress(element, attributes, children);
  return element;
}

/** A picture of so many pixels, with its name for screen readers; null: they pass it over. */
export function drawChart(
  width: number,
  height: number,
  label: string | null,
  ...children: readonly Child[]
): SVGSVGElement {
  const name = label === null ? { "aria-hidden": "true" } : { role: "img", "aria-label": label };
  return draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, ...name }, ...children);
}

/** A line of text in an SVG, of 11 pixels where the look does not say otherwise. */
export function drawText(
  text: Child,
  x: number,
  y: number,
  fill: string,
  anchor: "start" | "middle" | "end" = "start",
  look: Readonly<Record<string, Value>> = {},
): SVGTextElement {
  return draw("text", { x, y, fill, "font-size": 11, "text-anchor": anchor, ...look }, text);
}

let ids = 0;

/** An id that no other element has. */
export function uniqueId(name: string): string {
  return `${name}-${++ids}`;
}

/** A text node's words, changed only if they differ. */
export function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Ask every text below an element again that was given as a function: the language has changed. */
export function relabel(root: Element): void {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node: Node | null = root; node; node = walker.nextNode()) {
    const text = texts.get(node);
    if (text) node.textContent = text();
    if (node instanceof Element)
      for (const [name, label] of labels.get(node) ?? []) node.setAttribute(name, label());
  }
}

function dress(
  element: Element,
  attributes: Readonly<Record<string, Value>>,
  children: readonly Child[],
): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
      else setLabel(element, name, value as () => string);
    } else if (typeof value === "object" && value !== null) setStyle(element as HTMLElement, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(typeof child === "function" ? liveText(child) : asText(child));
    }
  }
}

/** Styles one by one: the page's policy forbids the attribute. */
export function setStyle(element: HTMLElement | SVGElement, styles: Styles): void {
  for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value);
}

function asText(child: Node | string | number): Node | string {
  return typeof child === "number" ? String(child) : child;
}

function liveText(text: () => string): Node {
  const node = document.createTextNode(text());
  texts.set(node, text);
  return node;
}

function setLabel(element: Element, name: string, label: () => string): void {
  const all = labels.get(element) ?? new Map<string, () => string>();
  labels.set(element, all.set(name, label));
  element.setAttribute(name, label());
}
