"""What the models of the zoo can do: the figures of their cards, computed again.

    python benchmarks/zoo.py [translation language masked alignment classification] --data FOLDER
        [--device cuda]

translation: BLEU and chrF of the translators on test, greedily and by beam 5, with signatures.
language: bits per byte of novels.dev in windows that do not overlap; the best induction score.
masked: the share of hidden tokens of novels.dev that zoo/bert and zoo/albert guess, 2,000 windows of 128.
alignment: error rate of zoo/translator's cross-attention on gold/alibi_fr-en, segments of at most 25 words;
head and reading are chosen on the first story and judged on the other two.
classification: accuracy of zoo/sentiment and zoo/reviews on test.
"""

import argparse
import gzip
from pathlib import Path

from glassformer.loaded.opening import load
from glassformer.metrics.gold import AlignedPair, read_alignments
from glassformer.metrics.metric import score
from glassformer.metrics.scores import Score, pool
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.transformer import Transformer
from glassformer.tasks.answers import open_model
from glassformer.tasks.language_modelling import LanguageModelling
from glassformer.tasks.scores import score_bleu, score_chrf
from glassformer.tasks.task import build_task
from glassformer.tasks.translation import translate
from glassformer.training.monitor import Monitor
from glassformer.training.settings import MonitorSettings

SEARCHES = {
    "greedy": GenerationSettings(max_new_tokens=100),
    "beam 5": GenerationSettings(beams=5, max_new_tokens=100),
}
STORIES = {
    "ChatBotte": "MasterCat",  # the one on which head and reading are chosen
    "LaBarbeBleue": "BlueBeard",
    "LaDerniereClasse": "TheLastLesson",
}
LONGEST = 25  # words of a segment, on both sides
READINGS = ("written", "entered")


