"""A study of long texts on a GPU: GPT-2 small, sequences of 1,024 tokens, beside its plain forward pass.

python benchmarks/study_long.py [--tokens 10000000] [--length 1024] [--device cuda]
                                [--text FILE --tokenizer FILE] [--profile]

The network is GPT-2 small with random weights in bfloat16; what it costs does not depend on them. Sequences
are random ids or, with --text and --tokenizer (a tokenizer.json), pieces of a text that the study tokenises.

First a loop by hand (`output_attentions`, all metrics of each text and head in plain PyTorch) is compared
with the study in float32, metric by metric. Then wall time: the plain pass (sdpa, logits of all positions, at
several batch sizes), the loop by hand, and the study, files included, with memory of GPU and process at
1, 2, 5 and 10 million tokens.
"""

import argparse
import cProfile
import pstats
import resource
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

import glassformer as gf
from glassformer.corpus.measuring import Settings, choose_metrics, prepare_shard
from glassformer.recorders.many import MOST_TOKENS_GPU

METRICS = tuple(choose_metrics(None))
VOCABULARY = 50257
MARKS = (1_000_000, 2_000_000, 5_000_000, 10_000_000)  # tokens after which memory is printed


def main() -> None:
    """Read the options and print what each part finds; a part that fails does not end the others."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tokens", type=int, default=10_000_000)
    options.add_argument("--length", type=int, default=1024)
    options.add_argument("--device", default="cuda")
    options.add_argument("--layers", type=int, default=12)
    options.add_argument("--batches", type=int, nargs="*", default=[4, 8, 16, 32, 64])
    options.add_argument("--text", type=Path)
    options.add_argument("--tokenizer", type=Path)
    options.add_argument("--profile", action="store_true")
    given = options.parse_args()
    torch.manual_seed(0)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(given.tokenizer)) if given.tokenizer else None
    config = GPT2Config(n_layer=given.layers, n_positions=given.length)
    network = GPT2LMHeadModel(config).eval().to(given.device)
    attempt(compare, network, min(given.length, 200))
    network = network.to(torch.bfloat16 if given.device == "cuda" else torch.float32)
    count = given.tokens // given.length
    rows = Sequences(count, given.length)
    fastest = time_plain(network, rows, given.batches)
    attempt(time_by_hand, network, rows)
    loaded = gf.load(network)
    gf.study(loaded, [*rows][:33])  # kernels are compiled, the self-check is made
    attempt(run_study, loaded, rows, "ids", fastest)
    if tokenizer is not None and given.text is not None:
        texts = read_texts(given.text, tokenizer, given.length, count)
        attempt(run_study, gf.load(network, tokenizer), texts, "text", fastest)
    if given.profile:
        profile = cProfile.Profile()
        profile.runcall(measure_here, loaded, [*rows][:1024])
        pstats.Stats(profile).sort_stats("tottime").print_stats(30)


def attempt(part: Callable[..., None], *given: Any) -> None:
    """One part; what goes wrong is printed."""
    try:
        part(*given)
    except Exception:
        traceback.print_exc()


def measure_here(loaded: gf.LoadedModel, rows: list[list[int]]) -> None:
    """What the threads of a study do, one after the other, for the profiler."""
    settings = Settings(choose_metrics(None), most_tokens=MOST_TOKENS_GPU)
    prepare_shard(loaded, [*enumerate(rows)], settings).run()


class Sequences:
    """Random ids, made when they are read."""

    def __init__(self, count: int, length: int) -> None:
        self.count, self.length = count, length

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[list[int]]:
        draw = np.random.default_rng(0)
        for _ in range(self.count):
            yield draw.integers(0, VOCABULARY, self.length).tolist()


def read_texts(path: Path, tokenizer: Any, length: int, count: int) -> list[str]:
    """Pieces of a text of nearly so many tokens, again and again."""
    ids = tokenizer(path.read_text(encoding="utf-8"))["input_ids"]
    pieces = [tokenizer.decode(ids[at : at + length - 24]) for at in range(0, len(ids) - length, length)]
    return [pieces[number % len(pieces)] for number in range(count)]


def compare(network: Any, length: int) -> None:
    """Print how far the loop by hand is from the study."""
    rows = [*Sequences(4, length)]
    network = network.float()
    found = gf.study(gf.load(network), rows).frame("heads")
    totals, counts = measure_by_hand(network, torch.tensor(rows, device=network.device)).double().cpu()
    values = (totals.sum(1) / counts.sum(1)).numpy()  # (layer, metric, head)
    for at, name in enumerate(METRICS):
        ours = found[found["metric"] == name]["value"].to_numpy()
        known = ~np.isnan(ours)
        far = np.abs(ours - values[:, at].ravel())[known].max(initial=0) / max(
            1, np.nanmax(np.abs(ours), initial=0)
        )
        print(f"{name:20} by hand and gf.study differ by {far:.1e} ({known.sum()} heads)")


@torch.inference_mode()
def time_plain(network: Any, rows: Sequences, batches: list[int]) -> float:
    """Tokens a second at the best batch size."""
    network.set_attn_implementation("sdpa")
    best = 0.0
    for size in batches:
        ids = torch.tensor([*Sequences(size, rows.length)], device=network.device)
        seconds = time_calls(lambda ids=ids: network(ids, use_cache=False), network.device)
        rate = ids.numel() / seconds
        best = max(best, rate)
        print(f"plain, batches of {size:3}: {rate:12,.0f} tokens/s", flush=True)
    return best


@torch.inference_mode()
def time_by_hand(network: Any, rows: Sequences) -> None:
    """What `output_attentions` costs, with the metrics."""
    for size in (4, 16):
        ids = torch.tensor([*Sequences(size, rows.length)], device=network.device)
        seconds = time_calls(lambda ids=ids: measure_by_hand(network, ids).cpu(), network.device)
        print(f"by hand, batches of {size:3}: {ids.numel() / seconds:12,.0f} tokens/s", flush=True)


def time_calls(call: Callable[[], object], device: torch.device) -> float:
    """Median wall seconds, after two calls to warm up."""
    times = []
    for number in range(12 if device.type == "cuda" else 3):
        start = time.perf_counter()
        call()
        if device.type == "cuda":
            torch.cuda.synchronize()
        if number >= 2:
            times.append(time.perf_counter() - start)
    return median(times)


def run_study(loaded: gf.LoadedModel, rows: Any, name: str, plain: float) -> None:
    """Print memory as it goes and, at the end, tokens a second."""
    marks = list(MARKS)
    start = time.perf_counter()

    def tell(progress: Any) -> None:
        if marks and progress.tokens >= marks[0] * 0.98:
            marks.pop(0)
            seconds = time.perf_counter() - start
            rate = f"{progress.tokens / seconds:10,.0f} tokens/s"
            print(f"{progress.tokens:14,} tokens {seconds:7.1f} s {rate} {describe_memory(loaded.device)}")

    with tempfile.TemporaryDirectory() as folder:
        found = gf.study(loaded, rows, folder, on_progress=tell)
        seconds = time.perf_counter() - start
        rate = found.tokens / seconds
        print(
            f"gf.study of {name}: {found.texts} texts, {found.tokens:,} tokens, {found.failed} failed, "
            f"{seconds:.1f} s, {rate:,.0f} tokens/s, {rate / plain:.2f} x plain; "
            f"{describe_memory(loaded.device)}",
            flush=True,
        )


def describe_memory(device: torch.device) -> str:
    """Of the GPU (now, and at most) and of this process (now, and at most)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    now, most = pages * resource.getpagesize() >> 20, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    text = f"process {now} MiB (at most {most})"
    if device.type == "cuda":
        used, peak = torch.cuda.memory_allocated() >> 20, torch.cuda.max_memory_allocated() >> 20
        text += f", GPU {used} MiB (at most {peak}, reserved {torch.cuda.memory_reserved() >> 20})"
    return text


