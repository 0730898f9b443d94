"""Every topic of the playground against NumPy in double precision, or a case on paper."""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.utils.flop_counter import FlopCounterMode

from glassformer.config import ModelConfig
from glassformer.errors import ApiError, InputError
from glassformer.lessons.models import Zoo
from glassformer.lessons.run import run_topic
from glassformer.lessons.schema import TopicResult
from glassformer.lessons.topics import (
    cost,
    films,
    find_topic,
    lengths,
    padding,
    read_parameters,
    read_topics,
    senses,
)
from glassformer.loaded.opening import load
from glassformer.messages import message
from glassformer.model.attention import SelfAttention
from glassformer.rounding import rounding
from glassformer.tasks.translation import translate
from glassformer.weights.hub import ZOO
from glassformer.workbench.models import ModelCatalog
from tolerances import assert_near

Array = NDArray[np.float64]
Run = Callable[..., TopicResult]
TEXT = "the animal was too tired to cross the street"


@pytest.fixture(scope="module")
def models(zoo: Path) -> Zoo:
    """Tiny random models; one of them has learned positions."""
    names = ("theirs", "recurrent", "masked", "decoder", "translator")
    return Zoo(
        [(f"zoo/{name}", str(zoo / name)) for name in names], lambda name, folder: load(folder, name=name)
    )


@pytest.fixture(scope="module")
def run(models: Zoo) -> Run:
    def run(name: str, **given: object) -> TopicResult:
        words = {key: str(value) for key, value in given.items()}
        return run_topic(name, read_parameters(find_topic(name), words), models)

    return run


def figure(played: TopicResult, id: str) -> Any:
    return next(each for each in played.figures if each.id == id)


def values(played: TopicResult, id: str) -> Array:
    return np.array(figure(played, id).values, dtype=np.float64)


def curves(played: TopicResult, id: str) -> list[Array]:
    return [np.array(each.values, dtype=np.float64) for each in figure(played, id).series]


def softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    result: Array = powers / powers.sum(-1, keepdims=True)
    return result


# All of them


@pytest.mark.parametrize("topic", read_topics(), ids=lambda topic: topic.name)
def test_every_topic_answers_with_its_defaults_in_both_languages(topic: Any, run: Run) -> None:
    given = {"text": TEXT} if topic.name in ("similarity", "heads") else {}
    played = run(topic.name, **given)
    assert played.found.text("en").endswith(".")
    assert played.found.text("zh").endswith("。")
    assert set(played.parameters) == {parameter.name for parameter in topic.parameters}
    ids = [each.id for each in played.figures]
    assert len(ids) == len(set(ids))
    again = TopicResult.model_validate_json(played.model_dump_json())
    assert again == played
    for text in (topic.title, topic.question, topic.change, topic.see, topic.why):
        assert any("一" <= letter <= "鿿" for letter in text.text("zh"))
        assert text.text("en") != text.text("zh")


def test_topics_come_in_a_fixed_order() -> None:
    assert [topic.name for topic in read_topics()] == [
        "search", "lookup", "similarity", "films", "scaling", "masks", "padding", "positions", "order",
        "norms", "heads", "lengths", "cost", "output", "senses",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "given", "part"),
    [
        ("lookup", {"keys": "0"}, "from 1 to 4"),
        ("lookup", {"keys": "1.5"}, "expected an integer"),
        ("lookup", {"keys": "nan"}, "expected an integer"),
        ("lookup", {"temperature": "inf"}, "from 0.25"),
        ("lookup", {"kesy": "2"}, "'keys'"),
        ("lookup", {"question": " "}, "blank"),
        ("lookup", {"question": "x" * 61}, "61 characters"),
        ("masks", {"mask": "half"}, "causal"),
        ("norms", {"padding": "maybe"}, "true or false"),
        ("luokup", {}, "lookup"),
    ],
)
def test_what_cannot_be_is_refused_by_name(name: str, given: dict[str, str], part: str) -> None:
    with pytest.raises(ApiError, match=part):
        read_parameters(find_topic(name), given)


# Search


def test_a_search_mixes_the_values_by_shared_features(run: Run) -> None:
    played = run("search", query="red down jacket 红", temperature=2)
    scores = np.array([4.0, 2.0, 2.0, 2.0, 0.0])  # counted by hand: red down jacket 红 · down jacket · red 红
    (weights,) = curves(played, "weights")
    assert_near(weights, softmax(scores / 2))
    rows = figure(played, "table").rows
    assert [line[1] for line in rows] == scores.tolist()
    mixed = [item.value for item in figure(played, "mixture").items]
    assert_near(mixed, softmax(scores / 2) @ np.array([line[3:] for line in rows], dtype=float))
    assert played.found.text("en").startswith("Red thin down jacket fits best: 4 features")
    assert figure(played, "table").marked == (0,)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("红色薄款羽绒服", "红色薄款羽绒服最匹配：与查询有 7 个共同特征"),
        ("Thin!", "红色薄款羽绒服和红色薄款连衣裙同样匹配：各与查询有 1 个共同特征"),
        ("umbrella", "没有商品含有查询中的特征"),
    ],
)
def test_a_search_says_what_fits(run: Run, query: str, said: str) -> None:
    assert run("search", query=query).found.text("zh").startswith(said)


# Films


