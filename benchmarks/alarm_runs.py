"""The runs on which alarms are proved: healthy ones, and ones with planted trouble. See alarms.py.

In:   small parts of the recipes' data (`cut_data`); the recipes, shrunk to seconds.
Out:  `Run`s. One with trouble says at which step the trouble begins, by construction: where a weight, a rate,
      a gradient or a batch is changed. No alarm has a say in it.
"""

import gzip
import lzma
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from glassformer.model.attention import SelfAttention
from glassformer.model.loss import IGNORED
from glassformer.tasks.task import Network
from glassformer.text.batches import Batch

EVERY, EVALUATE = 20, 40  # steps between looks at heads, and between evaluations
NETWORK = {"layers": 2, "width": 32, "heads": 4, "feed_forward": 64, "max_length": 64}
TRAIN = {
    "train.minutes": None,
    "train.compile": "no",
    "train.evaluate_every": EVALUATE,
    "train.evaluate_limit": 32,
    "train.save_every": 100_000,
    "train.device": "cpu",
    "train.best_by": None,
    "train.evaluate_on": "dev",
    "train.patience": 0,
    "monitor.every": EVERY,
}

Provoke = Callable[[int, Network, Batch], Batch]  # before each step: may change the network or the batch


@dataclass(frozen=True)
class Run:
    """One run: a recipe with changes, and where there is any, the trouble."""

    name: str
    recipe: str
    changes: Mapping[str, Any]
    trouble: str = ""  # "": healthy
    begins: int = 0  # the step at which the trouble is planted
    expected: tuple[str, ...] = ()  # causes of alarms that find it
    provoke: Provoke | None = None
    rate: Callable[[int, float], float] | None = None  # from step and rate to another rate


# Small data


def cut_data(data: Path, folder: Path) -> None:
    """Small parts of the recipes' data, in the recipes' layout."""
    shakespeare = (data / "language-model/tinyshakespeare.txt").read_text(encoding="utf-8")
    _write(folder / "shakespeare.train.txt", shakespeare[:200_000])
    _write(folder / "shakespeare.dev.txt", shakespeare[-20_000:])
    with lzma.open(data / "language-model/novels.dev.txt.xz", "rt", encoding="utf-8") as file:
        novels = file.read(330_000)
    _write(folder / "novels.train.txt", novels[:300_000])
    _write(folder / "novels.dev.txt", novels[300_000:])
    _write(folder / "few.train.txt", shakespeare[:1_000])
    _write(folder / "few.dev.txt", shakespeare[-20_000:])
    _write(folder / "constant.train.txt", "a" * 100_000)
    _write(folder / "constant.dev.txt", "a" * 5_000)
    chance = torch.Generator().manual_seed(0)
    for name, lines in (("polarity", 2400), ("reviews", 300), ("subjectivity", 2400)):
        for split, share in (("train", lines), ("dev", 200)):
            rows = _head(data / f"classification/{name}/{split}.tsv.gz", share)
            _write(folder / f"{name}.{split}.tsv", "\n".join(rows) + "\n")
    rows = [row.split("\t", 1) for row in _head(data / "classification/polarity/train.tsv.gz", 2400)]
    order = torch.randperm(len(rows), generator=chance).tolist()
    shuffled = [f"{rows[other][0]}\t{text}" for (_, text), other in zip(rows, order, strict=True)]
    _write(folder / "shuffled.train.tsv", "\n".join(shuffled) + "\n")
    shutil.copy(folder / "polarity.dev.tsv", folder / "shuffled.dev.tsv")
    _write(
        folder / "one-class.train.tsv",
        "".join(f"positive\t{text}\n" for _, text in rows[:2399]) + "negative\tno\n",
    )
    shutil.copy(folder / "polarity.dev.tsv", folder / "one-class.dev.tsv")
    _write(folder / "few-rows.train.tsv", "\n".join("\t".join(row) for row in rows[:40]) + "\n")
    shutil.copy(folder / "polarity.dev.tsv", folder / "few-rows.dev.tsv")
    for pair in ("en-fr", "en-de", "en-zh"):
        for split, share in (("train", 3000), ("dev", 150)):
            rows_of = _head(data / f"translation/{pair}/{split}.tsv.gz", share)
            _write(folder / f"{pair}.{split}.tsv", "\n".join(rows_of) + "\n")
    _write(
        folder / "few-pairs.train.tsv", "\n".join(_head(data / "translation/en-fr/train.tsv.gz", 40)) + "\n"
    )
    shutil.copy(folder / "en-fr.dev.tsv", folder / "few-pairs.dev.tsv")


