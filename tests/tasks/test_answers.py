"""Answers: the same from a network, a subject and a saved folder; what cannot answer says so."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from glassformer.errors import InputError
from glassformer.loaded.native import NativeModel
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.tasks.answers import open_model, stream_answer
from glassformer.tasks.classification import classify
from glassformer.tasks.language_modelling import generate
from glassformer.tasks.masked_language_modelling import fill
from glassformer.tasks.translation import translate
from glassformer.weights.checkpoint import save_checkpoint
from live_models import TOKENIZER, make

School: TypeAlias = Any  # the fixture of conftest.py
MARIAN = {"positions": "sinusoidal-halves", "output_bias": True, "decoder_layers": 1}


@pytest.fixture
def translator(school: School, book: Path) -> NativeModel:
    """A translator as Marian has it; it has not learnt anything."""
    files = [{"path": "{split}.tsv", "languages": ["en", "fr"]}]
    task = school.make_task({"name": "translation", "folder": str(book), "files": files})
    network, settings = school.make_network(task, **MARIAN), GenerationSettings(max_new_tokens=6)
    return NativeModel(network, task.tokenizer, generation=settings)


@pytest.mark.slow
def test_a_saved_translator_answers_as_before(translator: NativeModel, tmp_path: Path) -> None:
    from transformers import AutoTokenizer, MarianMTModel

    texts = ["the cat sees the dog", "the boy"]
    wanted = list(translate(translator, texts, target_language="fr"))
    kind = save_checkpoint(
        translator.network, tmp_path / "saved", translator.tokenizer, generation=translator.generation
    )
    assert kind == "marian"
    assert list(translate(tmp_path / "saved", texts, target_language="fr")) == wanted
    subject = load(tmp_path / "saved")
    assert list(translate(subject, texts, target_language="fr")) == wanted
    assert "".join(stream_answer(open_model(subject), texts[0], target_language="fr")) == wanted[0]
    theirs = MarianMTModel.from_pretrained(tmp_path / "saved").eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "saved")
    for text, answer in zip(texts, wanted, strict=True):
        ids = tokenizer(f">>fr<< {text}", return_tensors="pt", return_token_type_ids=False)
        written = theirs.generate(**ids, max_new_tokens=6, num_beams=1, do_sample=False)[0]
        assert tokenizer.decode(written, skip_special_tokens=True).strip() == answer


def test_what_cannot_answer_says_so(translator: NativeModel) -> None:
    with pytest.raises(InputError, match="does not continue texts; choose a decoder"):
        generate(translator, ["the cat"])[0]
    with pytest.raises(InputError, match="has no classes"):
        classify(translator, ["the cat"])[0]
    with pytest.raises(InputError, match="does not fill gaps"):
        fill(translator, ["the [MASK]"])[0]
    with pytest.raises(InputError, match="Transformer was loaded without a tokenizer"):
        open_model(translator.network)
    with pytest.raises(InputError, match="cannot be made of type list"):
        open_model([translator])


def test_many_texts_are_answered_in_order_whatever_their_lengths(translator: NativeModel) -> None:
    texts = ["the cat " * (1 + number % 5) for number in range(12)]
    settings = GenerationSettings(max_new_tokens=5, beams=2)
    together = list(translate(translator, texts, decode=settings))
    assert together == [translate(translator, [text], decode=settings)[0] for text in texts]


def test_batches_are_full_where_nobody_waits_for_the_first_answers(
    translator: NativeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, settings = ["the cat"] * 50, GenerationSettings(max_new_tokens=1)
    answer, asked = translator.generate, []

    def generate(rows: Sequence[Sequence[int]], settings: GenerationSettings | None) -> Any:
        asked.append(len(rows))
        return answer(rows, settings)

    monkeypatch.setattr(translator, "generate", generate)
    for stream, wanted in ((False, [16, 34]), (True, [16, 32, 2])):
        asked.clear()
        assert len(list(translate(translator, texts, decode=settings, stream=stream))) == len(texts)
        assert asked == wanted


@pytest.mark.parametrize("stream", [False, True])
def test_what_is_not_a_list_of_texts_is_refused_before_anything_runs(
    translator: NativeModel, stream: bool
) -> None:
    for texts, code in (("the cat", "text.one_text"), (None, "tasks.not_texts"), (3, "tasks.not_texts")):
        with pytest.raises(InputError) as error:
            translate(translator, texts, stream=stream)
        assert error.value.message.code == code
    with pytest.raises(InputError) as error:
        translate(translator, ["the cat"], target_language="xx", stream=stream)
    assert "xx" in str(error.value)


def test_what_is_not_a_text_is_named_by_its_number(translator: NativeModel) -> None:
    with pytest.raises(InputError) as error:
        translate(translator, ["the cat", 3])
    assert error.value.message.code == "tasks.not_a_text"
    assert error.value.message.parameters["number"] == 2


def test_unknown_ways_are_refused() -> None:
    with pytest.raises(InputError) as error:
        classify(make("BertForSequenceClassification"), ["the"], tokenizer=TOKENIZER, long="end")
    assert error.value.message.code == "tasks.unknown_long"
    for best in (0, "many"):
        with pytest.raises(InputError) as error:
            fill(make("BertForMaskedLM"), ["the [MASK]"], tokenizer=TOKENIZER, best=best)
        assert error.value.message.code == "tasks.no_guesses"
