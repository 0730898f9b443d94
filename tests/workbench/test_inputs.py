"""What a model is given: texts, masks, random sequences, sentences; what is refused."""

from collections.abc import Callable

import pytest

from glassformer.messages import message
from glassformer.workbench.sequences import find_sentences
from workbench.conftest import Run


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({}, "generates none"),  # a decoder that only reads
        ({"model": "zoo/encoder"}, "generates none"),
        ({"model": "zoo/translator", "target_language": "fr", "target": "the street"}, "generates none"),
        ({"kind": "generate", "prefix": [4000]}, "4000"),
        ({"kind": "generate", "prefix": [4] * 24}, "reads at most 24"),
    ],
)
def test_a_prefix_that_cannot_be_continued_is_refused(
    fail: Callable[..., str], words: dict[str, object], part: str
) -> None:
    assert part in fail(**{"prefix": [4], **words})


def test_two_sentences_are_two_segments(run: Run) -> None:
    one, two = (run(model="zoo/encoder", second_text=second)[0] for second in (None, "the street"))
    assert len(two.source) > len(one.source)


def test_random_sequences_are_framed_words(run: Run) -> None:
    one, same, other = (
        run(model="zoo/masked", sequence="random", length=6, seed=seed)[0] for seed in (1, 1, 2)
    )
    assert one.source.ids.tolist() == same.source.ids.tolist() != other.source.ids.tolist()
    assert one.source.special is not None
    assert one.source.special.tolist() == [False] * 6 + [True]
    assert not {"<unk>", "<mask>"} & set(one.source.texts)


def test_a_sentence_for_the_task_is_chosen_by_seed(run: Run) -> None:
    texts = [run(model="zoo/endless", sequence="task", seed=seed)[0].source.text for seed in (0, 1)]
    assert texts[0] == "The quick brown fox jumps over the lazy dog."
    assert texts[1] != texts[0]


def test_a_sample_says_which_it_is(run: Run) -> None:
    recording, _ = run(model="zoo/endless", sequence="task", seed=1)
    samples = find_sentences("language_modelling", "en")
    note = message("workbench.sample", number=2, count=len(samples), text=samples[1])
    assert note in recording.evidence.notes
    assert recording.source.text == samples[1]


def test_a_longer_text_is_cut_and_says_so(run: Run) -> None:
    whole, _ = run(model="zoo/endless", text="the animal was too tired")
    assert not whole.evidence.notes or "Left out" not in str(whole.evidence.notes[0])
    count = len(whole.source.texts) - int(whole.source.special.sum())
    for words in ({"text": "the animal was too tired"}, {"sequence": "task", "seed": 0, "text": None}):
        cut, _ = run(model="zoo/endless", length=2, **words)
        note = next(each for each in cut.evidence.notes if each.code == "workbench.cut")
        assert note.parameters["kept"] == len(cut.source.texts) - int(cut.source.special.sum()) <= 2
        assert note.parameters["count"] > 2
        assert cut.source.text
        assert str(note.parameters["rest"])
    untouched, _ = run(model="zoo/endless", text="the animal was too tired", length=count)
    assert untouched.source.texts == whole.source.texts
    assert not [each for each in untouched.evidence.notes if each.code == "workbench.cut"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({"text": "the animal " * 20}, "The text has 41 tokens, but zoo/decoder reads at most 24"),
        ({"sequence": "random", "length": 24}, "reads at most 24"),
        (
            {"model": "zoo/translator", "target_language": "fr", "target": "the " * 30},
            "The target has 31 tokens",
        ),
        (
            {"edits": [{"kind": "ablate", "stack": "decoder", "attention": "self", "layer": 0, "head": 7}]},
            "no head 7",
        ),
        ({"model": "zoo/encoder", "kind": "generate"}, "no head that predicts"),
    ],
)
def test_what_only_the_model_knows_is_refused_by_it(
    fail: Callable[..., str], words: dict[str, object], part: str
) -> None:
    assert part in fail(**words)
