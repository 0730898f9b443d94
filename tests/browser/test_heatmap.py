"""The heat map in Chromium: every pixel against the recording, values against its floats, hands and keys."""

import base64
import re
import urllib.request
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, Route, expect

from browser.conftest import Served, require_page, serve
from browser.waiting import chosen, go, measure_overflow, rest
from glassformer import bundle
from glassformer.api import frames
from glassformer.api.library import Library
from glassformer.recording import from_arrays
from tolerances import shown

pytestmark = pytest.mark.browser

WIDEST, HIGHEST = 240, 120  # pixels that a fitted cell has at most
STRETCH = 2.5  # how many times wider than high it may be, or the other way round
GAP = 14  # from so many on, a line is left between cells

READ = """canvas => {
    const copy = document.createElement('canvas');
    copy.width = canvas.width; copy.height = canvas.height;
    copy.getContext('2d').drawImage(canvas, 0, 0);
    return copy.toDataURL('image/png').split(',')[1];
}"""


def read_pixels(canvas: Locator) -> np.ndarray:
    """(row, column, red green blue alpha) of a canvas."""
    picture = Image.open(BytesIO(base64.b64decode(canvas.evaluate(READ))))
    return np.asarray(picture.convert("RGBA"))


def count_colours(image: np.ndarray) -> int:
    return len(np.unique(np.ascontiguousarray(image).view(np.uint32)))  # a pixel is one number


def cells(page: Page) -> Locator:
    return page.locator(".heat-cells canvas")


def plot(page: Page) -> Locator:
    return page.locator(".heat-plot")


def settle(page: Page) -> None:
    """Until cells, names and masks are here and drawn."""
    rest(page)
    expect(plot(page)).to_have_attribute("aria-busy", "false")
    rest(page)


def read_table(page: Page) -> np.ndarray:
    """The 256 colours of the legend (place, red green blue)."""
    return read_pixels(page.locator(".legend-bar"))[0, :, :3].astype(int)


def to_bytes(weights: np.ndarray, maximum: float = 1.0) -> np.ndarray:
    """As docs/contract say: round(255 sqrt(w / maximum)), nothing but nothing is 0."""
    bytes_ = np.floor(255 * np.sqrt(np.asarray(weights, np.float64) / maximum) + 0.5)
    return np.where(weights > 0, np.clip(bytes_, 1, 255), 0).astype(int)


def fit_cell(width: float, height: float, keys: int, queries: int) -> tuple[float, float]:
    """How wide and how high a cell of a whole map is in so much room."""
    wide, high = min(width / keys, WIDEST), min(height / queries, HIGHEST)
    return min(wide, STRETCH * high), min(high, STRETCH * wide)


def pick_middles(image: np.ndarray, queries: int, keys: int) -> np.ndarray:
    """The pixels in the middle of the cells of a whole map."""
    wide, high = fit_cell(image.shape[1], image.shape[0], keys, queries)
    return np.asarray(image[centres(queries, high)][:, centres(keys, wide)])


def centres(count: int, scale: float, first: float = 0.0, least: float = 3.0) -> np.ndarray:
    """Pixels in the middle of cells."""
    assert scale >= least
    return np.floor((np.arange(count) - first + 0.5) * scale).astype(int)


def wanted(weights: np.ndarray, table: np.ndarray, top: float | np.ndarray = 1.0) -> np.ndarray:
    """The colours of weights (query, key, 3), by the root of their share of the top."""
    shares = to_bytes(weights) / np.sqrt(np.asarray(top, np.float64))
    places = np.where(weights > 0, np.clip(np.floor(shares + 0.5), 1, 255), 0).astype(int)
    return table[places]


def compare(page: Page, weights: np.ndarray, top: float | np.ndarray = 1.0, *, causal: bool) -> None:
    """Middle pixels of all cells against the recording's weights."""
    settle(page)
    image = read_pixels(cells(page)).astype(int)
    queries, keys = weights.shape
    seen = pick_middles(image, queries, keys)
    colours = wanted(weights, read_table(page), top)
    masked = np.arange(keys) > np.arange(queries)[:, None] if causal else np.zeros_like(weights, bool)
    assert (seen[..., 3] == 255).all()
    np.testing.assert_array_equal(seen[..., :3][~masked], colours[~masked])
    if causal:
        hatched = np.unique(seen[..., :3][masked], axis=0)
        assert len(hatched) <= 2
        nothing = read_table(page)[0]
        assert not (hatched == nothing).all(axis=1).any(), "masked cells look like zeros"


