"""Many texts at once are recorded as one by one, in the order given; what cannot be is listed."""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
import torch

import glassformer as gf
from glassformer.errors import GlassformerError, InputError
from glassformer.recorders import many as module
from glassformer.recorders.record import find_recorder
from glassformer.rounding import SHARPEST
from our_networks import WORDS, build, build_recurrent
from their_models import ids_of, make_bart, make_bert, make_gpt2, make_llama, make_oss, make_t5
from tolerances import assert_near

LENGTHS = (5, 9, 5, 12, 9, 5, 300)
IDS = [ids_of(length, seed) for seed, length in enumerate(LENGTHS)]
FEW = [[each % 9 for each in ids] for ids in IDS]  # tokens that our networks know
PAIRS: list[Any] = [(ids_of(6, seed), ids_of(4, seed + 9)) for seed in range(3)] + [(ids_of(8), ids_of(4))]


def ours(**words: Any) -> Any:
    return gf.load(build(**{"max_length": 512, **words}), WORDS)


MODELS: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "encoder": (lambda: ours(shape="encoder"), [[each % 9 for each in ids] for ids in IDS]),
    "decoder": (
        lambda: ours(shape="decoder", positions="alibi"),
        [[each % 9 for each in ids] for ids in IDS],
    ),
    "translator": (
        lambda: ours(shape="encoder-decoder"),
        [([each % 9 for each in first], [each % 9 for each in second]) for first, second in PAIRS],
    ),
    "recurrent": (lambda: gf.load(build_recurrent(), WORDS), ["the cat sees", "the big dog"]),
    "GPT-2": (make_gpt2, IDS[:-1]),
    "BERT": (make_bert, IDS[:-1]),
    "Llama, grouped queries": (lambda: make_llama(num_key_value_heads=1), IDS[:-1]),
    "gpt-oss, sinks and a window": (make_oss, IDS[:-1]),
    "BART": (make_bart, PAIRS),
    "T5, a bias": (make_t5, PAIRS),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("want", [("weights", "output", "hidden", "keys"), ("statistics",)])
def test_recordings_are_those_of_single_texts(name: str, want: tuple[str, ...]) -> None:
    make, texts = MODELS[name]
    model = gf.load(make())
    found = list(gf.record_many(model, iter(texts), want=want))
    assert [number for number, _ in found] == list(range(len(texts)))
    for (_, many), text in zip(found, texts, strict=True):
        one = gf.record(model, *(text if isinstance(text, tuple) else (text,)), want=want)
        assert (many.source.ids == one.source.ids).all()
        assert many.evidence.model_hash == one.evidence.model_hash
        assert many.evidence.exact
        assert [each.place for each in many.maps] == [each.place for each in one.maps]
        for ours, theirs in zip(many.maps, one.maps, strict=True):
            near = {"layers": 2, "scores": SHARPEST, "where": f"{name} {ours.place}"}
            assert (ours.query.ids == theirs.query.ids).all()
            assert (ours.key.ids == theirs.key.ids).all()
            for field in ("entropy", "peak", "mass", "log_sum_exp", "thumbnail_mean"):
                assert_near(getattr(ours.statistics, field), getattr(theirs.statistics, field), **near)
            assert (ours.statistics.allowed == theirs.statistics.allowed).all()
            if "weights" in want:
                assert_near(ours.weights(), theirs.weights(), **near)
            if theirs.keys is not None:
                assert_near(ours.keys, theirs.keys, **near)
        for stack, states in one.hidden.items():
            assert_near(many.hidden[stack], states, layers=2, scores=SHARPEST)
        if one.output is not None and many.output is not None:
            assert_near(many.output.probabilities, one.output.probabilities, layers=2, scores=SHARPEST)


def test_texts_of_one_length_share_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    model = gf.load(make_bert())
    recorder: Any = find_recorder(model)
    sizes = []
    run = recorder.run_together
    monkeypatch.setattr(recorder, "run_together", lambda given: sizes.append(len(given)) or run(given))
    list(gf.record_many(model, IDS[:-1], want=("statistics",)))
    assert sorted(sizes) == [1, 2, 3]
    sizes.clear()
    monkeypatch.setattr(module, "MOST_WEIGHTS", 2 * 9 * 9)  # two texts of nine tokens
    list(gf.record_many(model, [ids_of(9, seed) for seed in range(5)], want=("statistics",)))
    assert sizes == [2, 2, 1]


