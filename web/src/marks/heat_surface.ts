/**
 * The canvas of a heat map: WebGL2 where a graphics card computes it, otherwise pixel by pixel; a lost context changes over by itself.
 *
 * In:   an element to live in, scenes.
 * Out:  pixels.
 */

import type { Renderer, Scene } from "../core/heat";
import { createCanvasRenderer } from "./heat_canvas";
import { createWebglRenderer } from "./heat_webgl";
import { make } from "./make";

export type RendererChoice = "auto" | "webgl" | "canvas";

export class Surface {
  private canvas: HTMLCanvasElement;
  private renderer: Renderer;
  private last: Scene | null = null;

  constructor(
    private readonly host: HTMLElement,
    prefer: RendererChoice,
  ) {
    this.canvas = this.place();
    const webgl =
      prefer === "canvas"
        ? null
        : createWebglRenderer(this.canvas, prefer === "webgl", () => this.changeOver());
    this.renderer = webgl ?? createCanvasRenderer(this.canvas);
    this.canvas.dataset.renderer = this.renderer.kind;
    if (webgl === null && prefer !== "canvas") this.changeOver(); // a canvas asked for WebGL may refuse all else
  }

  draw(scene: Scene): void {
    this.last = scene;
    this.renderer.draw(scene);
  }

  dispose(): void {
    this.renderer.dispose();
    this.canvas.remove();
  }

  private changeOver(): void {
    this.canvas.remove();
    this.canvas = this.place();
    this.renderer = createCanvasRenderer(this.canvas);
    this.canvas.dataset.renderer = this.renderer.kind;
    if (this.last !== null) this.renderer.draw(this.last);
  }

  private place(): HTMLCanvasElement {
    const canvas = make("canvas", { "aria-hidden": "true" });
    this.host.prepend(canvas);
    return canvas;
  }
}
