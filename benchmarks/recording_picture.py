"""How much longer it takes to record a picture than to look at it: a ViT-base of 197 tokens.

    python benchmarks/recording_picture.py [--rounds 7] [--threads 2]

The weights are random: only shapes matter. `plain` is the forward pass of transformers with its own fast
attention, `recorded` is `gf.record` of the same pixels with what it keeps by default. Both alternate; printed
are medians, and the least and most ratio of a round, in seconds of the clock and of the processor.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import torch
import transformers

import glassformer as gf


def measure(action: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of the clock, and of all processors."""
    clock, processor = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - clock, time.process_time() - processor


def main() -> None:
    """Print two lines."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--threads", type=int, default=2)
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)
    torch.manual_seed(0)
    network = transformers.ViTModel(transformers.ViTConfig()).eval()
    model = gf.load(network)
    pixels = torch.from_numpy(np.random.default_rng(0).standard_normal((1, 3, 224, 224), np.float32))

    def look() -> None:
        with torch.inference_mode():
            network(pixel_values=pixels)

    def record() -> None:
        gf.record(model, {"pixel_values": pixels})

    look()
    record()
    rounds = [(measure(look), measure(record)) for _ in range(chosen.rounds)]
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {chosen.threads} threads")
    for place, kind in enumerate(("clock", "processor")):
        plain = [look[place] for look, _ in rounds]
        recorded = [record[place] for _, record in rounds]
        ratios = [after / before for before, after in zip(plain, recorded, strict=True)]
        print(
            f"{kind:9}: plain {median(plain):.3f} s, recorded {median(recorded):.3f} s: "
            f"{median(recorded) / median(plain):.2f} × ({min(ratios):.2f}-{max(ratios):.2f})"
        )


if __name__ == "__main__":
    main()
