"""Every head of a network that is known by construction is named; in untrained networks, none is."""

import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import transformers as hf

import glassformer as gf
from glassformer.atlases import Atlas, open_atlas
from glassformer.corpus.atlas.build import _passes, atlas, judge
from glassformer.corpus.atlas.detector import DETECTORS
from glassformer.corpus.atlas.estimates import bootstrap
from glassformer.corpus.atlas.measuring import LEAST_TEXTS, Column, find_aims, measure, measure_rivals
from glassformer.corpus.atlas.texts import place_marks
from glassformer.errors import InputError
from known_heads import build_known, build_random, write_texts
from known_readers import (
    CROSS,
    GRAMMAR,
    build_reader,
    build_speller,
    build_translator,
    forget,
    write_pairs,
    write_sentences,
    write_spellings,
)
from text_views import view_text
from tiny_models import build_model

TEXTS = write_texts(16)


@pytest.fixture(scope="module")
def known() -> tuple[Atlas, tuple]:
    model, types = build_known()
    done = []
    found = atlas(model, [*TEXTS, "w1 " * 80], cost_texts=2, on_progress=lambda *steps: done.append(steps))
    assert done == [(number, 19) for number in range(1, 20)]
    return found, types


def test_heads_set_by_hand_are_named(known) -> None:
    found, types = known
    assert [[head.type for head in found.heads[start : start + 4]] for start in (0, 4, 8)] == [
        list(layer) for layer in types
    ]


def test_heads_of_an_encoder_set_by_hand_are_named() -> None:
    model, types = build_known("encoder")
    found = atlas(model, TEXTS, cost_texts=0)
    assert tuple(head.type for head in found.heads) == types[0]


def test_heads_that_know_grammar_and_pronouns_are_named() -> None:
    found = atlas(build_reader(), write_sentences(40), cost_texts=0)
    assert [head.types for head in found.heads] == [*((each,) for each in GRAMMAR), ()]


def test_a_head_that_joins_pieces_of_words_is_named() -> None:
    found = atlas(build_speller(), write_spellings(16), cost_texts=0)
    assert [head.types for head in found.heads] == [("subword",), (), (), ()]


def test_heads_of_cross_attention_set_by_hand_are_named() -> None:
    found = atlas(build_translator(), write_pairs(24), cost_texts=0, target_language="fr")
    types = {head.place: [] for head in found.heads}
    for head in found.heads:
        types[head.place].append(head.type)
    assert tuple(tuple(types.pop(f"decoder.cross.{layer}")) for layer in range(2)) == CROSS
    assert {each for layer in types.values() for each in layer} == {None}  # self-attention: everywhere alike


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_readers_and_translators_that_learnt_nothing_have_no_types(seed: int) -> None:
    """With everything that people can mark: trees, mentions, links, pieces of words, tags."""
    made = [
        atlas(forget(build_reader(), seed), write_sentences(40, seed), cost_texts=0),
        atlas(forget(build_speller(), seed), write_spellings(16), cost_texts=0),
        atlas(forget(build_translator(), seed), write_pairs(24), cost_texts=0, target_language="fr"),
    ]
    heads = [head for each in made for head in each.heads]
    assert len(heads) == 32
    assert [head.types for head in heads if head.types] == []  # 0 of 64 in all; at most 5 % may be


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["decoder", "encoder"])
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_found_in_networks_that_learnt_nothing(shape: str, seed: int) -> None:
    found = atlas(build_random(shape, seed, sharpness=4.0), write_texts(16, seed), cost_texts=0)
    assert [head.types for head in found.heads] == [()] * 12  # 0 of 48 in all; at most 5 % may be


def test_scores_have_intervals_and_chance_levels(known) -> None:
    card = known[0].head("decoder.self.0", 0)
    score = card.scores["previous_token"]
    assert score is not None
    assert score.null < score.null_high < score.low <= score.mean <= score.high <= 1
    assert score.p < 0.001
    assert (score.texts, card.scores["induction"].texts) == (16, 16)
    assert card.cost is not None
    assert card.cost.texts == 2


def test_texts_that_are_too_long_are_counted(known) -> None:
    assert (known[0].body.corpus.texts, known[0].body.corpus.skipped) == (16, 1)
    assert "1 text was left out. The first: The text has 81 tokens" in str(known[0])


