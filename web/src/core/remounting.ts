/**
 * Restyling by mounting again, for views whose every text and shape depends on the language: the lessons.
 *
 * In:   a stage, and how the view is mounted on it. `keep` gives what runs to the next mounting.
 * Out:  a mounted view. What a person was at stays: how far it was scrolled, what stood in a field, what was unfolded,
 *       where the focus was. Both are built alike: a place is a path.
 */

import type { Kept, Mounted, Stage, SubjectKind } from "./view";

type Inner = Omit<Mounted, "restyle" | "keep"> & { keep?(): Kept | null };

export function remounting<K extends SubjectKind>(
  stage: Stage<K>,
  mount: (stage: Stage<K>) => Inner,
): Mounted {
  let inner = mount(stage);
  let giveUp = (): void => {};
  return {
    update: (now, before) => inner.update(now, before),
    resize: () => inner.resize(),
    picture: () => inner.picture(),
    table: () => inner.table(),
    zoom: (direction) => inner.zoom?.(direction),
    restyle() {
      giveUp();
      const bringBack = noteDown(stage.element.parentElement ?? stage.element);
      const kept = inner.keep?.() ?? undefined;
      inner.unmount();
      inner = mount(Object.create(stage, { kept: { value: kept } }) as Stage<K>);
      giveUp = bringBack();
    },
    unmount() {
      giveUp();
      inner.unmount();
    },
  };
}

const FRAMES = 180; // after which nothing more is expected
const TYPED = "input:not([type=range], [type=checkbox], [type=radio], [type=file]), textarea, select";
const ACTS = ["wheel", "pointerdown", "keydown"] as const;

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** Brings something back; false: its place is not drawn yet. */
type Wish = () => boolean;

/** Notes what is there; gives back how to bring it back into what will be drawn in its place, and how to give up. */
export function noteDown(host: HTMLElement): () => () => void {
  const wishes = [
    ...outside(host),
    ...[host, ...host.querySelectorAll<HTMLElement>("*")].flatMap(inside(host)),
  ];
  return () => bringBack(host, wishes);
}

function bringBack(host: HTMLElement, wishes: readonly Wish[]): () => void {
  let open = wishes;
  let [frame, frames] = [0, 0];
  const stop = (): void => {
    cancelAnimationFrame(frame);
    for (const name of ACTS) host.removeEventListener(name, stop);
  };
  const look = (): void => {
    open = open.filter((wish) => !wish());
    frames += 1;
    if (open.length > 0 && frames < FRAMES) frame = requestAnimationFrame(look);
    else stop();
  };
  for (const name of ACTS) host.addEventListener(name, stop, { passive: true }); // whoever acts goes first
  look();
  return stop;
}

/** How far the page around the view was scrolled: it is shorter for a moment. */
function outside(host: HTMLElement): Wish[] {
  const wishes: Wish[] = [];
  for (let around = host.parentElement; around !== null; around = around.parentElement) {
    const element = around;
    const { scrollTop, scrollLeft } = element;
    if (scrollTop > 0 || scrollLeft > 0) wishes.push(() => scroll(element, scrollTop, scrollLeft));
  }
  return wishes;
}

/** What an element of the view says about what a person did there. */
function inside(host: HTMLElement): (element: HTMLElement) => Wish[] {
  const focused = (host.getRootNode() as Document | ShadowRoot).activeElement;
  return (element) => {
    const wishes: Wish[] = [];
    const { scrollTop, scrollLeft } = element;
    const again = (act: (found: HTMLElement) => boolean): void => {
      const find = placeOf(element, host);
      wishes.push(() => {
        const found = find();
        return found !== null && act(found);
      });
    };
    if (element instanceof HTMLDetailsElement) {
      const { open } = element;
      again((found) => {
        (found as HTMLDetailsElement).open = open;
        return true;
      });
    }
    if (element.matches(TYPED)) {
      const { value } = element as Field;
      again((found) => fill(found as Field, value));
    }
    if (element === focused) again(focus);
    if (scrollTop > 0 || scrollLeft > 0) again((found) => scroll(found, scrollTop, scrollLeft));
    return wishes;
  };
}

/** How to find the element that is built like this one. */
function placeOf(element: HTMLElement, host: HTMLElement): () => HTMLElement | null {
  const path: number[] = [];
  for (let at: Element = element; at !== host; at = at.parentElement!)
    path.unshift([...at.parentElement!.children].indexOf(at));
  const alike = (other: Element | undefined): boolean =>
    other?.tagName === tagName &&
    ["class", "name"].every((name, at) => other.getAttribute(name) === names[at]);
  const { tagName } = element;
  const names = ["class", "name"].map((name) => element.getAttribute(name));
  return () => {
    let found: Element | undefined = host;
    for (const at of path) found = found?.children[at];
    return found === host || alike(found) ? (found as HTMLElement) : null;
  };
}

function scroll(element: HTMLElement, top: number, left: number): boolean {
  element.scrollTop = top;
  element.scrollLeft = left;
  return Math.abs(element.scrollTop - top) < 2 && Math.abs(element.scrollLeft - left) < 2;
}

/** What stood in a field and no link states; a list says at once what is chosen, a text when it is left or sent. */
function fill(field: Field, value: string): boolean {
  if (field.value === value) return true;
  if (field instanceof HTMLSelectElement && ![...field.options].some((each) => each.value === value))
    return false; // its choices are not there yet
  field.value = value;
  const tell = () => field.dispatchEvent(new Event("change", { bubbles: true }));
  if (field instanceof HTMLSelectElement) tell();
  else {
    const told = new AbortController(); // a browser speaks only of what was typed into this very field
    const { signal } = told;
    field.addEventListener("change", () => told.abort(), { signal });
    field.addEventListener("blur", tell, { signal });
    field.addEventListener(
      "keydown",
      (event) => {
        const { key, isComposing } = event as KeyboardEvent;
        if (key === "Enter" && !isComposing) tell(); // not the one that ends a word of an input method
      },
      { signal },
    );
  }
  return true;
}

function focus(element: HTMLElement): boolean {
  const { activeElement } = element.getRootNode() as Document | ShadowRoot;
  const free = activeElement === null || activeElement === element.ownerDocument.body;
  if (free) element.focus({ preventScroll: true });
  return true;
}
