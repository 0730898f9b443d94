import { act } from "preact/test-utils";
import { expect, test, vi } from "vitest";
import { aView, open, press, recordings, runs, settle } from "../../testing/page";
import { noAddress } from "../address";

function serveAs(role: "viewer" | "runner" | "admin", shared: unknown[]) {
  return {
    about: async () => ({ workbench: role !== "viewer", training: false, limits: {} }),
    presets: async () => [],
    jobs: async () => [],
    models: async () => [],
    session: async () => ({
      users: true,
      name: "rita",
      role,
      signs_out: true,
      storage: 2.5e6,
      storage_most: 1e7,
    }),
    share: async (...words: unknown[]) => void shared.push(words),
  } as never;
}

async function openDialog(element: Element): Promise<Element> {
  await press(element, "account");
  return vi.waitFor(async () => {
    await settle(); // it is fetched when it is first wanted
    const found = element.querySelector("[data-dialog=account]");
    if (!found) throw new Error("no dialog yet");
    return found;
  });
}

async function openAs(role: "viewer" | "runner" | "admin", owner: string) {
  const shared: unknown[] = [];
  const server = serveAs(role, shared);
  const list = recordings();
  const listed = await list.recordings!();
  const source = {
    ...list,
    recordings: async () =>
      listed.map((each) => ({ ...each, origin: "made", owner, visibility: "team" }) as never),
  };
  const { element } = await open(source, [aView("picture", {})], { server });
  return { element, shared, dialog: await openDialog(element) };
}

test("one's own recording is shared by a choice, and storage says what is left", async () => {
  const { dialog, shared } = await openAs("runner", "rita");
  expect(dialog.querySelector("[data-part=storage]")?.textContent).toContain(
    "2.5 of 10.0 MB on disk; 7.5 MB left",
  );
  const choice = dialog.querySelector<HTMLInputElement>("input[value=public]")!;
  expect(dialog.querySelector<HTMLInputElement>("input[value=team]")?.checked).toBe(true);
  await act(async () => choice.click());
  await settle();
  expect(shared).toEqual([["recordings", "invented", "public"]]);
});

test("of others' recordings one reads whose they are; an admin decides", async () => {
  const { dialog } = await openAs("runner", "rob");
  expect(dialog.querySelector("input[name=visibility]")).toBeNull();
  expect(dialog.textContent).toContain("It belongs to rob; only they and admins decide");
});

test("an admin shares what others own; a viewer has no storage, and no button that runs", async () => {
  expect((await openAs("admin", "rob")).dialog.querySelectorAll("input[name=visibility]").length).toBe(3);
  const { element, dialog } = await openAs("viewer", "rob");
  expect(dialog.querySelector("[data-part=storage]")).toBeNull();
  expect(element.querySelector("[data-action=run], [data-action=predict]")).toBeNull();
});

test("who may see a run is asked when the dialog opens, not when the run was opened", async () => {
  const one = await runs.open("first");
  let visibility: "private" | "public" = "private";
  const opened = async () =>
    ({ ...one, run: { ...one.run, state: "finished", owner: "rita", visibility } }) as never;
  const view = aView("learning", { needs: "runs", panel: false } as never);
  const { element } = await open({ ...recordings(), runs: { ...runs, open: opened } }, [view], {
    server: serveAs("runner", []),
    place: noAddress("view=learning&run=first"),
  });
  visibility = "public"; // meanwhile, in another window
  const dialog = await openDialog(element);
  expect(dialog.textContent).toContain("Training run first");
  await vi.waitFor(() =>
    expect(dialog.querySelector<HTMLInputElement>("input[value=public]")?.checked).toBe(true),
  );
});
