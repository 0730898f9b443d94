/** Who is signed in, on a server with users: their name, which opens what they use, share and leave by. */

import { useState } from "preact/hooks";
import { Button } from "./button";
import { useApp } from "./context";
import { usePeople } from "./later";

export function Account() {
  const app = useApp();
  const say = app.words.value;
  const session = app.account.value;
  const [open, setOpen] = useState(false);
  const people = usePeople(open);
  if (!session?.users) return null;
  if (session.name === null)
    return (
      <a class="button quiet" data-action="sign-in" href={signInAddress(app.link() ?? "")}>
        {say.signIn}
      </a>
    );
  return (
    <>
      <Button
        name="account"
        look="quiet"
        icon="person"
        hint={say.account(session.name)}
        act={() => setOpen(true)}
      >
        <span class="account">{session.name}</span>
      </Button>
      {people && open && <people.AccountDialog close={() => setOpen(false)} />}
    </>
  );
}

/** Where a visitor signs in, to come back to what is shown. */
export function signInAddress(link: string): string {
  return `sign-in?next=${encodeURIComponent(`/${link.replace(/^[^?]*/, "")}`)}`;
}
