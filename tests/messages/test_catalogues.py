"""Catalogues: every code of the source is in every language, with the same parameters; none is left over."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import glassformer
from glassformer.messages import Message, known_languages, read_catalogue
from glassformer.messages.catalogues import FALLBACK, SHIPPED
from glassformer.messages.message import _NUMBER_FORMAT

PACKAGE = Path(glassformer.__file__).parent
AREAS = sorted(path.stem for path in (SHIPPED / FALLBACK).glob("*.toml"))
FOUND_BY_NAME = ("term.", "list.")  # codes that are put together at run time
# Packages whose errors all come from the catalogues. Goal: every one of them.
CONVERTED: tuple[str, ...] = (
    "engine",
    "api",
    "walk",
    "runlog",
    "atlases",
    "comparison",
    "config",
    "corpus",
    "bundle",
    "recording",
    "cli",
    "loaded",
    "metrics",
    "lessons",
    "model",
    "place",
    "recorders",
    "registry",
    "tasks",
    "render",
    "text",
    "training",
    "weights",
    "workbench",
)
ERRORS = re.compile(r"\w*Error")


def strings(package: str) -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if package in ("", path.relative_to(PACKAGE).parts[0].removesuffix(".py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value
                if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                    yield str(node.values[0].value) + "*"  # f"metrics.{name}": a family of codes


@pytest.fixture(scope="module")
def used() -> set[str]:
    cards = (path.read_text(encoding="utf-8") for path in PACKAGE.glob("zoo/*/card.toml"))
    return set(strings("")) | {code for card in cards for code in re.findall(r'code = "([\w.]+)"', card)}


@pytest.mark.parametrize("area", AREAS)
@pytest.mark.slow
def test_every_text_is_used(area: str, used: set[str]) -> None:
    families = tuple(text.removesuffix("*") for text in used if text.endswith("*") and "." in text)
    codes = [code for code in read_catalogue(FALLBACK) if code.startswith(f"{area}.")]
    left = [code for code in codes if code not in used and not code.startswith((*FOUND_BY_NAME, *families))]
    assert not left


@pytest.mark.slow
def test_every_code_has_a_text(used: set[str]) -> None:
    wanted = {text for text in used if re.fullmatch(rf"({'|'.join(AREAS)})(\.[a-z0-9_]+)+", text)}
    files = re.compile(r"\.(py|js|json|toml|txt|md|html|bundle|safetensors|weight|bias)$")
    wanted -= {"text.parse_math", "model.start"}  # settings, of matplotlib and of recipes
    lacking = {code for code in wanted if not files.search(code)} - set(read_catalogue(FALLBACK))
    assert not lacking


@pytest.mark.parametrize("language", known_languages()[1:])
def test_languages_have_the_same_texts_with_the_same_parameters(language: str) -> None:
    english, other = read_catalogue(FALLBACK), read_catalogue(language)
    assert sorted(english) == sorted(other)
    for code, template in english.items():
        assert parameters(other[code]) == parameters(template), code


def parameters(template: str) -> set[str]:
    """Plural forms are left out: a language may have none, or others."""
    fields = [field for _, field, _, _ in Formatter().parse(template) if field is not None]
    return set(fields)


@pytest.mark.parametrize("language", known_languages())
def test_numbers_are_formatted_as_asked(language: str) -> None:
    """What is no specification of ours would print all digits of a number."""
    for code, template in read_catalogue(language).items():
        for _, _, wanted, _ in Formatter().parse(template):
            known = wanted in (None, "q", "and", "or") or wanted.startswith("plural ")
            assert known or _NUMBER_FORMAT.fullmatch(wanted), (code, wanted)


@pytest.mark.parametrize("package", CONVERTED)
def test_errors_come_from_the_catalogues(package: str) -> None:
    """The first argument of an error is a code or a message, never a sentence."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0].removesuffix(".py") != package:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            raised = isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
            call = node.exc if raised and isinstance(node.exc, ast.Call) else None  # type: ignore[attr-defined]
            if call is None or not call.args or getattr(call.func, "id", "") in BUILT_IN:
                continue
            first = call.args[0]
            sentence = isinstance(first, ast.JoinedStr) or (
                isinstance(first, ast.Constant) and " " in str(first.value)
            )
            if sentence and ERRORS.fullmatch(getattr(call.func, "id", "")):
                found.append(f"{path.relative_to(PACKAGE)}:{call.lineno}")
    assert not found


BUILT_IN = (
    "AttributeError", "KeyError", "TypeError", "ValueError", "RuntimeError", "NotImplementedError", "OSError",
    "MemoryError", "AssertionError", "ImportError", "TimeoutError", "EOFError", "LookupError",
)  # fmt: skip


def test_a_code_from_a_file_is_never_the_name_of_a_file_that_cannot_be() -> None:
    """The system refuses names of more than 255 bytes, and some letters in names."""
    for area in ("x" * 5_000, "漢" * 100, "../en/api", "", "a/b", "\0", "\ud800"):
        assert Message(f"{area}.key").text("en") == f"{area}.key"
