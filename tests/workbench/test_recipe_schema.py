"""The schema of recipes is written anew whenever a setting changes."""

from glassformer.workbench.recipe_fields import FILE
from glassformer.workbench.recipe_schema import render


def test_the_schema_is_that_of_the_settings() -> None:
    assert render() == FILE.read_text(encoding="utf-8"), "run `make types`"
