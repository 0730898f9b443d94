"""What it costs on a CPU to record the statistics, or the statistics and the maps, of every head of a model.

In:   nothing; a random GPT-2 (small) and random tokens.
Out:  a forward pass of `transformers` with sdpa against the same with our attention in its place, and against
      eager maps; or the peak memory with and without, each in a process of its own.

    python benchmarks/head_statistics.py [--tokens 1024] [--threads 2] [--rounds 7] [--cpu-time]
    python benchmarks/head_statistics.py --memory 8192
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from measure import compare, versions
from torch import Tensor
from transformers import AttentionInterface, GPT2Config, GPT2LMHeadModel
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

from glassformer.recorders.statistics.measure import attend_and_measure
from glassformer.recorders.statistics.raw import Wanted
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recording import HeadStatistics

NAMES = {"statistics": "measured", "statistics and maps": "measured_with_maps"}
kept: list[tuple[HeadStatistics, Any]] = []  # statistics and maps of each layer


def build(tokens: int) -> tuple[GPT2LMHeadModel, Tensor]:
    """A random GPT-2 with room for so many tokens, and a text."""
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(n_positions=max(tokens, 1024))).eval()
    return model, torch.randint(0, 50257, (1, tokens))


def register() -> None:
    """Our attention under two names, with the mask function that belongs to them."""

    def make(weights_too: bool) -> Callable[..., tuple[Tensor, None]]:
        def attend(
            _: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **words: Any
        ) -> tuple[Tensor, None]:
            assert mask is None  # one text without padding: causal
            scale = words.get("scaling") or query.shape[-1] ** -0.5
            scoring = Scoring(scale, causal=True)
            measured = attend_and_measure(query[0], key[0], value[0], scoring, Wanted(weights=weights_too))
            kept.append((measured.statistics, measured.weights))
            assert measured.output is not None
            return measured.output.transpose(0, 1)[None], None

        return attend

    for name, weights_too in zip(NAMES.values(), (False, True), strict=True):
        AttentionInterface.register(name, make(weights_too))
        AttentionMaskInterface.register(name, sdpa_mask)


def run(model: GPT2LMHeadModel, ids: Tensor, kernel: str) -> Any:
    """One forward pass with an attention function, all logits; what the last one kept is let go."""
    kept.clear()
    model.set_attn_implementation(kernel)
    with torch.inference_mode():
        return model(ids, use_cache=False, output_attentions=kernel == "eager")


def time_all(tokens: int, threads: int, rounds: int, cpu_time: bool) -> None:
    """Interleaved rounds, and how far our logits and maps are from theirs."""
    torch.set_num_threads(threads)
    model, ids = build(tokens)
    kernels = {"sdpa forward": "sdpa", **NAMES, "eager, output_attentions": "eager"}
    variants = {name: (lambda kernel=kernel: run(model, ids, kernel)) for name, kernel in kernels.items()}
    clock = time.process_time if cpu_time else time.perf_counter
    print(
        f"GPT-2 small, {tokens} tokens, {threads} threads, {'CPU' if cpu_time else 'wall'} time; "
        f"{versions()}; load {os.getloadavg()[0]:.1f}"
    )
    for timing in compare(variants, repeats=rounds, clock=clock):
        middle, low, high = (1 / value for value in timing.interval())
        print(
            f"  {timing.name:26s} {timing.median:8.3f} s   {middle:.3f} × the forward ({high:.3f}–{low:.3f})"
        )
    plain = run(model, ids, "sdpa").logits
    ours = run(model, ids, "measured_with_maps").logits
    found = [weights for _, weights in kept]
    eager = run(model, ids, "eager").attentions
    worst = max(float((torch.from_numpy(a) - b[0]).abs().max()) for a, b in zip(found, eager, strict=True))
    print(f"  logits differ by {float((plain - ours).abs().max()):.1e}, maps from eager ones by {worst:.1e}")


def peak_of(kernel: str, tokens: int) -> float:
    """MB at the peak of a process that runs one forward pass."""
    command = [sys.executable, __file__, "--peak", kernel, "--memory", str(tokens)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(answer.stdout.split()[-1])


def main() -> None:
    """Time, or memory."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--tokens", type=int, default=1024)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--cpu-time", action="store_true", help="for a machine that is not idle")
    options.add_argument("--memory", type=int, help="compare peak memory at so many tokens instead")
    options.add_argument("--peak", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    register()
    if chosen.peak:
        model, ids = build(chosen.memory)
        model.lm_head = torch.nn.Identity()  # logits would take more than everything else
        run(model, ids, chosen.peak)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)
    elif chosen.memory:
        plain = peak_of("sdpa", chosen.memory)
        ours = peak_of("measured", chosen.memory)
        print(
            f"GPT-2 small, {chosen.memory} tokens, without logits: peak {plain:.0f} MB plain, "
            f"{ours:.0f} MB with statistics of 144 heads kept, {ours - plain:.0f} MB more"
        )
    else:
        time_all(chosen.tokens, chosen.threads, chosen.rounds, chosen.cpu_time)


if __name__ == "__main__":
    main()
