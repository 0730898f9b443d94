"""What weights of eight bits cost a translator: BLEU in float32 and int8, and how far maps differ.

    python benchmarks/int8.py --data FOLDER [--split dev] [--lines 10000] [--beams 1]

zoo/translator, the first lines of each pair of languages in both directions, sacreBLEU; maps of 8 texts each.
A loss has an interval of 95 %: the same lines, drawn again 1,000 times, for both.
Choose on dev; read test once.
"""

import argparse
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.bleu import BLEU

from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.tasks.scores import TOKENISATION
from glassformer.tasks.translation import translate

PAIRS = ("en-fr", "en-de", "en-zh")
MAPPED = 8  # texts whose maps are compared
DRAWN = 1000  # times that lines are drawn for an interval
Array = NDArray[np.float64]
Pair = tuple[str, str]


def read_directions(data: Path, split: str, lines: int) -> Iterator[tuple[str, str, list[Pair]]]:
    """(from, to, pairs of lines) for both directions of each pair of languages.

    Each line once, with its first translation: the data repeats a line for each of them, up to 14 times, and
    one answer that is another would count as often.
    """
    for pair in PAIRS:
        with gzip.open(data / pair / f"{split}.tsv.gz", "rt", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t")[:2] for line in file]
        first, second = pair.split("-")
        for source, target, sides in ((first, second, rows), (second, first, [row[::-1] for row in rows])):
            once: dict[str, str] = {}
            for text, answer in sides:
                once.setdefault(text, answer)
            yield source, target, list(once.items())[:lines]


def draw_scores(answers: list[list[str]], references: list[str], language: str) -> tuple[Array, Array]:
    """BLEU of each system on all lines, and (draw, system) on lines drawn again, the same for all systems."""
    metric = BLEU(tokenize=TOKENISATION.get(language, "13a"))
    rows_of: Any = metric._extract_corpus_statistics
    score_of: Any = metric._compute_score_from_stats
    counts = [np.array(rows_of(each, [references])) for each in answers]
    chosen = np.random.default_rng(0).integers(0, len(references), (DRAWN, len(references)))
    drawn = np.array([[score_of(each[rows].sum(0).tolist()).score for each in counts] for rows in chosen])
    return np.array([score_of(each.sum(0).tolist()).score for each in counts]), drawn


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
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--beams", type=int, default=1)
    arguments = parser.parse_args()
    decode = GenerationSettings(beams=arguments.beams)
    models = [load("zoo/translator", weights=weights) for weights in ("float32", "int8")]
    losses, drawn_losses = [], []
    for source, target, pairs in read_directions(arguments.data, arguments.split, arguments.lines):
        texts, references = [one for one, _ in pairs], [other for _, other in pairs]
        answers = [translate(model, texts, target_language=target, decode=decode) for model in models]
        scores, drawn = draw_scores(answers, references, target)
        losses.append(float(scores[0] - scores[1]))
        drawn_losses.append(drawn[:, 0] - drawn[:, 1])
        same = sum(one == other for one, other in zip(*answers, strict=True)) / len(pairs)
        median, worst = compare_maps(models[0], models[1], target, pairs[:MAPPED])
        print(
            f"{source}–{target}: {len(pairs)} lines, BLEU {scores[0]:.2f} float32, {scores[1]:.2f} int8, loss"
            f" {write_interval(losses[-1], drawn_losses[-1])}; {same:.1%} of answers the same; moved in a row"
            f" {median:.4f} in the median head, {worst:.4f} in the worst",
            flush=True,
        )
    print(f"mean loss {write_interval(float(np.mean(losses)), np.mean(drawn_losses, axis=0))}")


def write_interval(value: float, drawn: Array) -> str:
    """A number with what 95 of 100 draws lie between."""
    low, high = np.percentile(drawn, (2.5, 97.5))
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


if __name__ == "__main__":
    main()
