/** The dialog of a person: their role and storage, who may see the recording or run that is open, the way out. */

import { useEffect, useState } from "preact/hooks";
import type { Visibility } from "../../api/types";
import { fixed } from "../../core/formats";
import { useAnswer } from "../answer";
import { Button } from "../button";
import { useApp } from "../context";
import { Dialog } from "../later/dialog";
import { copyLink } from "../toolbar";
import { words } from "./words";
import "./style.css";

const levels: readonly Visibility[] = ["private", "team", "public"];

/** Something with an owner. */
interface Thing {
  readonly kind: "recordings" | "runs";
  readonly id: string;
  readonly title: string;
  readonly shipped: boolean;
  readonly owner?: string | null | undefined;
  readonly visibility?: Visibility | undefined;
}

export function AccountDialog(props: { readonly close: () => void }) {
  const app = useApp();
  const own = words(app.language.value);
  const session = app.account.value;
  const thing = useOpen();
  useEffect(() => void app.refreshAccount(), []); // what is used has changed since the page was opened
  if (!session?.name) return null;
  return (
    <Dialog title={session.name} name="account" close={props.close}>
      {session.role && <p>{own.role[session.role]}</p>}
      {session.role !== "viewer" && <Storage used={session.storage} most={session.storage_most} />}
      {thing && <Sharing key={thing.id} thing={thing} />}
      {session.signs_out && (
        <div class="account-part">
          <div>
            <Button name="sign-out" act={() => void app.signOut()}>
              {app.words.value.signOut}
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

/** What is open: a recording of the list, or found in the index where the list is longer; or a training run. */
function useOpen(): Thing | null {
  const app = useApp();
  const own = words(app.language.value);
  const subject = app.subject.value;
  const id = app.open.value?.description.id;
  const listed = app.recordings.value.find((entry) => entry.id === id);
  const { value } = useAnswer(app.source, listed || !id ? null : id, (source, signal) =>
    source.findRecordings!(id!, 1, signal),
  );
  const run = subject.kind === "runs" && subject.runs.length === 1 ? subject.runs[0]!.run : null;
  // A run that has ended is not followed: who may see it was perhaps changed since it was opened.
  const asked = useAnswer(app.source, run?.id ?? null, (source, signal) =>
    source.runs!.open(run!.id, signal),
  );
  if (run) return { ...(asked.value?.run ?? run), kind: "runs", title: own.run(run.id) };
  if (subject.kind === "runs") return null;
  const entry = listed ?? value?.entries.find((each) => each.id === id);
  if (!entry) return null;
  const title = own.recording(app.text(entry.title) || entry.model);
  return { ...entry, kind: "recordings", title, shipped: entry.origin === "shipped" };
}

function Storage(props: {
  readonly used?: number | null | undefined;
  readonly most?: number | null | undefined;
}) {
  const own = words(useApp().language.value);
  const { used, most } = props;
  if (used == null) return null;
  const shown = (bytes: number): string => fixed(bytes / 1e6, 1);
  const limited = most != null;
  return (
    <section class="account-part" data-part="storage">
      <h3>{own.storage}</h3>
      {limited && (
        <meter
          min={0}
          max={most}
          low={0.75 * most}
          high={0.9 * most}
          optimum={0}
          value={used}
          aria-label={own.storage}
        />
      )}
      <p>
        {!limited
          ? own.used(shown(used))
          : used < most
            ? own.left(shown(used), shown(most), shown(most - used))
            : own.full(shown(used), shown(most))}
      </p>
    </section>
  );
}

function Sharing({ thing }: { readonly thing: Thing }) {
  const app = useApp();
  const own = words(app.language.value);
  const [chosen, setChosen] = useState<Visibility | null>(null);
  const level = chosen ?? thing.visibility ?? "private";
  const [busy, setBusy] = useState(false);
  const mine = app.mayChange(thing.owner) && !thing.shipped;
  const { name } = app.account.value!;
  const owner = thing.shipped
    ? own.ships
    : thing.owner === name
      ? null
      : !thing.owner
        ? own.ofNobody
        : mine
          ? own.ofAdmin(thing.owner)
          : own.of(thing.owner);
  const share = async (wish: Visibility): Promise<void> => {
    setBusy(true);
    if (await app.share(thing.kind, thing.id, wish)) setChosen(wish);
    setBusy(false);
  };
  return (
    <section class="account-part" data-part="sharing">
      <h3>{own.sees}</h3>
      <p class="account-title">{thing.title}</p>
      {owner && <p class="hint">{owner}</p>}
      {mine &&
        levels.map((each) => (
          <label key={each}>
            <input
              type="radio"
              name="visibility"
              value={each}
              checked={each === level}
              disabled={busy}
              onChange={() => void share(each)}
            />
            <span>{own[each]}</span>
          </label>
        ))}
      {(thing.shipped || level !== "private") && (
        <div>
          <Button name="copy-shared" icon="link" act={() => void copyLink(app)}>
            {app.words.value.copyLink}
          </Button>
        </div>
      )}
    </section>
  );
}
