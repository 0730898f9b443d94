"""BLEU by the length of the source sentence: what the playground's page "longer and longer sentences" shows.

    python benchmarks/lengths.py --data FOLDER [--sentences 300]

English to French, test sentences of the data folder, greedy search, sacreBLEU. Tatoeba has few long ones,
so buckets above 16 words are test sentences joined; the page says so. Writes
src/glassformer/lessons/topics/lengths/lengths.json.
"""

import argparse
import datetime
import gzip
import json
from pathlib import Path
from random import Random

from glassformer.model.generation_settings import GenerationSettings
from glassformer.tasks.scores import score_bleu
from glassformer.tasks.translation import translate

FILE = Path(__file__).parent.parent / "src/glassformer/lessons/topics/lengths/lengths.json"
GREEDY = GenerationSettings(beams=1, max_new_tokens=90)
NATURAL = ((2, 4), (5, 7), (8, 10), (11, 16))  # words
JOINED = ((17, 24), (25, 32), (33, 40))
NETWORKS: tuple[tuple[str, str, str, str | None], ...] = (  # family, name, model, target language
    ("recurrent", "recurrent-fixed", "zoo/recurrent-fixed", None),
    ("recurrent", "recurrent", "zoo/recurrent", None),
    ("transformer", "translator", "zoo/translator", "fr"),
)
Pair = tuple[str, str]


def read_pairs(path: Path) -> list[Pair]:
    """Each English sentence once, with its first translation."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    found: dict[str, str] = {}
    for english, french, *_ in rows:
        found.setdefault(english, french)
    return list(found.items())


def take(pairs: list[Pair], shortest: int, longest: int, count: int, random: Random) -> list[Pair]:
    """So many sentences of these lengths."""
    fitting = [pair for pair in pairs if shortest <= len(pair[0].split()) <= longest]
    return random.sample(fitting, min(count, len(fitting)))


def join(pairs: list[Pair], shortest: int, longest: int, count: int, random: Random) -> list[Pair]:
    """So many rows of sentences, joined until they are long enough."""
    made: list[Pair] = []
    while len(made) < count:
        chosen: list[Pair] = []
        while sum(len(pair[0].split()) for pair in chosen) < shortest:
            chosen.append(random.choice(pairs))
        if sum(len(pair[0].split()) for pair in chosen) <= longest:
            made.append((" ".join(pair[0] for pair in chosen), " ".join(pair[1] for pair in chosen)))
    return made


def score_network(model: str, language: str | None, buckets: list[list[Pair]]) -> list[float]:
    """BLEU of every bucket."""
    scores = []
    for pairs in buckets:
        sources, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        translated = list(translate(model, sources, target_language=language, decode=GREEDY))
        scores.append(round(score_bleu(translated, references).score, 2))
        print(model, len(pairs), scores[-1], flush=True)
    return scores


def main() -> None:
    """Measure, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data/translation"))
    parser.add_argument("--sentences", type=int, default=300)
    arguments = parser.parse_args()
    random = Random(0)
    pairs = read_pairs(arguments.data / "en-fr" / "test.tsv.gz")
    count = arguments.sentences
    buckets = [take(pairs, *ends, count, random) for ends in NATURAL]
    buckets += [join(pairs, *ends, count, random) for ends in JOINED]
    result = {
        "date": datetime.date.today().isoformat(),
        "sentences": count,
        "buckets": [
            {"shortest": low, "longest": high, "sentences": len(bucket), "joined": (low, high) in JOINED}
            for (low, high), bucket in zip((*NATURAL, *JOINED), buckets, strict=True)
        ],
        "networks": [
            {"family": family, "model": name, "bleu": score_network(model, language, buckets)}
            for family, name, model, language in NETWORKS
        ],
    }
    FILE.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
