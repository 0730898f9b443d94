"""The page in a pseudo-language, whose words are English with accents: plain letters are not from our words.

A copy of the sources gets a file of words beside each English one, and catalogues; nothing else is changed.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.conftest import COUNT, Served, serve
from browser.waiting import PATIENCE, rest, settle
from campaigns import campaign
from cli.pseudo_language import LANGUAGE, find_plain_words, words_of, write_catalogues
from glassformer.api.library import Library
from glassformer.lessons.schema import read_defaults
from glassformer.lessons.topics.search import PRODUCTS
from glassformer.messages.catalogues import read_area
from texts import text_of

pytestmark = pytest.mark.browser

WEB = Path(__file__).parents[2] / "web"
VIEWS = (
    "canvas", "overview", "walk", "heatmap", "lines", "text", "flow", "encoder", "embeddings", "numbers",
    "inside", "generation", "effects", "patching", "playground",
)  # fmt: skip
ACCENT = """
const plain = "abcdefghijklmnopqrstuvwxyz";
const accents = "áƀćđéƒǵħíĵķłɱñóƥɋřšťúṽŵẋýž";
const accent = (word) => {
  if (typeof word === "function") return (...given) => accent(word(...given));
  if (typeof word === "object" && word !== null && !Array.isArray(word))
    return Object.fromEntries(Object.entries(word).map(([name, part]) => [name, accent(part)]));
  if (Array.isArray(word)) return word.map(accent);
  if (typeof word !== "string") return word;
  return word.replace(/[a-z]/gi, (letter) => {
    const found = accents[plain.indexOf(letter.toLowerCase())];
    return letter === letter.toLowerCase() ? found : found.toUpperCase();
  });
};
"""
SHOP = tuple(key for key, _ in PRODUCTS.values())  # words of an example
DATA = ("Glassformer", "PNG SVG API", "softmax", *SHOP)  # names of the product, of formats, of functions
# What is read or heard. Tokens and a user's texts (dir=auto, bdi), code and lists of names are data.
READ = """() => {
  const names = ['title', 'aria-label', 'aria-valuetext', 'placeholder', 'alt'];
  const data = '[dir=auto], bdi, noscript, [lang=en], [lang=zh], textarea, code, kbd, .code';
  return [...document.body.querySelectorAll('*')].filter((each) => !each.closest(data)).flatMap((each) => [
    ...[...each.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data),
    ...names.map((name) => each.getAttribute(name) ?? ''),
  ]).map((text) => text.trim()).filter((text) => text !== '');
}"""


@pytest.fixture(scope="module")
def page_in_pseudo_language(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built page, which has one language more."""
    folder = tmp_path_factory.mktemp("pseudo")
    web = folder / "web"
    shutil.copytree(WEB, web, ignore=shutil.ignore_patterns("node_modules", "generate"))
    (web / "node_modules").symlink_to(WEB / "node_modules")
    for path in sorted((web / "src").rglob("*.en.ts")):
        if ".test." in path.name:
            continue
        names = [line.split()[2] for line in path.read_text().splitlines() if line.startswith("export const")]
        exports = "\n".join(f"export const {name} = accent(english.{name});" for name in names)
        text = f'// @ts-nocheck\nimport * as english from "./{path.stem}";\n{ACCENT}{exports}\n'
        path.with_name(path.name.replace(".en.ts", f".{LANGUAGE}.ts")).write_text(text, encoding="utf-8")
    static = folder / "src" / "glassformer" / "api" / "static"
    command = [str(WEB / "node_modules" / ".bin" / "vite"), "build", "--logLevel", "error"]
    subprocess.run(command, cwd=web, check=True, timeout=900, env={**os.environ})
    return static


