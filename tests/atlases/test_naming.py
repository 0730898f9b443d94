"""Names of detectors, and the search in words."""

import json
from pathlib import Path
from typing import Any

import pytest

from atlases.invented import invent_atlas
from glassformer.atlases.naming import (
    DETAILED,
    find_detectors,
    list_terms,
    name_detector,
    name_family,
    search_heads,
)
from glassformer.atlases.schema import Detector
from glassformer.corpus.atlas.detector import DETECTORS
from glassformer.corpus.atlas.detectors.grammar import EVERY
from glassformer.messages import known_languages

# The page's search is held to the same questions and terms.
SHARED: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "web/src/views/atlas/searching.test.json").read_text(encoding="utf-8")
)


def test_heads_are_found_by_what_they_look_at() -> None:
    body = invent_atlas().body
    found = search_heads(body, "heads that look at the object of a verb")
    assert found
    assert {each.type for each in found} == {"dependent:obj"}
    margins = [score.mean - score.null for each in found if (score := each.scores["dependent:obj"])]
    assert margins == sorted(margins, reverse=True)
    assert search_heads(body, "看动词宾语的头") == found
    assert search_heads(body, "zzz") == search_heads(body, "") == []


@pytest.mark.parametrize("case", SHARED["questions"], ids=lambda case: case["question"])
def test_a_question_names_detectors(case: dict[str, Any]) -> None:
    known = invent_atlas().body.detectors
    assert [each.name for each in find_detectors(known, case["question"])] == case["detectors"]


def test_terms_are_those_that_the_page_is_tested_with() -> None:
    terms = [{"name": each.name, "terms": sorted(list_terms(each))} for each in invent_atlas().body.detectors]
    assert terms == SHARED["detectors"]


def test_a_family_without_words_has_its_own_name() -> None:
    odd = Detector(
        name="new_thing:x", family="new_thing", detail="x", threshold=0, null="uniform", applies=(), texts=1
    )
    assert str(name_detector(odd)) == "new thing: x"
    assert find_detectors([odd], "new thing") == [odd]


def test_a_family_is_named_for_people_without_the_detail_of_one_detector() -> None:
    for family in DETECTORS:
        for language in known_languages():
            name = name_family(family).text(language)
            assert "{" not in name
            assert "_" not in name
    assert str(name_family("dependent")) == "looks at dependents"
    assert str(name_family("previous_token")) == "previous token"
    assert set(DETECTORS) >= DETAILED


def test_the_detectors_of_all_relations_together_have_a_name_in_words() -> None:
    """Not "from the all to its head word"; and "the", or 词, in a question does not find them."""
    about: dict[str, Any] = {"detail": EVERY, "threshold": 0, "null": "shuffled", "applies": (), "texts": 1}
    every = Detector(name="governor:all", family="governor", **about)
    assert name_detector(every).text("en") == "from the word of any relation to its head word"
    assert name_detector(every).text("zh") == "从任何从属词看向中心词"
    assert find_detectors([every], "syntactic relation") == [every]
    assert find_detectors([every], "heads that look at the next word") == []
    assert find_detectors([every], "看下一个词的头") == []
