"""What a model reads where a person has typed nothing: random tokens, or a sentence that suits its task.

In:   a length and a seed; a task, a language and a seed.
Out:  token ids; a text. The same seed gives the same.
"""

import re
from collections.abc import Callable
from random import Random

from glassformer.errors import InputError

UNUSED = re.compile(r"\[unused\d+\]")  # BERT's vocabulary keeps room for words to come

SENTENCES: dict[str, dict[str, tuple[str, ...]]] = {
    "translation": {
        "en": (
            "Tom chases Jerry.",
            "I love you.",
            "I am a student.",
            "The weather is much better today than it was yesterday.",
            "Where did you put the red book that I gave you?",
            "She reads a letter from her brother every evening.",
        ),
        "fr": ("Merci beaucoup.", "Je suis étudiant.", "Où est le chat noir ?", "Elle aime lire le soir."),
        "de": ("Ich bin Student.", "Wo ist die schwarze Katze?", "Sie liest jeden Abend einen Brief."),
        "zh": ("我爱你。", "我是学生。", "今天天气比昨天好得多。", "她每天晚上都看书。"),
    },
    "language_modelling": {
        "en": (
            "The quick brown fox jumps over the lazy dog.",
            "It was a cold evening, and the old man sat by the fire with",
            "Mr. Darcy looked at her, and for a moment Mr.",
            "She opened the door and saw that the room was",
        ),
        "zh": ("一步两步三步四步望着天", "从前有一座山，山里有一座庙，"),
    },
    "masked_language_modelling": {
        "en": (
            "The animal did not cross the street because it was too [MASK].",
            "She put the letter into her [MASK] and went out of the room.",
            "He sat down at the [MASK] and began to eat.",
            "The old man looked at the [MASK] and said nothing.",
        ),
        "zh": ("今天天气很[MASK]。", "她把信放进[MASK]里，走出了房间。"),
    },
    "classification": {
        "en": (
            "a film of rare beauty, told with patience and wit",
            "two hours of my life that i will never get back",
            "the actors are good, but the story goes nowhere",
            "not a bad film at all",
        ),
        "zh": ("这是一部非常美的电影。", "浪费了我两个小时。"),
    },
    "encoding": {
        "en": (
            "The animal didn't cross the street because it was too tired.",
            "The law will never be perfect, but its application should be just.",
        ),
        "zh": ("一步两步三步四步望着天", "我爱你。"),
    },
}


def choose_sentence(task: str, language: str | None, seed: int) -> str:
    """One of our sentences; in English where there is none in this language."""
    by_language = SENTENCES.get(task, SENTENCES["encoding"])
    sentences = by_language.get(language or "en", by_language["en"])
    return sentences[seed % len(sentences)]


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
