/**
 * Generation: "Predict output words". How a text was written, what else could have come, where the model looked.
 *
 * In:   the recorded steps or output distributions; a rerunner, where there is one.
 * Out:  a form, words as they come, and below them the steps of the text or the model's distributions.
 */

import { evidenceLine, isSigned, signedRefused } from "../../core/focus";
import { MountedView, recordingView } from "../../core/recording_view";
import type { KeptWork, TableData } from "../../core/view";
import { writeBars } from "../../marks/bars";
import { make, relabel } from "../../marks/make";
import { inks, label, sheet } from "../../marks/paper";
import { Numbers } from "./numbers";
import { Output } from "./output";
import {
  type Drawing,
  type GenerationOptions,
  type GenerationPanel,
  type GenerationSetting,
  options,
} from "./panel";
import { type KeptPredicting, Predicting, predictsOf } from "./predicting";
import { Steps } from "./steps";
import { type Words, words } from "./words";
import "./style.css";

const BARS = 480; // pixels, in a picture

export const view = recordingView({
  name: "generation",
  order: 100,
  words,
  options,
  transport: false, // it has steps of its own
  fits: ({ now: { description } }) => (isSigned(description.maps) ? signedRefused : true),
  mount: (setting) => new GenerationView(setting),
});

interface KeptGeneration extends KeptWork {
  readonly predicting: KeptPredicting | undefined;
}

class GenerationView extends MountedView<Words, GenerationOptions> {
  private readonly predicting: Predicting | null;
  private readonly panel: GenerationPanel | null;

  constructor(setting: GenerationSetting) {
    super(setting);
    const { stage, say: word } = this;
    const { rerunner } = stage;
    const kept = stage.kept as KeptGeneration | undefined;
    const known = rerunner !== null && rerunner.again({}) !== null;
    this.predicting = known ? new Predicting(setting, rerunner, kept?.predicting) : null;
    this.panel = this.makePanel(setting);
    const why = (): string =>
      rerunner === null ? word.noRerunner : word.noRequest(stage.source.description.model);
    const root = make(
      "div",
      { class: "generation drawn", "data-still": stage.reducedMotion },
      this.predicting?.form.element ?? make("p", { class: "generation-note" }, why),
      this.predicting?.live,
      this.panel?.element ?? make("p", { class: "generation-note" }, () => word.nothing),
    );
    stage.element.replaceChildren(root);
    this.update();
  }

  private makePanel(setting: GenerationSetting): GenerationPanel | null {
    const { generation, output } = this.stage.source.description;
    if (generation !== null && generation.steps.length > 0) return new Steps(setting);
    if (output?.kind === "numbers") return new Numbers(setting, output);
    if (output === null || output.positions.length === 0) return null;
    const { predicting } = this;
    const masks = predictsOf(this.stage.source) === "masks" && predicting !== null;
    return new Output(setting, output, masks ? (text) => predicting.start({ text }) : null);
  }

  update(): void {
    this.panel?.follow();
    if (!this.options.now.predict) return;
    queueMicrotask(() => {
      this.options.set({ predict: false });
      if (!this.tasks.over) this.predicting?.start();
    });
  }

  resize(): void {}

  restyle(): void {
    relabel(this.stage.element);
    this.panel?.follow();
  }

  togglePlay(): void {
    this.panel?.togglePlay?.();
  }

  async picture(): Promise<string> {
    const { panel, stage } = this;
    const { description } = stage.source;
    const ink = inks(stage.theme);
    const { title, bars } = panel?.chances() ?? { title: "", bars: [] };
    const { above, below } = panel?.drawings() ?? { above: [], below: [] };
    const drawings: Drawing[] = [...above, { title, ...writeBars(bars, BARS, stage.theme) }, ...below];
    let height = 0;
    const body = drawings.map((drawing) => {
      const top = height;
      height += drawing.height + 48;
      const heading = label(drawing.title, 0, top + 14, { fill: ink.ink, weight: 600, size: 13 });
      return `${heading}<g transform="translate(0 ${top + 28})">${drawing.body}</g>`;
    });
    return sheet({
      width: Math.max(BARS, ...drawings.map((drawing) => drawing.width ?? 0)),
      height,
      body: body.join(""),
      title: `${this.say.title} · ${description.model}`,
      caption: [
        [description.model, panel?.caption?.()].filter(Boolean).join(" · "),
        evidenceLine(description.evidence, stage.language),
      ],
      theme: stage.theme,
    });
  }

  async table(): Promise<TableData> {
    return this.panel?.table() ?? { caption: this.say.nothing, columns: [], rows: [] };
  }

  keep(): KeptGeneration {
    const predicting = this.predicting?.keep();
    return { predicting, stop: () => predicting?.run?.stop() };
  }

  unmount(): void {
    this.predicting?.unmount();
  }
}
