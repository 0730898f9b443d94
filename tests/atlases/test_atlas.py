"""Atlases: saved, opened, searched."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atlases.invented import invent_atlas
from glassformer.atlases import Atlas, open_atlas
from glassformer.errors import InputError


def test_what_is_saved_is_opened(tmp_path: Path, build_atlas: Callable[..., Atlas]) -> None:
    atlas = build_atlas()
    atlas.save(tmp_path / "one")
    assert open_atlas(tmp_path / "one").body == atlas.body


def test_heads_are_found_by_detector(build_atlas: Callable[..., Atlas]) -> None:
    atlas = build_atlas()
    assert [(card.place, card.head) for card in atlas.find("previous_token")] == [
        ("decoder.self.0", 0),
        ("decoder.self.1", 0),
    ]
    assert "previous token (previous_token): 2 heads" in str(atlas)
    with pytest.raises(InputError) as error:
        atlas.find("induction")
    assert error.value.message.code == "atlases.no_detector"


def test_heads_are_found_in_words(build_atlas: Callable[..., Atlas]) -> None:
    atlas = build_atlas()
    for question in ("heads that look at the previous word", "看前一个词的头"):
        assert atlas.search(question) == atlas.find("previous_token")
    assert atlas.search("heads that look at the moon") == []


def test_a_folder_without_an_atlas_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        open_atlas(tmp_path)
    assert error.value.message.code == "atlases.unreadable"
    (tmp_path / "atlas.json").write_text('{"format": "other"}')
    with pytest.raises(InputError) as error:
        open_atlas(tmp_path)
    assert error.value.message.code == "atlases.malformed"


def test_a_table_has_one_row_for_each_score(build_atlas: Callable[..., Atlas]) -> None:
    pytest.importorskip("pandas")
    frame = build_atlas().frame()
    assert len(frame) == 4
    assert frame["passes"].sum() == 2


def test_a_copy_of_an_opened_atlas_has_its_examples(tmp_path: Path) -> None:
    opened = open_atlas(invent_atlas().save(tmp_path / "one"))
    assert opened.save(tmp_path / "one") == tmp_path / "one"  # in its own place
    copied = open_atlas(opened.save(tmp_path / "two"))
    assert copied.open_example(0).source.texts == opened.open_example(0).source.texts


@pytest.mark.parametrize(
    "damage",
    [
        lambda body: body["heads"].pop(),
        lambda body: body["heads"].append(body["heads"][0]),
        lambda body: body["heads"][0].update(place="x"),
        lambda body: (body["heads"][0].update(place="x"), body["places"][0].update(place="x", heads=1)),
        lambda body: body["heads"][0]["scores"].update(previous_token=None),
        lambda body: body["heads"][1].update(type="induction"),
        lambda body: body["detectors"].clear(),
    ],
)
def test_an_atlas_that_contradicts_itself_is_refused(
    tmp_path: Path, build_atlas: Callable[..., Atlas], damage: Callable[[Any], object]
) -> None:
    body = json.loads(build_atlas().body.model_dump_json())
    damage(body)
    (tmp_path / "atlas.json").write_text(json.dumps(body))
    with pytest.raises(InputError, match="does not fit the rest") as error:
        open_atlas(tmp_path)
    assert error.value.message.code == "atlases.malformed"
