r"""How long estimates of all heads and edges take, beside one forward pass.

In:   torch and transformers.
Out:  rows for benchmarks/results.md: seconds of processor, medians of rounds that take turns.

    OMP_NUM_THREADS=1 python benchmarks/estimate.py --rounds 9

GPT-2 small with random weights and 64 tokens; zoo/gpt2 with a text of 12 words.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
import transformers as hf

import glassformer as gf

TOKENS, VOCABULARY = 64, 50257
TEXT = "The men who live in the house on the hill were not"


def main() -> None:
    """Rounds of both models, passes and estimates in turns."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    torch.manual_seed(0)
    network = hf.GPT2LMHeadModel(hf.GPT2Config()).eval()
    ids = torch.randint(0, VOCABULARY, (TOKENS,))
    theirs, ours = gf.load(network), gf.load("zoo/gpt2")
    ours_ids = torch.tensor([ours.record(TEXT, want="statistics").source.ids.tolist()])

    def run_theirs() -> None:
        with torch.no_grad():
            network(ids[None], use_cache=False)

    def run_ours() -> None:
        with torch.no_grad():
            ours.network(ours_ids)

    ways: dict[str, Callable[[], object]] = {
        "GPT-2 small, one forward pass": run_theirs,
        "GPT-2 small, all heads and edges": lambda: gf.estimate(
            theirs, ids.tolist(), outcome=gf.LogitDifference(262, 318)
        ),
        "zoo/gpt2, one forward pass": run_ours,
        "zoo/gpt2, all heads and edges": lambda: gf.estimate(
            ours, TEXT, outcome=gf.LogitDifference(" were", " was")
        ),
    }
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, run in ways.items():
            start = time.process_time()
            run()
            if turn:  # the first one checks the model
                spent[name].append(time.process_time() - start)
    print("| | seconds of processor, median (least, most) |\n|---|---|")
    for name, each in spent.items():
        print(f"| {name} | {statistics.median(each):.3f} ({min(each):.3f}, {max(each):.3f}) |")


if __name__ == "__main__":
    main()
