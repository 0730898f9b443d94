"""What a model reads where a person has typed nothing: random tokens, or a sentence that suits its task.

In:   a length and a seed; a task, a language and a seed; a text and the most tokens of it.
Out:  token ids; a text. The same seed gives the same.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random

from glassformer.errors import InputError

UNUSED = re.compile(r"\[unused\d+\]")  # BERT's vocabulary keeps room for words to come


@cache
def read_sentences() -> dict[str, dict[str, list[str]]]:
    """Sentences by task and language."""
    return tomllib.loads(Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8"))


def find_sentences(task: str, language: str | None) -> list[str]:
    """Our sentences for a task; in English where there are none in this language."""
    sentences = read_sentences()
    by_language = sentences.get(task, sentences["encoding"])
    return by_language.get(language or "en", by_language["en"])


def list_samples(task: str, languages: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The sentences of a task in each language that a model reads, English where none is known."""
    sentences = read_sentences().get(task, {})
    return {each: tuple(sentences[each]) for each in languages or ("en",) if each in sentences}


def crop_text(text: str, length: int, spans: Callable[[str], Sequence[tuple[int, int]]]) -> str:
    """The beginning of a text, of at most so many tokens; `spans` tells the characters of each token.

    A word that is cut may be split in another way than before, so the beginning is counted again.
    """
    kept, shorter = "", text
    while kept != shorter:
        kept, places = shorter, spans(shorter)
        shorter = kept if len(places) <= length else kept[: places[length - 1][1]]
    return kept


def draw_tokens(
    vocabulary: int, length: int, seed: int, is_special: Callable[[int], bool], show: Callable[[int], str]
) -> tuple[int, ...]:
    """Real tokens drawn evenly, one at a time; special and unused ones are drawn again."""
    random = Random(seed)
    drawn: list[int] = []
    refused = 0
    while len(drawn) < length:
        token = random.randrange(vocabulary)
        if is_special(token) or UNUSED.fullmatch(show(token)):
            refused += 1
            if refused > 1000 + 100 * length:
                raise InputError("workbench.request.all_special")
            continue
        drawn.append(token)
    return tuple(drawn)
