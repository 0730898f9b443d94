"""How these tests wait: for what the page shows or says, however long that takes; never for a while.

In:   a page.
Out:  the same page at rest: a view is mounted, no answer is on its way, no timer runs,
      nothing moves, everything is drawn.
"""

import time
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Page, expect

PATIENCE = 180_000  # ms; reached only by what fails: a busy machine is slow, not wrong
expect.set_options(timeout=PATIENCE)

# What is on its way, counted from before the page's own scripts run: requests until their answers are read,
# pictures until they are decoded, and timers that end soon. Event streams stay open, and a long timer
# (a message fades) is no test's business.
COUNT = """(() => {
  const SOON = 600; // ms
  let requests = 0;
  const [timers, answers] = [new Set(), new WeakSet()];
  const answered = () => start(() => { requests -= 1; });  // after what the page does with an answer at once
  const [ask, start, stop] = [window.fetch, window.setTimeout.bind(window), window.clearTimeout.bind(window)];
  window.fetch = async (...words) => {
    requests += 1;
    try {
      const response = await ask(...words);
      if (words[1]?.method === 'DELETE' && response.ok) answered();  // nobody reads what it says
      else answers.add(response);
      return response;
    } catch (error) {
      answered();
      throw error;
    }
  };
  for (const name of ['text', 'json', 'arrayBuffer', 'blob']) {
    const read = Response.prototype[name];
    Response.prototype[name] = function () {
      const reading = read.call(this);
      return answers.delete(this) ? reading.finally(answered) : reading;
    };
  }
  const decode = window.createImageBitmap;
  window.createImageBitmap = (...words) => {
    requests += 1;
    return decode.call(window, ...words).finally(answered);
  };
  window.setTimeout = (act, pause = 0, ...words) => {
    const timer = start((...given) => { timers.delete(timer); act(...given); }, pause, ...words);
    if (pause <= SOON) timers.add(timer);
    return timer;
  };
  window.clearTimeout = (timer) => { timers.delete(timer); stop(timer); };
  const moves = ({ playState, effect }) =>
    playState === 'running' && effect.getComputedTiming().endTime !== Infinity;
  const still = () => requests === 0 && timers.size === 0 && !document.getAnimations().some(moves);
  const frame = () => new Promise((done) => requestAnimationFrame(() => start(done)));
  window.isAtRest = async () => {
    for (let frames = 0; frames < 3; frames++) {
      await frame();
      if (!still()) return false;
    }
    return true;
  };
  // For what does not last, such as a player that plays: a test would look too late on a busy machine.
  window.until = async (look) => {
    for (let times = 0; !look(); times++) {
      if (times > 10000) throw new Error(`never: ${look}`);
      await new Promise((done) => start(done, 10));
    }
  };
})()"""


def rest(page: Page) -> None:
    """Until nothing is on its way and everything is drawn."""
    latest = time.monotonic() + PATIENCE / 1000
    while not page.evaluate("() => window.isAtRest()"):  # `wait_for_function` takes a promise for a yes
        assert time.monotonic() < latest, "the page found no rest"


def settle(page: Page) -> None:
    """Until a view is mounted and at rest."""
    expect(page.locator(".view-host > .view")).to_have_count(1)
    expect(page.locator(".stage")).to_have_attribute("aria-busy", "false")
    rest(page)


def catch(page: Page, name: str, text: str) -> None:
    """Click on something and see it say a text, which it may not say for long."""
    page.evaluate(
        """async ([name, text]) => {
          document.querySelector(name).click();
          await until(() => [...document.querySelectorAll(name)].some(
            (each) => [each.ariaLabel, each.textContent].includes(text)));
        }""",
        [name, text],
    )


def go(page: Page, address: str) -> None:
    """To another place of the page that is open, as a link on it would."""
    page.evaluate("(hash) => { location.hash = hash; }", urlsplit(address).fragment)


def chosen(page: Page) -> dict[str, str]:
    """The selection as the address states it."""
    text: str = page.evaluate("() => location.hash.slice(1)")
    return dict(parse_qsl(text, keep_blank_values=True))


def measure_height(page: Page) -> int:
    """By how many pixels the page is higher than its window, at rest: on wide screens it never is."""
    rest(page)
    along: int = page.evaluate(
        "() => document.documentElement.scrollHeight - document.documentElement.clientHeight"
    )
    return along


def measure_overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window, at rest."""
    rest(page)
    across: int = page.evaluate(
        "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return across
