/** The smallest view on a training run: a folder that tests add to those of the page. */

import type { View } from "../../../core/view";

export const view: View<"runs"> = {
  name: "toy_run",
  order: 1,
  title: () => "Toy",
  about: () => "The last step of a run.",
  needs: "runs",
  panel: false,
  transport: false,
  options: {},
  fits: ({ runs }) => runs[0]!.run.names.includes("loss") || "There is no loss.",
  mount({ element, source }) {
    const draw = () => {
      element.textContent = source.map(({ run }) => `${run.id} ${run.last_step}`).join();
    };
    const stops = source.map((run) => run.follow(draw));
    draw();
    return {
      update: draw,
      resize: draw,
      restyle: draw,
      picture: async () => "<svg/>",
      table: async () => ({ caption: "", columns: [], rows: [] }),
      unmount: () => {
        for (const stop of stops) stop();
      },
    };
  },
};
