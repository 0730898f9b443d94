/** A part of the page that may fail alone: it shows its error and a way to try again, and the rest goes on working. */

import { Component, type ComponentChildren } from "preact";
import { Button } from "./button";
import { AppContext } from "./context";
import type { App } from "./state";

interface Props {
  readonly part: string; // its name in the page: "input", "transport" …
  readonly of?: string; // what it shows: with something else, an error before is forgotten
  readonly children: ComponentChildren;
}

export class ErrorBoundary extends Component<Props, { readonly error: unknown; readonly failed: boolean }> {
  static override contextType = AppContext;
  override state = { error: null, failed: false };

  static override getDerivedStateFromError(error: unknown) {
    return { error, failed: true };
  }

  override componentDidUpdate({ of }: Props): void {
    if (of !== this.props.of && this.state.failed) this.setState({ error: null, failed: false });
  }

  override render() {
    const app = this.context as App | null;
    const { error, failed } = this.state;
    if (!failed || !app) return this.props.children;
    const say = app.words.value;
    return (
      <div class="notice" role="alert" data-notice="failed" data-part={this.props.part}>
        <p class="notice-title">{say.partFailed}</p>
        <p>{app.explain(error)}</p>
        <div class="notice-ways">
          <Button name="try-again" act={() => this.setState({ error: null, failed: false })}>
            {say.tryAgain}
          </Button>
        </div>
      </div>
    );
  }
}