def test_films_are_learnt_from_the_known_likes_alone(run: Run) -> None:
    played = run("films", features=3, unknown=12, steps=400)
    known, said = values(played, "known"), values(played, "said")
    hidden = np.isnan(known)
    assert hidden.sum() == 12
    assert (np.sign(said) == known)[~hidden].all()
    tastes = {"R": 0, "A": 1, "RA": 2}
    kinds = [tastes[name.rstrip("123")] for name in figure(played, "said").columns.labels]
    likes = np.array(list(films.USERS.values()), dtype=float)[:, kinds]
    right = int((np.sign(said) == likes)[hidden].sum())
    assert f"{right} of 12 hidden likes" in played.found.text("en")
    items = [item.value for item in figure(played, "numbers").items]
    assert items[:4] == [52, 52, right, 12]
    shown, told = films.make_likes(), films.choose_known(12, 0)
    others = torch.where(told, shown, -shown)  # whatever the hidden ones are
    for one, other in zip(*(films.train(likes, told, 3, 20, 0) for likes in (shown, others)), strict=True):
        assert torch.equal(one, other)


def test_the_cosines_of_films_are_those_of_their_features(run: Run) -> None:
    played = run("films")
    drawn = figure(played, "films").arrows
    points = np.array([(each.x, each.y) for each in drawn])
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    cosines = unit @ unit.T
    same = np.equal.outer([each.group for each in drawn], [each.group for each in drawn])
    near, far = (item.value for item in figure(played, "numbers").items[4:])
    assert_near([near, far], [cosines[same & ~np.eye(8, dtype=bool)].mean(), cosines[~same].mean()])
    assert near > far
    assert "lie together" in played.found.text("en")
    untrained = run("films", steps=0)
    assert untrained.found.text("en").startswith("Without training")


# Look-up


def test_soft_lookup_is_the_softmax_of_shared_characters(run: Run) -> None:
    played = run("lookup", question="段誉的生父是谁？", temperature=2)
    scores = np.array([3.0, 5.0, 3.0, 1.0])  # counted by hand: 段誉的 · 段誉的生父 · 段誉的 · 的
    (weights,) = curves(played, "weights")
    assert_near(weights, softmax(scores / 2))
    rows = figure(played, "table").rows
    assert [line[1] for line in rows] == scores.tolist()
    assert (rows[1][3].text("zh"), rows[1][3].text("en")) == ("段延庆", "段延庆 (Duan Yanqing)")
    note = figure(played, "table").note
    assert re.match(
        r"Result: 0\.\d\d·Six Meridians Divine Sword \+ 0\.\d\d·Duan Yanqing \+ ", note.text("en")
    )
    assert re.match(r"带回的结果：0\.\d\d·六脉神剑 \+ 0\.\d\d·段延庆 \+ ", note.text("zh"))


def test_an_english_question_is_answered_by_shared_words(run: Run) -> None:
    question = find_topic("lookup").parameters[-1].by_language["en"]
    assert question.isascii()
    played = run("lookup", question=question)
    scores = [
        4.0,
        2.0,
        4.0,
        2.0,
    ]  # by hand: duan yu signature art · duan yu · duan yu sworn brothers · signature art
    assert [line[1] for line in figure(played, "table").rows] == scores
    assert figure(played, "weights").labels[2] == "Duan Yu's sworn brothers"


def test_the_first_questions_are_in_the_language_of_the_page() -> None:
    texts = [(topic, each) for topic in read_topics() for each in topic.parameters if each.kind == "text"]
    for topic, parameter in texts:
        assert parameter.by_language.get("en", str(parameter.default)).isascii(), topic.name
    for topic, parameter in texts[:2]:
        assert not parameter.by_language.get("zh", str(parameter.default)).isascii(), topic.name


def test_the_order_of_words_or_of_characters(run: Run) -> None:
    english = find_topic("order").parameters[2].by_language["en"]
    words = figure(run("order", text=english), "change").labels
    assert words == ("step", "by", "step", "by", "step", "by", "step", "we", "go", "on")
    apart = values(run("order", text=english), "distances")
    assert_near(apart[0, [2, 4, 6]], 0, layers=1)  # without positions equal words are one
    assert apart[0, 1] > 0.1
    assert figure(run("order"), "change").labels == tuple("一步两步三步四步望着天")


def test_the_scores_of_the_example_and_the_best_keys_alone(run: Run) -> None:
    scores = np.array([7.0, 1.0, 9.0, 5.0])
    (soft,) = curves(run("lookup", scores="given"), "weights")
    assert_near(soft, softmax(scores))
    (two,) = curves(run("lookup", scores="given", keys=2), "weights")
    assert_near(two, [1 / (1 + np.e**2), 0, 1 / (1 + np.e**-2), 0])
    hard = run("lookup", scores="given", keys=1)
    assert curves(hard, "weights")[0].tolist() == [0, 0, 1, 0]
    assert "乔峰和虚竹" in str(hard.found)
    assert figure(hard, "table").marked == (2,)


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"question": "abc"}, "No key fits better"),
        ({"question": "abc", "keys": 1}, "No key fits better"),
        (
            {"question": "段"},
            "art”, “Duan Yu's father by birth” and “Duan Yu's sworn brothers” fit equally well (30\u202f%",
        ),
        ({"question": "段", "keys": 2}, "3 keys fit equally well"),
        ({"question": "段誉结拜兄弟的招牌武功", "keys": 1}, "2 keys fit equally well"),
        (
            {"question": "段誉的生父是谁？"},
            "Soft attention: “Duan Yu's father by birth” has the largest weight",
        ),
    ],
)
def test_a_tie_is_told_as_one(run: Run, given: dict[str, object], part: str) -> None:
    assert part in str(run("lookup", **given).found)