@torch.inference_mode()
def measure_by_hand(network: Any, ids: torch.Tensor) -> torch.Tensor:
    """Totals and counts (2, layer, text, metric, head) of causal texts of one length, as a person would."""
    network.set_attn_implementation("eager")
    maps = network(ids, use_cache=False, output_attentions=True, logits_to_keep=1).attentions
    length = ids.shape[1]
    places = torch.arange(length, device=ids.device)
    away = (places[:, None] - places).float()
    allowed = (places + 1).float()
    most, choosing = allowed.log(), allowed > 1
    found = []
    for given in maps:  # (B, H, T, S)
        weights = given.float()
        entropy = -(weights * weights.clamp_min(1e-30).log()).sum(-1)  # (B, H, T)
        above = (weights > 0.01).sum(-1).float()
        mass = weights.sum(2)  # (B, H, S)
        one = torch.full_like(mass[..., 0], length)
        sums = {
            "average_nonzero": (above.sum(-1), one),
            "delimiter": (one * 0, one * 0),  # no tokenizer: no punctuation
            "distance": ((weights * away).sum((-1, -2)), one),
            "entropy": (entropy.sum(-1), one),
            "entropy_share": (entropy.minimum(most).sum(-1), one * 0 + most.sum()),
            "first_token": (weights[:, :, choosing, 0].sum(-1), one - 1),
            "maximum_nonzero": (above.amax(-1), one * 0 + 1),
            "nonzero_share": (above.sum(-1), one * 0 + allowed.sum()),
            "overall_sparsity": (above.sum(-1), allowed.sum() - above.sum(-1)),
            "sink_mass": (mass.amax(-1), one),
            "uniform_divergence": ((most - entropy).clamp_min(0).sum(-1), one),
        }
        found.append(torch.stack([torch.stack(sums[name]) for name in METRICS], dim=2))  # (2, B, metric, H)
    return torch.stack(found, dim=1)


if __name__ == "__main__":
    main()
