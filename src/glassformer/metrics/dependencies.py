"""Dependencies: whether a head's favourite word is the one that grammar joins to it (Clark et al. 2019).

In:   self-attention maps of a sentence, and its dependency tree.
Out:  the share of words whose most attended other word is their syntactic head (or one of their dependents),
      relation by relation, beside the best guess of the kind "the word k places on".

A relation names itself and its subtypes (nmod is also nmod:poss); "all" is every relation but punctuation.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.metrics.blocks import require_weights
from glassformer.metrics.gold import Sentence
from glassformer.metrics.metric import head_metric
from glassformer.metrics.parameters import About
from glassformer.metrics.scores import Rows, UndefinedError
from glassformer.metrics.words import match_words, roll_up_head
from glassformer.place import Place
from glassformer.recording import AttentionMap, Recording

Direction = Literal["head", "dependent"]
Targets = dict[int, frozenset[int]]  # for each word that counts, the words that would be right

Tree = Annotated[Sentence, About("metrics.parameters.sentence")]
Relation = Annotated[str, About("metrics.parameters.relation")]
Towards = Annotated[Direction, About("metrics.parameters.direction")]


@dataclass(frozen=True, slots=True)
class RelationRow:
    """One relation: its best head and its best offset, chosen on the sentences they are scored on."""

    relation: str
    count: int
    place: Place
    head: int
    accuracy: float
    offset: int
    baseline: float


@head_metric("dependency_accuracy", unit="share", needs="weights")
def measure_accuracy(
    attention_map: AttentionMap, *, sentence: Tree, relation: Relation = "all", direction: Towards = "head"
) -> Rows:
    """The share of words whose most attended other word is the one that grammar joins to them.

    The share of words whose most attended *other* word is their head in the tree (or, with
    `direction="dependent"`, one of their dependents), after Clark et al. 2019.
    """
    targets = list_targets(sentence, direction).get(relation, {})
    hits = _count_hits(find_favourites(attention_map, sentence), targets)
    return Rows(
        hits, np.full(len(hits), len(targets)), message("metrics.no_such_relation", relation=relation)
    )


def find_favourites(attention_map: AttentionMap, sentence: Sentence) -> NDArray[np.int64]:
    """The most attended other word of each word (head, word); -1 for a word that looks at no other."""
    if attention_map.kind != "self":
        raise UndefinedError("metrics.other_text")
    if attention_map.step is not None:
        raise UndefinedError("metrics.single_step")
    require_weights(attention_map)
    queries = match_words(attention_map.query, sentence.forms)
    keys = match_words(attention_map.key, sentence.forms)
    favourites = np.full((attention_map.heads, len(sentence.words)), -1)
    for head in range(attention_map.heads):
        weights = roll_up_head(attention_map, head, queries, keys)  # (word, word)
        np.fill_diagonal(weights, 0.0)
        favourites[head] = np.where(weights.max(axis=1) > 0, weights.argmax(axis=1), -1)
    return favourites


def list_targets(sentence: Sentence, direction: Direction) -> dict[str, Targets]:
    """For each relation, the words that count and what would be right for them."""
    found: dict[str, dict[int, set[int]]] = {}
    for index, word in enumerate(sentence.words):
        if word.head < 0:
            continue
        names = {word.relation, word.relation.partition(":")[0]}
        names |= set() if "punct" in names else {"all"}
        query, key = (index, word.head) if direction == "head" else (word.head, index)
        for name in names:
            found.setdefault(name, {}).setdefault(query, set()).add(key)
    return {
        name: {query: frozenset(keys) for query, keys in targets.items()} for name, targets in found.items()
    }


def find_offset_baseline(
    sentences: Iterable[Sentence], relation: str = "all", direction: Direction = "head"
) -> tuple[int, float]:
    """The one offset that is right most often over all sentences, and how often."""
    offsets: Counter[int] = Counter()
    count = 0
    for sentence in sentences:
        targets = list_targets(sentence, direction).get(relation, {})
        offsets += _count_offsets(targets)
        count += len(targets)
    return _best(offsets, count)


def table_relations(
    pairs: Iterable[tuple[Recording, Sentence]], direction: Direction = "head"
) -> tuple[RelationRow, ...]:
    """For each relation in a collection, its best attention head and its best offset; the commonest first.

    >>> from pathlib import Path
    >>> cats, sleep = "1 cats _ _ _ _ 2 nsubj _ _", "2 sleep _ _ _ _ 0 root _ _"
    >>> _ = Path("trees.conllu").write_text("\\n".join([cats, sleep, "", ""]).replace(" ", "\\t"))
    >>> sentences = list(gf.read_conllu("trees.conllu"))
    >>> pairs = [(gf.record("zoo/bert", " ".join(each.forms)), each) for each in sentences]
    >>> [row.relation for row in gf.table_relations(pairs)]
    ['all', 'nsubj']
    """
    hits: dict[str, dict[Place, NDArray[np.int64]]] = {}
    offsets: dict[str, Counter[int]] = {}
    counts: Counter[str] = Counter()
    for recording, sentence in pairs:
        listed = list_targets(sentence, direction)
        for relation, targets in listed.items():
            counts[relation] += len(targets)
            offsets.setdefault(relation, Counter()).update(_count_offsets(targets))
        for each in recording.maps:
            if each.kind != "self" or each.step is not None:
                continue
            favourites = find_favourites(each, sentence)
            for relation, targets in listed.items():
                places = hits.setdefault(relation, {})
                before = places.get(each.place, np.zeros(each.heads, dtype=np.int64))
                places[each.place] = before + _count_hits(favourites, targets)
    if counts and not hits:
        raise InputError("metrics.no_whole_map")
    rows = []
    for relation, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        place, found = max(hits[relation].items(), key=lambda item: int(item[1].max()))
        offset, baseline = _best(offsets[relation], count)
        head = int(found.argmax())
        rows.append(RelationRow(relation, count, place, head, float(found[head] / count), offset, baseline))
    return tuple(rows)


def _count_hits(favourites: NDArray[np.int64], targets: Targets) -> NDArray[np.int64]:
    """How many words look at what would be right (head,)."""
    right = [[int(row[word]) in keys for word, keys in targets.items()] for row in favourites]
    return np.array(right, dtype=np.int64).reshape(len(favourites), -1).sum(axis=1)


def _count_offsets(targets: Targets) -> Counter[int]:
    """How many words each offset would be right for."""
    return Counter(key - word for word, keys in targets.items() for key in keys)


def _best(offsets: Counter[int], count: int) -> tuple[int, float]:
    """Of equally good offsets, the shortest, and the one to the left."""
    if not offsets:
        raise InputError("metrics.no_word_with_relation")
    offset = min(offsets, key=lambda each: (-offsets[each], abs(each), each))
    return offset, offsets[offset] / count
