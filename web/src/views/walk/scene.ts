/**
 * The scene of the walk that is on the screen.
 *
 * In:   a scene of the script.
 * Out:  that scene, ready to be shown.
 */

import type { WalkContext, WalkScene } from "./context";
import { Glance } from "./glance";
import { MediaScene } from "./media";
import { Operation } from "./operation";
import type { Scene } from "./script";
import { SequenceScene } from "./sequence";
import { TextScene } from "./text";
import { TrainingScene } from "./training";
import { TreeScene } from "./tree";
import { WordsScene } from "./word_by_word";

export function makeScene(scene: Scene, context: WalkContext, animated: boolean): WalkScene {
  switch (scene.kind) {
    case "text":
      return new TextScene(context, scene.stack);
    case "media":
      return new MediaScene(context, scene.stack ?? "");
    case "glance":
      return new Glance(context, scene.stack ?? "");
    case "sequence":
      return new SequenceScene(context);
    case "training":
      return new TrainingScene(context);
    case "words":
      return new WordsScene(context, "all");
    case "tree":
      return new TreeScene(context);
    default:
      return scene.step!.operation === "choose"
        ? new WordsScene(context, "one")
        : new Operation(context, scene.step!, animated);
  }
}