def test_examples_show_what_a_head_does(known, tmp_path) -> None:
    found = known[0]
    opened = open_atlas(found.save(tmp_path / "atlas"))
    for card in opened.heads:
        for example in card.examples:
            shown = opened.open_example(example.bundle).map(card.place)
            assert shown.weights(card.head)[example.query, example.key] == pytest.approx(
                example.value, abs=1e-4
            )
    previous = opened.head("decoder.self.0", 0).examples
    assert previous
    assert all(example.query - example.key == 1 for example in previous)


def test_what_could_not_be_measured_is_said(known) -> None:
    assert "alignment" in str(known[0])


def test_an_atlas_of_nothing_is_refused() -> None:
    model = build_random("decoder", 1, 1.0)
    with pytest.raises(InputError, match="no texts"):
        atlas(model, [])
    with pytest.raises(InputError, match="none of the 1"):
        atlas(model, ["w1 " * 80])
    for wrong in ([3], 3):
        with pytest.raises(InputError, match="3 is not a text" if wrong == 3 else "not a text"):
            atlas(model, wrong)
    with pytest.raises(InputError, match="cost_texts is -3"):
        atlas(model, TEXTS, cost_texts=-3)


def test_a_model_that_reads_no_text_is_refused() -> None:
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    pictures = hf.ViTModel(hf.ViTConfig(**sizes, image_size=8, patch_size=4)).eval()
    with pytest.raises(InputError) as error:
        atlas(pictures, [np.zeros((8, 8, 3), np.uint8)])
    assert error.value.message.code == "atlases.reads_no_text"


def test_a_head_has_to_beat_the_best_fixed_offset_text_by_text() -> None:
    shares = np.random.default_rng(0).uniform(0.1, 0.8, 30)  # of words for which the offset is right
    scores = np.stack([shares + 0.05, shares, shares - 0.05], axis=1)
    column = Column(DETECTORS["governor"], "obj", list(range(30)), list(scores), list(0 * scores))
    column.guesses = [{-1: share, 2: 0.0} for share in shares]
    assert _passes(column, np.zeros(3)).tolist() == [True, False, False]
    assert (
        bootstrap(scores, 0).low[0] < shares.mean()
    )  # the intervals of both overlap: texts differ more than heads


def test_a_head_that_looks_at_either_of_two_persons_finds_no_antecedent() -> None:
    right = np.array([[True] * 30 + [False] * 6, [True, False] * 18]).T  # (text, head): 83 %, half of them
    column = Column(DETECTORS["coreference"], None, list(range(36)), list(1.0 * right), list(0.0 * right))
    column.guess_rates = [0.5] * 36
    assert _passes(column, np.zeros(2)).tolist() == [True, False]
    column.guess_rates = [0.0] * 36  # texts of a person, with many things that could be meant
    assert _passes(column, np.zeros(2)).tolist() == [True, True]


def test_a_head_is_chosen_on_some_texts_and_scored_on_others() -> None:
    strong = np.array(
        [[1, 1, 0]] * 20 + [[1, 0, 1]] * 20
    )  # (text, head): everywhere, where chosen, where scored
    scores = 0.1 + 0.5 * strong + np.random.default_rng(0).uniform(0, 0.1, strong.shape)
    column = Column(DETECTORS["coreference"], None, list(range(40)), list(scores), [np.full(3, 0.1)] * 40)
    column.held_out = [False] * 20 + [True] * 20
    where = ("encoder", "self")
    reading = SimpleNamespace(table=SimpleNamespace(columns={(where, "coreference"): column}), places={})
    judged = judge(reading, seed=0)
    assert judged.passed[where] == [["coreference"], [], []]
    found = judged.scores[where]["coreference"]
    assert [each.texts for each in found] == [20] * 3
    assert [each.mean for each in found] == pytest.approx(scores[20:].mean(axis=0), abs=1e-4)
    column.held_out[:] = [False] * 7 + [True] * 33  # too few to choose on: then all texts do both
    assert judge(reading, seed=0).scores[where]["coreference"][0].texts == 40


def test_one_pair_of_an_encoder_decoder_is_enough() -> None:
    """It is measured; one is too little to name heads that are named by more."""
    [pair] = write_pairs(1)
    found = atlas(build_translator(), [(pair.text, pair.target)], target_language="fr", cost_texts=0)
    assert [head.type for head in found.heads if ".cross." in head.place] == [None] * sum(map(len, CROSS))


MARKS = dict(zip(')]"', '(["', strict=True)) | {"(": None, "[": None}


