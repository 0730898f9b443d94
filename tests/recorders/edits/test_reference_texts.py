"""The sentences that a mean ablation uses where none are given."""

import pytest

from glassformer.recorders.edits.reference_texts import CHINESE, ENGLISH, choose_sentences


@pytest.mark.parametrize(
    ("text", "texts", "name"),
    [("The cat sleeps.", ENGLISH, "English"), ("", ENGLISH, "English"), ("猫 sleeps.", CHINESE, "Chinese")],
)
def test_sentences_have_the_script_of_the_text(text: str, texts: tuple[str, ...], name: str) -> None:
    chosen = choose_sentences(text)
    assert chosen.texts == texts
    assert str(chosen.as_message()) == f"the {len(texts)} {name} reference sentences of Glassformer"
    assert len(set(texts)) == len(texts) == 12
