"""Favourite words against dependency trees, with the best fixed offset beside them."""

from pathlib import Path

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.metrics import pool, score
from glassformer.metrics.dependencies import (
    find_favourites,
    find_offset_baseline,
    list_targets,
    table_relations,
)
from glassformer.metrics.gold import Sentence, Word, read_conllu

FILE = Path(__file__).parents[3] / "shared" / "data" / "gold" / "en_ewt-ud-dev.conllu.gz"
needs_gold = pytest.mark.skipif(not FILE.exists(), reason="the gold trees are not beside the repository")


def grow(*words: tuple[str, int, str]) -> Sentence:
    made = tuple(Word(form, "X", head, relation) for form, head, relation in words)
    return Sentence("tree", " ".join(word.form for word in made), made)


# the -> cat, cat -> sleeps, my -> bed, on -> bed, bed -> sleeps
TREE = grow(
    ("the", 1, "det"), ("cat", 2, "nsubj"), ("sleeps", -1, "root"), ("on", 5, "case"),
    ("my", 5, "nmod:poss"), ("bed", 2, "obl"), (".", 2, "punct"),
)  # fmt: skip


def write(tokens, sentence, text=None):
    """One token a word."""
    text, offsets, place = text or sentence.text, [], 0
    for form in sentence.forms:
        place = text.index(form, place)
        offsets.append([place, place + len(form)])
        place += len(form)
    return tokens("source", sentence.forms, offsets=np.array(offsets), text=text)


def look(sentence, *targets):
    """A head in which word i looks at target i (itself for None)."""
    weights = np.zeros((1, len(sentence.words), len(sentence.words)))
    for word, target in enumerate(targets):
        weights[0, word, word if target is None else target] = 1
    return weights


def read(recording, **parameters):
    return score(recording, "dependency_accuracy", **parameters).part().values


def test_targets_of_a_tree() -> None:
    heads = list_targets(TREE, "head")
    assert heads["nmod"] == heads["nmod:poss"] == {4: {5}}
    assert heads["all"] == {0: {1}, 1: {2}, 3: {5}, 4: {5}, 5: {2}}  # neither root nor punctuation
    assert heads["punct"] == {6: {2}}
    assert list_targets(TREE, "dependent")["all"] == {1: {0}, 2: {1, 5}, 5: {3, 4}}


def test_accuracy_on_paper(make_map, record, tokens) -> None:
    text = write(tokens, TREE)
    # Right for the, cat and on; wrong for my and bed.
    recording = record(make_map(look(TREE, 1, 2, None, 5, 3, 4, 0), query=text, key=text))
    assert read(recording, sentence=TREE) == [3 / 5]
    assert read(recording, sentence=TREE, relation="det") == [1]
    assert read(recording, sentence=TREE, relation="nmod") == [0]
    # The other way round: sleeps looks at itself only, bed at my.
    assert read(recording, sentence=TREE, direction="dependent") == [1 / 3]
    missing = score(recording, "dependency_accuracy", sentence=TREE, relation="iobj")
    assert "No word of the sentence has the relation 'iobj'" in " ".join(map(str, missing.undefined))


def test_a_word_s_own_weight_does_not_count(make_map, record, tokens) -> None:
    text = write(tokens, TREE)
    weights = np.eye(7)[None] * 0.9
    weights[0, 0, 1] += 0.1
    weights[0, 1:, 0] += 0.1
    recording = record(make_map(weights, query=text, key=text))
    assert find_favourites(recording.maps[0], TREE).tolist() == [[1, 0, 0, 0, 0, 0, 0]]
    idle = record(make_map(np.eye(7)[None], query=text, key=text))
    assert find_favourites(idle.maps[0], TREE).tolist() == [[-1] * 7]
    assert read(idle, sentence=TREE) == [0]


def test_other_maps_have_no_accuracy(make_map, record, tokens) -> None:
    text = write(tokens, TREE)
    crossed = record(make_map(look(TREE, *[0] * 7), kind="cross", query=text, key=text))
    found = score(crossed, "dependency_accuracy", sentence=TREE)
    assert [reason.code for reason in found.undefined] == ["metrics.other_text"]
    step = record(make_map(look(TREE, *[0] * 7), step=1, query=text, key=text))
    found = score(step, "dependency_accuracy", sentence=TREE)
    assert [reason.code for reason in found.undefined] == ["metrics.single_step"]
    with pytest.raises(InputError, match="There is no whole self-attention map"):
        table_relations([(crossed, TREE)])


def test_the_best_offset_on_paper() -> None:
    # Offsets of heads: the +1, cat +1, on +2, my +1, bed -3.
    assert find_offset_baseline([TREE]) == (1, 3 / 5)
    assert find_offset_baseline([TREE], "obl") == (-3, 1.0)
    # Dependents: cat -1; sleeps -1 or +3; bed -2 or -1: one to the left is always right.
    assert find_offset_baseline([TREE], direction="dependent") == (-1, 1.0)
    with pytest.raises(InputError, match="No word has this relation"):
        find_offset_baseline([TREE], "iobj")


def test_the_table_has_the_best_head_and_the_best_offset(make_map, record, tokens) -> None:
    text = write(tokens, TREE)
    right = look(TREE, 1, 2, None, 5, 5, 2, 2)
    ahead = look(TREE, 1, 2, 3, 4, 5, 6, 0)
    recording = record(
        make_map(ahead, query=text, key=text),
        make_map(np.concatenate([ahead, right]), layer=1, query=text, key=text),
    )
    rows = {row.relation: row for row in table_relations([(recording, TREE), (recording, TREE)])}
    assert next(iter(rows)) == "all"
    best = rows["all"]
    assert (best.count, best.place.layer, best.head, best.accuracy) == (10, 1, 1, 1.0)
    assert (best.offset, best.baseline) == (1, 3 / 5)
    assert (rows["case"].accuracy, rows["case"].offset) == (1.0, 2)


@needs_gold
@pytest.mark.slow
def test_trees_that_people_made(make_map, record, tokens) -> None:
    sentences = [sentence for sentence in read_conllu(FILE) if 1 < len(sentence.words) <= 40][:150]
    pairs = []
    for sentence in sentences:
        text = write(tokens, sentence, sentence.text)  # as printed: "don't" is two words
        heads = [word.head if word.head >= 0 else None for word in sentence.words]
        ahead = [min(word + 1, len(heads) - 1) for word in range(len(heads))]
        weights = np.concatenate([look(sentence, *heads), look(sentence, *ahead)])
        pairs.append((record(make_map(weights, query=text, key=text)), sentence))
    scores = [score(recording, "dependency_accuracy", sentence=sentence) for recording, sentence in pairs]
    perfect, next_word = pool(scores).part().values
    assert perfect == 1
    offset, baseline = find_offset_baseline(sentences)
    assert offset == 1
    assert next_word == pytest.approx(baseline)  # a head that looks ahead is the baseline
    table = {row.relation: row for row in table_relations(pairs)}
    assert table["all"].accuracy == 1
    assert table["det"].baseline == find_offset_baseline(sentences, "det")[1]
    assert table["det"].offset == 1
