"""What recording costs at GPT-2-small shape on a CPU, beside a plain forward pass and the peers' capture.

python benchmarks/recording.py [--tokens 1024] [--threads 2] [--repeats 15] [--memory|--first] [--only NAME …]

Peers that are not installed are left out. `--memory` prints the growth of resident memory of one call each;
`--first` times the first recording of a freshly loaded model, self-check included, beside its second.
"""

import argparse
import gc
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import torch
from measure import Timing, compare, print_rows, rate
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from transformers import logging as transformers_logging

from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.recording import Recording
from glassformer.weights.checkpoint import adopt

Variant = Callable[[], object]


def build(attention: str, tokens: int) -> GPT2LMHeadModel:
    """The same random GPT-2 small each time, with room for all tokens."""
    torch.manual_seed(0)
    config = GPT2Config(n_positions=max(1024, tokens), attn_implementation=attention)
    return GPT2LMHeadModel(config).eval()


def list_ours(tokens: int, ids: list[int]) -> dict[str, Variant]:
    """Ways of recording with Glassformer: our network, and the model of transformers as it is."""
    theirs = build("sdpa", tokens)
    network = adopt(theirs)
    batch = torch.tensor([ids])

    def record(
        model: LoadedModel, kernel: Literal["exact", "fast"], want: tuple[str, ...]
    ) -> Callable[[], Recording]:
        return lambda: model.record(ids, want=want, kernel=kernel)

    variants: dict[str, Variant] = {
        "glassformer, plain forward": lambda: network(batch),
        "glassformer, statistics": record(load(network), "fast", ()),
        "glassformer, statistics of the transformers model": record(load(theirs), "fast", ()),
    }
    if tokens <= 2048:
        ours, model = load(network), load(theirs)
        variants["glassformer, record() as called"] = lambda: ours.record(ids)
        variants["glassformer, record() as called, of the transformers model"] = lambda: model.record(ids)
        maps = ("weights",)
        variants["glassformer, statistics and maps"] = record(load(network), "fast", maps)
        exact = record(load(theirs), "exact", maps)
        variants["glassformer, bit-identical maps of the transformers model"] = exact
        variants["the same, every map read"] = lambda: [each.dense for each in exact().maps]
    return variants


def list_peers(tokens: int, batch: torch.Tensor) -> dict[str, Variant]:
    """Plain forward first, as the reference; then those that can capture attention here."""
    plain, eager = build("sdpa", tokens), build("eager", tokens)
    variants: dict[str, Variant] = {"transformers sdpa, plain forward": lambda: plain(batch, use_cache=False)}
    if tokens > 2048:
        return variants
    variants["transformers eager, output_attentions"] = lambda: eager(
        batch, use_cache=False, output_attentions=True
    )
    try:
        from nnsight import NNsight

        wrapped = NNsight(build("eager", tokens))

        def trace() -> object:
            with wrapped.trace(batch):
                saved = list().save()  # noqa: C408 - nnsight's own idiom
                for block in wrapped.transformer.h:
                    saved.append(block.attn.output[1])
            return saved

        variants["nnsight, attentions saved"] = trace
    except ImportError:
        print("nnsight: left out, not installed")
    try:
        from transformer_lens.model_bridge import TransformerBridge

        bridge = TransformerBridge.boot_transformers(
            "gpt2", hf_model=build("eager", tokens), tokenizer=build_tokenizer()
        )
        variants["TransformerLens, patterns"] = lambda: bridge.run_with_cache(
            batch, names_filter=lambda name: name.endswith("attn.hook_pattern")
        )
    except Exception as error:
        print(f"TransformerLens: left out ({type(error).__name__}: {str(error)[:100]})")
    return variants


def time_first(tokens: int, ids: list[int], repeats: int, clock: Callable[[], float]) -> list[Timing]:
    """First and second recordings of models that were just loaded, and a plain pass of each afterwards."""
    names = ("second recording", "first recording, self-check included", "transformers sdpa, plain forward")
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(repeats + 1):
        theirs = build("sdpa", tokens)
        model, batch = load(theirs), torch.tensor([ids])
        record = partial(model.record, ids)
        steps = (record, record, partial(theirs, batch, use_cache=False))
        for name, step in zip((names[1], names[0], names[2]), steps, strict=True):
            gc.collect()
            start = clock()
            step()
            seconds[name].append(clock() - start)
    return rate({name: each[1:] for name, each in seconds.items()})  # the first of all also imports


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Numbers as words: TransformerLens wants a tokenizer, and would ask the hub for one.

    It has no start token, for else TransformerLens opens it anew by its name.
    """
    words = {str(number): number for number in range(50_257)}
    library = Tokenizer(WordLevel(words, "0"))
    return PreTrainedTokenizerFast(tokenizer_object=library, eos_token="50256", pad_token="50256")


def measure_growth(run: Variant) -> float:
    """MB by which resident memory grows at most while `run` works."""
    stop, seen = threading.Event(), [0]
    before = read_resident()

    def watch() -> None:
        while not stop.wait(0.005):
            seen[0] = max(seen[0], read_resident() - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    result = run()
    stop.set()
    watcher.join()
    grown = max(seen[0], read_resident() - before)
    del result
    return grown / 1e6


def read_resident() -> int:
    """Bytes of this process in memory, mapped files left out."""
    fields = Path("/proc/self/statm").read_text().split()
    return (int(fields[1]) - int(fields[2])) * 4096


def main() -> None:
    """Read the options, then compare time or memory."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tokens", type=int, default=1024)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--repeats", type=int, default=15)
    options.add_argument("--cpu-time", action="store_true", help="process CPU seconds, on a busy machine")
    options.add_argument("--memory", action="store_true")
    options.add_argument("--first", action="store_true")
    options.add_argument("--only", nargs="*", default=None, help="words in the names of variants")
    chosen = options.parse_args()
    transformers_logging.set_verbosity_error()
    torch.set_num_threads(chosen.threads)
    torch.set_grad_enabled(False)
    batch = torch.randint(0, 50_000, (1, chosen.tokens), generator=torch.Generator().manual_seed(0))
    clock = time.process_time if chosen.cpu_time else time.perf_counter
    if chosen.first:
        timings = time_first(chosen.tokens, batch[0].tolist(), chosen.repeats, clock)
        print_rows(f"First recordings, {chosen.tokens} tokens", timings, work=chosen.tokens, unit="tokens")
        return
    variants = list_peers(chosen.tokens, batch) | list_ours(chosen.tokens, batch[0].tolist())
    if chosen.only is not None:
        variants = {
            name: each for name, each in variants.items() if any(word in name for word in chosen.only)
        }
    if chosen.memory:
        print("| variant | growth of resident memory, MB |\n|---|---|")
        for name, run in variants.items():
            run()  # what is loaded once is not counted
            print(f"| {name} | {measure_growth(run):,.0f} |", flush=True)
        return
    timings = compare(variants, repeats=chosen.repeats, clock=clock)
    title = f"Recording GPT-2 small, {chosen.tokens} tokens, {chosen.threads} threads"
    print_rows(title, timings, work=chosen.tokens, unit="tokens")


if __name__ == "__main__":
    main()