@pytest.mark.parametrize("renderer", ["webgl", "canvas"])
@pytest.mark.parametrize(("name", "number", "causal"), [("decoder", 1, True), ("translation", 2, False)])
def test_pixels_are_the_weights(
    served: Served, look: Callable[..., Page], renderer: str, name: str, number: int, causal: bool
) -> None:
    page = look(served.address(name, view="heatmap", map=number, head=2, heatmap__renderer=renderer))
    settle(page)
    assert cells(page).get_attribute("data-renderer") == renderer
    compare(page, served.library.get(served.ids[name]).maps[number].weights(2), causal=causal)


def test_emulated_webgl_is_not_used_unless_asked_for(served: Served, look: Callable[..., Page]) -> None:
    page = look(served.address("decoder", view="heatmap", map=1, head=2))
    settle(page)
    name = page.evaluate(
        """() => {
            const gl = document.createElement("canvas").getContext("webgl2");
            const info = gl?.getExtension("WEBGL_debug_renderer_info");
            return gl ? String(gl.getParameter(info?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER)) : "none";
        }"""
    )
    emulated = name == "none" or any(word in name for word in ("SwiftShader", "llvmpipe", "Software"))
    assert cells(page).get_attribute("data-renderer") == ("canvas" if emulated else "webgl")


@pytest.mark.parametrize("dark", [False, True])
def test_scales(served: Served, look: Callable[..., Page], dark: bool) -> None:
    page = look(served.address("decoder", view="heatmap", map=0, head=1), dark=dark)
    weights = served.library.get(served.ids["decoder"]).maps[0].weights(1)
    for how, name in (("absolute", "1"), ("map", "map maximum"), ("row", "row maximum")):
        go(page, served.address("decoder", view="heatmap", map=0, head=1, heatmap__scale=how))
        expect(page.locator(".heat-bar").get_by_role("radio", name=name, exact=True)).to_be_checked()
        compare_scale(page, weights, how)


def compare_scale(page: Page, weights: np.ndarray, how: str) -> None:
    """Pixels of a causal map whose largest weight has the last colour, unless the scale is absolute."""
    bytes_ = to_bytes(weights)
    peaks = bytes_.max(axis=1, keepdims=True) if how == "row" else bytes_.max()
    top = np.float32((peaks / 255.0) ** 2) if how != "absolute" else 1.0
    settle(page)
    image = read_pixels(cells(page)).astype(int)
    seen = pick_middles(image, 24, 24)[..., :3]
    table, allowed = read_table(page), np.tril(np.ones((24, 24), bool))
    # The rounding of a top's root may move a colour by one place, not more.
    near = [wanted(weights, table, top * shift) for shift in (1 - 1e-5, 1, 1 + 1e-5)]
    assert all(
        any((each[q, k] == seen[q, k]).all() for each in near)
        for q, k in zip(*np.nonzero(allowed), strict=True)
    )
    if how != "absolute":
        assert (seen[allowed & (bytes_ == peaks)] == table[255]).all(), "the largest has the last colour"


def test_both_renderers_give_the_same_pixels(served: Served, look: Callable[..., Page]) -> None:
    moved = {"heatmap__at": "70.3_66.1_37", "heatmap__scale": "row", "heatmap__leave": "first"}
    places: list[dict[str, object]] = [
        {"map": 5, "head": 3},
        {"map": 5, "head": 3, **moved},
        {"map": 0, "head": "mean", "heatmap__scale": "map"},
        {"map": 0, "head": "model", "heatmap__pool": "max"},
    ]
    images: dict[str, list[np.ndarray]] = {}
    for renderer in ("webgl", "canvas"):
        words = {"view": "heatmap", "heatmap__renderer": renderer}
        page = look(served.address("wide", **words))
        images[renderer] = []
        for place in places:
            address = served.address("wide", **words, **place)
            go(page, address)
            settle(page)
            assert cells(page).get_attribute("data-renderer") == renderer
            assert {"head": str(place["head"])}.items() <= chosen(page).items()
            images[renderer].append(read_pixels(cells(page)))
    for one, other in zip(images["webgl"], images["canvas"], strict=True):
        np.testing.assert_array_equal(one, other)
        assert count_colours(one) > 20, "there is a picture"
    assert len({image.tobytes() for image in images["canvas"]}) == len(places), "each place has its own"


