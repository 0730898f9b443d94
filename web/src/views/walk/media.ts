/**
 * The picture or the sound: it becomes patches or frames, and these are the tokens.
 *
 * In:   the source of the recording.
 * Out:  a scene of the walk.
 */

import type { PictureDescription, SoundDescription } from "../../api/types";
import { fixed } from "../../core/formats";
import { outlineWave } from "../../core/maths/wave";
import { frameSeconds } from "../../core/media";
import { Asker } from "../../core/tasks";
import type { TableData } from "../../core/view";
import { readPicture, readSamples } from "../../data/media";
import { clearCanvas, readInks } from "../../marks/canvas";
import { make } from "../../marks/make";
import { figure, inks, label } from "../../marks/paper";
import { paintPicture, writeOver } from "../../marks/patches";
import type { Drawn, WalkContext, WalkScene } from "./context";
import { sideOf } from "./script";

const LARGEST = 420; // CSS pixels of the longer side of a picture
const APART = 0.12; // the gap between patches, as a share of one
const NAMED = 34; // CSS pixels of a patch that has room for its name
const WAVE = 120; // CSS pixels, of a sound
const NAMES = 22; // and of the seconds below it

export class MediaScene implements WalkScene {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly loading: Asker;
  private image: ImageBitmap | null = null;
  private samples: Int16Array | null = null;

  constructor(
    private readonly context: WalkContext,
    private readonly stack: string,
  ) {
    const { stage, source, failed } = context;
    this.loading = new Asker(stage, failed);
    const { picture } = source.description.source;
    this.canvas = make("canvas", { role: "img", "aria-label": () => this.about() });
    this.element = make(
      "div",
      { class: "walk-media" },
      this.canvas,
      make("p", { class: "hint" }, () => this.count()),
    );
    this.loading.ask(
      null,
      async () => (picture ? readPicture(source, "source") : readSamples(source, "source")),
      (found) => {
        if (found instanceof Int16Array) this.samples = found;
        else this.image = found;
        this.paint();
      },
    );
  }

  get ready(): Promise<void> {
    return this.loading.coming;
  }

  private get shown(): PictureDescription | null {
    return this.context.source.description.source.picture ?? null;
  }

  private get heard(): SoundDescription | null {
    return this.context.source.description.source.sound ?? null;
  }

  private get slice() {
    return this.context.tokens[sideOf(this.stack, this.context.source.description)];
  }

  private about(): string {
    const { say } = this.context;
    const [picture, sound] = [this.shown, this.heard];
    if (picture) return say.pictureName(picture.rows, picture.columns);
    return say.soundName(sound?.spans.length ?? 0, fixed(sound?.seconds ?? 0, 2));
  }

  private count(): string {
    const { say } = this.context;
    const [picture, sound, slice] = [this.shown, this.heard, this.slice];
    if (picture) {
      const others = (slice?.shown ?? []).filter((_, at) => (picture.cells[at] ?? -1) < 0);
      return say.patchTokens((slice?.shown.length ?? 0) - others.length, others.slice(0, 4).join(" "));
    }
    return say.frameTokens(sound?.spans.length ?? 0, fixed(1000 * (sound ? frameSeconds(sound) : 0), 0));
  }

  private get size(): readonly [width: number, height: number] {
    const { shown: picture, context } = this;
    const { zoom } = context.options.now;
    const room = Math.max(160, context.width());
    if (!picture) return [room * zoom, WAVE + NAMES];
    const most = Math.min(room, LARGEST) * zoom;
    const scale = most / Math.max(picture.width, picture.height);
    return [picture.width * scale, picture.height * scale];
  }

  private paint(): void {
    const { canvas, image, samples } = this;
    const [width, height] = this.size;
    const drawn = clearCanvas(canvas, width, height, true);
    if (drawn === null) return;
    if (image !== null) this.paintPatches(drawn, image, width, height);
    if (samples !== null) this.paintFrames(drawn, samples, width);
  }

