import { render } from "preact";
import { useState } from "preact/hooks";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { derived, effect, signal } from "./signals";

let root: HTMLElement;
const settle = () => new Promise((resolve) => setTimeout(resolve, 20));

beforeEach(() => {
  root = document.createElement("div");
});
afterEach(() => render(null, root));

describe("signals", () => {
  test("an effect hears of what it has read last, until it is stopped", () => {
    const [which, a, b] = [signal("a"), signal(1), signal(2)];
    const seen: number[] = [];
    const stop = effect(() => {
      seen.push(which.value === "a" ? a.value : b.value);
    });
    b.value = 3; // not read
    a.value = 1; // no change
    a.value = 4;
    which.value = "b";
    a.value = 5; // no longer read
    b.value = 6;
    stop();
    b.value = 7;
    expect(seen).toEqual([1, 4, 3, 6]);
    expect(b.readers.size).toBe(0);
  });

  test("derived values are always of now, and peeking does not listen", () => {
    const name = signal("x");
    const twice = derived(() => name.value + name.value);
    let times = 0;
    const stop = effect(() => {
      times += 1;
      twice.peek();
    });
    name.value = "y";
    expect([twice.value, times]).toEqual(["yy", 1]);
    stop();
  });

  test("a component is drawn again when what it reads changes, and no other is", async () => {
    const [first, second] = [signal(1), signal(10)];
    const drawn: string[] = [];
    const Inner = () => {
      drawn.push("inner");
      return <i>{second.value}</i>;
    };
    const Outer = () => {
      drawn.push("outer");
      const [own] = useState(7);
      return (
        <b>
          {first.value} {own} <Inner />
        </b>
      );
    };
    const Beside = () => {
      drawn.push("beside");
      return <u>{second.peek()}</u>;
    };
    render(
      <>
        <Outer />
        <Beside />
      </>,
      root,
    );
    expect(root.textContent).toBe("1 7 1010");
    drawn.length = 0;
    second.value = 11;
    await settle();
    expect(root.textContent).toBe("1 7 1110");
    expect(drawn).toEqual(["inner"]);
    first.value = 2;
    await settle();
    expect(root.textContent).toBe("2 7 1110");
    expect(drawn).toContain("outer");
    render(null, root);
    expect([first.readers.size, second.readers.size]).toEqual([0, 0]);
  });

  test("reading outside of drawing listens to nothing", async () => {
    const count = signal(0);
    let times = 0;
    const Button = () => {
      times += 1;
      return <button type="button" onClick={() => count.value++} />;
    };
    render(<Button />, root);
    root.querySelector("button")!.click();
    await settle();
    expect([count.peek(), times]).toEqual([1, 1]);
  });
});