# Similarity


def test_five_similarities_of_a_models_own_vectors(run: Run, zoo: Path) -> None:
    subject: Any = load(zoo / "masked")
    ids = subject.reader.read_source(TEXT, None).ids
    vectors = subject.network.embeddings.tokens.weight.detach().double().numpy()[list(ids)]
    length = np.linalg.norm(vectors, axis=-1)
    qkv = subject.network.encoder.layers[0].attention.qkv.weight.detach().double().numpy()
    queries, keys = qkv[8:16], qkv[16 + 8 : 32]  # head 1 of 2, width 8
    segment = subject.network.embeddings.segments.weight.detach().double().numpy()[0]
    read = vectors * 4.0 + segment  # √16: this model scales its embeddings
    expected = {
        "dot": vectors @ vectors.T,
        "scaled-dot": vectors @ vectors.T / 4.0,
        "cosine": vectors @ vectors.T / np.outer(length, length),
        "bilinear": (read @ queries.T) @ (read @ keys.T).T / np.sqrt(8),
    }
    for function, scores in expected.items():
        played = run("similarity", function=function, text=TEXT, head=1)
        assert played.model == "zoo/masked"
        assert_near(values(played, "scores"), scores, where=function)
        assert_near(values(played, "weights"), softmax(scores), where=function)
    last = run("similarity", function="bilinear", text=TEXT, head=15)  # more than there are: the last
    assert_near(values(last, "scores"), expected["bilinear"])
    assert last.parameters["head"] == 1
    assert last.ranges["head"].maximum == 1
    untrained = values(run("similarity", function="additive", text=TEXT), "scores")
    assert untrained.shape == (len(ids), len(ids))
    assert not np.allclose(untrained, untrained.T)  # W and U differ


@pytest.mark.parametrize("norms", ["pre", "post"])
def test_bilinear_similarity_takes_the_vectors_that_the_head_reads(
    run: Run, tmp_path: Path, build: Any, norms: str
) -> None:
    """Of a model without positions: the scores of its first layer. Biases, no part of W, are 0."""
    folder = build(
        tmp_path, "encoder", "masked", positions="none", norm_position=norms, embedding_norm=True, segments=2
    )
    model: Any = load(folder)
    with torch.no_grad():
        for part in (model.network.embeddings.norm, model.network.encoder.block(0).attention_residual.norm):
            part.weight.uniform_(0.5, 2.0)
            part.bias.uniform_(-1.0, 1.0)
        model.network.encoder.block(0).attention.qkv.bias.zero_()
    zoo = Zoo([("zoo/own", str(folder))], lambda *_: model)
    given = read_parameters(find_topic("similarity"), {"function": "bilinear", "text": TEXT, "head": "1"})
    recording = model.record(TEXT, want=("scores",))
    assert_near(values(run_topic("similarity", given, zoo), "scores"), recording.maps[0].scores(1))


def test_a_sentence_that_is_too_long_is_refused(run: Run) -> None:
    with pytest.raises(InputError, match="Shorten"):
        run("similarity", text="x " * 45)
    with pytest.raises(InputError, match="there is none here"):
        run_topic("heads", read_parameters(find_topic("heads"), {}))


# Scaling


def test_variances_are_those_of_theory(run: Run) -> None:
    played = run("scaling", width=8, keys=16)
    plainly, scaled, theory = curves(played, "variance")
    widths = 2.0 ** np.arange(11)
    assert np.array_equal(theory, widths)
    assert np.allclose(plainly / widths, 1, atol=0.15)
    assert_near(scaled, plainly / widths, summands=1024)
    for bars in curves(played, "weights"):
        assert_near(bars.sum(), 1)
    sharp, gentle = curves(played, "weights")
    raised = np.exp(16 * np.log(gentle))  # ÷ √256 before the softmax is the 16th root after it
    assert_near(sharp, raised / raised.sum())
    numbers = {str(item.name): item.value for item in figure(played, "numbers").items}
    assert numbers["largest weight, plain"] > 0.9
    assert numbers["gradient, plain"] < 0.3 * numbers["gradient, scaled"]


def test_with_the_factor_the_width_hardly_matters(run: Run) -> None:
    def measure(width: int) -> dict[str, float]:
        return {str(item.name): item.value for item in figure(run("scaling", width=width), "numbers").items}

    narrow, middle, wide = measure(0), measure(5), measure(10)
    assert narrow["largest weight, plain"] < middle["largest weight, plain"] < wide["largest weight, plain"]
    assert wide["gradient, plain"] < 0.1 < 0.7 < narrow["gradient, plain"]
    for name in ("largest weight, scaled", "gradient, scaled"):
        assert np.ptp([each[name] for each in (narrow, middle, wide)]) < 0.1


# Masks


def test_the_mask_of_the_example(run: Run) -> None:
    played = run("masks", mask="both", text="乘着风")
    assert values(played, "allowed").tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 0, 0],
    ]
    assert figure(played, "allowed").rows.labels == ("乘", "着", "风", "<pad>", "<pad>")
    assert "13 of 25" in str(played.found)


