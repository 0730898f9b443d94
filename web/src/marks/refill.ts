/**
 * Draw a list again without disturbing its reader.
 *
 * In:   an element, and the children that it should have. Those that can be focused or opened carry `data-key`.
 * Out:  children that look the same stay as they are; the others are replaced, and keep focus and opened `<details>`.
 */

export function refill(element: Element, ...children: readonly (Node | string)[]): void {
  const root = element.getRootNode() as Document | ShadowRoot;
  const focused = (): HTMLElement | null => {
    const active = root.activeElement as HTMLElement | null | undefined;
    return active && element.contains(active) ? active : null;
  };
  const key = focused()?.dataset.key;
  const opened = new Set(
    [...element.querySelectorAll<HTMLElement>("details[open]")].map(({ dataset }) => dataset.key),
  );
  const next = document.createElement("div");
  next.append(...children);
  for (const each of next.querySelectorAll<HTMLElement>("details[data-key]"))
    each.toggleAttribute("open", opened.has(each.dataset.key));
  const before = [...element.childNodes];
  const after = [...next.childNodes];
  after.forEach((node, at) => {
    const old = before[at];
    if (!old) element.append(node);
    else if (!old.isEqualNode(node)) old.replaceWith(node);
  });
  for (const old of before.slice(after.length)) old.remove();
  if (key === undefined || focused()) return;
  element.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}