def test_signed_values_are_drawn_around_zero(tmp_path: Path, open_page: Callable[..., Page]) -> None:
    require_page()
    values = np.array([[-0.5, 0.0, 0.125], [0.0, 1e-9, 0.25], [0.5, -0.25, 0.0]], dtype=np.float32)
    bundle.save(from_arrays(values[None], ["a", "b", "c"], content="signed"), tmp_path / "signed.bundle")
    library = Library(tmp_path / "made")
    identity = library.open_file(tmp_path / "signed.bundle")
    places = frames.quantise_signed(values).array.astype(int)
    with serve(library) as url:
        for renderer in ("webgl", "canvas"):
            page = open_page(
                f"{url}/#recording={identity}&view=heatmap&heatmap.renderer={renderer}&query=0&key=0"
            )
            settle(page)
            assert cells(page).get_attribute("data-renderer") == renderer
            image = read_pixels(cells(page)).astype(int)
            seen = pick_middles(image, 3, 3)[..., :3]
            np.testing.assert_array_equal(seen, read_table(page)[places])
            assert np.ptp(seen[0, 1]) < 6, "zero is grey"
            expect(page.locator(".heat-side .readout-value")).to_have_text("-0.5")
        page.get_by_role("tab", name="Inside").click()
        expect(page.locator("#glassformer")).to_contain_text("signed values")
    library.close()


def test_averages(served: Served, look: Callable[..., Page]) -> None:
    maps = served.library.get(served.ids["decoder"]).maps
    page = look(served.address("decoder", view="heatmap", map=1, head="mean"))
    compare(page, maps[1].weights().mean(axis=0), causal=True)
    page = look(served.address("decoder", view="heatmap", map=1, head="model"))
    settle(page)
    page.locator(".heat-plot").focus()
    for _ in range(2):
        page.keyboard.press("ArrowUp")
    expect(page.locator(".tooltip .readout")).to_have_attribute("data-kind", re.compile("exact|masked"))


def fetch_tile(served: Served, path: str) -> frames.FrameArray:
    url = f"{served.url}/api/recordings/{served.ids['long']}/maps/0/tiles/{path}"
    with urllib.request.urlopen(url) as answer:
        return frames.decode_frame(answer.read()).arrays["tile"]


@pytest.mark.parametrize("how", ["mean", "max"])
def test_tiles(served: Served, look: Callable[..., Page], how: str) -> None:
    """Far, nearer, near: every pixel is that of the tile that the server gives for it."""
    page = look(served.address("long", view="heatmap"))
    for at, level in ((None, 3), ("1500_1500_1400", 1), ("2000_2100_500", 0), ("2900_2900_90", 0)):
        words = {"heatmap__pool": how, "heatmap__scale": "absolute"}
        words |= {} if at is None else {"heatmap__at": at}
        go(page, served.address("long", view="heatmap", map=0, head=1, **words))
        settle(page)
        compare_tiles(page, served, at, level, how)