def _head(path: Path, lines: int) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line, _ in zip(file, range(lines), strict=False)]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# Shrunk recipes


def shrink(steps: int = 160, **changes: Any) -> dict[str, Any]:
    """Settings that make a recipe a run of seconds; names with `__` for the dot between table and key."""
    small = TRAIN | {"train.steps": steps, "train.warmup": steps // 10}
    return small | {name.replace("__", "."): value for name, value in changes.items()}


def network(**changes: Any) -> dict[str, Any]:
    """Settings for a small network."""
    return {f"model__{name}": value for name, value in (NETWORK | changes).items()}


def letters(steps: int = 160, text: str = "shakespeare", **changes: Any) -> dict[str, Any]:
    """Settings for a language model of letters."""
    fixed = {"task__path": f"{text}.{{split}}.txt", "task__context": 48, "batches__tokens": 384}
    return shrink(steps, **network() | fixed | {"batches__rows": 8} | changes)


def words(steps: int = 160, text: str = "novels", **changes: Any) -> dict[str, Any]:
    """Settings for a language model of word pieces, masked or not."""
    fixed = {"task__path": f"{text}.{{split}}.txt", "task__context": 48, "batches__tokens": 384}
    return shrink(steps, **network() | fixed | {"tokenizer__size": 600} | changes)


def masked(steps: int = 160, **changes: Any) -> dict[str, Any]:
    """Settings for a masked language model."""
    return words(steps, **{"task__also": [], "batches__tokens": 512} | changes)


def labelled(steps: int = 160, text: str = "polarity", **changes: Any) -> dict[str, Any]:
    """Settings for a classifier."""
    fixed = {"task__path": f"{text}.{{split}}.tsv", "task__also": [], "task__max_length": 64}
    return shrink(steps, **fixed | {"batches__rows": 16, "batches__tokens": 512} | changes)


def scratch(steps: int = 160, text: str = "polarity", **changes: Any) -> dict[str, Any]:
    """Settings for a classifier that starts from nothing, by the recipe `reviews`."""
    return labelled(steps, text, **network(layers=1) | {"tokenizer__size": 600} | changes)


def pairs(
    steps: int = 160, files: tuple[str, ...] = ("en-fr",), directions: str = "both", **changes: Any
) -> dict[str, Any]:
    """Settings for a translator."""
    named = {"few-pairs": ["en", "fr"]}
    tables = [
        {
            "path": f"{name}.{{split}}.tsv",
            "languages": named.get(name, name.split("-")),
            "directions": directions,
        }
        for name in files
    ]
    return shrink(
        steps,
        **{"train__evaluate_limit": 8, "task__files": tables, "task__max_length": 48, "batches__tokens": 512}
        | changes,
    )


def translator(steps: int = 160, **changes: Any) -> dict[str, Any]:
    """Settings for a translator that starts from nothing."""
    small = network(decoder_layers=2) | {"tokenizer__size": 600, "tokenizer__han_also": ""}
    return pairs(steps, **small | changes)


def seeds(
    name: str, recipe: str, make: Callable[..., dict[str, Any]], count: int, **changes: Any
) -> list[Run]:
    """A healthy run with several seeds."""
    return [
        Run(f"{name}-{seed}", recipe, make(**changes) | {"train.seed": seed}) for seed in range(1, count + 1)
    ]


def healthy() -> list[Run]:
    """Every recipe, shrunk, with several seeds; other sizes; low rates; hard attention; small data."""
    start = {"batches__rows": 4, "batches__tokens": 256, "steps": 50, "train__warmup": 5}
    forward = {"tokenizer__size": 600, "directions": "forward"}
    return [
        *seeds("first", "first", letters, 4),
        *seeds("shakespeare", "shakespeare", letters, 4),
        *seeds("gpt2", "gpt2", words, 4),
        *seeds("rotary", "rotary", words, 4),
        *seeds("bert", "bert", masked, 4),
        *seeds("albert", "albert", masked, 4, model__embedding_width=16),
        *seeds("reviews", "reviews", scratch, 3, text="reviews"),
        *seeds("polarity", "reviews", scratch, 3),
        *seeds("translator", "translator", translator, 4, files=("en-fr", "en-de", "en-zh")),
        *seeds("multi30k", "multi30k", translator, 3, files=("en-de",), directions="forward"),
        *seeds("recurrent", "recurrent", pairs, 3, **forward, model__width=48, model__embedding_width=32),
        *seeds("recurrent-fixed", "recurrent-fixed", pairs, 2, steps=50, directions="forward"),
        *seeds("sentiment", "sentiment", labelled, 2, **start),
        *seeds("sentiment-teacher", "sentiment-teacher", labelled, 2, **start | {"model__layers": 2}),
        *seeds("bert-continued", "bert-continued", masked, 2, **_start_over(start)),
        *seeds("translator-continued", "translator-continued", pairs, 2, steps=40, batches__tokens=256),
        *seeds("albert-low-rate", "bert-continued", masked, 2, **_albert(start)),
        *seeds("sentiment-low-rate", "sentiment", labelled, 2, **start | {"train__rate": 1e-6}),
        *seeds("hard-1", "first", letters, 3, model__best_keys=1),
        *seeds("hard-4", "bert", masked, 2, model__best_keys=4),
        *seeds("small-data", "reviews", scratch, 2, steps=150, text="few-rows", train__rate=3e-4),
        *seeds("wide", "first", letters, 2, model__width=64, model__heads=8),
        *seeds("deep", "first", letters, 2, model__layers=6),
        *seeds("long", "first", letters, 2, steps=500),
        *seeds("small-batches", "first", letters, 2, batches__rows=2),
        *seeds("additive", "first", letters, 2, model__similarity="additive"),
        *seeds("dropout", "first", letters, 2, model__dropout=0.3, model__attention_dropout=0.3),
        *seeds("one-head", "first", letters, 2, model__heads=1),
    ]


def _start_over(start: Mapping[str, Any]) -> dict[str, Any]:
    """Changes for a recipe that starts from a model of the zoo: its own sizes."""
    sizes = dict.fromkeys((f"model__{name}" for name in NETWORK), None)
    return {**sizes, "tokenizer__size": None, **start}


def _albert(start: Mapping[str, Any]) -> dict[str, Any]:
    albert = {"model__start": "zoo/albert", "task__relation": "sentence-order", "train__rate": 1e-7}
    return _start_over(start) | albert | {"steps": 40, "task__paired": 1.0}


# Trouble


LOSS = ("loss_spike", "loss_rising", "not_finite", "gradient_explosion")
AT = 81  # the step at which trouble is planted in the middle of a run: not one of a look


def from_step(step: int, change: Callable[[Network], None]) -> Provoke:
    """Change the network before each step from one on: what is planted does not heal."""

    def provoke(now: int, network: Network, batch: Batch) -> Batch:
        if now >= step:
            with torch.no_grad():
                change(network)
        return batch

    return provoke


def at_step(step: int, change: Callable[[Network], None]) -> Provoke:
    """Change the network once, before one step."""

    def provoke(now: int, network: Network, batch: Batch) -> Batch:
        if now == step:
            with torch.no_grad():
                change(network)
        return batch

    return provoke


def attentions(network: Network) -> list[SelfAttention]:
    """Every self-attention, in the order of layers."""
    return [module for module in network.modules() if isinstance(module, SelfAttention)]


def parts(attention: SelfAttention) -> tuple[Tensor, Tensor]:
    """Weights (part, head, width of a head, width) and biases (part, head, width of a head) of q, k, v."""
    assert attention.qkv is not None
    weight, bias = attention.qkv.weight, attention.qkv.bias
    assert isinstance(weight, Tensor)
    assert isinstance(bias, Tensor)
    heads, width = attention.heads, weight.shape[1]
    return weight.view(3, heads, -1, width), bias.view(3, heads, -1)


def plant_twins(layer: int, *heads: int) -> Callable[[Network], None]:
    """The queries and keys of the first head for all of them."""

    def change(network: Network) -> None:
        weight, bias = parts(attentions(network)[layer])
        for head in heads[1:]:
            weight[:2, head], bias[:2, head] = weight[:2, heads[0]], bias[:2, heads[0]]

    return change


def sharpen_and_twin(layer: int, *heads: int) -> Callable[[Network], None]:
    """Twins whose pattern can be seen: the same queries and keys, and a pattern that is not even."""
    twin = plant_twins(layer, *heads)

    def change(network: Network) -> None:
        weight, _ = parts(attentions(network)[layer])
        wanted = 1.5
        for part in (0, 1):
            length = weight[part, heads[0]].norm() / weight[part, heads[0]].numel() ** 0.5
            weight[part, heads[0]] *= max(1.0, wanted / float(length * weight.shape[-1] ** 0.5))
        twin(network)

    return change


def silence(layer: int, *heads: int) -> Callable[[Network], None]:
    """Values of nothing, and no part of the output."""

    def change(network: Network) -> None:
        attention = attentions(network)[layer]
        weight, bias = parts(attention)
        assert isinstance(attention.output.weight, Tensor)
        output = attention.output.weight.view(len(attention.output.weight), attention.heads, -1)
        for head in heads:
            weight[2, head], bias[2, head], output[:, head] = 0, 0, 0

    return change


def flatten(
    layers: tuple[int, ...] | None, heads: tuple[int, ...] | None = None
) -> Callable[[Network], None]:
    """Queries and keys of nothing: every key gets the same weight."""

    def change(network: Network) -> None:
        found = attentions(network)
        for layer in range(len(found)) if layers is None else layers:
            weight, bias = parts(found[layer])
            for head in range(found[layer].heads) if heads is None else heads:
                weight[:2, head], bias[:2, head] = 0, 0

    return change


def scale_scores(
    factor: float, layers: tuple[int, ...] | None = None, heads: tuple[int, ...] | None = None
) -> Any:
    """Queries and keys so long that scores are larger by a factor."""

    def change(network: Network) -> None:
        found = attentions(network)
        for layer in range(len(found)) if layers is None else layers:
            weight, bias = parts(found[layer])
            for head in range(found[layer].heads) if heads is None else heads:
                weight[:2, head] *= factor**0.5
                bias[:2, head] *= factor**0.5

    return change


def scale_matrices(factor: float) -> Callable[[Network], None]:
    """Every matrix times a factor."""

    def change(network: Network) -> None:
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter *= factor

    return change


def shake(share: float, seed: int = 0) -> Callable[[Network], None]:
    """Noise on every matrix, of a share of its own size: slow damage."""
    chance = torch.Generator().manual_seed(seed)

    def change(network: Network) -> None:
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter += share * parameter.std() * torch.randn(parameter.shape, generator=chance)

    return change


def round_weights(levels: int) -> Callable[[Network], None]:
    """Weights on a coarse grid, as by a wrong conversion."""

    def change(network: Network) -> None:
        for parameter in network.parameters():
            if parameter.dim() > 1:
                grid = parameter.abs().max() / levels
                parameter.copy_((parameter / grid).round() * grid)

    return change


def corrupt(
    first: int, last: int, *, every: int = 1, growing: float = 0.0, labels_only: bool = False
) -> Provoke:
    """Random words in the batches of some steps; `growing`: a share that rises by this much each step."""

    def provoke(now: int, network: Network, batch: Batch) -> Batch:
        if not first <= now <= last or (now - first) % every:
            return batch
        share = min(1.0, growing * (now - first + 1)) if growing else 1.0
        changed = change_ids(batch, network.config.vocabulary_size, share, now)
        return replace(changed, ids=batch.ids) if labels_only else changed

    return provoke


def change_ids(batch: Batch, size: int, share: float, seed: int) -> Batch:
    """A batch with random words and labels in a share of its places."""
    chance = torch.Generator().manual_seed(seed)

    def mix(ids: Tensor) -> Tensor:
        other = torch.randint(4, size, ids.shape, generator=chance)
        chosen = (torch.rand(ids.shape, generator=chance) < share) & (ids != IGNORED)
        return torch.where(chosen, other, ids)

    labels = mix(batch.labels) if batch.labels.dim() == 2 else batch.labels
    return replace(batch, ids=mix(batch.ids), labels=labels)


def relabel(first: int) -> Provoke:
    """Labels of other examples, from a step on."""

    def provoke(now: int, _: Network, batch: Batch) -> Batch:
        if now < first:
            return batch
        chance = torch.Generator().manual_seed(now)
        if batch.labels.dim() == 1:
            return replace(batch, labels=batch.labels[torch.randperm(len(batch.labels), generator=chance)])
        flat = batch.labels.flatten()
        known = (flat != IGNORED).nonzero().squeeze(1)
        mixed = flat.clone()
        mixed[known] = flat[known[torch.randperm(len(known), generator=chance)]]
        return replace(batch, labels=mixed.view_as(batch.labels))

    return provoke


def repeat_batch(first: int) -> Provoke:
    """The same batch again and again, from a step on: a loader that is stuck."""
    kept: list[Batch] = []

    def provoke(now: int, _: Network, batch: Batch) -> Batch:
        if now < first:
            return batch
        if not kept:
            kept.append(batch)
        return kept[0]

    return provoke


def change_gradients(first: int, factor: float, layer: str = "") -> Provoke:
    """Gradients times a factor from a step on: of one layer, or all; −1 climbs instead of descending."""
    done: list[bool] = []

    def provoke(now: int, network: Network, batch: Batch) -> Batch:
        if now >= first and not done:
            done.append(True)
            for name, parameter in network.named_parameters():
                if layer in name:
                    parameter.register_hook(lambda gradient: gradient * factor)
        return batch

    return provoke


def growing_rate(first: int, factor: float) -> Callable[[int, float], float]:
    """A rate that grows by a factor each step, up to a thousand times."""
    return lambda step, rate: rate * min(1000.0, factor ** max(0, step - first + 1))


def wrong_rate(first: int, factor: float) -> Callable[[int, float], float]:
    """A rate times a factor, from a step on."""
    return lambda step, rate: rate * factor if step >= first else rate


def plant(
    name: str,
    recipe: str,
    settings: Callable[..., dict[str, Any]],
    begins: int,
    expected: tuple[str, ...],
    *,
    provoke: Callable[[], Provoke] | None = None,
    rate: Callable[[int, float], float] | None = None,
    **changes: Any,
) -> list[Run]:
    """The same trouble in two runs with other seeds."""
    return [
        Run(
            f"{name}-{seed}",
            recipe,
            settings(**{"steps": 125 if begins > 1 else 70} | changes) | {"train.seed": seed},
            name,
            begins,
            expected,
            None if provoke is None else provoke(),
            rate,
        )
        for seed in (1, 2)
    ]


def provoked() -> list[Run]:
    """Runs with trouble: in losses, in gradients, in heads, in data."""
    small = {"model__embedding_width": 16}
    fast = {"train__warmup": 1, "train__schedule": "constant"}
    uniform, collapsed = ("uniform_heads",), ("collapsed_heads", "exploding_scores")
    start, jump = (*LOSS, "bad_start"), (*LOSS, "rate_jump")
    rates = (*start, *collapsed)
    constant = {"train__schedule": "constant"}
    learnt = {
        "model__start": "zoo/sentiment",
        "model__layers": 2,
        "batches__rows": 16,
    }  # it has something to lose
    tuned = {"steps": 65, "batches__rows": 4, "model__layers": 1}
    return [
        # rates
        *plant("rate-letters", "first", letters, 1, rates, train__rate=1.0, **fast),
        *plant("rate-words", "gpt2", words, 1, rates, train__rate=0.5, **fast),
        *plant("rate-masked", "bert", masked, 1, rates, train__rate=1.0, **fast),
        *plant("rate-translator", "translator", translator, 1, rates, train__rate=0.5, **fast),
        *plant("no-clip", "first", letters, 1, rates, train__rate=1.0, train__clip=0.0, **fast),
        *plant("rate-jumps-100", "first", letters, AT, jump, rate=wrong_rate(AT, 100)),
        *plant("rate-jumps-words", "gpt2", words, AT, jump, rate=wrong_rate(AT, 100), **constant),
        *plant("rate-jumps-masked", "bert", masked, AT, jump, rate=wrong_rate(AT, 100), **constant),
        *plant("rate-jumps-early", "first", letters, 40, jump, rate=wrong_rate(40, 100), steps=70),
        *plant("rate-jumps-translator", "translator", translator, AT, jump, rate=wrong_rate(AT, 100)),
        *plant("rate-jumps-tuned", "sentiment", labelled, 41, jump, rate=wrong_rate(41, 300), **tuned),
        *plant("rate-drifts", "first", letters, AT, LOSS, rate=growing_rate(AT, 1.5), **constant),
        *plant("rate-drops", "first", letters, 31, ("rate_jump",), rate=wrong_rate(31, 1e-6)),
        *plant("no-rate", "first", letters, 1, ("plateau",), train__rate=1e-9, **fast),
        *plant("no-rate-masked", "bert", masked, 1, ("plateau",), train__rate=1e-9, **fast),
        # weights
        *plant(
            "start-times-100", "first", letters, 1, start, provoke=lambda: at_step(1, scale_matrices(100))
        ),
        *plant("start-times-30", "gpt2", words, 1, start, provoke=lambda: at_step(1, scale_matrices(30))),
        *plant("weights-times-3", "first", letters, AT, LOSS, provoke=lambda: at_step(AT, scale_matrices(3))),
        *plant("weights-lost", "bert", masked, AT, LOSS, provoke=lambda: at_step(AT, shake(20.0))),
        *plant("overflow", "first", letters, AT, LOSS, provoke=lambda: at_step(AT, scale_matrices(1e30))),
        *plant("overflow-slow", "gpt2", words, AT, LOSS, provoke=lambda: from_step(AT, scale_matrices(1.5))),
        *plant(
            "weights-grow", "first", letters, AT, LOSS, provoke=lambda: from_step(AT, scale_matrices(1.1))
        ),
        *plant("weights-shaken", "first", letters, AT, LOSS, provoke=lambda: from_step(AT, shake(0.5))),
        *plant(
            "weights-decay", "first", letters, AT, LOSS, provoke=lambda: from_step(AT, scale_matrices(0.95))
        ),
        # gradients
        *plant("climbs", "first", letters, AT, LOSS, provoke=lambda: change_gradients(AT, -1.0), **constant),
        *plant(
            "climbs-words", "gpt2", words, AT, LOSS, provoke=lambda: change_gradients(AT, -1.0), **constant
        ),
        *plant(
            "climbs-masked", "bert", masked, AT, LOSS, provoke=lambda: change_gradients(AT, -1.0), **constant
        ),
        *plant(
            "climbs-translator",
            "translator",
            translator,
            AT,
            LOSS,
            provoke=lambda: change_gradients(AT, -1.0),
            **constant,
        ),
        *plant(
            "layer-gradient-times-1000",
            "first",
            letters,
            AT,
            LOSS,
            provoke=lambda: change_gradients(AT, 1000.0, "layers.1."),
        ),
        *plant(
            "layer-without-gradient",
            "first",
            letters,
            AT,
            ("vanishing_gradient",),
            provoke=lambda: change_gradients(AT, 0.0, "layers.0."),
        ),
        *plant(
            "layer-without-gradient-masked",
            "bert",
            masked,
            AT,
            ("vanishing_gradient",),
            provoke=lambda: change_gradients(AT, 0.0, "layers.1."),
        ),
        *plant(
            "no-gradient",
            "translator",
            translator,
            AT,
            ("vanishing_gradient",),
            provoke=lambda: change_gradients(AT, 0.0),
        ),
        # data
        *plant("corrupt-stretch", "first", letters, AT, LOSS, provoke=lambda: corrupt(AT, AT + 14)),
        *plant("corrupt-spikes", "gpt2", words, AT, LOSS, provoke=lambda: corrupt(AT, 999, every=12)),
        *plant("corrupt-growing", "first", letters, AT, LOSS, provoke=lambda: corrupt(AT, 999, growing=0.02)),
        *plant("corrupt-masked", "bert", masked, AT, LOSS, provoke=lambda: corrupt(AT, AT + 9)),
        *plant("corrupt-translator", "translator", translator, AT, LOSS, provoke=lambda: corrupt(AT, 999)),
        *plant("corrupt-early", "shakespeare", letters, 41, LOSS, provoke=lambda: corrupt(41, 60), steps=70),
        *plant("labels-mixed", "first", letters, AT, LOSS, provoke=lambda: relabel(AT)),
        *plant(
            "labels-random-masked",
            "bert",
            masked,
            AT,
            LOSS,
            provoke=lambda: corrupt(AT, 999, labels_only=True),
        ),
        *plant(
            "labels-mixed-tuned",
            "sentiment",
            labelled,
            41,
            LOSS,
            provoke=lambda: relabel(41),
            **tuned | learnt,
        ),
        *plant("constant", "first", letters, 1, ("too_easy",), text="constant"),
        *plant("one-class", "reviews", scratch, 1, ("too_easy", "over_fitting"), text="one-class"),
        *plant(
            "few-letters",
            "first",
            letters,
            0,
            ("over_fitting",),
            steps=320,
            text="few",
            model__dropout=0.0,
            model__width=64,
            train__rate=5e-3,
        ),
        *plant(
            "few-rows",
            "reviews",
            scratch,
            0,
            ("over_fitting",),
            steps=320,
            text="few-rows",
            task__word_dropout=0.0,
            model__dropout=0.0,
        ),
        *plant(
            "few-pairs",
            "translator",
            translator,
            0,
            ("over_fitting",),
            steps=300,
            files=("few-pairs",),
            model__dropout=0.0,
        ),
        *plant(
            "labels-shuffled",
            "sentiment",
            labelled,
            1,
            (*start, "plateau"),
            text="shuffled",
            **tuned | learnt,
        ),
        *plant(
            "same-batch",
            "first",
            letters,
            AT,
            ("over_fitting", "repeated_batches"),
            steps=200,
            provoke=lambda: repeat_batch(AT),
        ),
        *plant(
            "same-batch-words",
            "gpt2",
            words,
            AT,
            ("over_fitting", "repeated_batches"),
            steps=200,
            provoke=lambda: repeat_batch(AT),
        ),
        # heads
        *plant(
            "twins",
            "first",
            letters,
            AT,
            ("identical_heads",),
            provoke=lambda: from_step(AT, sharpen_and_twin(0, 1, 3)),
        ),
        *plant(
            "twins-masked",
            "bert",
            masked,
            AT,
            ("identical_heads",),
            provoke=lambda: from_step(AT, sharpen_and_twin(1, 0, 2)),
        ),
        *plant(
            "twins-translator",
            "translator",
            translator,
            AT,
            ("identical_heads",),
            provoke=lambda: from_step(AT, sharpen_and_twin(0, 0, 1, 2)),
        ),
        *plant(
            "silent-head", "first", letters, AT, ("dead_heads",), provoke=lambda: from_step(AT, silence(1, 2))
        ),
        *plant(
            "silent-heads-masked",
            "bert",
            masked,
            AT,
            ("dead_heads",),
            provoke=lambda: from_step(AT, silence(0, 0, 3)),
        ),
        *plant(
            "silent-layer",
            "gpt2",
            words,
            AT,
            ("dead_heads",),
            provoke=lambda: from_step(AT, silence(1, 0, 1, 2, 3)),
        ),
        *plant("uniform-start", "first", letters, 1, uniform, provoke=lambda: from_step(1, flatten(None))),
        *plant(
            "uniform-head", "first", letters, AT, uniform, provoke=lambda: from_step(AT, flatten((0,), (1,)))
        ),
        *plant("uniform-masked", "bert", masked, AT, uniform, provoke=lambda: from_step(AT, flatten((1,)))),
        *plant(
            "uniform-translator",
            "translator",
            translator,
            AT,
            uniform,
            provoke=lambda: from_step(AT, flatten(None)),
        ),
        *plant(
            "scores-times-100",
            "first",
            letters,
            1,
            collapsed,
            provoke=lambda: at_step(1, scale_scores(10_000)),
        ),
        *plant(
            "scores-grow",
            "first",
            letters,
            AT,
            collapsed,
            provoke=lambda: from_step(AT, scale_scores(1.5, (0,))),
        ),
        *plant(
            "scores-masked",
            "bert",
            masked,
            AT,
            collapsed,
            provoke=lambda: at_step(AT, scale_scores(10_000, (1,), (0, 2))),
        ),
        *plant(
            "scores-albert",
            "albert",
            masked,
            AT,
            collapsed,
            provoke=lambda: at_step(AT, scale_scores(10_000)),
            **small,
        ),
        *plant(
            "scores-translator",
            "translator",
            translator,
            AT,
            collapsed,
            provoke=lambda: at_step(AT, scale_scores(10_000, (0,))),
        ),
    ]
