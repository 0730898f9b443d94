/** A dialog. Native <dialog>: Escape, focus and backdrop are the browser's. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "../button";
import { useApp } from "../context";
import "./style.css";

export function Dialog(props: {
  readonly title: string;
  readonly name: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}) {
  const say = useApp().words.value;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a native dialog
    <dialog
      class="dialog"
      ref={dialog}
      aria-labelledby={id}
      data-dialog={props.name}
      onClose={props.close}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close(); // the backdrop
      }}
    >
      <div class="dialog-frame">
        <header class="dialog-header">
          <h2 id={id}>{props.title}</h2>
          <Button name="close" icon="close" label={say.close} act={() => dialog.current?.close()} />
        </header>
        {props.children}
      </div>
    </dialog>
  );
}
