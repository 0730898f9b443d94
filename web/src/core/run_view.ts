/**
 * Views of training runs: what all of them declare and set up alike.
 *
 * In:   a name, words, options and what draws.
 * Out:  a View that is drawn again when one of its runs has news; unmounting ends all tasks and leaves an empty element.
 */

import type { Language, RunDescription } from "../api/types";
import { introduce, liveWords } from "../i18n/core";
import { words as nameWords } from "../i18n/focus";
import { Options } from "./options";
import type { Names } from "./recording_view";
import type { RunSource } from "./source";
import { Tasks } from "./tasks";
import type { Mounted, Stage, View } from "./view";

/** What a view of runs is mounted with. */
export interface RunSetting<Words extends object, O extends object> {
  readonly stage: Stage<"runs">;
  readonly say: Words; // always in the language of the moment, as are
  readonly names: Names; // of maps and stacks
  readonly options: Options<O>;
  readonly tasks: Tasks<RunSource>;
  /** The runs as far as they were written. */
  readonly runs: readonly RunDescription[];
}

/** A mounted view of runs as a class: what it was mounted with are its fields. */
export abstract class MountedRuns<Words extends object, O extends object> {
  readonly stage: Stage<"runs">;
  readonly say: Words;
  readonly names: Names;
  readonly options: Options<O>;
  readonly tasks: Tasks<RunSource>;

  constructor(private readonly setting: RunSetting<Words, O>) {
    const { stage, say, names, options, tasks } = setting;
    this.stage = stage;
    this.say = say;
    this.names = names;
    this.options = options;
    this.tasks = tasks;
  }

  get runs(): readonly RunDescription[] {
    return this.setting.runs;
  }
}

type Drawn = Omit<Mounted, "unmount"> & Partial<Pick<Mounted, "unmount">> & { draw(): void };

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
      const tasks = new Tasks<RunSource>({ source: stage.source[0]!, fail: stage.fail });
      const language = (): Language => stage.language;
      const mounted = mount({
        stage,
        say: liveWords(words, language),
        names: liveWords(nameWords, language),
        options: new Options(declared.name, declared.options, stage.selection),
        tasks,
        get runs() {
          return stage.source.map(({ run }) => run);
        },
      });
      for (const source of stage.source) source.follow(() => tasks.frame(() => mounted.draw()));
      const { unmount } = mounted;
      return Object.assign(mounted, {
        unmount() {
          unmount?.call(mounted);
          tasks.end();
          stage.element.replaceChildren();
        },
      });
    },
  };
}
