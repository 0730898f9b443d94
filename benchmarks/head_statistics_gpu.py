"""What statistics cost on a GPU: two kernels against flash attention, a whole GPT-2 with and without them.

In:   nothing; fresh random bf16 inputs, never zeros.
Out:  largest errors against float64; milliseconds and ratios, printed.

    python benchmarks/head_statistics_gpu.py [--skip-model]
"""

import argparse
import gc
import math
import statistics
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from glassformer.recorders.scoring import Scoring
from glassformer.recorders.statistics import Measured, attend_and_measure
from glassformer.recorders.statistics_gpu import find_log_sum_exp, measure_weights

SHAPES = ((144, 1024), (48, 4096), (12, 16384), (12, 65536), (4, 131072))  # heads, tokens; head width 64
CAUSAL = Scoring(0.125, causal=True)


def draw(heads: int, tokens: int, width: int = 64) -> list[Tensor]:
    """Queries, keys and values."""
    return [torch.randn(heads, tokens, width, device="cuda", dtype=torch.bfloat16) for _ in range(3)]


def time_call(call: Callable[[], object], repeats: int) -> float:
    """Median milliseconds between events, after two calls to warm up."""
    for _ in range(2):
        call()
    times = []
    for _ in range(repeats):
        start, stop = torch.cuda.Event(True), torch.cuda.Event(True)
        start.record()
        call()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times)


def check(heads: int, tokens: int) -> dict[str, float]:
    """The largest differences from a softmax in float64, on inputs drawn now."""
    queries, keys, values = draw(heads, tokens)
    queries *= 2
    found = attend_and_measure(queries, keys, values, CAUSAL).statistics
    scores = queries.double() @ keys.double().transpose(1, 2) * CAUSAL.scale
    scores.masked_fill_(torch.ones(tokens, tokens, device="cuda", dtype=torch.bool).triu(1), -math.inf)
    weights = scores.softmax(-1)
    positions = torch.arange(tokens, device="cuda").double()
    wanted = {
        "entropy": -(weights * weights.clamp_min(1e-300).log()).sum(-1),
        "log_sum_exp": scores.logsumexp(-1),
        "peak": weights.amax(-1),
        "distance": positions - weights @ positions,
        "above": (weights > found.threshold).sum(-1),
        "mass": weights.sum(1),
    }
    errors = {}
    for name, value in wanted.items():
        seen = torch.from_numpy(getattr(found, name).copy()).cuda()
        errors[name] = float(((seen - value).abs() / value.abs().clamp_min(1)).max())  # relative above 1
    return errors


def compare_kernels() -> None:
    """Statistics alone, log-sum-exp given as flash attention gives it; and with the attention's output."""
    print("tokens × heads | flash ms | log-sum-exp given: ms, × flash | with output: ms, × flash")
    for heads, tokens in SHAPES:
        queries, keys, values = draw(heads, tokens)
        repeats = 5 if tokens > 20_000 else 20
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            batch = queries[None], keys[None], values[None]
            flash = time_call(lambda: F.scaled_dot_product_attention(*batch, is_causal=True), repeats)  # noqa: B023
        _, given = find_log_sum_exp(queries, keys, values, CAUSAL)
        ours = time_call(lambda: measure_weights(queries, keys, CAUSAL, given), repeats)  # noqa: B023
        both = time_call(lambda: attend_and_measure(queries, keys, values, CAUSAL), repeats)  # noqa: B023
        print(
            f"{tokens:7d} × {heads:3d} | {flash:8.3f} | {ours:8.3f} {ours / flash:5.2f} | "
            f"{both:8.3f} {both / flash:5.2f}",
            flush=True,
        )


def compare_models(tokens: int = 16_384, repeats: int = 7) -> None:
    """A whole GPT-2 small in bf16: plain, with statistics left on the GPU, and with statistics fetched."""
    from transformers import AttentionInterface, GPT2Config, GPT2LMHeadModel
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    kept: list[Measured] = []

    def attend(
        _: Any, query: Tensor, key: Tensor, value: Tensor, __: Tensor | None, **words: Any
    ) -> tuple[Tensor, None]:
        scoring = Scoring(words.get("scaling") or query.shape[-1] ** -0.5, causal=True)
        measured = attend_and_measure(query[0], key[0], value[0], scoring)
        output, measured.output = measured.output, None  # the network's own affair
        kept.append(measured)
        assert output is not None
        return output.transpose(0, 1)[None], None

    AttentionInterface.register("measured", attend)
    AttentionMaskInterface.register("measured", sdpa_mask)
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(n_positions=tokens)).eval().to("cuda", torch.bfloat16)
    ids = torch.randint(0, 50257, (1, tokens), device="cuda")

    def run(kernel: str, fetch: bool = False) -> None:
        kept.clear()
        model.set_attn_implementation(kernel)
        with torch.inference_mode():
            model(ids, use_cache=False)
        if fetch:
            _ = [measured.statistics for measured in kept]

    variants: dict[str, Callable[[], None]] = {
        "sdpa": lambda: run("sdpa"),
        "with statistics": lambda: run("measured"),
        "with statistics, fetched and checked": lambda: run("measured", fetch=True),
    }
    plain_time = plain_memory = 0.0
    for name, call in variants.items():
        kept.clear()
        gc.collect()
        torch.cuda.empty_cache()
        time_taken = time_call(call, repeats)
        torch.cuda.reset_peak_memory_stats()
        call()
        memory = torch.cuda.max_memory_allocated() / 2**30
        plain_time, plain_memory = plain_time or time_taken, plain_memory or memory
        print(
            f"GPT-2 small, {tokens} tokens, {name}: {time_taken:.1f} ms, "
            f"{time_taken / plain_time:.2f} × plain, peak {memory:.2f} GiB, {memory - plain_memory:+.2f}",
            flush=True,
        )


def main() -> None:
    """Errors, kernels, model."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--skip-model", action="store_true")
    chosen = options.parse_args()
    print(torch.cuda.get_device_name(), torch.__version__)
    for heads, tokens in ((3, 1000), (2, 4096), (1, 8192)):
        errors = check(heads, tokens)
        print(f"{tokens} × {heads}:", ", ".join(f"{name} {error:.1e}" for name, error in errors.items()))
    compare_kernels()
    if not chosen.skip_model:
        compare_models()


if __name__ == "__main__":
    main()
