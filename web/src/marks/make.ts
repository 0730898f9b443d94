/**
 * Elements in one line, without markup in strings: what is data stays text.
 *
 * In:   a tag, attributes, children.
 * Out:  an element. `on…` names are listeners, true and false set or leave an attribute.
 */

type Value = string | number | boolean | null | undefined | ((event: never) => void);
type Child = Node | string | number | null | undefined | false;

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

/** A text node's words, changed only if they differ. */
export function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function dress(
  element: Element,
  attributes: Readonly<Record<string, Value>>,
  children: readonly Child[],
): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(typeof child === "number" ? String(child) : child);
    }
  }
}
