/**
 * The scene of the walk that is on the screen.
 *
 * In:   a scene of the script.
 * Out:  the part that shows it.
 */

import type { MapDescription } from "../../api/types";
import { Glance } from "./glance";
import { Operation } from "./operation";
import type { Home, Part } from "./part";
import type { Scene } from "./script";
import { TextScene } from "./text";
import { TrainingScene } from "./training";
import { TreeScene } from "./tree";
import { WordsScene } from "./word_by_word";

/** `openHead`: a head was chosen where all are shown. */
export function makePart(
  scene: Scene,
  home: Home,
  animated: boolean,
  openHead: (map: MapDescription, head: number) => void,
): Part {
  switch (scene.kind) {
    case "text":
      return new TextScene(home, scene.stack);
    case "glance":
      return new Glance(home, scene.stack ?? "", openHead);
    case "training":
      return new TrainingScene(home);
    case "words":
      return new WordsScene(home, "all");
    case "tree":
      return new TreeScene(home);
    default:
      return scene.step!.operation === "choose"
        ? new WordsScene(home, "one")
        : new Operation(home, scene.step!, animated);
  }
}
