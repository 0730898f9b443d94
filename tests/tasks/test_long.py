"""Texts that are too long: split at sentences, truncated, skipped, refused; counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassformer as gf
from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.tasks.long import join_texts, split_text
from live_models import TOKENIZER, make
from tolerances import assert_near

SENTENCE = "the animal was too tired ."
SETTINGS = GenerationSettings(max_new_tokens=4, min_new_tokens=3)
LONG = " ".join([SENTENCE] * 100)  # more than the positions that the models below have


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("One. Two!  Three?", ["One. ", "Two!  ", "Three?"]),
        ("Mr. Smith saw J. Bach. He left.", ["Mr. Smith saw J. Bach. ", "He left."]),
        ("He said “no.” She left.", ["He said “no.” ", "She left."]),
        ("我爱你。你呢？好", ["我爱你。", "你呢？", "好"]),
        ("3.14 is pi", ["3.14 is pi"]),
    ],
)
def test_sentences(text: str, pieces: list[str]) -> None:
    assert split_text(text, lambda _: True) == pieces


@given(st.text(max_size=300), st.integers(1, 20))
def test_pieces_fit_and_are_the_text_again(text: str, most: int) -> None:
    pieces = split_text(text, lambda piece: len(piece) <= most)
    assert "".join(pieces) == text
    assert all(len(piece) <= most for piece in pieces)


def test_a_long_sentence_is_divided_at_a_comma_or_a_blank() -> None:
    assert split_text("one two three, four five six", lambda piece: len(piece) < 20) == [
        "one two three, ",
        "four five six",
    ]
    assert split_text("one two three four", lambda piece: len(piece) < 12) == ["one two ", "three four"]
    assert split_text("abcdefgh", lambda piece: len(piece) < 5) == ["abcd", "efgh"]


def test_answers_are_joined_as_their_script_writes() -> None:
    assert join_texts(["Je dors.", "", "Tu dors."]) == "Je dors. Tu dors."
    assert join_texts(["我睡。", "你睡。"]) == "我睡。你睡。"
    assert join_texts([]) == ""


@pytest.fixture
def translator() -> LoadedModel:
    return load(make("BartForConditionalGeneration"), TOKENIZER)  # 32 positions


def test_a_split_text_is_its_sentences_joined(translator: LoadedModel) -> None:
    one, other = "the animal was too tired .", "the street ."
    text = " ".join([one, other] * 6)
    assert len(translator.read_prompt(text)) > 32
    alone = gf.translate(translator, [one, other], decode=SETTINGS)
    assert all(alone)
    long = gf.LongTexts("split")
    assert gf.translate(translator, [one, text, other], decode=SETTINGS, long=long) == [
        alone[0],
        " ".join(alone * 6),
        alone[1],
    ]
    assert (long.count, long.first) == (1, [2])


def test_a_truncated_text_is_its_start(translator: LoadedModel) -> None:
    ids = translator.read_prompt(LONG)
    start = [*ids[:31], ids[-1]]  # the end token stays
    [[wanted]] = translator.generate([start], SETTINGS)
    text = translator.require_tokenizer().decode(wanted.words).strip()
    assert text
    assert gf.translate(translator, [LONG], decode=SETTINGS, long="truncate") == [text]
    assert gf.translate(translator, [LONG, ""], decode=SETTINGS, long="skip") == ["", ""]


def test_a_refused_text_is_named_before_anything_is_computed(
    translator: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translator, "generate", lambda *_: pytest.fail("computed"))
    for options in ({}, {"long": "refuse"}, {"long": gf.LongTexts()}):
        with pytest.raises(InputError) as error:
            gf.translate(translator, [SENTENCE] * 700 + [LONG], **options)  # type: ignore[call-overload]
        assert error.value.message.code == "tasks.text_too_long"
        assert error.value.message.parameters["number"] == 701


def test_a_continued_text_is_read_from_its_end() -> None:
    model = load(make("GPT2LMHeadModel"), TOKENIZER)  # 24 positions
    text = "the cat sees the dog " * 12
    settings = GenerationSettings(max_new_tokens=4)
    [found] = gf.generate(model, [text], decode=settings, long="truncate")
    ids = model.read_prompt(text)
    [[wanted]] = model.generate([ids[-20:]], settings)
    assert found == model.require_tokenizer().decode([*ids, *wanted.words])
    with pytest.raises(InputError) as error:
        gf.generate(model, [text], long="split")
    assert error.value.message.code == "tasks.unknown_long"


def test_the_class_of_a_split_text_is_the_mean_of_its_sentences() -> None:
    model = load(make("BertForSequenceClassification"), TOKENIZER)
    sentences = ["the animal was too tired . ", "the street ! "] * 60
    tokenizer = model.require_tokenizer()
    lengths = np.array([len(tokenizer.encode(each).ids) for each in sentences])
    each = np.array([[*found.probabilities.values()] for found in gf.classify(model, sentences)])
    [found] = gf.classify(model, ["".join(sentences)], long="split")
    assert np.abs(each[0] - each[1]).max() > 1e-4  # or the mean would show nothing
    wanted = (lengths @ each / lengths.sum()).tolist()
    assert_near([*found.probabilities.values()], wanted, layers=2)
    assert found.probability == max(found.probabilities.values())
    assert [one.label for one in gf.classify(model, ["", "".join(sentences)], long="skip")] == ["", ""]


def test_the_gaps_of_a_split_text_are_those_of_its_sentences() -> None:
    model = load(make("BertForMaskedLM"), TOKENIZER)
    sentences = ["the [MASK] was too tired .", "the animal was tired .", "the [MASK] [MASK] ."] * 40
    alone = gf.fill(model, [sentences[0], sentences[2]], best=2)
    [found] = gf.fill(model, [" ".join(sentences)], best=2, long="split")
    wanted = [*alone[0].gaps, *alone[1].gaps] * 40
    assert [[guess.token for guess in gap] for gap in found.gaps] == [
        [guess.token for guess in gap] for gap in wanted
    ]
    assert gf.fill(model, ["", " ".join(sentences)], long="skip") == gf.fill(model, ["", ""])


def test_the_old_name_of_truncate_still_works() -> None:
    model = load(make("BertForSequenceClassification"), TOKENIZER)
    old = gf.classify(model, [LONG], long="start")  # type: ignore[call-overload]
    assert old == gf.classify(model, [LONG], long="truncate")


def test_the_report_names_the_first() -> None:
    long = gf.LongTexts("skip")
    assert long.report(24) is None
    for number in range(2, 27):
        long.note(number)
    found = long.report(24)
    assert found is not None
    assert "25 texts have more than 24 tokens" in found.text("en")
    assert "2, 3, 4" in found.text("en")
    assert "15 more" in found.text("en")
    assert "25" in found.text("zh")
