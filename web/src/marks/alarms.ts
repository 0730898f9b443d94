/**
 * Alarms of training runs as a list: when, what, which heads.
 *
 * In:   alarms in words, and what opens them.
 * Out:  a list of elements; all that can be opened are buttons.
 */

import { button } from "./controls";
import { make } from "./make";
import "./alarms.css";

export interface AlarmItem {
  readonly key: string; // no other item has it
  readonly name: string; // of the cause
  readonly when: string;
  readonly end: string; // that it passed, and when; or that it did not
  readonly open: boolean; // it did not
  readonly text: string; // what was seen, and what helps
  readonly run: { readonly name: string; readonly ink: string } | null; // where there are several
  readonly chosen: boolean;
  readonly heads: readonly { readonly text: string; readonly title: string; show(): void }[];
  show(): void;
}

export function drawAlarms(items: readonly AlarmItem[]): HTMLUListElement {
  return make("ul", { class: "alarm-list" }, ...items.map(drawAlarm));
}

function drawAlarm(item: AlarmItem): HTMLLIElement {
  const { run } = item;
  const when = button(item.when, item.show);
  when.classList.add("small");
  when.dataset.key = item.key;
  const heads = item.heads.map(({ text, title, show }) => {
    const opener = button(text, show, title);
    opener.classList.add("small", "quiet");
    opener.dataset.key = `${item.key} ${text}`;
    return opener;
  });
  return make(
    "li",
    { "data-open": item.open, "data-chosen": item.chosen, "aria-current": item.chosen ? "true" : null },
    make(
      "div",
      { class: "alarm-line" },
      run && make("span", { class: "dot", style: { background: run.ink } }),
      run && make("span", { class: "alarm-run" }, run.name),
      make("strong", {}, item.name),
      when,
      make("span", { class: "alarm-end" }, item.end),
    ),
    make("p", {}, item.text),
    heads.length > 0 && make("div", { class: "alarm-line" }, ...heads),
  );
}