@pytest.mark.parametrize("mask", ["none", "padding", "causal", "both"])
@pytest.mark.parametrize("text", ["青花瓷", "爱在西元前", "星晴", "一步两步三步四步望着天"])
def test_masked_weights_are_the_softmax_over_what_is_left(run: Run, mask: str, text: str) -> None:
    played, open_ = run("masks", mask=mask, text=text), run("masks", mask="none", text=text)
    length = max(5, len(text))
    real = np.arange(length) < len(text)
    allowed = np.ones((length, length), dtype=bool)
    if mask in ("padding", "both"):
        allowed &= real
    if mask in ("causal", "both"):
        allowed &= np.tri(length, dtype=bool)
    assert np.array_equal(values(played, "allowed").astype(bool), allowed)
    scores = np.where(allowed, values(open_, "scores"), -np.inf)
    assert np.array_equal(np.isnan(values(played, "scores")), ~allowed)
    weights = softmax(scores)
    assert_near(values(played, "weights"), weights)
    assert values(played, "batch")[:3].sum(-1).tolist() == [3, 5, 2]
    if mask == "none":
        lost, later = weights[real][:, ~real].sum(-1).mean(), np.triu(weights, 1).sum(-1).mean()
        assert f": {lost:.0%} of what".replace("%", "\u202f%") in str(played.found)
        assert f"and {later:.0%} of all weight".replace("%", "\u202f%") in str(played.found)


# Positions


def test_the_width_of_vectors_can_be_set(run: Run) -> None:
    played = run("positions", width=10, length=11, pair=15)
    angle = np.arange(11)[:, None] / 10_000 ** (np.arange(0, 10, 2) / 10)
    codes = np.stack((np.sin(angle), np.cos(angle)), axis=-1).reshape(11, 10)
    assert_near(values(played, "codes"), codes)
    assert len(figure(played, "circle").arrows) > 0  # of the last pair that there is
    wide, narrow = (values(run("masks", mask="none", width=width), "scores") for width in (64, 2))
    assert (np.diag(wide) > 0).all()
    assert np.diag(wide).mean() > 2 * np.diag(narrow).mean()  # |v|² / √d grows with √d


def test_sinusoids_their_products_and_the_shift(run: Run) -> None:
    played = run("positions", length=20, shift=4, pair=1)
    place, feature = np.arange(20)[:, None], np.arange(16)
    angle = place / 10_000 ** (2 * feature / 32)
    codes = np.stack((np.sin(angle), np.cos(angle)), axis=-1).reshape(20, 32)
    assert_near(values(played, "codes"), codes)
    assert_near(values(played, "products"), codes @ codes.T)
    distance = np.cos(np.arange(11)[:, None] / 10_000 ** (2 * feature / 32)).sum(-1)
    for curve in curves(played, "distance"):
        assert_near(curve, distance)
    degrees, error = (item.value for item in figure(played, "rotation").items)
    assert degrees == pytest.approx(np.degrees(4 / 10_000 ** (2 / 32)), rel=5e-7)  # 7 digits are sent
    assert_near(error, 0)
    assert [arrow.label for arrow in figure(played, "circle").arrows] == [
        "0",
        "1",
        "2",
        "0 + 4",
        "1 + 4",
        "2 + 4",
    ]
    before, after = (
        [arrow for arrow in figure(played, "circle").arrows if arrow.group == group] for group in (0, 1)
    )
    for one, other in zip(before, after, strict=True):
        turned = (np.arctan2(other.y, other.x) - np.arctan2(one.y, one.x)) % (2 * np.pi)
        assert_near(turned, np.radians(degrees))


@pytest.mark.parametrize("shift", range(1, 11))
def test_no_arrow_lies_on_another(run: Run, shift: int) -> None:
    places = [
        sum(map(int, arrow.label.split(" + ")))
        for arrow in figure(run("positions", shift=shift), "circle").arrows
    ]
    assert len(set(places)) == 6


def test_the_first_settings_turn_two_fans_apart(run: Run) -> None:
    angle = figure(run("positions"), "rotation").items[0].value
    assert 30 < angle < 90


def test_rotary_products_know_distance_only(run: Run) -> None:
    played = run("positions", kind="rotary", length=24)
    products = values(played, "products")
    for distance in (1, 7, -3):
        diagonal = np.diagonal(products, distance)
        assert_near(diagonal, diagonal[0])
    assert abs(products[0, 1] - products[0, 5]) > 1e-2
    angle = np.arange(24)[:, None] * 10_000.0 ** (-np.arange(16) / 16)
    codes = np.concatenate((np.cos(angle) - np.sin(angle), np.cos(angle) + np.sin(angle)), axis=-1)
    assert_near(values(played, "codes"), codes)


def test_naive_positions_fail_as_the_example_says(run: Run) -> None:
    count = run("positions", kind="count", length=11)
    for name in ("codes", "products"):  # nothing is below 0: no colour is kept for it
        assert (figure(count, name).scale, figure(count, name).low) == ("sequential", 0.0)
    assert np.array_equal(values(count, "products"), np.outer(np.arange(11), np.arange(11)))
    parts = run("positions", kind="share", length=11)
    assert np.allclose(values(parts, "codes")[:, 0], np.arange(11) / 10)
    share = values(parts, "products")
    assert share[1, 10] == pytest.approx(share[2, 5])  # 0.1 × 1 = 0.2 × 0.5
    assert share[1, 2] != pytest.approx(share[8, 9])  # the same distance, another product


def test_learned_positions_are_the_models_own(run: Run, models: Zoo, tmp_path: Path, build: Any) -> None:
    with pytest.raises(InputError, match="learned positions"):
        run("positions", kind="learned")
    folder = build(tmp_path / "learned", "encoder", "masked", positions="learned")
    learned: Any = load(folder)
    zoo = Zoo([("zoo/learned", str(folder))], lambda name, folder: load(folder, name=name))
    played = run_topic(
        "positions", read_parameters(find_topic("positions"), {"kind": "learned", "length": "20"}), zoo
    )
    table = learned.network.embeddings.positions.weight.detach().double().numpy()[:20]
    assert played.model == "zoo/learned"
    assert_near(values(played, "codes"), table)
    assert_near(values(played, "products"), table @ table.T)


