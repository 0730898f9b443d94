"""What a model reads where a person has typed nothing: random tokens, or a sentence that suits its task.

In:   a length and a seed; a task, a language and a seed.
Out:  token ids; a text. The same seed gives the same.
"""

import re
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from glassformer.errors import InputError

UNUSED = re.compile(r"\[unused\d+\]")  # BERT's vocabulary keeps room for words to come


@cache
def read_sentences() -> dict[str, dict[str, list[str]]]:
    """Sentences by task and language."""
    return tomllib.loads(Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8"))


def choose_sentence(task: str, language: str | None, seed: int) -> str:
    """One of our sentences; in English where there is none in this language."""
    sentences = read_sentences()
    by_language = sentences.get(task, sentences["encoding"])
    chosen = by_language.get(language or "en", by_language["en"])
    return chosen[seed % len(chosen)]


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
