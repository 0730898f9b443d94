"""What statistics cost on a GPU: two kernels against flash attention, a whole GPT-2 with and without them.

In:   nothing; fresh random bf16 inputs, never zeros.
Out:  largest errors against float64; milliseconds and ratios, printed. Of the whole model: the plain pass,
      with statistics left on the GPU, with statistics fetched and checked, and the Recording that a person
      gets; interleaved, wall time from start to end; and the parts that this time goes into.

    python benchmarks/head_statistics_gpu.py [--skip-kernels] [--skip-model] [--tokens 16384] [--rounds 11]
                                             [--profile]
"""

import argparse
import cProfile
import gc
import math
import pstats
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from measure import compare
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from glassformer.loaded.opening import load
from glassformer.place import Place
from glassformer.recorders import maps
from glassformer.recorders.statistics.gpu import _run_cudnn, _run_flash, find_log_sum_exp, measure_weights
from glassformer.recorders.statistics.gpu_results import pack
from glassformer.recorders.statistics.measure import Measured, attend_and_measure
from glassformer.recorders.statistics.raw import Wanted
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recorders.statistics.transfer import FETCHERS
from glassformer.recorders.transformers.inputs import InputBuilder
from glassformer.recording import THRESHOLD, AttentionMap, Tokens

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


class Pass:
    """A whole GPT-2 small in bf16, plain and watched."""

    def __init__(self, tokens: int) -> None:
        from transformers import AttentionInterface, GPT2Config, GPT2LMHeadModel
        from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

        AttentionInterface.register("measured", self.attend)
        AttentionMaskInterface.register("measured", sdpa_mask)
        torch.manual_seed(0)
        self.model = GPT2LMHeadModel(GPT2Config(n_positions=tokens)).eval().to("cuda", torch.bfloat16)
        self.ids = torch.randint(0, 50257, (1, tokens), device="cuda")
        self.numbers = self.ids[0].tolist()
        self.loaded = load(self.model)
        self.kept: list[Measured] = []

    def attend(
        self, _: Any, query: Tensor, key: Tensor, value: Tensor, __: Tensor | None, **words: Any
    ) -> tuple[Tensor, None]:
        scoring = Scoring(words.get("scaling") or query.shape[-1] ** -0.5, causal=True)
        measured = attend_and_measure(query[0], key[0], value[0], scoring)
        output, measured.output = measured.output, None  # the network's own affair
        self.kept.append(measured)
        assert output is not None
        return output.transpose(0, 1)[None], None

    def run(self, kernel: str, **words: Any) -> None:
        self.kept.clear()
        self.model.set_attn_implementation(kernel)
        with torch.inference_mode():
            self.model(self.ids, use_cache=False, **words)

    def run_and_fetch(self) -> None:
        """As MapMaker does: each layer as soon as it has run."""
        self.run("measured")
        with ThreadPoolExecutor(FETCHERS) as fetchers:
            assert all(fetchers.map(lambda measured: measured.statistics is not None, self.kept))

    def record(self, *also: str) -> None:
        self.model.set_attn_implementation("sdpa")
        recording = self.loaded.record(self.numbers, want=("statistics", *also))
        assert len(recording.maps) == self.model.config.n_layer


def compare_models(model: Pass, tokens: int, rounds: int) -> None:
    """Plain, with statistics left on the GPU, with statistics fetched and checked, and recorded."""
    variants: dict[str, Callable[[], None]] = {
        "plain, sdpa": lambda: model.run("sdpa"),
        "plain, logits of the last token alone": lambda: model.run("sdpa", logits_to_keep=1),
        "with statistics, left on the GPU": lambda: model.run("measured"),
        "with statistics, fetched and checked": model.run_and_fetch,
        "Recording, pyramids included": model.record,
        "Recording, queries and keys kept too": lambda: model.record("queries", "keys"),
        "Recording as by default, outputs too": lambda: model.record("weights", "output"),
    }
    model.record()  # self-check and hash come with the first
    timings = compare(variants, repeats=rounds, settle=torch.cuda.synchronize)
    print(f"GPT-2 small, {tokens} tokens, wall time, {rounds} interleaved rounds")
    least = 0.0
    for timing in timings:
        model.kept.clear()
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        variants[timing.name]()
        memory = torch.cuda.max_memory_allocated() / 2**30
        least = least or memory
        middle, low, high = (1 / ratio for ratio in timing.interval())
        print(
            f"  {timing.name}: {1e3 * timing.median:.1f} ms ({1e3 * min(timing.seconds):.1f}–"
            f"{1e3 * max(timing.seconds):.1f}), {middle:.2f} × plain ({high:.2f}–{low:.2f}), "
            f"peak {memory:.2f} GiB, {memory - least:+.2f}",
            flush=True,
        )
    show_parts(model, tokens, rounds)


