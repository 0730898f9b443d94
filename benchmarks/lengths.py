"""BLEU by the length of the source sentence: what the playground's page "longer and longer sentences" shows.

    python benchmarks/lengths.py --data FOLDER [--sentences 100] [--fixed FOLDER]

English to French, test sentences of the data folder, greedy search, sacreBLEU. Tatoeba has few long ones,
so buckets above 16 words are test sentences joined; the page says so. `--fixed` names the folder of a
recurrent network trained with `context = "fixed"` (recipes/recurrent.toml with that word changed); without it
that curve is missing, and the page says that too. Writes src/glassformer/lessons/lengths.json.
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

FILE = Path(__file__).parent.parent / "src/glassformer/lessons/lengths.json"
GREEDY = GenerationSettings(beams=1, max_new_tokens=90)
NATURAL = ((2, 4), (5, 7), (8, 10), (11, 16))  # words
JOINED = ((17, 24), (25, 32), (33, 40))
NETWORKS: tuple[tuple[tuple[str, str, str | None], tuple[str, str]], ...] = (
    (
        ("recurrent", "zoo/recurrent", None),
        ("recurrent with attention (1 M weights)", "循环网络加注意力（100 万参数）"),
    ),
    (("transformer", "zoo/translator", "fr"), ("Transformer (10 M weights)", "Transformer（1000 万参数）")),
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
        translated = list(translate(model, sources, target_language=language, settings=GREEDY))
        scores.append(round(score_bleu(translated, references).score, 2))
        print(model, len(pairs), scores[-1], flush=True)
    return scores


def main() -> None:
    """Measure, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data/translation"))
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--fixed")
    arguments = parser.parse_args()
    random = Random(0)
    pairs = read_pairs(arguments.data / "en-fr" / "test.tsv.gz")
    count = arguments.sentences
    buckets = [take(pairs, *ends, count, random) for ends in NATURAL]
    buckets += [join(pairs, *ends, count, random) for ends in JOINED]
    networks = [(*words, *names) for words, names in NETWORKS]
    if arguments.fixed:
        names = ("recurrent with a fixed C (0.9 M weights)", "循环网络，固定的 C（90 万参数）")
        networks.insert(0, ("recurrent", arguments.fixed, None, *names))
    missing = arguments.fixed is None
    method = {
        "en": f"English to French, up to {count} test sentences a bucket (Tatoeba), greedy, sacreBLEU. "
        "Above 16 words they are test sentences joined, as the data have hardly any longer ones. Networks "
        "differ in size and in training, too: this compares models, not attention alone."
        + (
            " A recurrent network with a fixed C does not ship, so it was not measured."
            if missing
            else " The network with a fixed C does not ship: its recipe is that of zoo/recurrent, "
            "with a fixed C for attention."
        ),
        "zh": f"英译法，每个区间最多 {count} 个测试句（Tatoeba），贪心搜索，sacreBLEU。"
        "16 词以上由测试句拼接而成，因为数据里几乎没有更长的句子。"
        "各网络的大小和训练也不同：这里比较的是模型，不只是注意力。"
        + (
            "固定 C 的循环网络没有随包发布，因此没有测量。"
            if missing
            else "固定 C 的网络没有随包发布：它按 zoo/recurrent 的配方训练，只把注意力换成固定的 C。"
        ),
    }
    result = {
        "date": datetime.date.today().isoformat(),
        "method": method,
        "buckets": [
            {"shortest": low, "longest": high, "sentences": len(bucket), "joined": (low, high) in JOINED}
            for (low, high), bucket in zip((*NATURAL, *JOINED), buckets, strict=True)
        ],
        "networks": [
            {
                "family": family,
                "model": Path(model).name,
                "name": {"en": en, "zh": zh},
                "bleu": score_network(model, tag, buckets),
            }
            for family, model, tag, en, zh in networks
        ],
    }
    FILE.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
