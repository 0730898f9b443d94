"""The atlases that ship: what every head of the zoo does.

In:   a folder with the data that the models were trained on, and gold trees and links (see PLANS).
Out:  api/shipped_atlases/<model>/. Scores come from the data; what is shown as an example was written for it.

    python -m glassformer.workbench.atlases DATA [MODEL …]

To be run whenever a model of the zoo or a detector has changed.
"""

import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from shutil import rmtree
from typing import Any

from glassformer.corpus.atlas.build import atlas, make_probes
from glassformer.corpus.atlas.texts import MarkedText, from_pair, from_sentence
from glassformer.loaded.opening import load
from glassformer.messages import message
from glassformer.metrics.gold import read_alignments, read_conllu
from glassformer.text.files import Problems, read_lines

OUTPUT = Path(__file__).parent.parent / "api" / "shipped_atlases"
TREES = Path(__file__).with_name("atlas_examples.conllu")
SENTENCES = Path(__file__).with_name("sentences.toml")
LONGEST_WORDS = 25  # of gold sentences
LEAST_WORDS = 8  # of gold pairs: in shorter ones the diagonal is right by itself
COST_TEXTS = 12


@dataclass(frozen=True, slots=True)
class Plan:
    """What the atlas of one model is made from."""

    name: str  # of the corpus, with its source
    texts: str | None = None  # one on each line, or behind a tab
    pairs: str | None = None
    trees: str | None = None
    links: str | None = None  # a folder of gold links, French first
    language: str | None = None
    count: int = 200
    sentences: str = "language_modelling"  # where examples come from


NOVELS = "language-model/novels.dev.txt.xz"
TREEBANK = "gold/en_ewt-ud-dev.conllu.gz"
REVIEWS = "classification/polarity/dev.tsv.gz"
PLANS = {
    "gpt2": Plan("English novels, 1839–1927", texts=NOVELS, count=1000),
    "rotary": Plan("English novels, 1839–1927", texts=NOVELS),
    "bert": Plan("UD English-EWT (dev)", trees=TREEBANK),
    "albert": Plan("UD English-EWT (dev)", trees=TREEBANK),
    "sentiment": Plan("sentences of film reviews (Pang and Lee)", texts=REVIEWS, sentences="classification"),
    "reviews": Plan(
        "film reviews (Pang and Lee)",
        texts="classification/reviews/dev.tsv.gz",
        count=60,
        sentences="classification",
    ),
    "translator": Plan(
        "Tatoeba English–French; links: Alibi (Xu and Yvon 2016)",
        pairs="translation/en-fr/dev.tsv.gz",
        links="gold/alibi_fr-en",
        language="fr",
        sentences="translation",
    ),
    "recurrent": Plan(
        "Tatoeba English–French; links: Alibi (Xu and Yvon 2016)",
        pairs="translation/en-fr/dev.tsv.gz",
        links="gold/alibi_fr-en",
        sentences="translation",
    ),
}


def make_atlas(model: str, data: Path, output: Path = OUTPUT) -> Path:
    """Make one and put it in its place."""
    plan = PLANS[model]
    opened = load(f"zoo/{model}")
    texts = list(read_texts(plan, data))
    found = atlas(
        opened,
        texts,
        name=plan.name,
        examples=[*list_examples(plan), *make_probes(opened, (), 0)],
        cost_texts=COST_TEXTS,
        target_language=plan.language,
    )
    folder = output / model
    rmtree(folder, ignore_errors=True)
    found.save(folder)
    print(f"{found}\n")  # noqa: T201
    return folder


def read_texts(plan: Plan, data: Path) -> Iterator[Any]:
    """The corpus of a plan."""
    if plan.texts is not None:
        lines = (line.rpartition("\t")[2].strip() for _, line in _read(data / plan.texts))
        yield from islice((line for line in lines if len(line.split()) > 4), plan.count)
    if plan.pairs is not None:
        pairs = (line.strip().split("\t")[:2] for _, line in _read(data / plan.pairs))
        yield from islice(((source, target) for source, target in pairs), plan.count)
    if plan.trees is not None:
        fitting = (each for each in read_conllu(data / plan.trees) if 4 < len(each.words) <= LONGEST_WORDS)
        yield from islice(fitting, plan.count)
    if plan.links is not None:
        yield from read_links(data / plan.links)


def read_links(folder: Path) -> Iterator[MarkedText]:
    """English–French pairs with gold links, of 8 to 25 words on both sides.

    Heads are chosen on the first story; the others are held out for the score. The lengths were once chosen
    on all of them.
    """
    for number, links in enumerate(sorted(folder.glob("*/ali_*.txt"))):
        french, english = links.stem.removeprefix("ali_w2w_").split("_")
        sides = (links.parent / f"{french}_sents.txt", links.parent / f"{english}_sents.txt")
        for pair in read_alignments(links, *sides):
            lengths = sorted((len(pair.source), len(pair.target)))
            if pair.sure and lengths[0] >= LEAST_WORDS and lengths[1] <= LONGEST_WORDS:
                yield replace(from_pair(pair.swapped()), held_out=number > 0)


def list_examples(plan: Plan) -> list[MarkedText]:
    """Sentences that were written for the page, in English; and some with trees."""
    written = tomllib.loads(SENTENCES.read_text(encoding="utf-8"))[plan.sentences]["en"]
    texts = [MarkedText(text) for text in written]
    return [*texts, *(from_sentence(each) for each in read_conllu(TREES))] if plan.trees else texts


def _read(path: Path) -> Iterator[tuple[int, str]]:
    return read_lines(path, Problems(advice=str(message("cli.errors.convert_file"))))


if __name__ == "__main__":
    for name in sys.argv[2:] or PLANS:
        make_atlas(name, Path(sys.argv[1]))
