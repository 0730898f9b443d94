/**
 * Branches of a text: go on from a step in another way, the tree of what came of it, two texts side by side.
 *
 * In:   the step of the selection, a rerunner where a model can run, the tree where the host keeps one.
 * Out:  a form, a tree of buttons, a table of two branches; the new recording is opened when it is there.
 */

import type { BranchEntry, BranchRequest, Choice, EditRequest, StepDescription } from "../../api/types";
import { chance } from "../../core/formats";
import { probability } from "../../core/generation";
import { chooseHead } from "../../core/maps";
import { formatText } from "../../core/messages";
import { errorText } from "../../core/source";
import { Run } from "../../data/run";
import { make, type Text, write } from "../../marks/make";
import type { GenerationSetting } from "./panel";
import type { Place } from "./place";

export class Branches {
  readonly element: HTMLElement;
  private readonly form: HTMLFormElement | null;
  private readonly title = make("h2");
  private readonly hint: HTMLElement;
  private readonly word: HTMLInputElement;
  private readonly block: HTMLSelectElement;
  private readonly temperature = number("temperature", 0, 5, "any");
  private readonly seed = number("seed", 0, 2 ** 31, "1");
  private readonly name = make("input", { type: "text", name: "name", maxlength: 120, size: 12 });
  private readonly stop: HTMLButtonElement;
  private readonly submit: HTMLButtonElement;
  private readonly said = make("p", { class: "generation-note", role: "status" });
  private readonly tree = make("ul", { class: "branch-tree" });
  private readonly kept: HTMLElement;
  private readonly compared = make("div", { class: "branch-compared" });
  private token: Choice | null = null; // chosen in the list of alternatives
  private run: Run | null = null;
  private entries: readonly BranchEntry[] = [];

  constructor(
    private readonly setting: GenerationSetting,
    private readonly place: Place,
  ) {
    const { say, stage } = setting;
    const { rerunner } = stage;
    this.word = make("input", { type: "text", name: "word", maxlength: 200, size: 12 });
    this.word.addEventListener("input", () => {
      this.token = null;
    });
    this.block = make("select", { name: "block" });
    this.submit = make("button", { type: "submit", class: "button primary" }, () => say.branch);
    this.hint = make("p", { class: "hint" }, () => say.branchHint);
    this.stop = make(
      "button",
      { type: "button", class: "button", hidden: true, onclick: () => this.run?.stop() },
      () => say.cancel,
    );
    const field = (text: Text, input: HTMLElement): HTMLElement =>
      make("label", { class: "decoding-field" }, make("span", {}, text), input);
    this.form =
      rerunner === null || rerunner.again({}) === null
        ? null
        : make(
            "form",
            { class: "branch-form", onsubmit: (event: Event) => this.send(event) },
            field(() => say.forceWord, this.word),
            field(() => say.block, this.block),
            field(() => say.temperature, this.temperature),
            field(() => say.seed, this.seed),
            field(() => say.branchName, this.name),
            this.submit,
            this.stop,
          );
    this.kept = make(
      "section",
      { class: "branch-kept", hidden: true },
      make("h2", {}, () => say.branches),
      this.tree,
      this.compared,
    );
    this.element = make(
      "section",
      { class: "generation-branches" },
      this.form && this.title,
      this.form && this.hint,
      this.form,
      this.form &&
        setting.stage.source.description.branch &&
        make("p", { class: "hint branch-leaves" }, () => say.startsAgain),
      this.said,
      this.kept,
    );
    this.showOwn();
    this.open();
  }

  /** Where the host keeps no tree: what the recording itself says. */
  private showOwn(): void {
    const { say, stage } = this.setting;
    const { branch, generation } = stage.source.description;
    if (!branch || stage.source.branches) return;
    const forced = generation?.forced?.includes(branch.step);
    const word = forced ? generation!.steps[branch.step]!.text : null;
    this.say(() => say.ownBranch(branch.name, branch.step + 1, word));
  }

  private open(): void {
    const { source } = this.setting.stage;
    const { branches } = source;
    if (!branches) return;
    this.setting.tasks.asker().ask(
      null,
      () => branches(),
      (entries) => {
        this.entries = entries;
        this.kept.hidden = entries.length < 2 && !entries[0]?.lost;
        this.showTree();
        const beside = this.setting.options.now.beside;
        if (beside !== "") void this.compare(beside);
      },
    );
  }