@pytest.fixture(scope="module")
def pseudo(
    page_in_pseudo_language: Path,
    library: tuple[Library, dict[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Served]:
    catalogues = tmp_path_factory.mktemp("catalogues")
    write_catalogues(catalogues)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GLASSFORMER_CATALOGUES", str(catalogues))
        read_area.cache_clear()
        with serve(library[0], static=page_in_pseudo_language) as url:
            yield Served(url, *library)
    read_area.cache_clear()


@pytest.fixture
def open_pseudo(chromium: Browser) -> Iterator[Callable[[str], Page]]:
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    context.add_init_script(COUNT)
    context.set_default_timeout(PATIENCE)
    context.add_init_script(f"localStorage.setItem('glassformer.language', '{LANGUAGE}')")

    def open_one(url: str) -> Page:
        page = context.new_page()
        page.goto(url)
        return page

    yield open_one
    context.close()


def list_names(library: Library) -> list[str]:
    """What the list of recordings names: files of a user, those of other tests among them."""
    titles = [entry.title for entry in library.entries()]
    return [text_of(title) for title in titles if title.code == "text.literal"]


@campaign("name", ["translation", "single"], sample=["translation"])
def test_no_english_remains_in_the_page(
    pseudo: Served, open_pseudo: Callable[[str], Page], name: str
) -> None:
    recording = pseudo.library.get(pseudo.ids[name])
    sides = [side for side in (recording.source, recording.target) if side is not None]
    tokens = [text for side in sides for text in side.texts]
    evidence = recording.evidence
    names = (
        recording.model,
        evidence.model_hash[:12],
        evidence.dtype,
        str(evidence.kernel),
        *evidence.versions,
    )
    saved = read_defaults()
    example = list_data(saved.results[saved.topics[0].name].model_dump())  # the playground opens with it
    files = (*list_names(pseudo.library), *pseudo.ids, *pseudo.ids.values())
    allowed = words_of(*DATA, *files, *names, *tokens, *example)
    page = open_pseudo(pseudo.address(name, view="overview"))
    settle(page)
    expect(page.locator("html")).to_have_attribute("lang", LANGUAGE)
    found: dict[str, list[str]] = {}

    def look(where: str) -> None:
        rest(page)
        found[where] = find_plain_words("\n".join(page.evaluate(READ)), allowed)

    for view in VIEWS:
        page.evaluate(f"location.hash = 'recording={pseudo.ids[name]}&view={view}'")
        expect(page.locator(f".view-{view}, [data-notice=does-not-fit]").first).to_be_attached()
        look(view)
    page.evaluate(f"location.hash = 'recording={pseudo.ids[name]}&view=numbers'")
    expect(page.locator(".view-numbers")).to_be_attached()
    for panel in ("interpretability", "debugging", "about"):
        page.locator(f"[role=tab][data-name={panel}]").click()
        look(panel)
    page.locator("[data-action=help]").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    look("help")
    page.keyboard.press("Escape")
    page.evaluate("location.hash = 'recording=nowhere&view=numbers'")
    expect(page.locator("[data-notice=trouble], .banner").first).to_be_visible()
    allowed |= words_of("nowhere")
    look("error")
    assert not any(found.values()), {where: words for where, words in found.items() if words}


def list_data(part: Any) -> Iterator[str]:
    """Plain texts of a result: tokens, names, what a user has typed. Texts of ours are messages."""
    if isinstance(part, dict) and "code" not in part:
        part = part.values()
    if isinstance(part, str):
        yield part
    elif not isinstance(part, dict | int | float | None):
        for each in part:
            yield from list_data(each)


def test_no_english_remains_in_the_playground(pseudo: Served, open_pseudo: Callable[[str], Page]) -> None:
    saved = read_defaults()
    page = open_pseudo(f"{pseudo.url}/#view=playground")
    settle(page)
    found: dict[str, list[str]] = {}
    for topic in saved.topics:
        page.evaluate(f"location.hash = 'view=playground&playground.topic={topic.name}'")
        rest(page)
        result = saved.results.get(topic.name)  # of what is measured, none ships
        data = () if result is None else list_data(result.model_dump())
        allowed = words_of(*DATA, *list_names(pseudo.library), topic.formula or "", *data)
        found[topic.name] = find_plain_words("\n".join(page.evaluate(READ)), allowed)
    assert not any(found.values()), {where: words for where, words in found.items() if words}
