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
    assert f"previous_token {change.first:.2f} → 0.15: head 0 of decoder.self.0\n" in f"{text}\n"
    assert "head 0 of decoder.self.1: previous_token → no type" in text
    assert "→" not in str(build_atlas().compare(build_atlas()))


def test_atlases_of_other_texts_say_so(build_atlas: Callable[..., Atlas]) -> None:
    one, other = build_atlas(), build_atlas()
    assert one.compare(other).same_texts
    assert "texts" not in str(one.compare(other))
    corpus = other.body.corpus.model_copy(update={"texts": 5})
    found = one.compare(Atlas(other.body.model_copy(update={"corpus": corpus})))
    assert not found.same_texts
    assert "made from other texts, mine (9) and mine (5)" in str(found)


def test_other_architectures_are_matched_by_behaviour(build_atlas: Callable[..., Atlas]) -> None:
    found = build_atlas(layers=3).compare(build_atlas("two", layers=2))
    assert not found.same_architecture
    assert len(found.pairs) == 4
    assert not found.changed
