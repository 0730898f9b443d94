"""Two atlases side by side."""

from collections.abc import Callable

from glassformer.atlases import Atlas


def test_an_atlas_equals_itself(build_atlas: Callable[..., Atlas]) -> None:
    atlas = build_atlas()
    found = atlas.compare(atlas)
    assert found.same_architecture
    assert len(found.pairs) == 4
    assert not found.changed
    assert not any(pair.changes for pair in found.pairs)


def test_a_checkpoint_before_the_head_was_learned(build_atlas: Callable[..., Atlas]) -> None:
    found = build_atlas("late").compare(build_atlas("early", previous=0.15))
    assert [(pair.first.place, pair.first.head) for pair in found.changed] == [
        ("decoder.self.0", 0),
        ("decoder.self.1", 0),
    ]
    assert found.changed[0].changes[0].detector == "previous_token"
    text = str(found)
    assert "late" in text
    change = found.changed[0].changes[0]
    assert f"previous_token {change.first:.2f} → 0.15: head 0 of decoder.self.0" in text
    assert "→" not in str(build_atlas().compare(build_atlas()))


def test_other_architectures_are_matched_by_behaviour(build_atlas: Callable[..., Atlas]) -> None:
    found = build_atlas(layers=3).compare(build_atlas("two", layers=2))
    assert not found.same_architecture
    assert len(found.pairs) == 4
    assert not found.changed
