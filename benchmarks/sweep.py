r"""How long it takes to silence every head of GPT-2 small, one after the other; two other ways beside it.

In:   torch and transformers; for TransformerLens a folder with it and what it needs (`pip install --target`).
Out:  rows for benchmarks/results.md: seconds of processor (on a GPU: of the clock), medians of rounds that
      take turns.

    python benchmarks/sweep.py --rounds 5 --peers /path/of/folder [--device cuda --dtype bfloat16]

All three read the same 64 tokens with random weights of the same shapes, and measure the difference of two
logits at the last position; TransformerLens computes the logits of all positions, the other two of the last
one.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
import transformers as hf

TOKENS, LAYERS, HEADS, WIDTH, VOCABULARY = 64, 12, 12, 64, 50257
ONE, OTHER = 262, 318


def make_ours(model: Any, ids: list[int]) -> Callable[[], list[float]]:
    """`gf.sweep` over the model of transformers."""
    import glassformer as gf

    loaded = gf.load(model)
    loaded.record(ids[:8])  # the self-check, once

    def run() -> list[float]:
        return gf.sweep(loaded, ids, outcome=gf.LogitDifference(ONE, OTHER)).values.tolist()

    return run


def make_hooks(model: Any, ids: list[int]) -> Callable[[], list[float]]:
    """A loop with a hook on the output projection of each layer."""
    text = torch.tensor([ids], device=model.device)

    def run() -> list[float]:
        values = []
        for layer in range(LAYERS):
            for head in range(HEADS):
                part = slice(head * WIDTH, (head + 1) * WIDTH)

                def silence(_: Any, inputs: Any, part: slice = part) -> Any:
                    changed = inputs[0].clone()
                    changed[..., part] = 0
                    return (changed, *inputs[1:])

                with model.transformer.h[layer].attn.c_proj.register_forward_pre_hook(silence):
                    logits = model(text, use_cache=False, logits_to_keep=1).logits[0, -1]
                values.append(float(logits[ONE] - logits[OTHER]))
        return values

    return run


def make_lens(ids: list[int], device: str, dtype: torch.dtype) -> Callable[[], list[float]]:
    """TransformerLens: `run_with_hooks` on hook_z."""
    from transformer_lens import HookedTransformer, HookedTransformerConfig

    config = HookedTransformerConfig(
        n_layers=LAYERS, d_model=HEADS * WIDTH, n_ctx=1024, d_head=WIDTH, n_heads=HEADS, d_vocab=VOCABULARY,
        act_fn="gelu_new", normalization_type="LN", seed=0, device=device, dtype=dtype,
    )  # fmt: skip
    model = HookedTransformer(config).eval()
    text = torch.tensor([ids], device=device)

    def run() -> list[float]:
        values = []
        for layer in range(LAYERS):
            for head in range(HEADS):

                def silence(outputs: Any, hook: Any, head: int = head) -> Any:  # noqa: ARG001
                    outputs[:, :, head] = 0
                    return outputs

                hooks = [(f"blocks.{layer}.attn.hook_z", silence)]
                logits = model.run_with_hooks(text, fwd_hooks=hooks)[0, -1]
                values.append(float(logits[ONE] - logits[OTHER]))
        return values

    return run


def main() -> None:
    """Rounds of all ways that there are."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", help="folder with TransformerLens")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    words = parser.parse_args()
    dtype = getattr(torch, words.dtype)
    clock = time.process_time if words.device == "cpu" else time.perf_counter
    torch.manual_seed(0)
    torch.set_grad_enabled(False)
    model = hf.GPT2LMHeadModel(hf.GPT2Config()).eval().to(words.device, dtype)
    ids = torch.randint(0, VOCABULARY, (TOKENS,)).tolist()
    ways = {"gf.sweep": make_ours(model, ids), "hooks by hand, transformers": make_hooks(model, ids)}
    if words.peers:
        sys.path.append(words.peers)
        ways["TransformerLens"] = make_lens(ids, words.device, dtype)
    spent: dict[str, list[float]] = {name: [] for name in ways}
    found = {}
    for _ in range(words.rounds):
        for name, run in ways.items():
            start = clock()
            found[name] = run()
            spent[name].append(clock() - start)
    ours, theirs = (torch.tensor(found[name]) for name in list(ways)[:2])
    print(f"largest difference between the first two: {float((ours - theirs).abs().max()):.2g}")
    print("| way | seconds, median (least, most) |\n|---|---|")
    for name, each in spent.items():
        print(f"| {name} | {statistics.median(each):.2f} ({min(each):.2f}, {max(each):.2f}) |")


if __name__ == "__main__":
    main()
