import { beforeEach, expect, test, vi } from "vitest";
import { noteDown } from "./remounting";

const host = document.createElement("div");
const page = (words: string) => `
  <form class="a"><input type="text" name="one" value="first" /><select name="two">
    <option value="x">${words}</option><option value="y">${words}</option></select></form>
  <details><summary>${words}</summary></details>
  <div class="long" tabindex="0">${words}</div>`;
const find = <T extends HTMLElement>(selector: string) => host.querySelector<T>(selector)!;

beforeEach(() => {
  document.body.replaceChildren(host);
  host.innerHTML = page("English");
});

test("what was typed, chosen, unfolded, scrolled and focused is so again in the page that follows", async () => {
  find<HTMLInputElement>("input").value = "half ty";
  find<HTMLSelectElement>("select").value = "y";
  find<HTMLDetailsElement>("details").open = true;
  find(".long").scrollTop = 40;
  find(".long").focus();
  const bringBack = noteDown(host);
  host.innerHTML = "";
  const told = vi.fn();
  host.addEventListener("change", told);
  const giveUp = bringBack();
  host.innerHTML = page("中文"); // later than the view itself
  await vi.waitFor(() => expect(find<HTMLInputElement>("input").value).toBe("half ty"));
  expect(find<HTMLSelectElement>("select").value).toBe("y");
  expect(find<HTMLDetailsElement>("details").open).toBe(true);
  expect(find(".long").scrollTop).toBe(40);
  expect(document.activeElement).toBe(find(".long"));
  expect(told).toHaveBeenCalledTimes(1); // by the list; a text speaks when it is left or sent
  find("input").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true }));
  expect(told).toHaveBeenCalledTimes(1); // a Chinese word was finished, not the field
  find("input").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  find("input").dispatchEvent(new Event("blur"));
  expect(told).toHaveBeenCalledTimes(2);
  giveUp();
});

test("whoever acts goes first, and other places are left alone", async () => {
  find<HTMLInputElement>("input").value = "half ty";
  const bringBack = noteDown(host);
  host.innerHTML = "";
  bringBack();
  host.dispatchEvent(new Event("wheel"));
  host.innerHTML = page("中文");
  await new Promise((frame) => requestAnimationFrame(frame));
  expect(find<HTMLInputElement>("input").value).toBe("first");
  const again = noteDown(host);
  host.innerHTML = page("中文").replace('name="one"', 'name="other"');
  const giveUp = again();
  expect(find<HTMLInputElement>("input").value).toBe("first");
  giveUp();
});

test("a list whose choices are not there yet waits for them, and tells nobody of nothing", async () => {
  find<HTMLSelectElement>("select").value = "y";
  const bringBack = noteDown(host);
  const told = vi.fn();
  host.addEventListener("change", told);
  host.innerHTML = page("中文").replace(/<option value="y">.*?<\/option>/, "");
  const giveUp = bringBack();
  const list = find<HTMLSelectElement>("select");
  expect([list.value, told.mock.calls.length]).toEqual(["x", 0]);
  list.insertAdjacentHTML("beforeend", '<option value="y">中文</option>');
  await vi.waitFor(() => expect(list.value).toBe("y"));
  expect(told).toHaveBeenCalledTimes(1);
  giveUp();
});