def read_rows(path: Path) -> list[list[str]]:
    """Rows of a compressed TSV file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def score_translation(data: Path, device: str) -> None:
    """Every direction of the translator; the only direction of the recurrent ones."""
    for name in ("translator", "recurrent", "recurrent-fixed"):
        model = open_model(f"zoo/{name}", device=device)
        several = name == "translator"
        for pair in ("en-fr", "en-de", "en-zh") if several else ("en-fr",):
            rows = read_rows(data / "translation" / pair / "test.tsv.gz")
            for back in (0, 1) if several else (0,):
                source, target = pair.split("-")[back], pair.split("-")[1 - back]
                texts, wanted = [row[back] for row in rows], [row[1 - back] for row in rows]
                for search, decode in SEARCHES.items():
                    language = target if several else None
                    written = list(translate(model, texts, target_language=language, decode=decode))
                    bleu, chrf = score_bleu(written, wanted, language=target), score_chrf(written, wanted)
                    print(f"{name} {source} → {target}, {search}: {bleu}; {chrf}", flush=True)


def score_language(data: Path, device: str) -> None:
    """Bits per byte, all bytes counted, and induction on repeated random tokens."""
    for name, context in (("gpt2", 512), ("rotary", 1024)):
        model = open_model(f"zoo/{name}", device=device)
        table = {
            "name": "language_modelling",
            "path": "novels.{split}.txt.xz",
            "folder": str(data / "language-model"),
            "documents": "blank",
            "context": context,
        }
        task = build_task(table, model.tokenizer)
        assert isinstance(task, LanguageModelling)
        assert isinstance(model.network, Transformer)
        task.accept(model.network.config)
        looks = Monitor(model.network, task.probe(), MonitorSettings()).look()
        best = max(
            (value, f"{place} head {head}")
            for place, heads in looks.items()
            for head, value in enumerate(heads["induction"])
        )
        print(f"{name}: induction {best[0]:.3f} ({best[1]})", flush=True)
        print(f"{name}: {task.evaluate(model.network, 'dev')}", flush=True)


def score_masked(data: Path, device: str) -> None:
    """Hidden tokens that are guessed; 15 % are hidden, as in training."""
    for name, relation, paired in (("bert", "next-sentence", 0.25), ("albert", "sentence-order", 1.0)):
        model = open_model(f"zoo/{name}", device=device)
        table = {
            "name": "masked_language_modelling",
            "path": "novels.{split}.txt.xz",
            "folder": str(data / "language-model"),
            "documents": "blank",
            "context": 128,
            "relation": relation,
            "paired": paired,
        }
        task = build_task(table, model.tokenizer)
        assert isinstance(model.network, Transformer)
        task.accept(model.network.config)
        print(f"{name}: {task.evaluate(model.network, 'dev', limit=2000)}", flush=True)


def read_story(data: Path, french: str) -> list[AlignedPair]:
    """The short segments of a story."""
    english = STORIES[french]
    folder = data / "gold" / "alibi_fr-en" / f"{french}_{english}"
    files = (f"ali_w2w_{french}_{english}.txt", f"{french}_sents.txt", f"{english}_sents.txt")
    pairs = read_alignments(*(folder / file for file in files))
    return [pair for pair in pairs if max(len(pair.source), len(pair.target)) <= LONGEST and pair.source]


def score_alignment(data: Path, device: str) -> None:
    """French is read, English is given to the decoder; every head of every layer is scored."""
    subject = load("zoo/translator", device=device)
    ways = [("attention", reading) for reading in READINGS] + [("diagonal", "written")]
    sums: dict[tuple[str, str, str], Score] = {}
    for story in STORIES:
        found: dict[tuple[str, str], list[Score]] = {way: [] for way in ways}
        for pair in read_story(data, story):
            recording = subject.record(
                " ".join(pair.source), " ".join(pair.target), target_language="en", want=("weights",)
            )
            for by, reading in ways:
                found[by, reading].append(
                    score(recording, "alignment_error", gold=pair, by=by, reading=reading)
                )
        print(f"{story}: {len(found[ways[0]])} segments of at most {LONGEST} words")
        sums |= {(story, *way): pool(scores) for way, scores in found.items()}
    first, *others = STORIES
    best = min(
        (float(value), reading, number, head)
        for reading in READINGS
        for number, part in enumerate(cross_parts(sums[first, "attention", reading]))
        for head, value in enumerate(part.values)
    )
    _, reading, layer, head = best
    print(f"Chosen on {first}: layer {layer}, head {head}, {reading}: {best[0]:.3f}")
    for name, by, place in (("this head", "attention", reading), ("diagonal", "diagonal", "written")):
        together = cross_parts(pool([sums[story, by, place] for story in others]))[layer]
        print(f"{name} on {' and '.join(others)}: {together.values[head]:.3f}", flush=True)


def cross_parts(found: Score) -> list[Score]:
    """The parts of cross-attention, by layer."""
    return [part for part in found.parts if part.place is not None and part.place.kind == "cross"]


def score_classification(data: Path, device: str) -> None:
    """The share of texts whose label is right; of long reviews the start and the end are read."""
    for name, folder in (("sentiment", "polarity"), ("reviews", "reviews")):
        model = open_model(f"zoo/{name}", device=device)
        assert isinstance(model.network, Transformer)
        table = {
            "name": "classification",
            "path": f"{folder}/{{split}}.tsv.gz",
            "folder": str(data / "classification"),
            "max_length": model.network.config.max_length,
            "long": "both ends",
        }
        task = build_task(table, model.tokenizer)
        task.accept(model.network.config)
        print(f"{name}: {task.evaluate(model.network, 'test')}", flush=True)


PARTS = {
    "translation": score_translation,
    "language": score_language,
    "masked": score_masked,
    "alignment": score_alignment,
    "classification": score_classification,
}


def main() -> None:
    """Compute what was asked for, or everything."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--device", default="cpu")
    chosen = options.parse_args()
    for part in chosen.parts:
        PARTS[part](chosen.data, chosen.device)


if __name__ == "__main__":
    main()