def compare_tiles(page: Page, served: Served, at: str | None, level: int, how: str) -> None:
    """Pixels of a part of the long map, which is at such a level, against the server's tiles."""
    image = read_pixels(cells(page)).astype(int)
    high, wide = image.shape[:2]
    cell = np.array(fit_cell(wide, high, 3000, 3000))[::-1]  # high, wide
    first = np.array([0.0, 0.0])
    if at is not None:
        key, query, across = map(float, at.split("_"))
        cell *= wide / across / cell[1]
        span = np.array([high, wide]) / cell
        first = np.clip(np.array([query, key]) - span / 2, 0, np.maximum(0, 3000 - span))
    scale = cell.min()
    seen_level = max(0, int(np.ceil(-np.log2(scale) - 1e-9)))
    assert abs(seen_level - level) <= 1, (scale, seen_level)
    # Pixels well inside a cell of the level, so that no rounding at edges matters.
    random = np.random.default_rng(0)
    table, tiles, tested = read_table(page), {}, 0
    for y, x in zip(random.integers(0, high, 4000), random.integers(0, wide, 4000), strict=True):
        place = first + (np.array([y, x]) + 0.5) / cell
        pixel = place / 2**seen_level
        if (place >= 3000).any() or (np.abs(pixel - np.round(pixel)) < 0.02).any():
            continue
        query, key = np.floor(place).astype(int)
        row, column = int(query) >> seen_level, int(key) >> seen_level
        name = f"1/{seen_level}/{row // 256}/{column // 256}?how={how}&as=uint8"
        if name not in tiles:
            tiles[name] = fetch_tile(served, name)
        byte = int(tiles[name].array[row % 256, column % 256])
        last_query = min(((row + 1) << seen_level) - 1, 2999)
        if byte == 0 and (column << seen_level) > last_query:
            continue  # hatched
        if scale >= GAP and not (image[y, x] == 255).any() and image[y, x, 3] == 0:
            continue  # the line between cells
        share = byte * np.sqrt(tiles[name].maximum)
        near = {int(np.clip(np.floor(share + 0.5 + shift), 1 if byte else 0, 255)) for shift in (-1e-3, 1e-3)}
        assert any((image[y, x, :3] == table[each]).all() for each in near), (y, x, byte, image[y, x])
        tested += 1
    assert tested > 500


def test_the_crosshair_tells_the_exact_weight(served: Served, look: Callable[..., Page]) -> None:
    page = look(served.address("decoder", view="heatmap", map=1, head=0))
    settle(page)
    weights = served.library.get(served.ids["decoder"]).maps[1].weights(0)
    box = cells(page).bounding_box()
    assert box is not None
    wide, high = fit_cell(box["width"], box["height"], 24, 24)
    for query, key in ((20, 3), (7, 7), (23, 0)):
        page.mouse.move(box["x"] + (key + 0.5) * wide, box["y"] + (query + 0.5) * high)
        readout = page.locator(".tooltip .readout")
        expect(readout).to_have_attribute("data-kind", "exact")
        expect(readout.locator(".readout-number").first).to_have_text(str(query))
        expect(readout.locator(".readout-number").last).to_have_text(str(key))
        value = readout.locator(".readout-value").inner_text()
        assert np.float32(value) == weights[query, key], "the very float32 of the recording"
    page.mouse.move(box["x"] + 20.5 * wide, box["y"] + 2.5 * high)
    expect(page.locator(".tooltip .readout-value")).to_have_text("masked")


def test_about_first_then_exact(served: Served, open_page: Callable[..., Page]) -> None:
    page = open_page(served.address("decoder", view="heatmap", map=1, head=0))
    settle(page)
    held: list[Route] = []
    page.route("**/weights?*float32*", lambda route: held.append(route))
    box = cells(page).bounding_box()
    assert box is not None
    with page.expect_request("**/weights?*float32*"):
        page.mouse.move(box["x"] + 30, box["y"] + box["height"] * 0.6)
    value = page.locator(".tooltip .readout-value")
    expect(value).to_have_text(re.compile("^≈"))
    while not held:
        page.wait_for_timeout(10)  # the request has been made: it comes here
    held[0].continue_()
    expect(page.locator(".tooltip .readout")).to_have_attribute("data-kind", "exact")
    expect(value).not_to_have_text(re.compile("≈"))


def test_zoom_and_pan_are_in_the_link(served: Served, look: Callable[..., Page]) -> None:
    page = look(served.address("wide", view="heatmap", map=2, head=5))
    settle(page)
    whole = read_pixels(cells(page))
    box = cells(page).bounding_box()
    assert box is not None
    wide, high = fit_cell(box["width"], box["height"], 128, 128)
    x, y = box["x"] + 38.5 * wide, box["y"] + 64.5 * high
    page.mouse.move(x, y)
    under = page.locator(".tooltip .readout-number")
    expect(under).to_have_text(["64", "38"])
    page.mouse.wheel(0, -240)  # alone it scrolls the page
    page.keyboard.down("Control")
    for _ in range(4):
        page.mouse.wheel(0, -50)
    page.keyboard.up("Control")
    page.wait_for_function("() => location.hash.includes('heatmap.at=')")
    settle(page)
    expect(under).to_have_text(["64", "38"])  # the cell under the pointer stays under it
    near = chosen(page)["heatmap.at"]
    page.mouse.down()
    page.mouse.move(x - 80, y - 60, steps=4)
    page.mouse.up()
    page.mouse.move(5, 5)
    page.wait_for_function("near => !location.hash.includes(`heatmap.at=${near}`)", arg=near)
    settle(page)
    again = look(page.evaluate("location.href"))
    settle(again)
    np.testing.assert_array_equal(read_pixels(cells(page)), read_pixels(cells(again)))
    assert not np.array_equal(whole, read_pixels(cells(again)))
    again.locator(".heat-plot").focus()
    again.keyboard.press("0")
    again.wait_for_function("() => !location.hash.includes('heatmap.at=')")
    settle(again)
    np.testing.assert_array_equal(whole, read_pixels(cells(again)))