def test_three_starting_points_are_three_in_any_length(run: Run) -> None:
    for length in (11, 12, 20, 21, 64):
        names = [
            each.name for each in figure(run("positions", kind="count", length=length), "distance").series
        ]
        assert len(set(names)) == 3, length
    assert "up to 0," not in str(run("positions", kind="count", length=11).found)


# Order


@pytest.mark.parametrize("shuffle", ["reversed", "random"])
def test_without_positions_outputs_permute_with_their_words(run: Run, shuffle: str) -> None:
    without = run("order", positions="none", shuffle=shuffle)
    assert_near(max(curves(without, "change")[0]), 0, layers=1)
    apart = values(without, "distances")
    steps = [place for place, letter in enumerate("一步两步三步四步望着天") if letter == "步"]
    assert_near(apart[np.ix_(steps, steps)], 0, layers=1)
    assert apart[0, 1] > 0.1
    assert "does not matter" in str(without.found)
    for kind in ("sinusoidal", "rotary", "relative"):
        played = run("order", positions=kind, shuffle=shuffle)
        assert max(curves(played, "change")[0]) > 0.01, kind
        apart = values(played, "distances")
        assert apart[np.ix_(steps, steps)][~np.eye(4, dtype=bool)].min() > 0.01, kind
        assert "The order matters" in str(played.found)


@pytest.mark.parametrize(
    "given", [{"text": "a"}, {"text": "aa"}, {"text": "上海上"}, {"text": "ab", "shuffle": "random"}]
)
@pytest.mark.parametrize("positions", ["none", "sinusoidal"])
def test_an_order_that_is_the_old_one_proves_nothing(
    run: Run, given: dict[str, object], positions: str
) -> None:
    assert "nothing to compare" in str(run("order", positions=positions, **given).found)


# Norms


def test_both_norms_of_the_example_by_hand(run: Run) -> None:
    matrix = np.array([[3.2897, 0.7432, -1.1652], [0.7432, 1.3647, -1.1707], [-1.1652, -1.1707, 5.6380]])
    for norm, along in (("layer", 1), ("batch", 0)):
        mean, variance = matrix.mean(along, keepdims=True), matrix.var(along, keepdims=True)
        played = run("norms", data="matrix", norm=norm, louder=1)
        assert_near(values(played, "before"), matrix)
        assert_near(values(played, "after"), (matrix - mean) / np.sqrt(variance + 1e-5))
        assert np.allclose(curves(played, "change")[0], 0)
        assert "choose a larger factor" in str(played.found)  # of either norm: no claim without a change
        mean_left, variance_left = (item.value for item in figure(played, "numbers").items)
        assert_near(mean_left, 0)  # over the rows, or the columns, that were normed
        assert_near(variance_left, (variance / (variance + 1e-5)).min())


@pytest.mark.parametrize("padding", [False, True])
def test_batch_norm_of_a_padded_batch(run: Run, padding: bool) -> None:
    played = run("norms", norm="batch", louder=3, padding=padding)
    before = values(played, "before")
    known = ~np.isnan(before).any(-1)
    assert known.sum() == (15 if padding else 10)
    words = before[known]
    expected = (words - words.mean(0)) / np.sqrt(words.var(0) + 1e-5)
    assert_near(values(played, "after")[known], expected)
    assert np.nanmax(curves(played, "change")[0][:3]) > 0.1  # 青花瓷, which nobody touched


def test_layer_norm_does_not_look_at_neighbours(run: Run) -> None:
    played = run("norms", norm="layer", louder=10)
    change = curves(played, "change")[0]
    assert change[:3].tolist() == [0, 0, 0]
    assert "does not change" in str(played.found)
    before = values(played, "before")
    known = ~np.isnan(before).any(-1)
    words = before[known]
    expected = (words - words.mean(-1, keepdims=True)) / np.sqrt(words.var(-1, keepdims=True) + 1e-5)
    assert_near(values(played, "after")[known], expected)


# Heads


def test_heads_are_those_of_a_recording(run: Run, zoo: Path) -> None:
    subject: Any = load(zoo / "masked")
    recording = subject.record(TEXT, want=("weights",))
    played = run("heads", text=TEXT, layer=1, query=3)
    weights = recording.maps[1].dense.astype(np.float64)  # (head, query, key)
    shown = values(played, "heads")
    assert_near(shown[:2], weights[:, 3])
    assert_near(shown[2], weights[:, 3].mean(0))
    entropy = -(shown * np.log(shown)).sum(-1)
    assert_near(curves(played, "entropy")[0], entropy)
    middle = weights.mean(0)
    divergence = (-(middle * np.log(middle)).sum(-1) + (weights * np.log(weights)).sum(-1).mean(0)).mean()
    assert_near(figure(played, "numbers").items[0].value, divergence)
    last = run("heads", text=TEXT, layer=11, query=39)  # more than there are: the last ones
    assert_near(values(last, "heads")[:2], weights[:, -1])
    assert (last.parameters["layer"], last.parameters["query"]) == (1, len(recording.source) - 1)
    assert last.ranges["layer"].maximum == 1
    names = last.ranges["query"].labels
    assert last.ranges["query"].maximum == len(names) - 1 == len(recording.source) - 1
    assert names == figure(last, "heads").columns.labels