  /** The step of the selection, and what can be blocked there; a dropped hypothesis is opened before it can branch. */
  follow(dropped: boolean): void {
    const { say, stage } = this.setting;
    for (const part of [this.title, this.hint, this.form]) if (part) part.hidden = dropped;
    write(this.title, say.branchFrom(this.place.step() + 1));
    const map = this.place.mapOf("cross", this.place.step()) ?? this.place.mapOf("self", this.place.step());
    const chosen = stage.selection.get();
    const here =
      chosen.place !== null && map !== null && chosen.place.stack === map.place.stack
        ? chosen.place
        : map?.place;
    const head = map === null ? null : chooseHead(map, chosen.head);
    const options: [string, string][] = [["", say.blockNothing]];
    if (here && typeof head === "number") {
      options.push(["head", say.blockHead(here.layer, head)]);
      if (chosen.key !== null) options.push(["key", say.blockKey(here.layer, head, chosen.key)]);
    }
    const before = this.block.value;
    this.block.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
    this.block.value = options.some(([value]) => value === before) ? before : "";
    this.showTree();
  }

  /** Another word for this step, from the list. */
  force(choice: Choice): void {
    if (this.form === null) return;
    this.token = choice;
    this.word.value = choice.text;
    this.submit.focus();
  }

  /** A hypothesis of the beam search as a recording of its own. */
  openNode(node: number): void {
    this.start({ node });
  }

  get runs(): boolean {
    return this.form !== null;
  }

  private send(event: Event): void {
    event.preventDefault();
    if (!this.form!.reportValidity()) return;
    const typed = this.word.value;
    const temperature = this.temperature.valueAsNumber;
    const seed = this.seed.valueAsNumber;
    this.start({
      step: this.place.step(),
      ...(this.token !== null
        ? { token: this.token.token }
        : typed === ""
          ? {}
          : { text: typed.replaceAll("␣", " ") }),
      ...(Number.isNaN(temperature) ? {} : { temperature }),
      ...(Number.isNaN(seed) ? (temperature > 0 ? { seed: 0 } : {}) : { seed }),
      edits: this.readBlock(),
      name: this.name.value,
    });
  }

  private readBlock(): EditRequest[] {
    const { stage } = this.setting;
    const chosen = stage.selection.get();
    const map = this.place.mapOf("cross", this.place.step()) ?? this.place.mapOf("self", this.place.step());
    const here = chosen.place !== null && chosen.place.stack === map?.place.stack ? chosen.place : map?.place;
    const head = map === null ? null : chooseHead(map, chosen.head);
    if (this.block.value === "" || !here || typeof head !== "number") return [];
    const key = this.block.value === "key" ? chosen.key : null;
    const { stack, kind, layer } = here;
    return [{ kind: "block", stack, attention: kind, layer, head, key, first: 0 }];
  }

  private start(change: Partial<BranchRequest>): void {
    const { say, stage } = this.setting;
    const { rerunner } = stage;
    const known = rerunner?.again({});
    if (!rerunner || !known || this.run?.state === "running") return;
    const branch: BranchRequest = { step: 0, edits: [], name: "", ...change };
    const request = { ...known, kind: "generate" as const, parent: stage.source.description.id, branch };
    this.say("");
    const step = branch.node == null ? branch.step! : this.place.nodes[branch.node]!.index;
    const parent = stage.source.description.id;
    const run = new Run(
      (...heard) => rerunner.run(request, ...heard),
      (id) => this.go(id, step, parent),
    );
    this.run = run;
    const tell = (): void => {
      const busy = run.state === "running";
      this.submit.disabled = busy;
      this.stop.hidden = !busy;
      if (busy) this.say(() => `${say.writing}: ${run.steps.map((step) => step.text).join(" ")}`);
      else if (run.state === "cancelled") this.say(() => say.cancelled);
      else if (run.state === "failed") this.say(() => formatText(errorText(run.error), stage.language));
      this.said.scrollIntoView?.({ block: "nearest" }); // the button may be the last thing in view
    };
    run.show(tell);
    tell();
  }

  /** Open another text of the tree at a step, with the one that it is compared with. */
  private go(id: string, step: number, beside: string): void {
    const { options, stage } = this.setting;
    stage.rerunner?.go(id, { ...this.place.at(step), options: options.write({ beside }) });
  }

  private say(sentence: Text): void {
    this.said.replaceChildren(...make("span", {}, sentence).childNodes);
  }

  private showTree(): void {
    this.tree.replaceChildren(...this.list(null));
  }

  /** The branches of a parent, each with its own below it. */
  private list(parent: string | null): HTMLElement[] {
    const mine = this.entries.filter((entry) => entry.parent === parent);
    return mine.map((entry) => {
      const below = this.list(entry.id);
      return make(
        "li",
        {},
        this.row(entry),
        below.length > 0 && make("ul", { class: "branch-tree" }, ...below),
      );
    });
  }

