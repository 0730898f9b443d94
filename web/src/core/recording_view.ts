/**
 * Views of a recording: what all of them declare and set up alike; those of training runs have the same base.
 *
 * In:   a name, words, options and what draws.
 * Out:  a View; pictures and tables wait until what is shown is loaded, unmounting ends all tasks and leaves an empty element.
 */

import type { Language } from "../api/types";
import { introduce, liveWords } from "../i18n/core";
import { words as nameWords } from "../i18n/focus";
import { Options } from "./options";
import type { RecordingSource } from "./source";
import { type Scoped, Tasks } from "./tasks";
import type { Mounted, Stage, SubjectKind, View } from "./view";

export type Names = ReturnType<typeof nameWords>;

/** What a view is mounted with. */
export interface Setting<
  Words extends object,
  O extends object,
  K extends SubjectKind = "recording",
  S extends Scoped<S> = RecordingSource,
> {
  readonly stage: Stage<K>;
  readonly say: Words; // always in the language of the moment, as are
  readonly names: Names; // of maps, stacks, columns
  readonly options: Options<O>;
  readonly tasks: Tasks<S>;
}

/** A mounted view, or a part of one, as a class: what it was mounted with are its fields. */
export abstract class MountedView<
  Words extends object,
  O extends object,
  K extends SubjectKind = "recording",
  S extends Scoped<S> = RecordingSource,
> implements Setting<Words, O, K, S>
{
  readonly stage: Stage<K>;
  readonly say: Words;
  readonly names: Names;
  readonly options: Options<O>;
  readonly tasks: Tasks<S>;

  constructor({ stage, say, names, options, tasks }: Setting<Words, O, K, S>) {
    this.stage = stage;
    this.say = say;
    this.names = names;
    this.options = options;
    this.tasks = tasks;
  }
}

type Unmountable = Omit<Mounted, "unmount"> & Partial<Pick<Mounted, "unmount">>;

export function recordingView<
  Words extends { readonly title: string; readonly about: string },
  O extends object,
>({
  words,
  mount,
  ...declared
}: Pick<
  View<"recording", O>,
  "name" | "order" | "options" | "fits" | "sparse" | "named" | "controls" | "cutFrom"
> &
  Partial<Pick<View, "transport">> & {
    words(language: Language): Words;
    mount(setting: Setting<Words, O>): Unmountable;
  }): View<"recording", O> {
  return {
    transport: true,
    ...declared,
    ...introduce(words),
    needs: "recording",
    panel: true,
    mount(stage) {
      const tasks = new Tasks(stage);
      const options = new Options(declared.name, declared.options, stage.selection);
      const language = (): Language => stage.language;
      const [say, names] = [liveWords(words, language), liveWords(nameWords, language)];
      const mounted = mount({ stage, say, names, options, tasks });
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
