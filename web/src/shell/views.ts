/**
 * Every folder in views/ is a view, named as its folder. Tabs know all of them; their code is fetched when it is wanted.
 *
 * In:   a name.
 * Out:  the view, once.
 */

import list from "virtual:views";
import { SIDES } from "../core/media";
import type { Text } from "../core/messages";
import { errorText } from "../core/source";
import type { AnyView, Subject } from "../core/view";
import { learn } from "../i18n/core";
import { signal } from "./signals";

/** What a tab says, and what the shell shows around the view; of a lesson, whose code comes later, also `about`. */
export type ViewTitle = Pick<
  AnyView,
  "name" | "title" | "needs" | "panel" | "transport" | "controls" | "cutFrom"
> &
  Partial<Pick<AnyView, "about">>;

export type ViewFiles = Readonly<Record<string, () => Promise<AnyView>>>; // by path: "…/name/view.ts"

const shipped: ViewFiles = import.meta.glob<AnyView>("../views/*/view.ts", { import: "view" });
const nothing: Subject = { kind: "none" };

/** The part of what is open that a view is drawn from; null where it needs something else. */
export function subjectFor(view: Pick<AnyView, "needs">, open: Subject): Subject | null {
  if (view.needs === "none") return nothing;
  return view.needs === open.kind ? open : null;
}

/** true, or why a view cannot show what is open. A view that needs something else says nothing about it. */
export function fitsIn(view: AnyView, open: Subject): true | Text {
  const subject = subjectFor(view, open);
  try {
    return subject === null || view.fits(subject);
  } catch (error) {
    return errorText(error); // a view that cannot tell is not shown
  }
}

export class Views {
  /** Those whose code is here. */
  readonly loaded = signal<ReadonlyMap<string, AnyView>>(new Map());
  private readonly loading = new Map<string, Promise<AnyView>>();
  private readonly files: ReadonlyMap<string, () => Promise<AnyView>>;

  constructor(
    files: ViewFiles = shipped,
    readonly titles: readonly ViewTitle[] = list,
  ) {
    this.files = new Map(Object.entries(files).map(([path, file]) => [path.split("/").at(-2)!, file]));
  }

  /** The views that are offered while something is open; before anything is, those of a recording. */
  on(open: Subject): readonly ViewTitle[] {
    const kind = open.kind === "none" ? "recording" : open.kind;
    const sides = open.kind === "recording" ? SIDES.map((side) => open.now.description[side]) : [];
    return this.titles.filter(
      ({ needs, cutFrom }) =>
        (needs === "none" || needs === kind) && (!cutFrom || sides.some((side) => side?.[cutFrom])),
    );
  }

  /** A view's code; undefined when there is no such view. */
  load(name: string): Promise<AnyView> | undefined {
    const fetchIt = this.files.get(name);
    if (!fetchIt) return undefined;
    let view = this.loading.get(name);
    if (!view) {
      view = fetchIt().then(async (found) => {
        await learn(); // what it says
        this.loaded.value = new Map([...this.loaded.peek(), [name, found]]);
        return found;
      });
      view.catch(() => this.loading.delete(name)); // asked for again, it is fetched again
      this.loading.set(name, view);
    }
    return view;
  }

  /** Those of recordings, one by one, for quick changes later. One that fails is fetched when it is chosen. */
  async loadAll(): Promise<void> {
    for (const { name, about, needs, cutFrom } of this.titles)
      if (!about && !cutFrom && needs === "recording") await this.load(name)?.catch(() => {});
  }
}
