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

export class Contents {
  readonly map: HTMLElement;
  readonly list: HTMLSelectElement;
  private diagram: Diagram | null = null;
  private plan: WalkContext["plan"] | null = null;

  constructor(
    private readonly route: Route,
    say: WalkContext["say"],
    private readonly goTo: (at: number) => void,
  ) {
    this.map = make("nav", { class: "walk-map", "aria-label": () => say.diagram });
    this.list = make("select", {
      class: "walk-jump",
      "aria-label": () => say.narrowDiagram,
      onchange: () => goTo(Number(this.list.value)),
    });
  }

  show({ plan, say, stage }: WalkContext): void {
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
      const options = route.scenes.map((each, at) =>
        make("option", { value: at }, () => sceneName(each, plan, say, stage.language)),
      );
      list.replaceChildren(...options);
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
