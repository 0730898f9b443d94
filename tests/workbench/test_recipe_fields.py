"""Settings that a recipe may have over HTTP: each has a help text, and each text a use."""

import pytest

from glassformer.messages import read_catalogue
from glassformer.workbench.recipe_fields import PLAIN, USES, drop_hidden, read_file, read_schema


def test_every_setting_has_a_help_text() -> None:
    catalogue = read_catalogue("en")
    fields = [field for table in read_schema(10).tables for kind in table.kinds.values() for field in kind]
    fields += [inner for field in fields for inner in field.fields]
    lacking = {
        field.help.code for field in fields if field.help is not None and field.help.code not in catalogue
    }
    assert not lacking


def test_every_text_is_known_by_its_use() -> None:
    """A new text of a recipe cannot be set over HTTP until somebody has said whether it is a path."""
    known = {*USES, *PLAIN}
    listed = set()
    for table, kinds in read_file().items():
        for field in (each for fields in (kinds.values() if table != "presets" else ()) for each in fields):
            listed.add(f"{table}.{field['name']}")
            listed |= {f"{table}.{field['name']}.{inner['name']}" for inner in field.get("fields", ())}
    assert known <= listed


def test_a_hidden_setting_is_dropped_only_where_it_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = {"name": "callbacks", "types": ["texts"], "default": []}
    monkeypatch.setattr(
        "glassformer.workbench.recipe_fields.read_file", lambda: {"monitor": {"": [hidden]}, "presets": {}}
    )
    assert drop_hidden({"monitor": {"callbacks": [], "every": 3}}) == {"monitor": {"every": 3}}
    assert drop_hidden({"monitor": {"callbacks": ["x"]}}) == {"monitor": {"callbacks": ["x"]}}
