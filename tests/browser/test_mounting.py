"""Views come and go: after many mounts no listener, texture or array of theirs is left."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page

from browser.test_views import VIEWS
from browser.waiting import settle

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.first]

# Textures that are not deleted.
COUNT_LEFT = """(() => {
  window.left = { textures: 0 };
  const gl = WebGL2RenderingContext.prototype;
  const [create, remove] = [gl.createTexture, gl.deleteTexture];
  gl.createTexture = function () { window.left.textures += 1; return create.call(this); };
  gl.deleteTexture = function (texture) {
    if (texture) window.left.textures -= 1;
    return remove.call(this, texture);
  };
})()"""

SWITCH = """async ([views, times]) => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  for (let count = 0; count < times; count++)
    for (const view of views) {
      document.querySelector(`.pictures [role=tab][data-name=${view}]`).click();
      while (!document.querySelector(`.view-host > .view-${view}`)) await frame();
      await frame();
    }
}"""

ARRAYS = ("Float32Array", "Float64Array", "Uint8Array", "Uint8ClampedArray", "ArrayBuffer")


def count_left(page: Page, session: CDPSession) -> dict[str, int]:
    """What lives after a collection of garbage."""
    settle(page)
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    found = {"listeners": int(metrics["JSEventListeners"]), "nodes": int(metrics["Nodes"])}
    found["textures"] = page.evaluate("() => window.left.textures")
    for name in ARRAYS:
        prototype = session.send("Runtime.evaluate", {"expression": f"{name}.prototype"})["result"][
            "objectId"
        ]
        objects = session.send("Runtime.queryObjects", {"prototypeObjectId": prototype})["objects"]
        length = {
            "objectId": objects["objectId"],
            "functionDeclaration": "function () { return this.length; }",
        }
        found[name] = session.send("Runtime.callFunctionOn", length)["result"]["value"]
        for held in (prototype, objects["objectId"]):
            session.send("Runtime.releaseObject", {"objectId": held})
    return found


LONG = os.environ.get("GLASSFORMER_LONG") == "1"


@pytest.mark.parametrize("views", [[view] for view in VIEWS] if LONG else [list(VIEWS)], ids="-".join)
def test_nothing_is_left_of_a_view(served: Any, open_page: Callable[..., Page], views: list[str]) -> None:
    """In `make test-long` a hundred mounts of each view; five rounds through all views in `make test`."""
    rounds = 100 if LONG else 5
    other = "text" if views != ["text"] else "numbers"
    page = open_page(served.address("decoder", view=other))
    page.add_init_script(COUNT_LEFT)
    page.reload()
    settle(page)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    views = [*views, other]  # what is counted at rest is always the same view
    page.evaluate(SWITCH, [views, 3])  # what is fetched and made once stays
    before = count_left(page, session)
    page.evaluate(SWITCH, [views, rounds])
    middle = count_left(page, session)
    page.evaluate(SWITCH, [views, rounds])
    after = count_left(page, session)
    # One thing left by each mount is `rounds` more each time; what a collector frees late comes only once.
    grown = {name: min(middle[name] - before[name], after[name] - middle[name]) for name in before}
    assert all(more < rounds for more in grown.values()), grown