  private label({ name, parent, lost, step, token }: BranchEntry): string {
    const { say } = this.setting;
    return name || (parent === null && !lost ? say.firstText : say.leaves(step + 1, token));
  }

  private row(entry: BranchEntry): HTMLElement {
    const { say, stage, options } = this.setting;
    const { rerunner, source } = stage;
    const here = entry.id === source.description.id;
    const root = entry.parent === null && !entry.lost;
    const leaves = say.leaves(entry.step + 1, entry.token);
    const label = this.label(entry);
    const about = root || entry.name === "" ? entry.text : `${leaves} · ${entry.text}`;
    const beside = options.now.beside === entry.id;
    return make(
      "div",
      { class: "branch-row", "data-here": here },
      make(
        "button",
        {
          type: "button",
          class: "branch-go",
          "aria-current": here ? "true" : null,
          onclick: () => {
            if (!here)
              this.go(entry.id, this.place.step(), beside ? source.description.id : options.now.beside);
          },
        },
        make("bdi", {}, label),
      ),
      make("span", { class: "branch-about", dir: "auto" }, entry.lost ? say.lost(about) : about),
      !here &&
        rerunner !== null &&
        make(
          "button",
          {
            type: "button",
            class: "button small",
            "aria-pressed": String(beside),
            onclick: () => {
              options.set({ beside: beside ? "" : entry.id });
              void this.compare(beside ? "" : entry.id);
            },
          },
          () => say.compare,
        ),
      here && !root && rerunner?.rename !== undefined && this.rename(entry),
    );
  }

  private rename(entry: BranchEntry): HTMLElement {
    const { say, stage } = this.setting;
    return make(
      "button",
      {
        type: "button",
        class: "button small",
        onclick: (event: Event) => {
          const field = make("input", {
            type: "text",
            maxlength: 120,
            value: entry.name,
            "aria-label": () => say.branchName,
          });
          let over = false;
          const close = (name: string): void => {
            if (over) return;
            over = true; // taking the field away also ends its focus
            if (name === entry.name) this.showTree();
            else
              stage.rerunner!.rename!(entry.id, name).then(
                () => this.open(),
                (error: unknown) => this.say(() => formatText(errorText(error), stage.language)),
              );
          };
          field.addEventListener("blur", () => close(field.value));
          field.addEventListener("keydown", (key) => {
            if (key.key === "Enter" || key.key === "Escape") {
              key.preventDefault();
              close(key.key === "Enter" ? field.value : entry.name);
            }
          });
          (event.target as Element).replaceWith(field);
          field.select();
        },
      },
      () => say.rename,
    );
  }

  /** This text and another, step by step. */
  private async compare(id: string): Promise<void> {
    const { say, stage, tasks } = this.setting;
    this.showTree();
    if (id === "" || stage.rerunner === null) {
      this.compared.replaceChildren();
      return;
    }
    let other: readonly StepDescription[];
    try {
      other = (await stage.rerunner.open(id)).description.generation?.steps ?? [];
    } catch (error) {
      this.say(() => formatText(errorText(error), stage.language));
      return;
    }
    if (tasks.over) return;
    const mine = this.place.steps;
    const parts = findParting(mine, other);
    const name = this.entries.find((entry) => entry.id === id);
    const cells = (step: StepDescription | undefined): HTMLElement[] => [
      make("td", { dir: "auto" }, step?.text ?? ""),
      make("td", { class: "branch-number" }, step === undefined ? "" : chance(probability(step))),
    ];
    const rows = Array.from({ length: Math.max(mine.length, other.length) }, (_, index) =>
      make(
        "tr",
        { "data-differs": mine[index]?.token !== other[index]?.token },
        make("th", { scope: "row" }, String(index + 1)),
        ...cells(mine[index]),
        ...cells(other[index]),
      ),
    );
    const head = (text: Text, wide = 1): HTMLElement => make("th", { scope: "col", colspan: wide }, text);
    this.compared.replaceChildren(
      make(
        "table",
        { class: "branch-table" },
        make("caption", {}, () => (parts === null ? say.sameWords : say.partAt(parts + 1))),
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            head(() => say.columnStep),
            head(() => say.thisText, 2),
            head(() => (name === undefined ? say.otherText : this.label(name)), 2),
          ),
        ),
        make("tbody", {}, ...rows),
      ),
    );
  }
}

/** The first step at which two texts have other words; null: none. */
export function findParting(one: readonly Choice[], other: readonly Choice[]): number | null {
  const count = Math.max(one.length, other.length);
  for (let step = 0; step < count; step++) if (one[step]?.token !== other[step]?.token) return step;
  return null;
}

function number(name: string, min: number, max: number, step: string): HTMLInputElement {
  return make("input", { type: "number", name, min, max, step });
}