# Lengths


def test_lengths_show_what_was_measured_or_say_that_nothing_was(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(lengths, "FILE", tmp_path / "none.json")
    assert [each.id for each in run("lengths").figures] == ["own"]
    measured = {
        "date": "2026-01-01",
        "sentences": 7,
        "buckets": [
            {"shortest": 1, "longest": 5, "sentences": 7, "joined": False},
            {"shortest": 6, "longest": 10, "sentences": 3, "joined": True},
        ],
        "networks": [
            {"family": "recurrent", "model": "one", "bleu": [30.0, 12.5]},
            {"family": "transformer", "model": "translator", "bleu": [40.0, 39.0]},
        ],
    }
    (tmp_path / "some.json").write_text(json.dumps(measured))
    monkeypatch.setattr(lengths, "FILE", tmp_path / "some.json")
    played = run("lengths")
    assert figure(played, "bleu").x == (3.0, 8.0)
    assert [curve.tolist() for curve in curves(played, "bleu")] == [[30.0, 12.5], [40.0, 39.0]]
    assert "2026-01-01" in str(played.found)
    assert [str(line[0]) for line in figure(played, "table").rows] == ["1–5", "6–10, joined"]
    assert "up to 7 test sentences" in str(figure(played, "bleu").note)
    assert "fixed C was not measured" in str(figure(played, "bleu").note)
    assert str(played.found).endswith(
        ": one: 30 → 12 (58\u202f% less); Transformer: 40 → 39 (3\u202f% less)."
    )
    (alone,) = curves(run("lengths", show="transformer"), "bleu")
    assert alone.tolist() == [40.0, 39.0]


@pytest.mark.slow
def test_the_visitors_sentence_grows_and_every_network_here_translates_it(run: Run, zoo: Path) -> None:
    text = "the animal was too tired to cross the street"
    table = figure(run("lengths", text=text), "own")
    starts = ["the animal", "the animal was too", "the animal was too tired to", text]
    assert [row[:2] for row in table.rows] == [(2, starts[0]), (4, starts[1]), (6, starts[2]), (9, text)]
    for column, (name, language) in enumerate((("recurrent", None), ("translator", "fr")), start=2):
        decode = {"beams": 1, "max_new_tokens": lengths.MOST_NEW}
        answers = [
            translate(str(zoo / name), [start], target_language=language, decode=decode)[0]
            for start in starts
        ]
        assert [row[column] for row in table.rows] == [answer or None for answer in answers]
    assert len(figure(run("lengths", text="Hello", show="transformer"), "own").rows) == 1
    played = run_topic("lengths", read_parameters(find_topic("lengths"), {}))  # no model is here
    assert "own" not in [each.id for each in played.figures]


# Cost


def test_costs_are_measured_and_the_table_is_the_papers(run: Run) -> None:
    played = run("cost", width=64)
    assert len(curves(played, "seconds")) == len(figure(played, "measured").columns) - 1 == 4
    for curve in curves(played, "seconds"):
        known = curve[~np.isnan(curve)]
        assert len(known) >= 2
        assert (known > 0).all()
    assert [line[1:] for line in figure(played, "complexity").rows] == [
        ("O(n²·d)", "O(1)", "O(1)"),
        ("O(n·d²)", "O(n)", "O(n)"),
        ("O(k·n·d²)", "O(1)", message("lessons.cost.path_of_convolution")),
    ]


@pytest.mark.parametrize("width", [64, 512])
def test_work_grows_as_the_lesson_on_cost_says(width: int) -> None:
    """Counted, not timed, from the shapes of what is run; of a GRU the products of its gates."""
    config = ModelConfig(
        vocabulary_size=1, shape="encoder", width=width, heads=cost.HEADS, feed_forward=width
    )
    attention = SelfAttention(config).eval()
    others = {"convolution": torch.nn.Conv1d(width, width, cost.KERNEL, padding=1).eval()}

    def attend(query: torch.Size, key: torch.Size, *_: object, **__: object) -> int:
        return 4 * query.numel() * key[-2]  # q·k of every pair, and as much for the mixture of values

    def multiply(rows: torch.Size, matrix: torch.Size, *_: object, **__: object) -> int:
        return 2 * rows.numel() * matrix[0]

    kernels = {  # of a CPU, which torch's counter does not know
        torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: attend,
        torch.ops.mkldnn._linear_pointwise: multiply,
    }

    def count(name: str, length: int) -> int:
        with torch.no_grad():
            work = cost.prepare(name, attention, others, length)
            with FlopCounterMode(display=False, custom_mapping=kernels) as counter:
                work()
        assert counter.get_total_flops() > 0
        return counter.get_total_flops()

    for short, long in ((32, 64), (256, 512)):
        assert count("attention", long) == 4 * count("attention", short)
        for name in ("projections", "convolution"):
            assert count(name, long) == 2 * count(name, short)
    recurrent = 2 * 2 * 3 * width * width  # per word: three gates, from the word and from the state
    assert count("attention", width) < min(
        count("projections", width), count("convolution", width), recurrent * width
    )
    late = 4 * width
    assert count("attention", late) > max(
        count("projections", late), count("convolution", late), recurrent * late
    )


# Words, pictures and sound


@pytest.mark.parametrize("sense", ["words", "picture", "sound"])
@pytest.mark.parametrize("positions", ["none", "sinusoidal"])
def test_one_encoder_reads_words_pictures_and_sounds(run: Run, sense: str, positions: str) -> None:
    played = run("senses", sense=sense, positions=positions, seed=3, head=2, text="a b c a b d a")
    networks: Any = senses.build(4, 3)
    given = values(played, "vectors")
    attention = (
        networks["picture" if sense == "words" else "words"].encoder.block(0).attention
    )  # another one's
    norm = networks["words"].encoder.block(0).attention_residual.norm
    weight, bias = (each.detach().double().numpy() for each in (attention.qkv.weight, attention.qkv.bias))
    assert norm.weight.eq(1).all()
    assert norm.bias.eq(0).all()
    normed = given - given.mean(-1, keepdims=True)
    normed /= np.sqrt((normed**2).mean(-1, keepdims=True) + norm.eps)
    queries, keys, _ = np.split(normed @ weight.T + bias, 3, axis=-1)
    scores = queries[:, 16:24] @ keys[:, 16:24].T / np.sqrt(8)  # the third head of four
    assert_near(values(played, "attention"), softmax(scores), layers=1, summands=32)
    change: float = figure(played, "numbers").items[2].value
    tolerance = rounding(layers=senses.LAYERS, summands=2 * senses.WIDTH)
    assert (change < tolerance) == (positions == "none")
    assert ("keeps its output" in played.found.text("en")) == (positions == "none")


def test_each_input_layer_makes_vectors_of_what_is_shown(run: Run) -> None:
    networks: Any = senses.build(8, 0)
    way = networks["picture"].perception.projection
    weight, bias = (each.detach().double().numpy() for each in (way.weight, way.bias))
    played = run("senses", sense="picture", drawing="cross")
    pixels = values(played, "read")
    patches = pixels.reshape(4, 7, 4, 7).swapaxes(1, 2).reshape(16, 49)
    assert_near(values(played, "vectors"), (2 * patches - 1) @ weight.T + bias, summands=49)
    words = run("senses", sense="words", text="step by step by step by step we go on")
    table = senses.build(5, 0)["words"].embeddings.tokens.weight.detach().double().numpy()
    assert_near(values(words, "vectors"), values(words, "read") @ table)
    listed = figure(played, "table")
    assert listed.marked == (1,)
    name = "layers.1.feed_forward.expand.weight"
    first, *others = (network.encoder.state_dict()[name] for network in networks.values())
    assert all(torch.equal(first, other) for other in others)
    assert [row[3] for row in listed.rows] == [8 * 32, 50 * 32, (24 * 3 + 1 + 32 * 3 + 1) * 32]
    assert len({row[4] for row in listed.rows}) == 1


def test_a_rising_tone_rises(run: Run) -> None:
    bands = values(run("senses", sense="sound", tone="rising"), "read")
    loudest = bands.argmax(axis=0)[2:-2]  # high ones are above
    assert loudest[0] > loudest[-1]
    assert (np.diff(loudest.astype(int)) <= 0).all()


# Output


@pytest.mark.slow
def test_targets_are_one_hot_and_outputs_learn_them(run: Run) -> None:
    played = run("output", steps=60, pair="student")
    target = values(played, "target")
    assert figure(played, "target").columns.labels == ("a", "am", "I", "thanks", "student", "<eos>")
    assert target.tolist() == np.eye(6)[[2, 1, 0, 4, 5]].tolist()
    first, last = values(played, "untrained"), values(played, "output")
    assert_near(first.sum(-1), 1)
    assert (last[target == 1] > 0.9).all()
    assert (first[target == 1] < 0.9).any()
    (losses,) = curves(played, "loss")
    assert len(losses) == 61
    assert losses[-1] < 0.1 < 1 < losses[0]
    thanks = run("output", steps=0, pair="thanks")
    both = np.concatenate((values(thanks, "untrained")[[0, 1], [3, 5]], first[target == 1]))
    assert_near(curves(thanks, "loss")[0][0], -np.log(both).mean())  # cross-entropy


def test_the_gradient_of_cross_entropy_is_output_minus_target() -> None:
    """As the lesson says, and so a confident wrong guess costs more than an even one."""
    scores = torch.tensor([[2.0, -1.0, 0.5, 0.0, 3.0, -2.0]], dtype=torch.float64, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(scores, torch.tensor([1]))
    (gradient,) = torch.autograd.grad(loss, scores)
    assert_near(gradient, softmax(scores.detach().numpy()) - np.eye(6)[[1]])
    assert loss.item() > np.log(6)
    assert f"{np.log(6):.2f}" in find_topic("output").see.text("en")
    assert f"{np.log(6):.2f}" in find_topic("output").see.text("zh")


def test_the_decoder_reads_the_right_words_one_place_later() -> None:
    from glassformer.lessons.topics.output import VOCABULARY, WORDS, read_batch

    batch = read_batch()
    read = [[VOCABULARY[word] for word in line] for line in batch.read.tolist()]
    said = [[WORDS[word] for word in line] for line in batch.wanted.tolist()]
    assert read == [["<s>", "thanks", "<pad>", "<pad>", "<pad>"], ["<s>", "I", "am", "a", "student"]]
    assert said[0][:2] == ["thanks", "<eos>"]
    assert said[1] == ["I", "am", "a", "student", "<eos>"]
    assert batch.real.sum(-1).tolist() == [2, 5]
    assert batch.source_real.tolist() == [[True, False, False], [True, True, True]]


def test_a_step_of_adam_is_torchs(run: Run) -> None:
    from glassformer.lessons.topics.output import RATE, Adam

    ours, theirs = (torch.nn.Parameter(torch.tensor([1.0, -2.0, 0.5])) for _ in range(2))
    optimizer, adam = torch.optim.Adam([theirs], lr=RATE), Adam([ours])
    for _ in range(3):
        adam.step((ours**3).sum())
        optimizer.zero_grad()
        (theirs**3).sum().backward()
        optimizer.step()
    assert_near(ours, theirs, operations=3, summands=1)


@pytest.mark.slow
def test_smoothed_targets_stop_short_of_certainty(run: Run) -> None:
    played = run("output", steps=60, smoothing=0.3)
    right = values(played, "output")[values(played, "target") == 1]
    assert (right < 0.9).all()  # the best there is: 1 − 0.3 + 0.3 / 6 = 0.75
    assert (right > 0.5).all()


# A padded batch through a model


@pytest.fixture(scope="module")
def translator() -> Zoo:
    """The model that ships: the titles are Chinese."""
    model = load(ZOO / "translator", name="zoo/translator")
    return Zoo([("zoo/translator", "")], lambda *_: model)


@pytest.mark.parametrize("text", padding.TITLES)
@pytest.mark.slow
def test_a_text_in_a_padded_batch_is_the_text_alone(text: str, translator: Zoo) -> None:
    given = read_parameters(find_topic("padding"), {"text": text, "layer": "2", "head": "5"})
    played = run_topic("padding", given, translator)
    model, network = translator.find(lambda _: True, "lessons.needs.translator")
    attention_map = model.record(text, target_language="en").map(
        "encoder", layer=2
    )  # another way: recorded alone
    own = len(attention_map.query)
    seen = values(played, "weights")
    assert np.isnan(seen[:, own:]).all()  # hidden, and without weight:
    assert figure(played, "numbers").items[0].value == 0
    scores = float(np.abs(attention_map.scores()).max()) if attention_map.has_scores else 16.0
    near = {"layers": network.config.layers, "summands": network.config.width, "scores": scores}
    assert_near(seen[:own, :own], attention_map.weights(5), **near)
    assert_near(values(played, "alone"), attention_map.weights(5), **near)
    assert_near(seen[:own, :own].sum(axis=1), 1, **near)
    assert all(each.good is not False for each in figure(played, "numbers").items)
    assert values(played, "batch").sum(axis=1).tolist()[padding.TITLES.index(text)] == own


def test_without_the_mask_padding_is_read_and_the_text_is_another(translator: Zoo) -> None:
    played = run_topic("padding", read_parameters(find_topic("padding"), {"mask": "false"}), translator)
    lost, apart, allowed = figure(played, "numbers").items
    assert lost.value > 0
    assert apart.value > 100 * allowed.value
    assert (lost.good, apart.good) == (False, False)
    assert np.isfinite(values(played, "weights")).all()
    assert played.found.code == "lessons.padding.different"
    assert figure(played, "weights").note.code == "lessons.padding.rows_read"


# What the texts say of the models that ship


@pytest.fixture(scope="module")
def shipped() -> Run:
    """With the models of the page, in its order: a topic takes the first that fits."""
    listed = ModelCatalog(ZOO, (), offline=True).models()
    named = [(each.name, str(each.folder)) for each in listed]
    zoo = Zoo(named, cache(lambda name, folder: load(folder, name=name)))

    def run(name: str, **given: object) -> TopicResult:
        words = {key: str(value) for key, value in given.items()}
        return run_topic(name, read_parameters(find_topic(name), words), zoo)

    return run


def test_what_the_lesson_on_similarity_says_of_the_shipped_model(shipped: Run) -> None:
    def see(**given: object) -> tuple[float, float]:
        """The share of words that look most at themselves, and the mean entropy as a share of the largest."""
        played = shipped("similarity", **given)
        weights = values(played, "weights")
        own = float((weights.argmax(-1) == np.arange(len(weights))).mean())
        return own, figure(played, "numbers").items[3].value

    assert shipped("similarity").model == "zoo/translator"
    dot, scaled, cosine = see(function="dot"), see(function="scaled-dot"), see(function="cosine")
    assert dot[0] > 0.9  # nearly every word looks most at itself
    assert scaled[1] > 0.99  # almost even
    assert dot[1] < cosine[1]
    assert values(shipped("similarity", function="cosine"), "scores").max() <= 1
    heads = shipped("similarity", function="bilinear").ranges["head"].maximum + 1
    assert all(see(function="bilinear", head=head)[0] < 0.5 for head in range(heads))


def test_what_the_lesson_on_heads_says_of_the_shipped_model(shipped: Run) -> None:
    assert shipped("heads").model == "zoo/bert"
    for layer in range(int(shipped("heads").ranges["layer"].maximum) + 1):
        played = shipped("heads", layer=layer)
        weights = values(played, "heads")
        assert len(set(weights[:-1].argmax(-1))) > 2, layer  # different neighbours
        *heads, mean = curves(played, "entropy")[0]
        assert mean >= np.mean(heads)


def test_what_the_lesson_on_lengths_says_was_measured() -> None:
    measured = json.loads(lengths.FILE.read_text(encoding="utf-8"))
    for network in measured["networks"]:
        assert network["bleu"][-1] < network["bleu"][0], network["model"]
    found = str(run_topic("lengths", read_parameters(find_topic("lengths"), {})).found)
    for network in measured["networks"]:
        first, last = network["bleu"][0], network["bleu"][-1]
        assert f"{first:.0f} → {last:.0f} ({1 - last / first:.0%}".replace("%", "\u202f% less)") in found
