import { act } from "preact/test-utils";
import { expect, test, vi } from "vitest";
import type { EditRequest, JobRequest } from "../../api/types";
import type { ServerJobs } from "../../data/server_jobs";
import { makeApp } from "../../testing/app";
import { invent, said } from "../../testing/recording";
import { EditList, EditMenu } from "./edits";

const silenced = {
  kind: "ablate",
  stack: "decoder",
  attention: "self",
  layer: 0,
  head: 1,
} as unknown as EditRequest;
const cut = {
  kind: "cut",
  stack: "decoder",
  attention: "self",
  layer: 1,
  head: 0,
  query: 2,
  key: 1,
} as EditRequest;
const choice = (token: number, text: string, share: number) => ({
  token,
  text,
  log_probability: Math.log(share),
});

/** A recording of a chain: its edits, its parent, the words it predicts. */
function link(id: string, parent: string | null, edits: readonly EditRequest[], word: string, share: number) {
  const request = { kind: "record", model: "m", text: "a", parent, edits } as unknown as JobRequest;
  const last = [choice(1, word, share)];
  const output = { stack: "decoder", kind: "tokens", positions: [], last, numbers: [] };
  const { source } = invent({ change: { id, request: request as never, output: output as never } });
  const { evidence } = source.description;
  const messages = { ...evidence.messages, edits: edits.map(({ kind }) => said(`an edit: ${kind}`)) };
  return { ...source, description: { ...source.description, evidence: { ...evidence, messages } } };
}

async function stand(now: "first" | "one" | "two") {
  const chain = {
    first: link("first", null, [], "floor", 0.6),
    one: link("one", "first", [silenced], "bed", 0.4),
    two: link("two", "one", [silenced, cut], "rug", 0.3),
  };
  const asked: JobRequest[] = [];
  const server = {
    run: (request: JobRequest) => {
      asked.push(request);
      return new Promise(() => {});
    },
  } as Partial<ServerJobs> as ServerJobs;
  const source = { open: async (id: string) => chain[id as keyof typeof chain] };
  const { app, root, draw } = makeApp({ source: source as never, server });
  const gone = vi.spyOn(app, "go").mockImplementation(async () => {});
  const show = async (name: keyof typeof chain) => {
    await act(async () => draw(<EditList source={chain[name]} />));
    await act(() => new Promise((done) => setTimeout(done, 2))); // parents are opened one after the other
  };
  await show(now);
  await act(async () => {});
  const press = (name: string, at = 0) =>
    act(() => root.querySelectorAll<HTMLElement>(`[data-action=${name}]`)[at]!.click());
  return { app, root, gone, asked, show, press, draw, chain };
}

test("edits are listed, with the words before and after; each can be taken back alone", async () => {
  const { root, asked, press } = await stand("two");
  expect([...root.querySelectorAll("li")].map((item) => item.textContent!.trim())).toEqual([
    "an edit: ablate",
    "an edit: cut",
  ]);
  const [before, after] = [...root.querySelectorAll("dd")].map(({ textContent }) => textContent);
  expect(before).toContain("floor"); // of the model without any edit, not of the step before
  expect(before).toContain("60.0");
  expect(after).toContain("rug");
  await press("remove-edit", 0);
  expect(asked[0]).toMatchObject({ edits: [cut], parent: "two" });
});

test("undo goes to the recording before, redo forward again, and all edits can be left at once", async () => {
  const { root, gone, press, show, app } = await stand("two");
  await press("undo-edit");
  expect(gone).toHaveBeenLastCalledWith("one");
  await show("one");
  await press("redo-edit");
  expect(gone).toHaveBeenLastCalledWith("two");
  await press("clear-edits");
  expect(gone).toHaveBeenLastCalledWith("first");
  await press("compare-edits");
  expect(app.store.get().beside).toBe("first");
  await show("first");
  await act(async () => {});
  expect(root.querySelector("[data-action=redo-edit]")).not.toBeNull();
  expect(root.querySelector("[data-action=undo-edit]")).toBeNull();
});

test("the menu silences the head and cuts the edge in focus, by keys too", async () => {
  const { app, root, asked, draw, chain } = await stand("first");
  const close = vi.fn();
  app.store.set({ place: chain.first.description.maps[1]!.place, head: 0, query: 2, key: 1 });
  await act(async () => draw(<EditMenu source={chain.first} at={[3, 4]} close={close} />));
  const items = [...root.querySelectorAll<HTMLElement>("[role=menuitem]")];
  expect(items.map(({ dataset }) => dataset.item)).toEqual(["silence", "cut", "effects"]);
  expect(document.activeElement).toBe(items[0]);
  const key = (name: string) =>
    act(() => {
      document.activeElement!.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
    });
  await key("ArrowDown");
  expect(document.activeElement).toBe(items[1]);
  await key("Escape");
  expect(close).toHaveBeenCalledTimes(1);
  await act(() => items[1]!.click());
  expect(asked[0]?.edits).toEqual([cut]);
});

test("from effects the way leads back to the recording, and there is nothing to make again", async () => {
  const { root, gone, press, draw, chain, show } = await stand("one");
  const { evidence } = chain.one.description;
  const note = { code: "workbench.effects.edges", parameters: {}, default: "Each value is an estimate." };
  const messages = { ...evidence.messages, notes: [note], edits: [] };
  const request = { ...(chain.one.description.request as object), edits: [] };
  const description = { ...chain.one.description, request, evidence: { ...evidence, messages } };
  await act(async () => draw(<EditList source={{ ...chain.one, description } as never} />));
  expect(root.textContent).toContain("Each value is an estimate.");
  await press("undo-edit");
  expect(gone).toHaveBeenLastCalledWith("first");
  await show("first");
  expect(root.querySelector("[data-action=redo-edit]")).toBeNull();
});
