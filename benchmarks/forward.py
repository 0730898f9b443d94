"""One forward pass at GPT-2-small shape on a CPU in float32, beside transformers with sdpa.

python benchmarks/forward.py [--tokens 512] [--threads 2] [--repeats 15]
"""

import argparse
import time

import torch
from measure import compare, print_rows
from transformers import GPT2Config, GPT2LMHeadModel
from transformers import logging as transformers_logging

from glassformer.weights.checkpoint import adopt


def main() -> None:
    """Read the options; the same weights and tokens for both."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tokens", type=int, default=512)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--repeats", type=int, default=15)
    options.add_argument("--cpu-time", action="store_true", help="process CPU seconds, on a busy machine")
    chosen = options.parse_args()
    transformers_logging.set_verbosity_error()
    torch.set_num_threads(chosen.threads)
    torch.manual_seed(0)
    reference = GPT2LMHeadModel(GPT2Config(attn_implementation="sdpa")).eval()
    ours = adopt(reference)
    ids = torch.randint(0, 50_000, (1, chosen.tokens))
    with torch.inference_mode():
        difference = float((reference(ids, use_cache=False).logits - ours(ids)).abs().max())
        print(f"largest difference of logits: {difference:.1e}")
        timings = compare(
            {
                "transformers": lambda: reference(ids, use_cache=False).logits,
                "glassformer": lambda: ours(ids),
            },
            repeats=chosen.repeats,
            clock=time.process_time if chosen.cpu_time else time.perf_counter,
        )
    title = f"Forward pass, GPT-2 small, {chosen.tokens} tokens, {chosen.threads} threads"
    print_rows(title, timings, work=chosen.tokens, unit="tokens")


if __name__ == "__main__":
    main()
