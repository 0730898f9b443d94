"""The committed TypeScript types are those of the schema; what may be null is so in both."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from glassformer.api.app import create_app
from glassformer.api.library import Library
from glassformer.api.openapi import render_schema

SCRIPT = Path(__file__).parents[2] / "web" / "generate" / "generate.py"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    found = importlib.util.spec_from_file_location("generate", SCRIPT)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_types_of_the_page_are_those_of_the_server(generate: ModuleType) -> None:
    first, _, types = generate.TARGET.read_text(encoding="utf-8").partition("\n")
    assert first == generate.head(render_schema(create_app(Library(shipped=None))), types), "run `make types`"


def test_what_may_be_null_is_said(generate: ModuleType) -> None:
    """A hypothesis that cannot be has no score; it must not look certain."""
    types = generate.TARGET.read_text(encoding="utf-8")
    _, _, step = types.partition("readonly StepDescription: {")
    assert "readonly score: number | null;" in step.partition("};")[0]
    _, _, choice = types.partition("readonly TokenChoice: {")
    assert "readonly log_probability: number | null;" in choice.partition("};")[0]