def test_keyboard_only(served: Served, open_page: Callable[..., Page]) -> None:
    page = open_page(served.address("decoder", view="heatmap", map=0, head=0))
    settle(page)
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement?.classList.contains('heat-plot') ?? false"):
            break
    else:
        pytest.fail("the heat map cannot be reached with Tab")
    assert plot(page).get_attribute("aria-label")
    page.keyboard.press("ArrowDown")
    numbers = page.locator(".tooltip .readout-number")
    expect(numbers.last).to_have_text(re.compile(r"\d"))
    query, key = map(int, numbers.all_inner_texts())
    for press in ("ArrowDown", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(press)
    expect(numbers.first).to_have_text(str(query + 2))
    expect(numbers.last).to_have_text(str(key - 1))
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => location.hash.includes('query={query + 2}&key={key - 1}')")
    pinned = page.locator(".heat-side .readout")
    expect(pinned).to_be_visible()
    expect(pinned).to_have_attribute("data-kind", re.compile("exact|masked"))
    page.keyboard.press("+")
    page.keyboard.press("+")
    page.wait_for_function("() => location.hash.includes('heatmap.at=')")
    at = chosen(page)["heatmap.at"]
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_function(f"() => !location.hash.includes('heatmap.at={at}')")
    page.keyboard.press("-")
    page.keyboard.press("0")
    page.wait_for_function("() => !location.hash.includes('heatmap.at=')")
    page.keyboard.press("Escape")
    page.wait_for_function("() => !location.hash.includes('query=')")
    expect(pinned).to_be_hidden()


def test_a_click_selects_and_options_are_in_the_link(served: Served, look: Callable[..., Page]) -> None:
    page = look(served.address("translation", view="heatmap", map=2, head=1))
    settle(page)
    box = cells(page).bounding_box()
    assert box is not None
    wide, high = fit_cell(box["width"], box["height"], 6, 9)
    page.mouse.click(box["x"] + 4.5 * wide, box["y"] + 7.5 * high)
    page.wait_for_function("() => location.hash.includes('query=7&key=4')")
    value = page.locator(".heat-side .readout-value")
    expect(page.locator(".heat-side .readout")).to_have_attribute("data-kind", "exact")
    weights = served.library.get(served.ids["translation"]).maps[2].weights(1)
    assert np.float32(value.inner_text()) == weights[7, 4]
    page.locator(".heat-bar").get_by_role("radio", name="row maximum").click()
    page.locator(".heat-bar select").select_option("special")
    page.wait_for_function("() => location.hash.includes('heatmap.scale=row')")
    page.wait_for_function("() => location.hash.includes('heatmap.leave=special')")
    expect(page.locator(".legend-keys")).to_have_text("left out")
    settle(page)
    image = read_pixels(cells(page)).astype(int)
    last = image[centres(9, high), int(5.5 * wide)][:, :3]  # the special key is hatched, others are not
    others = {tuple(colour) for colour in read_table(page)}
    assert len(np.unique(last, axis=0)) <= 2
    assert not {tuple(colour) for colour in last} & others


def test_one_token(served: Served, look: Callable[..., Page]) -> None:
    page = look(served.address("single", view="heatmap", map=0, head=0))
    compare(page, np.ones((1, 1), np.float32), causal=False)


def test_switching_heads_keeps_the_place(served: Served, look: Callable[..., Page]) -> None:
    page = look(served.address("wide", view="heatmap", map=2, head=5, heatmap__at="64_64_32"))
    settle(page)
    before = read_pixels(cells(page))
    page.evaluate("() => { location.hash = location.hash.replace('head=5', 'head=6') }")
    expect(page.locator(".heat-heading")).to_contain_text("head 6")
    settle(page)
    assert chosen(page)["heatmap.at"] == "64_64_32"
    assert not np.array_equal(before, read_pixels(cells(page)))


def test_chinese_on_a_telephone(served: Served, look: Callable[..., Page]) -> None:
    page = look(
        served.address("decoder", view="heatmap", map=1, head=1), width=360, height=740, locale="zh-CN"
    )
    settle(page)
    expect(page.locator(".heat-heading")).to_have_text("解码器第 1 层自注意力 · 注意力头 1")
    assert measure_overflow(page) <= 0
    host = page.locator(".heat").bounding_box()
    canvas = cells(page).bounding_box()
    assert host is not None
    assert canvas is not None
    assert canvas["width"] > 200
    assert canvas["x"] + canvas["width"] <= 360
    compare(page, served.library.get(served.ids["decoder"]).maps[1].weights(1), causal=True)


def test_saved_pictures(served: Served, look: Callable[..., Page]) -> None:
    """Small maps as rectangles in the cells' very colours; large ones as an embedded image."""
    page = look(served.address("decoder", view="heatmap", map=1, head=0))
    settle(page)
    table = read_table(page)
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("SVG")).click()
    text = download.value.path().read_text("utf-8")
    for word in ("Decoder layer 1", "invented decoder", "masked", "square-root"):
        assert word in text
    weights = served.library.get(served.ids["decoder"]).maps[1].weights(0)
    fills = re.findall(r'<rect [^>]*fill="rgb\((\d+) (\d+) (\d+)\)"/>', text)
    colours = {tuple(map(int, fill)) for fill in fills}
    assert {tuple(colour) for colour in wanted(weights, table)[np.tril_indices(24)]} <= colours
    assert "<style" not in text
    assert "style=" not in text
    page.set_content("<div id=here></div>")
    assert page.evaluate(
        "text => !new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror')",
        text,
    )
    page = look(served.address("wide", view="heatmap", map=1, head=0))
    settle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("SVG")).click()
    assert 'href="data:image/png;base64,' in download.value.path().read_text("utf-8")


