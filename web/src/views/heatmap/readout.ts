/**
 * The words beside the pointer and beside the map: which token looks at which, and how much.
 *
 * In:   a cell, what is known of its weight.
 * Out:  elements whose text changes; they are made once.
 */

import { digits, exact } from "../../core/formats";
import { make, write } from "../../marks/make";
import type { Words } from "./words";

export interface Reading {
  readonly query: { readonly number: number; readonly text: string };
  readonly side: "query" | "written" | "entered"; // what the query's token is to its row
  readonly key: { readonly number: number; readonly text: string };
  readonly weight: number | null; // null: masked, or not known
  readonly kind: "exact" | "coming" | "drawn" | "masked";
  readonly pooled: string | null; // what the pixel shows, where it covers several cells
}

/** The value as text: ≈ in front until it is exact. */
export function valueText(reading: Reading, words: Words): string {
  if (reading.kind === "masked") return words.maskedCell;
  if (reading.weight === null) return "–";
  return reading.kind === "exact" ? exact(reading.weight) : `≈ ${digits(reading.weight, 2)}`;
}

export class Readout {
  readonly element: HTMLElement;
  private readonly side = make("span", { class: "readout-side" });
  private readonly query = make("bdi", { class: "readout-token", dir: "auto" });
  private readonly key = make("bdi", { class: "readout-token", dir: "auto" });
  private readonly queryNumber = make("span", { class: "readout-number" });
  private readonly keyNumber = make("span", { class: "readout-number" });
  private readonly value = make("output", { class: "readout-value" });
  private readonly kind = make("span", { class: "readout-kind" });
  private readonly pooled = make("div", { class: "readout-pooled" });

  constructor(private readonly words: Words) {
    const line = (...parts: Node[]) => make("div", { class: "readout-line" }, ...parts);
    this.element = make(
      "div",
      { class: "readout" },
      line(this.side, this.query, this.queryNumber),
      line(
        make("span", { class: "readout-side" }, () => words.key),
        this.key,
        this.keyNumber,
      ),
      line(this.value, this.kind),
      this.pooled,
    );
  }

  show(reading: Reading): void {
    write(this.side, this.words[reading.side]);
    write(this.query, reading.query.text);
    write(this.key, reading.key.text);
    write(this.queryNumber, String(reading.query.number));
    write(this.keyNumber, String(reading.key.number));
    write(this.value, valueText(reading, this.words));
    const kinds = {
      exact: this.words.exactly,
      coming: this.words.nearly,
      drawn: this.words.drawn,
      masked: "",
    };
    write(this.kind, kinds[reading.kind]);
    this.element.dataset.kind = reading.kind;
    write(this.pooled, reading.pooled ?? "");
    this.pooled.hidden = reading.pooled === null;
  }
}
