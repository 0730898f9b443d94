/**
 * Layer, head and token of the walk, to choose from.
 *
 * In:   the scene's stack, the selection.
 * Out:  three lists that follow it.
 */

import type { RowSide } from "../../api/types";
import { list, type Option } from "../../marks/controls";
import { make } from "../../marks/make";
import { headOf, type WalkContext } from "./context";
import { isNamedByWritten } from "./panels";
import type { Route } from "./route";
import { lastStack, type Scene } from "./script";

export class Choosers {
  readonly element = make("div", { class: "walk-controls" });
  private offered = ""; // of which stack the lists are
  private lists: ReturnType<typeof list>[] = [];

  constructor(private readonly route: Route) {}

  show(scene: Scene, context: WalkContext): void {
    const stack = scene.stack ?? lastStack(context.plan);
    const about = context.plan.stacks.find((each) => each.stack === stack);
    const side = scene.step && isNamedByWritten(context, scene.step) ? "written" : (about?.side ?? "source");
    const offered = `${stack} ${scene.layer !== null} ${about?.layers} ${about?.heads} ${side}`;
    if (this.offered !== offered) {
      this.offered = offered;
      this.offer(stack, about, side, context);
    }
    const row = context.stage.selection.get().query;
    const [layers, heads, tokens] = this.lists;
    layers?.set(String(this.route.layerOf(stack)));
    heads?.set(String(headOf(context.stage)));
    tokens?.set(row === null ? "" : String(row));
  }

  private offer(
    stack: string,
    about: WalkContext["plan"]["stacks"][number] | undefined,
    side: RowSide, // whose tokens name the rows
    context: WalkContext,
  ): void {
    const { say, stage } = context;
    const offer = (
      name: "layer" | "head" | "token",
      choices: readonly Option<string>[],
      chosen: (value: string) => void,
    ) => list(() => say[name], [{ label: null, options: choices }], choices[0]!.value, chosen);
    const numbers = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ value: String(at), text: String(at) }));
    const names = context.tokens[side]?.shown ?? [];
    const tokens = names.map((text, at) => ({ value: String(at), text: `${at} ${text}` }));
    const openToken = (value: string) => this.route.openToken(value === "" ? null : Number(value));
    this.lists = [
      offer("layer", numbers(about?.layers || 1), (value) => this.route.openLayer(stack, Number(value))),
      offer("head", numbers(about?.heads ?? 1), (value) => stage.selection.set({ head: Number(value) })),
      offer("token", [{ value: "", text: "–" }, ...tokens], openToken),
    ];
    const choices = [about?.layers || 1, about?.heads ?? 1, 2];
    this.element.replaceChildren(
      ...this.lists.filter((_, at) => choices[at]! > 1).map((each) => each.element), // one choice is none
    );
  }
}
