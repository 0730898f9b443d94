"""What weights of eight bits cost a translator: BLEU in float32 and int8, and how far maps differ.

    python benchmarks/int8.py --data FOLDER [--split dev] [--lines 1000] [--beams 1]

zoo/translator, the first lines of each pair of languages in both directions, sacreBLEU; maps of 8 texts each.
Choose on dev, read test once.
"""

import argparse
import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.tasks.scores import score_bleu
from glassformer.tasks.translation import translate

PAIRS = ("en-fr", "en-de", "en-zh")
MAPPED = 8  # texts whose maps are compared
Pair = tuple[str, str]


def read_directions(data: Path, split: str, lines: int) -> Iterator[tuple[str, str, list[Pair]]]:
    """(from, to, pairs of lines) for both directions of each pair of languages."""
    for pair in PAIRS:
        with gzip.open(data / pair / f"{split}.tsv.gz", "rt", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t")[:2] for line in file][:lines]
        first, second = pair.split("-")
        yield first, second, [(one, other) for one, other in rows]
        yield second, first, [(other, one) for one, other in rows]


def compare_maps(
    float32: LoadedModel, int8: LoadedModel, target: str, texts: list[Pair]
) -> tuple[float, float]:
    """Half the sum of a row's differences: of the median head and of the worst, means over rows and texts."""
    far: dict[tuple[str, int], list[float]] = {}
    for text, answer in texts:
        recordings = [model.record(text, answer, target_language=target) for model in (float32, int8)]
        for one, other in zip(recordings[0].maps, recordings[1].maps, strict=True):
            moved = np.abs(one.weights() - other.weights()).sum(-1).mean(-1) / 2
            for head, each in enumerate(moved):
                far.setdefault((one.place.address, head), []).append(float(each))
    means = [float(np.mean(each)) for each in far.values()]
    return float(np.median(means)), max(means)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", default="dev")
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--beams", type=int, default=1)
    arguments = parser.parse_args()
    decode = GenerationSettings(beams=arguments.beams)
    models = [load("zoo/translator", weights=weights) for weights in ("float32", "int8")]
    for source, target, pairs in read_directions(arguments.data, arguments.split, arguments.lines):
        texts, references = [one for one, _ in pairs], [other for _, other in pairs]
        answers = [translate(model, texts, target_language=target, decode=decode) for model in models]
        plain, rounded = (score_bleu(each, references, language=target).score for each in answers)
        same = sum(one == other for one, other in zip(*answers, strict=True))
        median, worst = compare_maps(models[0], models[1], target, pairs[:MAPPED])
        print(
            f"{source}–{target}: {len(pairs)} lines, BLEU {plain:.2f} float32, {rounded:.2f} int8"
            f" ({rounded - plain:+.2f}), {same} answers the same; moved in a row {median:.4f} in the median"
            f" head, {worst:.4f} in the worst",
            flush=True,
        )


if __name__ == "__main__":
    main()
