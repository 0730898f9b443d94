"""Names of detectors for people, and the search for heads in their words.

In:   detectors of an atlas; a question such as "heads that look at the object of a verb", in any language.
Out:  messages; the heads that pass the detectors that the question names, the strongest first.

web/src/views/atlas/searching.ts looks for the same terms, so that a file without a server can search, too.
"""

import re
from collections.abc import Iterable

from glassformer.atlases.schema import AtlasBody, AtlasHead, Detector
from glassformer.messages import Message, known_languages, message

# In the order of their colours, which is the same for every atlas.
FAMILIES = (
    "previous_token",
    "induction",
    "dependent",
    "sink",
    "duplicate",
    "governor",
    "delimiter",
    "alignment",
    "same_token",
    "coreference",
    "next_token",
    "offset",
    "first_token",
    "window",
    "copying",
    "diagonal",
    "subword",
    "quotation",
    "bracket",
    "language_tag",
    "alignment_entered",
)
DETAILED = frozenset(("offset", "window", "dependent", "governor"))  # families of many detectors
_WORD = re.compile(r"[^\s|?!,;()？！，。；（）]+")
_PHRASE = re.compile(r"\|")
_PLAIN = frozenset(
    ("", "a", "an", "the", "of", "its", "it", "at", "to", "look", "from", "head", "word", "and", "or", "that")
)


def name_detector(detector: Detector) -> Message:
    """Its short name: "previous token"."""
    plain = detector.family.replace("_", " ")
    default = plain if detector.detail is None else f"{plain}: {{detail}}"
    return message(f"atlases.detectors.{detector.family}", default=default, detail=_name_detail(detector))


def name_family(family: str) -> Message:
    """The short name of all detectors of a family: "fixed offset"."""
    names = "families" if family in DETAILED else "detectors"
    return message(f"atlases.{names}.{family}", default=family.replace("_", " "))


def number_colours(detectors: Iterable[Detector]) -> dict[str, int]:
    """The number of the colour of each family: the same in every atlas, others after those."""
    others = dict.fromkeys(each.family for each in detectors if each.family not in FAMILIES)
    return {family: number for number, family in enumerate((*FAMILIES, *others))}


def explain_detector(detector: Detector) -> Message:
    """What a head of this type does, in a sentence."""
    return message(f"atlases.abouts.{detector.family}", default="", detail=_name_detail(detector))


def _list_words(detector: Detector) -> Message:
    """Words and phrases that a person may search for, with | between them."""
    return message(f"atlases.words.{detector.family}", default="", detail=_name_detail(detector))


def _name_detail(detector: Detector) -> Message | str:
    if detector.detail is None or detector.family not in ("dependent", "governor"):
        return detector.detail or ""
    relation = detector.detail.partition(":")[0]  # of nsubj:pass the word for nsubj
    return message(f"atlases.relations.{relation}", default=detector.detail)


def find_detectors(detectors: Iterable[Detector], question: str) -> list[Detector]:
    """The detectors that a question names best; none where it names no one."""
    asked = _normalise(question)
    found = [(each, sum(len(term) for term in list_terms(each) if term in asked)) for each in detectors]
    best = max((weight for _, weight in found), default=0)
    return [each for each, weight in found if weight == best > 0]


def list_terms(detector: Detector) -> set[str]:
    """What a question may contain: the phrases of a detector, and their words."""
    texts = [detector.name, detector.family.replace("_", " "), detector.detail or ""]
    for language in known_languages():
        texts += (text.text(language) for text in (name_detector(detector), _list_words(detector)))
    terms = set()
    for phrase in _PHRASE.split("|".join(texts)):
        normal = _normalise(phrase)
        terms |= {normal, *(f" {word} " for word in normal.split() if word.isascii()), *normal.split("的")}
    return {term for term in terms if term.strip() not in _PLAIN}


def _normalise(text: str) -> str:
    """Lower case, without punctuation and plurals, a blank at both ends of words that have blanks."""
    words = (word[:-1] if word[-1] == "s" else word for word in _WORD.findall(text.lower()))
    joined = " ".join(words)
    return f" {joined} " if joined.isascii() else joined


def search_heads(body: AtlasBody, question: str) -> list[AtlasHead]:
    """The heads that pass a detector that a question names, the strongest first."""
    names = {each.name for each in find_detectors(body.detectors, question)}

    def weigh(card: AtlasHead) -> float:
        passed = [card.scores[name] for name in card.types if name in names]
        return max((each.mean - each.null for each in passed if each is not None), default=0.0)

    return sorted((each for each in body.heads if names & set(each.types)), key=weigh, reverse=True)
