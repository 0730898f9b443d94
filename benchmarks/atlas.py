"""What the detectors of an atlas find where the answer is known: nothing, gold trees, gold links.

python benchmarks/atlas.py DATA [random] [syntax] [alignment]

- random: networks of the shape of zoo/gpt2 and zoo/bert that have learnt nothing, with queries and keys four
  times as large as at the start of a training, so that heads look somewhere; three seeds each, on novels and
  on sentences with trees. How many heads get a type, with the 95 % interval of that share (Wilson).
- syntax: MiniLM on gold trees: the best head of each relation beside shuffled words and the best fixed
  offset.
- alignment: zoo/translator on gold links. Heads are chosen on one story and scored on the two others.

DATA is the folder that the atlases that ship are made from (see glassformer.workbench.atlases).
"""

import argparse
import sys
import time
from dataclasses import replace
from itertools import islice
from math import sqrt
from pathlib import Path

import torch
from study import find_minilm

import glassformer as gf
from glassformer.atlases import Atlas
from glassformer.atlases.schema import Detector
from glassformer.loaded.model import LoadedModel
from glassformer.metrics.gold import read_conllu
from glassformer.workbench.atlases import PLANS, TREEBANK, read_links, read_texts

SEEDS = (1, 2, 3)
SHARPNESS = 4.0
SENTENCES = 496  # of 5 to 25 words


def main() -> None:
    """Print one table for each part."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("parts", nargs="*", default=["random", "syntax", "alignment"])
    options.add_argument("--texts", type=int, default=60, help="texts of each random network")
    given = options.parse_args()
    torch.set_num_threads(1)
    for part in given.parts:
        start = time.process_time()
        if part == "random":
            show_random(given.data, given.texts)
        elif part == "syntax":
            show_syntax(given.data)
        elif part == "alignment":
            show_alignment(given.data)
        else:
            sys.exit(f"{part}: not one of random, syntax, alignment")
        print(f"{part}: {time.process_time() - start:.0f} CPU seconds\n", flush=True)


def show_random(data: Path, texts: int) -> None:
    """Every type is a false one."""
    heads, found = 0, []
    for name in ("gpt2", "bert"):
        given = list(read_texts(replace(PLANS[name], count=texts), data))
        for seed in SEEDS:
            made = gf.atlas(forget(f"zoo/{name}", seed), given, cost_texts=0, seed=seed)
            heads += len(made.heads)
            found += [(name, seed, card.place, card.head, card.types) for card in made.heads if card.types]
            print(
                f"{name}, seed {seed}: {len(made.body.detectors)} detectors, {made.body.corpus.texts} texts"
            )
    low, high = estimate_share(len(found), heads)
    print(
        f"{len(found)} of {heads} heads have a type: {len(found) / heads:.1%} (95 %: {low:.1%} to {high:.1%})"
    )
    for each in found:
        print("  ", *each)


def forget(name: str, seed: int) -> LoadedModel:
    """A model of the zoo with weights as before its training, but sharper."""
    known = gf.load(name)
    torch.manual_seed(seed)
    network = gf.Transformer(known.network.config).eval()
    with torch.no_grad():
        for each, parameter in network.named_parameters():
            if each.endswith("qkv.weight"):
                parameter.mul_(SHARPNESS)
    return gf.load(network, known.tokenizer)


def estimate_share(found: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """The interval of a share (Wilson 1927)."""
    share, more = found / of, z * z / of
    middle, half = share + more / 2, z * sqrt(share * (1 - share) / of + more / (4 * of))
    return max(0.0, (middle - half) / (1 + more)), (middle + half) / (1 + more)


def show_syntax(data: Path) -> None:
    """The best head of each relation, those that pass first."""
    fitting = (each for each in read_conllu(data / TREEBANK) if 4 < len(each.words) <= 25)
    made = gf.atlas(find_minilm(), list(islice(fitting, SENTENCES)), cost_texts=0)
    relations = [each for each in made.body.detectors if each.family in ("governor", "dependent")]
    passed = sum(any(each.name in card.types for card in made.heads) for each in relations)
    print(f"{made.body.corpus.texts} sentences; a head passes for {passed} of {len(relations)} relations")
    show_best(made, relations)


def show_alignment(data: Path) -> None:
    """Each head that was chosen on the first story, on the others."""
    made = gf.atlas(
        "zoo/translator",
        list(read_links(data / str(PLANS["translator"].links))),
        target_language="fr",
        cost_texts=0,
    )
    show_best(made, [each for each in made.body.detectors if each.family == "alignment"])


def show_best(made: Atlas, detectors: list[Detector]) -> None:
    """A row for each detector: the best head that passes, or the best of all."""
    rows = []
    for each in detectors:
        scored = [(card, score) for card in made.heads if (score := card.scores[each.name]) is not None]
        card, score = max(scored, key=lambda pair: (each.name in pair[0].types, pair[1].mean))
        rows.append((each.name not in card.types, score.null - score.mean, each, card, score))
    print("| detector | texts | head | score | shuffled | best fixed offset | score |")
    print("|---" * 7 + "|")
    for fails, _, each, card, score in sorted(rows, key=lambda row: row[:2]):
        name = f"{each.name} (no head passes)" if fails else each.name
        where = f"{card.place}, head {card.head}"
        offset = "diagonal" if each.offset is None else f"{each.offset:+}"
        print(
            f"| {name} | {score.texts} | {where} | {score.mean:.3f} ({score.low:.3f}–{score.high:.3f}) "
            f"| {score.null:.3f} | {offset} | {each.baseline:.3f} |"
        )


if __name__ == "__main__":
    main()
