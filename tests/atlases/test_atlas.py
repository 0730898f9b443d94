"""Atlases: saved, opened, searched."""

from collections.abc import Callable
from pathlib import Path

import pytest

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
    assert "2 heads" in str(atlas)
    with pytest.raises(InputError) as error:
        atlas.find("induction")
    assert error.value.message.code == "atlases.no_detector"


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
