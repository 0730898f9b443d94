"""The embeddings view in Chromium: planes against NumPy, points where they should be, distributions."""

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Served
from browser.waiting import measure_overflow, settle
from tolerances import largest, near

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
EDGE = 36  # pixels around the cloud


def project(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal components (token, 2), each axis with its largest entry positive, and their shares."""
    centred = states.astype(np.float64) - states.mean(axis=0, dtype=np.float64)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    points = (left * sizes)[:, :2]
    leading = points[np.abs(points).argmax(axis=0), [0, 1]]
    return points * np.sign(leading), (sizes**2 / (sizes**2).sum())[:2]


def states(served: Served, layer: int) -> np.ndarray:
    """(token, width), as the page gets them."""
    hidden = served.library.get(served.ids["decoder"]).hidden["decoder"][layer]
    return np.asarray(hidden, dtype=np.float16).astype(np.float32)


def wait(page: Page) -> None:
    """Until there are neighbours, or the hint that there is nothing in focus: the plane is drawn by then."""
    expect(page.locator(".embeddings-view aside > *").first).to_be_visible()
    settle(page)


def read_plane(page: Page) -> np.ndarray:
    """(token, 2) from the data table."""
    page.locator('[data-action="table"]').click()
    rows = page.locator("table.data tbody tr")
    expect(rows.first).to_be_visible()
    texts = rows.evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.title || cell.textContent))"
    )
    page.keyboard.press("Escape")
    return np.array([[float(cell.replace("−", "-")) for cell in row[2:4]] for row in texts])


def test_the_plane_is_the_principal_one(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="embeddings", embeddings__layer=2))
    wait(page)
    points, shares = project(states(served, 2))
    assert read_plane(page) == pytest.approx(points, abs=2e-3)
    with page.expect_download() as download:
        page.locator('[data-action="save-svg"]').click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    found = re.findall(r"PC(\d): ([\d.]+)", text)
    assert [float(share) for _, share in found[:2]] == pytest.approx(100 * shares, abs=0.06)
    dots = [
        element
        for element in root.iter("{http://www.w3.org/2000/svg}circle")
        if element.get("fill") != "none"
    ]
    assert len(dots) == 24
    places = np.array([[float(dot.get("cx", 0)), -float(dot.get("cy", 0))] for dot in dots])
    places -= places.mean(axis=0)
    scale = np.abs(places).max() / np.abs(points).max()
    assert places == pytest.approx(points * scale, abs=0.02)


def test_points_can_be_pointed_at_and_chosen(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="embeddings", embeddings__layer=1))
    wait(page)
    points, _ = project(states(served, 1))
    box = page.locator(".cloud canvas").bounding_box()
    assert box is not None
    long = (min(box["width"], box["height"]) / 2 - EDGE) / np.abs(points).max()
    token = int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))  # away from the others
    x = box["x"] + box["width"] / 2 + points[token, 0] * long
    y = box["y"] + box["height"] / 2 - points[token, 1] * long
    page.mouse.move(x, y)
    expect(page.locator(".embeddings-view .tooltip b")).to_be_visible()
    page.mouse.click(x, y)
    expect(page).to_have_url(re.compile(f"query={token}"))
    expect(page.locator(".embeddings-view aside li small").first).to_be_visible()
    settle(page)
    nearest = page.locator(".embeddings-view aside li").first
    values = states(served, 1).astype(np.float64)
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    cosines = unit @ unit[token]
    cosines[token] = -2
    assert int(nearest.locator("small").inner_text()) == int(cosines.argmax())
    title = nearest.locator("span").get_attribute("title") or "nan"
    assert float(title) == near(float(cosines.max()))


def test_layers_by_slider_button_and_play(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="embeddings"))
    wait(page)
    page.get_by_role("button", name="Output embeddings").click()
    expect(page).to_have_url(re.compile("embeddings.layer=3"))
    page.get_by_role("slider", name="Layer").press("ArrowLeft")
    expect(page).to_have_url(re.compile("embeddings.layer=2"))
    page.get_by_role("button", name="Play the layers").click()
    expect(page).to_have_url(re.compile("embeddings.layer=3"))
    expect(page.get_by_role("button", name="Play the layers")).to_be_visible()
    page.locator(".cloud").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("query=1"))


def test_umap_is_the_same_every_time(served: Served, look: Open) -> None:
    planes = []
    for _ in range(2):
        page = look(served.address("decoder", view="embeddings", embeddings__by="umap"))
        wait(page)
        planes.append(read_plane(page))
    assert np.isfinite(planes[0]).all()
    assert np.ptp(planes[0]) > 1
    assert (planes[0] == planes[1]).all()


def test_distributions_of_values_and_norms(served: Served, look: Open) -> None:
    page = look(
        served.address("decoder", view="embeddings", embeddings__as="distributions", embeddings__layer=3)
    )
    hidden = served.library.get(served.ids["decoder"]).hidden["decoder"]
    caption = page.locator('figure[data-of="values"] figcaption')
    expect(caption).to_contain_text("384 numbers")
    settle(page)
    assert float(caption.get_attribute("title") or "nan") == near(
        float(hidden[3].mean()), magnitude=largest(hidden[3])
    )
    caption = page.locator('figure[data-of="norms"] figcaption')
    norms = np.linalg.norm(hidden[3].astype(np.float64), axis=-1)
    assert float(caption.get_attribute("title") or "nan") == near(float(norms.mean()))
    expect(page.locator('figure[data-of="values"] .ridges path[data-layer]')).to_have_count(4)


def test_both_stacks_and_a_single_token(served: Served, look: Open) -> None:
    page = look(served.address("translation", view="embeddings", map=0, key=1))
    wait(page)
    page.locator(".embeddings-view").get_by_role("radio", name="Decoder").check()
    expect(page).to_have_url(re.compile("embeddings.stack=decoder"))
    page.locator(".cloud").focus()
    page.keyboard.press("End")
    expect(page).to_have_url(re.compile("query=8"))
    page = look(served.address("single", view="embeddings"), width=360, height=740, locale="zh-CN", dark=True)
    wait(page)
    expect(page.locator(".embeddings-view")).to_contain_text("精确主成分")
    assert measure_overflow(page) <= 0
