/** Who is signed in, on a server with users: their name, who may see the open recording, the way out. */

import type { Visibility } from "../api/types";
import { Button } from "./button";
import { useApp } from "./context";

const levels: readonly Visibility[] = ["private", "team", "public"];

export function Account() {
  const app = useApp();
  const say = app.words.value;
  const session = app.account.value;
  if (!session?.users) return null;
  if (session.name === null)
    return (
      <a class="button quiet" data-action="sign-in" href={signInAddress(location.search)}>
        {say.signIn}
      </a>
    );
  const open = app.recordings.value.find(({ id }) => id === app.open.value?.description.id);
  const mine = open && open.origin !== "shipped" && (open.owner === session.name || session.role === "admin");
  return (
    <>
      {mine && app.server?.share && (
        <label class="chooser">
          <span class="chooser-label">{say.visibility}</span>
          <select
            data-action="visibility"
            value={open.visibility}
            onChange={({ currentTarget }) => {
              const wish = currentTarget.value as Visibility;
              currentTarget.value = open.visibility; // until it is so
              void app.share(open.id, wish);
            }}
          >
            {levels.map((level) => (
              <option key={level} value={level}>
                {say[`visible_${level}`]}
              </option>
            ))}
          </select>
        </label>
      )}
      <span class="account" title={say.signedIn(session.name, session.role ?? "")}>
        {session.name}
      </span>
      {session.signs_out && (
        <Button name="sign-out" look="quiet" act={() => void app.signOut()}>
          {say.signOut}
        </Button>
      )}
    </>
  );
}

/** Where a visitor signs in, to come back to what is shown. */
export function signInAddress(search: string): string {
  return `sign-in?next=${encodeURIComponent(`/${search}`)}`;
}