def test_the_table_holds_the_floats(served: Served, look: Callable[..., Page]) -> None:
    page = look(served.address("decoder", view="heatmap", map=1, head=0, query=12, key=5))
    settle(page)
    page.get_by_role("button", name=re.compile("table", re.IGNORECASE)).first.click()
    rows = page.get_by_role("dialog").locator("tbody tr")
    expect(rows).to_have_count(24)
    weights = served.library.get(served.ids["decoder"]).maps[1].weights(0)
    cells = rows.nth(12).locator("td, th").all_inner_texts()
    assert cells[0].startswith("12")
    assert float(cells[6].replace("\u2212", "-")) == shown(float(weights[12, 5]))


def test_long_maps_move_without_waiting(served: Served, look: Callable[..., Page]) -> None:
    """While tiles are on their way an ancestor stands in for them. What has come is not asked for again."""
    page = look(served.address("long", view="heatmap", map=0, head=0))
    settle(page)
    page.evaluate(
        """() => {
            window.draws = 0; window.asked = []; window.again = [];
            const come = new Set();
            const [frame, ask] = [window.requestAnimationFrame, window.fetch];
            const read = Response.prototype.arrayBuffer;
            window.requestAnimationFrame = task => frame(time => { window.draws += 1; task(time); });
            window.fetch = (url, ...words) => {
                window.asked.push(url);
                if (come.has(url)) window.again.push(url);
                return ask(url, ...words);
            };
            Response.prototype.arrayBuffer = function () {
                return read.call(this).then(bytes => { come.add(this.url); return bytes; });
            };
        }"""
    )
    box = cells(page).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 200, box["y"] + 300)
    page.keyboard.down("Control")
    for step in range(12):
        page.mouse.wheel(0, -44 if step % 4 else 26)
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
        image = read_pixels(cells(page))
        assert (image[300, 200:210, 3] == 255).any(), "never an empty place"
    page.keyboard.up("Control")
    assert page.evaluate("() => window.draws") > 5
    settle(page)
    assert any("/tiles/" in url for url in page.evaluate("() => window.asked"))
    assert page.evaluate("() => window.again") == []
