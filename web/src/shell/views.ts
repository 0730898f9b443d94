/**
 * Every folder in views/ is a view, named as its folder. Tabs know all of them; their code is fetched when it is wanted.
 *
 * In:   a name.
 * Out:  the view, once.
 */

import list from "virtual:views";
import type { View } from "../core/view";
import { learn } from "../i18n/core";
import { signal } from "./signals";

/** What a tab says; of a lesson also what one sees there, as its code is not here before it is opened. */
export type ViewTitle = Pick<View, "name" | "title"> & Partial<Pick<View, "about">>;

const files = import.meta.glob<View>("../views/*/view.ts", { import: "view" });

export class Views {
  readonly titles: readonly ViewTitle[] = list;
  /** Those whose code is here. */
  readonly loaded = signal<ReadonlyMap<string, View>>(new Map());
  private readonly loading = new Map<string, Promise<View>>();

  /** A view's code; undefined when there is no such view. */
  load(name: string): Promise<View> | undefined {
    const fetchIt = files[`../views/${name}/view.ts`];
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

  /** All but the lessons, one by one, for quick changes later. */
  async loadAll(): Promise<void> {
    for (const { name, about } of this.titles) if (!about) await this.load(name);
  }
}