def test_texts_that_fail_are_left_out_and_listed() -> None:
    texts = ["the cat sees", "", "the dog sees", "the cat " * 300, [1, 999]]
    recordings = gf.record_many(ours(shape="encoder"), texts)
    assert [number for number, _ in recordings] == [0, 2]
    assert [(failed.number, failed.reason.code) for failed in recordings.failed] == [
        (1, "loaded.reading.empty_text"),
        (3, "model.too_long"),
        (4, "model.unknown_id"),
    ]
    with pytest.raises(InputError) as error:
        gf.record_many("zoo/bert", "one text")
    assert error.value.message.code == "record.many.not_texts"
    for wrong in ({"want": ("wights",)}, {"target_language": "zz"}):
        with pytest.raises(GlassformerError):
            gf.record_many(ours(shape="encoder"), texts, **wrong)


def test_a_table_is_not_taken_for_its_columns_or_rows() -> None:
    """A DataFrame iterates over the names of its columns, a data set over rows with all their fields."""
    columns = {"review": ["the cat sees", "the dog"], "stars": [1, 2]}
    tables: list[Any] = [columns]
    for library, name in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        if find_spec(library) is not None:
            tables.append(getattr(import_module(library), name)(columns))
    model = ours(shape="encoder")
    for table in tables:
        with pytest.raises(InputError, match=r"as in texts\['review'\]"):
            gf.record_many(model, table)
    for table in tables:
        assert [number for number, _ in gf.record_many(model, table["review"])] == [0, 1]


def test_a_text_that_breaks_its_batch_is_the_only_one_to_fail() -> None:
    model = gf.load(make_bert())
    with torch.no_grad():
        model.network.bert.embeddings.word_embeddings.weight[7] = torch.inf
    model.identity.hash = lambda: "broken on purpose"
    recordings = gf.record_many(model, [[1, 2, 3], [1, 7, 3], [3, 2, 1]])
    assert [number for number, _ in recordings] == [0, 2]
    assert [failed.number for failed in recordings.failed] == [1]


def test_a_model_that_mixes_texts_runs_one_by_one() -> None:
    model = gf.load(make_bert())
    attention = model.network.bert.encoder.layer[0].attention
    mixing = attention.register_forward_hook(lambda _, __, output: (output[0] + output[0].mean(0), output[1]))
    texts = [ids_of(9, seed) for seed in range(3)]
    found = [recording for _, recording in gf.record_many(model, texts)]
    for text, recording in zip(texts, found, strict=True):
        assert_near(recording.maps[-1].weights(), gf.record(model, text).maps[-1].weights(), layers=2)
    mixing.remove()


def test_edits_act_on_every_text() -> None:
    model = ours(shape="encoder")
    edit = gf.AblateHead("encoder", "self", 0, head=0)
    texts = ["the cat sees", "the dog sees"]
    for (_, many), text in zip(gf.record_many(model, texts, edits=[edit]), texts, strict=True):
        one = gf.record(model, text, edits=[edit])
        assert many.evidence.edits == one.evidence.edits != ()
        assert_near(many.maps[-1].weights(), one.maps[-1].weights(), layers=2)


def test_pairs_for_models_that_read_two_texts() -> None:
    model = gf.load("zoo/bert")
    (_, many), (_, other) = gf.record_many(model, [("The cat sleeps.", "It is tired."), "The cat sleeps."])
    assert (
        many.source.ids == gf.record(model, "The cat sleeps.", second_text="It is tired.").source.ids
    ).all()
    assert len(other.source) < len(many.source)


def test_a_batch_that_memory_does_not_hold_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    model = gf.load(build(shape="encoder"), WORDS)
    reader = module.TextReader(model)
    texts = [reader.read(number, "the cat sees") for number in range(10)]
    seen: list[int] = []
    real = module.run_batch

    def run(loaded: Any, group: Sequence[module.PreparedText]) -> Any:
        seen.append(len(group))
        if len(group) > 3:
            raise torch.OutOfMemoryError
        return real(loaded, group)

    monkeypatch.setattr(module, "run_batch", run)
    found = list(module.run_batches(model, [texts, texts[:4], texts[:1]]))
    assert [len(group) for group, _ in found] == [2, 1, 2, 2, 1, 2, 2, 2, 1]
    assert [each.number for group, _ in found[:6] for each in group] == list(range(10))
    assert all(batch is not None for _, batch in found)
    assert seen.count(10) == 1  # not tried again
