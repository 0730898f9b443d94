/** A button: text, with an icon where that helps; or a symbol alone, whose label is read out and shown as a hint. */

import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icons";

export function Button(props: {
  readonly name: string; // in the page: its data-action
  readonly act: () => void;
  readonly icon?: IconName;
  readonly label?: string; // of a symbol alone
  readonly worded?: boolean; // the label is written beside the symbol where there is room
  readonly hint?: string; // where it says more than the label
  readonly look?: "quiet" | "small" | "quiet small" | "plain";
  readonly disabled?: boolean;
  readonly children?: ComponentChildren;
}) {
  const { icon, label, children, look = label ? "quiet" : "plain" } = props;
  return (
    <button
      type="button"
      class={["button", look === "plain" ? "" : look, label ? "square" : ""].filter(Boolean).join(" ")}
      aria-label={label}
      title={props.hint ?? label}
      data-action={props.name}
      disabled={props.disabled ?? false}
      onClick={props.act}
    >
      {icon && <Icon name={icon} />}
      {icon && children && " "}
      {children}
      {props.worded && <span class="button-word">{label}</span>}
    </button>
  );
}
