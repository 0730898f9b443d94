"""Links from cross-attention, against links on paper and links that people made."""

from pathlib import Path

import numpy as np
import pytest

from glassformer.errors import ConfigurationError, InputError
from glassformer.metrics import pool, score
from glassformer.metrics.alignment import align_diagonally, align_head
from glassformer.metrics.gold import AlignedPair, read_alignments

GOLD = Path(__file__).parents[3] / "shared" / "data" / "gold" / "alibi_fr-en"
needs_gold = pytest.mark.skipif(not GOLD.exists(), reason="the gold alignments are not beside the repository")

# je suis étudiant / I am a student; "a" is possibly étudiant.
PAIR = AlignedPair(
    ("je", "suis", "étudiant"), ("I", "am", "a", "student"),
    frozenset({(0, 0), (1, 1), (2, 3)}), frozenset({(2, 2)}),
)  # fmt: skip


def write(tokens, side, words, pieces=1, start=True):
    """Words joined by spaces, each cut into at most so many pieces; a start token looks at nothing."""
    texts, offsets, special, place = ([""], [[0, 0]], [True], 0) if start else ([], [], [], 0)
    for word in words:
        size = -(-len(word) // pieces)
        for cut in range(0, len(word), size):
            texts.append(word[cut : cut + size])
            offsets.append([place + cut, min(place + cut + size, place + len(word))])
            special.append(False)
        place += len(word) + 1
    return tokens(side, texts, offsets=np.array(offsets), text=" ".join(words), special=np.array(special))


def link(query, key, source, target, links, shift=1):
    """Weights (1, query, key): rows that write a target word look at the first token of its linked word."""
    weights = np.zeros((1, len(query), len(key)))
    begins = np.cumsum([0] + [len(word) + 1 for word in source])
    ends = np.cumsum([len(word) + 1 for word in target])
    for row, (first, _) in enumerate(query.offsets.tolist()):
        word = int(np.searchsorted(ends, first, side="right"))
        row -= shift
        if query.special[row + shift] or row < 0:
            continue
        place = begins[links[word]]
        column = next(
            i for i, (start, _) in enumerate(key.offsets.tolist()) if start == place and not key.special[i]
        )
        weights[0, row, column] = 1
    weights[0, weights[0].sum(axis=1) == 0, 0] = 1
    return weights


def read(recording, name, **parameters):
    return score(recording, name, **parameters).part(kind="cross").values.tolist()


@pytest.mark.parametrize("pieces", [1, 2])
def test_rates_on_paper(make_map, record, tokens, pieces) -> None:
    query, key = write(tokens, "target", PAIR.target, pieces), write(tokens, "source", PAIR.source, pieces)
    # I-je (sure), am-je (wrong), a-étudiant (possible), student-étudiant (sure).
    weights = link(query, key, PAIR.source, PAIR.target, [0, 0, 2, 2])
    recording = record(make_map(weights, kind="cross", query=query, key=key))
    assert align_head(recording.maps[0], 0, PAIR) == {(0, 0), (0, 1), (2, 2), (2, 3)}
    assert read(recording, "alignment_precision", gold=PAIR) == [3 / 4]
    assert read(recording, "alignment_recall", gold=PAIR) == [2 / 3]
    assert read(recording, "alignment_error", gold=PAIR) == pytest.approx([1 - (2 + 3) / (4 + 3)])


def test_sub_words_decide_together(make_map, record, tokens) -> None:
    # Two tokens of one word: 0.3 + 0.25 on the second beats 0.45 on the first, though no key does.
    pair = AlignedPair(("aa", "bb"), ("x",), frozenset({(1, 0)}), frozenset())
    query, key = (
        write(tokens, "target", pair.target, start=False),
        write(tokens, "source", pair.source, 2, False),
    )
    weights = [[[0.45, 0.0, 0.3, 0.25]]]
    recording = record(make_map(weights, kind="cross", query=query, key=key))
    assert align_head(recording.maps[0], 0, pair) == {(1, 0)}


def test_the_row_that_writes_a_word_stands_before_it(make_map, record, tokens) -> None:
    query, key = write(tokens, "target", PAIR.target), write(tokens, "source", PAIR.source)
    weights = link(query, key, PAIR.source, PAIR.target, [0, 1, 2, 2])
    recording = record(make_map(weights, kind="cross", query=query, key=key))
    assert read(recording, "alignment_error", gold=PAIR) == [0]
    assert read(recording, "alignment_error", gold=PAIR, reading="entered")[0] > 0.5
    with pytest.raises(ConfigurationError, match="Expected one of 'written', 'entered'"):
        read(recording, "alignment_error", gold=PAIR, reading="sideways")


def test_readings_by_their_old_names(make_map, record, tokens) -> None:
    query, key = write(tokens, "target", PAIR.target), write(tokens, "source", PAIR.source)
    recording = record(
        make_map(link(query, key, PAIR.source, PAIR.target, [0, 1, 2, 2]), kind="cross", query=query, key=key)
    )
    with pytest.warns(DeprecationWarning, match="reading='predicted' is now reading='written'"):
        assert read(recording, "alignment_error", gold=PAIR, reading="predicted") == [0]
    with pytest.warns(DeprecationWarning, match="reading='entering' is now reading='entered'"):
        assert read(recording, "alignment_error", gold=PAIR, reading="entering")[0] > 0.5


def test_the_diagonal_needs_no_weights(make_map, record, tokens) -> None:
    assert align_diagonally(3, 4) == {(0, 0), (1, 1), (1, 2), (2, 3)}
    assert align_diagonally(4, 2) == {(1, 0), (3, 1)}
    bare = record(make_map(np.full((2, 1, 1), 1.0), "statistics", kind="cross"))
    assert read(bare, "alignment_recall", gold=PAIR, by="diagonal") == [1, 1]
    assert read(bare, "alignment_precision", gold=PAIR, by="diagonal") == [3 / 4] * 2
    assert "only statistics" in " ".join(map(str, score(bare, "alignment_error", gold=PAIR).undefined))


def test_other_maps_have_no_alignment(make_map, record, tokens) -> None:
    alone = score(record(make_map(np.eye(2)[None])), "alignment_error", gold=PAIR)
    assert "Self-attention links no two texts" in " ".join(map(str, alone.undefined))
    step = score(record(make_map([[[1.0]]], kind="cross", step=0)), "alignment_error", gold=PAIR)
    assert "generation step" in " ".join(map(str, step.undefined))


def test_the_wrong_gold_is_refused(make_map, record, tokens) -> None:
    query, key = write(tokens, "target", PAIR.target), write(tokens, "source", PAIR.source)
    weights = link(query, key, PAIR.source, PAIR.target, [0, 1, 2, 2])
    recording = record(make_map(weights, kind="cross", query=query, key=key))
    with pytest.raises(InputError, match=r"Word 0 \('I'\) is not next in the text"):
        read(recording, "alignment_error", gold=PAIR.swapped())
    with pytest.raises(ConfigurationError, match="alignment_error was given no gold"):
        read(recording, "alignment_error")
    with pytest.raises(ConfigurationError, match="Expected AlignedPair"):
        read(recording, "alignment_error", gold="gold.txt")
    with pytest.raises(InputError, match="has no words"):
        read(recording, "alignment_error", gold=AlignedPair((), ("x",), frozenset(), frozenset()))


@needs_gold
def test_people_s_links_of_whole_stories(make_map, record, tokens) -> None:
    folder = GOLD / "ChatBotte_MasterCat"
    files = ("ali_w2w_ChatBotte_MasterCat.txt", "ChatBotte_sents.txt", "MasterCat_sents.txt")
    pairs = [
        pair
        for pair in read_alignments(*(folder / file for file in files))
        if max(len(pair.source), len(pair.target)) <= 25 and pair.sure
    ]
    assert len(pairs) > 10
    right = {"A & S": 0, "A & P": 0, "A": 0, "S": 0}
    errors, diagonals = [], []
    for pair in pairs:
        query, key = write(tokens, "target", pair.target, 3), write(tokens, "source", pair.source, 3)
        # A head that looks where people link, and at the last word where they do not.
        links = [
            min((i for i, j in (pair.sure or pair.possible) if j == word), default=len(pair.source) - 1)
            for word in range(len(pair.target))
        ]
        weights = link(query, key, pair.source, pair.target, links)
        recording = record(make_map(weights, kind="cross", query=query, key=key))
        errors.append(score(recording, "alignment_error", gold=pair))
        diagonals.append(score(recording, "alignment_error", gold=pair, by="diagonal"))
        made = {(i, j) for j, i in enumerate(links)}
        right["A & S"] += len(made & pair.sure)
        right["A & P"] += len(made & pair.possible)
        right["A"] += len(made)
        right["S"] += len(pair.sure)
    error = pool(errors).part(kind="cross").values[0]
    assert error == pytest.approx(1 - (right["A & S"] + right["A & P"]) / (right["A"] + right["S"]))
    assert error < pool(diagonals).part(kind="cross").values[0]
