/**
 * The contents of the walk: the model's diagram, and a list of scenes where there is no room for it.
 *
 * In:   the plan, the scenes, the one that is shown.
 * Out:  a diagram and a list; a wish to go to a scene.
 */

import { make } from "../../marks/make";
import type { WalkContext } from "./context";
import { Diagram } from "./diagram";
import { sceneName } from "./names";
import type { Route } from "./route";
import type { titles } from "./step_words";

export class Contents {
  readonly map = make("nav", { class: "walk-map" });
  readonly list = make("select", { class: "walk-jump" });
  private diagram: Diagram | null = null;
  private plan: WalkContext["plan"] | null = null;

  constructor(
    private readonly route: Route,
    private readonly title: ReturnType<typeof titles>,
    private readonly goTo: (at: number) => void,
  ) {
    this.list.addEventListener("change", () => goTo(Number(this.list.value)));
  }

  show({ plan, say }: WalkContext): void {
    const { route, map, list } = this;
    if (this.plan !== plan || map.dataset.layer !== String(route.layer)) {
      this.plan = plan;
      map.dataset.layer = String(route.layer);
      this.diagram = this.draw(plan, say);
      map.replaceChildren(this.diagram.element);
    }
    this.diagram?.mark(route.scene!.block);
    const key = route.scenes.map((each) => each.id).join();
    if (list.dataset.key !== key) {
      list.dataset.key = key;
      list.replaceChildren(
        ...route.scenes.map((each, at) =>
          make("option", { value: at }, sceneName(each, plan, say, this.title)),
        ),
      );
    }
    list.value = String(route.at);
  }

  private draw(plan: WalkContext["plan"], say: WalkContext["say"]): Diagram {
    const { route } = this;
    return new Diagram(
      plan,
      route.layer,
      say,
      (step, block) => {
        const at = route.scenes.findIndex((each) =>
          block.kind === "tokens" ? each.block === block.id : each.id === step,
        );
        if (at >= 0) this.goTo(at);
      },
      (stack, layer) => route.openLayer(stack, layer),
    );
  }
}