def show_parts(model: Pass, tokens: int, rounds: int) -> None:
    """What one layer's statistics cost, step by step, and what a recording costs before its first kernel."""
    whole = torch.randn(1, tokens, 3, 12, 64, device="cuda", dtype=torch.bfloat16)
    query, key, value = (each[0].transpose(0, 1) for each in whole.unbind(2))  # as a network has them: views
    together = query.contiguous(), key.contiguous()
    _, given = find_log_sum_exp(query, key, value, CAUSAL)
    found = measure_weights(query, key, CAUSAL, given, Wanted(pyramids=range(12)))
    batch = query[None], key[None], value[None]
    on_gpu: dict[str, Callable[[], object]] = {
        "attention as torch chooses it": lambda: F.scaled_dot_product_attention(*batch, is_causal=True),
        "attention by cuDNN, log-sum-exp too": lambda: _run_cudnn(query, key, value, CAUSAL),
        "attention by flash, log-sum-exp too": lambda: _run_flash(query, key, value, CAUSAL),
        "attention as we choose it": lambda: find_log_sum_exp(query, key, value, CAUSAL),
        "kernels": lambda: measure_weights(query, key, CAUSAL, given),
        "kernels, each head's vectors together": lambda: measure_weights(*together, CAUSAL, given),
        "kernels, with 12 pyramids": lambda: measure_weights(
            query, key, CAUSAL, given, Wanted(pyramids=range(12))
        ),
        "arithmetic and packing": lambda: pack(*found, CAUSAL, range(12), given=batch),
        "extremes": lambda: [torch.aminmax(each) for each in (query, key, value)],
    }
    print("  a layer, on the GPU, ms:")
    for name, call in on_gpu.items():
        try:
            print(f"    {name}: {time_call(call, rounds):.3f}", flush=True)
        except RuntimeError as error:  # not every GPU has every way to attend
            print(f"    {name}: {str(error).splitlines()[0]}", flush=True)
    axis = Tokens.positional("source", tokens)
    steps: dict[str, Callable[[Any], Any]] = {
        "fetch": lambda found: (found.transfer.fetch(), found)[1],
        "open": lambda found: found.read(),
        "check": lambda numbers: numbers.check(None, THRESHOLD),
        "make the map": lambda checked: AttentionMap(
            Place("decoder", "self", 0), axis, axis, checked, dtype="bfloat16"
        ),
    }
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        thing: Any = pack(*found, CAUSAL, range(12), given=batch)
        torch.cuda.synchronize()
        for name, step in steps.items():
            start = time.perf_counter()
            thing = step(thing)
            seconds[name].append(time.perf_counter() - start)
    print("  a layer, on the CPU, ms:")
    for name, seen in seconds.items():
        print(f"    {name}: {1e3 * statistics.median(seen):.2f}")
    before: dict[str, Callable[[], object]] = {
        "read ids": lambda: model.loaded.reader.read_source(model.numbers),
        "glance at the weights": model.loaded.identity.hash,
    }
    print("  before the first kernel, ms:")
    for timing in compare(before, repeats=rounds, settle=torch.cuda.synchronize):
        print(f"    {timing.name}: {1e3 * timing.median:.2f}")


def profile_recordings(model: Pass, recordings: int = 3) -> None:
    """When each part of a recording began and ended; what the interpreter did; what each operator took."""
    show_moments(model)
    print(f"  {recordings} recordings, as Python sees them")
    seen = cProfile.Profile()
    seen.enable()
    for _ in range(recordings):
        model.record()
    seen.disable()
    pstats.Stats(seen).strip_dirs().sort_stats("cumulative").print_stats(25)
    pstats.Stats(seen).strip_dirs().sort_stats("tottime").print_stats(25)
    print(f"  {recordings} recordings, by operator")
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as operators:
        for _ in range(recordings):
            model.record()
        torch.cuda.synchronize()
    table = operators.key_averages()
    for order in ("self_cpu_time_total", "self_device_time_total"):
        print(table.table(sort_by=order, row_limit=20, max_name_column_width=60), flush=True)


def show_moments(model: Pass) -> None:
    """Milliseconds from the start of a recording at which its steps begin and end, of three in a row."""
    loaded, moments = model.loaded, []

    def watch(thing: Any, name: str, label: str) -> None:
        inner = getattr(thing, name)

        def timed(*places: Any, **words: Any) -> Any:
            moments.append((time.perf_counter(), f"{label} begins"))
            try:
                return inner(*places, **words)
            finally:
                moments.append((time.perf_counter(), f"{label} ends"))

        setattr(thing, name, timed)
        undone.append((thing, name, inner))

    undone: list[tuple[Any, str, Any]] = []
    watch(InputBuilder, "build", "reading ids")
    watch(loaded.identity, "hash", "glance at the weights")
    watch(model.model, "forward", "the model's launches")
    watch(maps.MapMaker, "receive", "a layer's launches")
    watch(maps.MapMaker, "_make", "a map")
    watch(Measured, "fetch", "a layer's journey")
    for _ in range(3):
        moments.clear()
        start = time.perf_counter()
        model.record()
        end = time.perf_counter()
        print(f"  a recording of {1e3 * (end - start):.1f} ms")
        for moment, label in sorted(moments):
            print(f"    {1e3 * (moment - start):6.1f} {label}")
    for thing, name, inner in undone:
        setattr(thing, name, inner)


def main() -> None:
    """Errors, kernels, model."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--skip-kernels", action="store_true")
    options.add_argument("--skip-model", action="store_true")
    options.add_argument("--tokens", type=int, default=16_384)
    options.add_argument("--rounds", type=int, default=11)
    options.add_argument("--profile", action="store_true", help="show what recordings spend their time on")
    chosen = options.parse_args()
    print(torch.cuda.get_device_name(), torch.__version__)
    for heads, tokens in ((3, 1000), (2, 4096), (1, 8192)):
        errors = check(heads, tokens)
        print(f"{tokens} × {heads}:", ", ".join(f"{name} {error:.1e}" for name, error in errors.items()))
    if not chosen.skip_kernels:
        compare_kernels()
    if not chosen.skip_model:
        model = Pass(chosen.tokens)
        compare_models(model, chosen.tokens, chosen.rounds)
        if chosen.profile:
            profile_recordings(model)


if __name__ == "__main__":
    main()