  /** The patches a little apart, with their names where there is room. */
  private paintPatches(
    drawn: CanvasRenderingContext2D,
    image: ImageBitmap,
    width: number,
    height: number,
  ): void {
    const { rows, columns } = this.shown!;
    const [wide, high] = [width / columns, height / rows];
    const places = Array.from({ length: rows * columns }, (_, cell) => [
      ((cell % columns) + APART / 2) * wide,
      (Math.floor(cell / columns) + APART / 2) * high,
    ]) as [number, number][];
    const [broad, tall] = [wide * (1 - APART), high * (1 - APART)];
    drawn.save();
    drawn.beginPath();
    for (const [left, top] of places) drawn.rect(left, top, broad, tall);
    drawn.clip();
    paintPicture(drawn, image, width, height, false);
    drawn.restore();
    drawn.strokeStyle = readInks(this.canvas).line; // a patch as light, or as dark, as the page is seen, too
    for (const [left, top] of places) drawn.strokeRect(left + 0.5, top + 0.5, broad - 1, tall - 1);
    if (Math.min(wide, high) < NAMED) return;
    drawn.textBaseline = "top";
    this.shown!.cells.forEach((cell, token) => {
      if (cell < 0) return;
      const at = [((cell % columns) + APART) * wide, (Math.floor(cell / columns) + APART) * high] as const;
      writeOver(drawn, this.slice?.shown[token] ?? "", ...at);
    });
  }

  /** The wave, every second frame shaded. */
  private paintFrames(drawn: CanvasRenderingContext2D, samples: Int16Array, width: number): void {
    const { seconds, spans } = this.heard!;
    const ink = readInks(this.canvas);
    const x = (second: number) => (second / seconds) * width;
    drawn.fillStyle = ink.line;
    spans.forEach(([from, to], at) => {
      if (at % 2 === 0) drawn.fillRect(x(from), 0, x(to) - x(from), WAVE);
    });
    drawn.fillStyle = ink.soft;
    for (const [at, low, high] of outlineWave(samples, Math.max(1, Math.floor(width)))) {
      const top = (WAVE / 2) * (1 - high);
      drawn.fillRect(at, top, 1, Math.max(1, (WAVE / 2) * (1 - low) - top));
    }
    drawn.fillStyle = ink.faint;
    drawn.font = "11px system-ui, sans-serif";
    drawn.textBaseline = "middle";
    drawn.textAlign = "center";
    const every = Math.max(1, Math.ceil((spans.length * 48) / Math.max(1, width)));
    for (let at = Math.floor(every / 2); at < spans.length; at += every)
      drawn.fillText(this.slice?.shown[at] ?? "", x((spans[at]![0] + spans[at]![1]) / 2), WAVE + NAMES / 2);
  }

  resize(): void {
    this.paint();
  }

  restyle(): void {
    this.paint();
  }

  picture(): Drawn {
    const [width, height] = this.size;
    const ink = inks(this.context.stage.theme);
    const url = this.canvas.toDataURL?.("image/png") ?? "";
    const size = `width="${figure(width)}" height="${figure(height)}"`;
    const below = label(this.count(), 0, height + 20, { fill: ink.soft, size: 12 });
    return { body: `<image ${size} href="${url}"/>${below}`, width, height: height + 28 };
  }

  table(): TableData {
    const { say } = this.context;
    const [picture, sound, slice] = [this.shown, this.heard, this.slice];
    return {
      caption: this.about(),
      columns: [say.place, picture ? say.patch : say.frame, ...(sound ? [say.seconds] : [])],
      rows: (slice?.shown ?? []).map((shown, at) => {
        const [from, to] = sound?.spans[at] ?? [0, 0];
        return [at, shown, ...(sound ? [`${fixed(from, 3)} – ${fixed(to, 3)}`] : [])];
      }),
    };
  }

  stop(): void {
    this.loading.stop();
  }
}