def attend(how: str, texts: Sequence[str]) -> np.ndarray:
    """Weights of a head that knows marks: every token at one key or at several alike, the first if none."""
    weights = np.zeros((len(texts), len(texts)), dtype=np.float32)
    opened: list[int] = []
    for query, mark in enumerate(texts):
        marks = [key for key in range(query) if texts[key] in MARKS]
        chosen = marks
        if how == "partner":
            closes = bool(opened) and MARKS.get(mark) == texts[opened[-1]]
            chosen = [opened.pop()] if closes else []
            opened += [query] if mark in MARKS and not closes and mark not in ")]" else []
        elif how == "nearest mark":
            chosen = marks[-1:]
        elif how == "nearest opening":
            chosen = [key for key in marks if texts[key] not in ")]"][-1:]
        elif how == "nearest partner":
            chosen = [key for key in marks if texts[key] == MARKS.get(mark)][-1:]
        elif how in ("first partner", "any partner"):
            alike = [key for key in marks if texts[key] == MARKS.get(mark)]
            chosen = alike[:1] if how == "first partner" else alike
        elif how == "same":
            chosen = [key for key in marks if texts[key] == mark][-1:]
        weights[query, chosen or [0]] = 1 / len(chosen or [0])
    return weights


def test_only_a_head_that_matches_marks_is_named_for_it() -> None:
    """Not those that look at the nearest mark, at any mark alike, or at any that could be the partner."""
    hows = (
        "partner",
        "nearest mark",
        "any mark",
        "nearest opening",
        "nearest partner",
        "first partner",
        "any partner",
        "same",
    )
    randomness = np.random.default_rng(0)
    columns: dict[str, Column] = {}
    for text in place_marks():
        view = view_text(" ".join(re.findall(r"\w+|[^\w ]", text.text)), text)
        pieces = view.query.texts
        shuffled = randomness.permutation(pieces).tolist()
        scored, null = (np.stack([attend(how, each) for how in hows]) for each in (pieces, shuffled))
        for aim in (each for each in find_aims(view) if each.name in ("bracket", "quotation")):
            column = columns.setdefault(aim.name, Column(aim.kind, None))
            for weights, values in ((scored, column.scores), (null, column.nulls)):
                values.append(measure(weights, [aim], view.query_words, view.key_words)[aim.name])
            column.rivals.append(measure_rivals(scored, aim.rivals))
    for name in ("bracket", "quotation"):
        column = columns[name]
        assert len(column.scores) >= LEAST_TEXTS
        passed = _passes(column, np.zeros(len(hows)))
        assert [how for how, each in zip(hows, passed, strict=True) if each] == ["partner"], name


@pytest.mark.slow
def test_an_atlas_is_the_same_in_other_processes(tmp_path: Path) -> None:
    model = build_model(tmp_path / "model", "decoder")
    texts = ["the animal was too tired", "the street", "too tired to cross the street"] * 45  # three tasks
    here, spread = (atlas(str(model), texts, cost_texts=3, jobs=jobs) for jobs in (1, 2))
    assert here.body == spread.body
    assert here.body.corpus.texts == 135
    for one, other in zip(here.recordings, spread.recordings, strict=True):
        assert one.source.text == other.source.text


def test_a_path_is_read_with_its_trees_and_a_single_string_is_refused(tmp_path: Path) -> None:
    words = (("the", 2, "det"), ("street", 4, "nsubj"), ("too", 4, "advmod"), ("tired", 0, "root"))
    rows = [
        f"{at}\t{form}\t_\t_\t_\t_\t{head}\t{name}\t_\t_" for at, (form, head, name) in enumerate(words, 1)
    ]
    path = tmp_path / "trees.conllu"
    path.write_text("\n".join([*rows, "\n"]) * 20, encoding="utf-8")
    model = gf.load(build_model(tmp_path / "model", "encoder"))
    found = atlas(model, path, cost_texts=0)
    assert (found.body.corpus.name, found.body.corpus.texts) == ("trees.conllu", 20)
    assert {"governor:nsubj", "dependent:nsubj"} <= found.heads[0].scores.keys()
    path.write_bytes(path.read_bytes() + b"broken\n\n")
    [note] = [each for each in atlas(model, path, cost_texts=0).body.notes if each.code == "atlases.damaged"]
    said = str(note)
    assert said.startswith("1 line or file could not be read as text and was left out. The first: ")
    assert f"{path}:101" in said
    with pytest.raises(InputError) as error:
        atlas(model, "the street")
    assert error.value.message.code == "atlases.single_text"
    with pytest.raises(InputError, match=r"texts\['text'\]"):
        atlas(model, {"text": ["the street"]})
