/**
 * Layer, head and token of the walk, to choose from.
 *
 * In:   the scene's stack, the selection.
 * Out:  three lists that follow it.
 */

import { list } from "../../marks/controls";
import { make } from "../../marks/make";
import { headOf, type WalkContext } from "./context";
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
    const offered = `${stack} ${scene.layer !== null} ${about?.layers} ${about?.heads}`;
    if (this.offered !== offered) {
      this.offered = offered;
      this.offer(stack, about, context);
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
    context: WalkContext,
  ): void {
    const { say, stage } = context;
    const numbers = (count: number) => [
      {
        label: null,
        options: Array.from({ length: count }, (_, at) => ({ value: String(at), text: String(at) })),
      },
    ];
    const names = context.tokens[about?.side ?? "source"]?.shown ?? [];
    const tokens = names.map((text, at) => ({ value: String(at), text: `${at} ${text}` }));
    this.lists = [
      list(
        () => say.layer,
        numbers(about?.layers || 1),
        "0",
        (value) => this.route.openLayer(stack, Number(value)),
      ),
      list(
        () => say.head,
        numbers(about?.heads ?? 1),
        "0",
        (value) => stage.selection.set({ head: Number(value) }),
      ),
      list(
        () => say.token,
        [{ label: null, options: [{ value: "", text: "–" }, ...tokens] }],
        "",
        (value) => this.route.openToken(value === "" ? null : Number(value)),
      ),
    ];
    this.element.replaceChildren(...this.lists.map((each) => each.element));
  }
}
