/**
 * Views of training runs: what all of them declare and set up alike.
 *
 * In:   a name, words, options and what draws.
 * Out:  a View that is told when one of its runs has news; unmounting ends all tasks and leaves an empty element.
 */

import type { Language, RunDescription } from "../api/types";
import { introduce, liveWords } from "../i18n/core";
import { words as nameWords } from "../i18n/focus";
import { Options } from "./options";
import { MountedView, type Setting } from "./recording_view";
import type { RunSource } from "./source";
import { Tasks } from "./tasks";
import type { Mounted, View } from "./view";

/** Training runs that are asked together. */
export class AllRuns {
  constructor(readonly runs: readonly RunSource[]) {}

  within(signal: AbortSignal): AllRuns {
    return new AllRuns(this.runs.map((run) => run.within(signal)));
  }
}

export type RunSetting<Words extends object, O extends object> = Setting<Words, O, "runs", AllRuns>;

/** A mounted view of runs. */
export abstract class MountedRuns<Words extends object, O extends object> extends MountedView<
  Words,
  O,
  "runs",
  AllRuns
> {
  /** The runs as far as they were written. */
  get runs(): readonly RunDescription[] {
    return this.stage.source.map(({ run }) => run);
  }

  /** Something was written to a run. */
  abstract news(): void;
}

type Drawn = Omit<Mounted, "unmount"> & Partial<Pick<Mounted, "unmount">> & { news(): void };

export function runView<Words extends { readonly title: string; readonly about: string }, O extends object>({
  words,
  mount,
  ...declared
}: Pick<View<"runs", O>, "name" | "order" | "options" | "fits"> & {
  words(language: Language): Words;
  mount(setting: RunSetting<Words, O>): Drawn;
}): View<"runs", O> {
  return {
    ...declared,
    ...introduce(words),
    needs: "runs",
    panel: false,
    transport: false,
    mount(stage) {
      const tasks = new Tasks({ source: new AllRuns(stage.source), fail: stage.fail });
      const language = (): Language => stage.language;
      const mounted = mount({
        stage,
        say: liveWords(words, language),
        names: liveWords(nameWords, language),
        options: new Options(declared.name, declared.options, stage.selection),
        tasks,
      });
      for (const source of stage.source) source.follow(() => tasks.frame(() => mounted.news(), "news"));
      const { picture, table, unmount } = mounted;
      return Object.assign(mounted, {
        async picture() {
          await tasks.settled();
          return picture.call(mounted);
        },
        async table() {
          await tasks.settled();
          return table.call(mounted);
        },
        unmount() {
          unmount?.call(mounted);
          tasks.end();
          stage.element.replaceChildren();
        },
      });
    },
  };
}
