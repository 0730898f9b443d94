/**
 * What is seen of each panel, kept in the link.
 *
 * In:   a panel's picture, and the options of the canvas.
 * Out:  a camera that follows the link, and is written into it.
 */

import { cameraOption, LinkedCamera, type Movable, scaleOption } from "../../core/linked_camera";
import type { Schema } from "../../core/options";
import type { Setting } from "../../core/recording_view";
import type { Words } from "./words";

export interface CanvasOptions {
  readonly encoder: string | null; // how much taller its rows are than usual
  readonly attention: string | null; // the part in view, as of
  readonly input: string | null;
  readonly output: string | null;
}

export const options: Schema<CanvasOptions> = {
  encoder: scaleOption(),
  attention: cameraOption(),
  input: cameraOption(),
  output: cameraOption(),
};

export function linkPanel(
  { options, tasks }: Setting<Words, CanvasOptions>,
  name: keyof CanvasOptions,
  picture: Movable,
): LinkedCamera {
  const option = {
    get: () => options.now[name],
    set: (at: string | null) => options.set({ [name]: at }),
  };
  return new LinkedCamera(name, picture, option, tasks);
}
