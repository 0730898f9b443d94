/**
 * The way through the walk: the scenes of the open layer, the one that is shown, and how to get to others.
 *
 * In:   a plan, the selection (the link names the scene).
 * Out:  scenes; changes of the selection.
 */

import type { Description, MapDescription, WalkPlan } from "../../api/types";
import { chooseMap } from "../../core/maps";
import type { Options } from "../../core/options";
import type { Stage } from "../../core/view";
import type { WalkOptions } from "./options";
import { findMap, layerIn, type Scene, writeScript } from "./script";

export class Route {
  scenes: readonly Scene[] = [];
  at = 0;
  private plan: WalkPlan | null = null;
  private description: Description; // of what is walked through: perhaps the same run once more

  constructor(
    private readonly stage: Stage,
    private readonly options: Options<WalkOptions>,
  ) {
    this.description = stage.source.description;
  }

  get scene(): Scene | undefined {
    return this.scenes[this.at];
  }

  /** The layer of the selection's map. */
  get layer(): number {
    return chooseMap(this.stage.source.description, this.stage.selection.get())?.place.layer ?? 0;
  }

  private get maps(): readonly MapDescription[] {
    return this.stage.source.description.maps;
  }

  /** The open layer of a stack: where it has fewer, its last. */
  layerOf(stack: string): number {
    return this.plan === null ? 0 : layerIn(this.plan, stack, this.layer);
  }

  /** Another plan: a link to a step opens its layer. */
  take(plan: WalkPlan, description: Description): void {
    this.plan = plan;
    this.description = description;
    this.openLinked();
    this.rewrite();
  }

  private openLinked(): void {
    const { selection } = this.stage;
    const { query } = selection.get();
    const named = /^(\w+)\.(\d{1,4})\.(\w+)/.exec(this.options.now.step);
    if (named === null) return;
    const [, stack = "", layer, kind = ""] = named;
    const now = chooseMap(this.stage.source.description, selection.get());
    if (now?.place.stack === stack && now.place.layer === Number(layer)) return;
    const map = findMap(this.maps, stack, kind, Number(layer));
    if (map !== null) selection.set({ place: map.place, query });
  }

  /** Scenes for the layer that is open, and the scene that the link names. */
  rewrite(): void {
    if (this.plan === null) return;
    this.scenes = writeScript(this.plan, this.description, this.layer);
    const wish = this.options.now.step;
    const exact = this.scenes.findIndex((scene) => scene.id === wish);
    const found = wish === "" || exact >= 0 ? exact : this.scenes.findIndex((scene) => same(scene.id, wish));
    this.at = found >= 0 ? found : Math.max(0, Math.min(this.at, this.scenes.length - 1));
  }

  /** To a scene; the attention map that belongs to it is chosen too: other views then show the same. */
  goTo(scene: Scene): void {
    const { stack } = scene;
    const kind = scene.step?.kind === "cross" ? "cross" : "self";
    const map = stack === null ? null : findMap(this.maps, stack, kind, scene.layer ?? this.layerOf(stack));
    this.options.set(
      { step: scene.id, cell: null },
      {
        ...(map === null ? {} : { place: map.place }),
        ...(map === null || this.scene?.stack === stack ? {} : { query: null }),
      },
    );
  }

  /** The same step of another layer, where this one is in that stack; its first step otherwise. */
  openLayer(stack: string, layer: number): void {
    const { scene } = this;
    const kind = scene?.step?.kind === "cross" && stack === "decoder" ? "cross" : "self";
    const map = findMap(this.maps, stack, kind, layer);
    if (map === null) return;
    const inside = scene?.layer !== null && scene?.stack === stack;
    const id = inside
      ? scene!.id.replace(`${stack}.${scene!.layer}.`, `${stack}.${layer}.`)
      : `${stack}.${layer}.`;
    this.options.set({ step: id }, { place: map.place });
  }

  /** To the weights of one head. */
  openHead(map: MapDescription, head: number): void {
    const step = `${map.place.stack}.${map.place.layer}.${map.place.kind}.weights`;
    this.options.set({ step }, { place: map.place, head });
  }

  /** A row of the matrices; the cell in focus keeps its column. */
  openToken(token: number | null): void {
    const { cell } = this.options.now;
    this.options.set({ cell: token === null || cell === null ? null : [token, cell[1]] }, { query: token });
  }
}

/** The same step in whichever layer is open; "encoder.1." is the first step of a layer. */
function same(id: string, wish: string): boolean {
  const anyLayer = (name: string) => name.replace(/^(\w+)\.\d+\./, "$1.*.");
  const [one, other] = [anyLayer(id), anyLayer(wish)];
  return one === other || (other.endsWith(".") && one.startsWith(other));
}
