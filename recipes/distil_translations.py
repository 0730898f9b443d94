"""What translators make of the training sentences, for recipes/translator-distilled.toml.

    python recipes/distil_translations.py data/translation zoo/translator --from en --into fr --device cuda

In:   the folder with en-fr/, en-de/, en-zh/ (training splits alone); translators with one tokenizer. Several
      vote together: the mean of their log-probabilities decides at every word.
Out:  from English, distilled/en-fr/ there: the English sentences of that pair, and their French by beam
      search; new/en-fr/: those of the other pairs, and theirs. Into English, distilled/fr-en/. The files of
      dev are empty.
"""

import argparse
import gzip
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor

import glassformer as gf
from glassformer.model.transformer import Transformer
from glassformer.text.encoder import Encoder
from glassformer.text.languages import find_language
from glassformer.text.sequences import find_frame
from glassformer.text.tokenizer import Tokenizer

PAIRS = ("en-fr", "en-de", "en-zh")
LONGEST, TOKENS = 90, 60_000  # tokens of a source, and of a batch of sources
NEVER = -1e9


def main() -> None:
    """Translate sentences in one direction, and write them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--from", dest="source", required=True)
    parser.add_argument("--into", dest="target", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--beams", type=int, default=4)
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    vote = Vote(
        given.models, given.device, given.beams, torch.float32 if given.device == "cpu" else torch.bfloat16
    )
    start, way = time.monotonic(), f"{given.source}-{given.target}"
    if given.target == "en":
        texts = [text for _, text in read_pairs(given.folder / f"en-{given.source}/train.tsv.gz")]
        groups = {f"distilled/{way}": dict.fromkeys(texts)}
    else:
        own = dict.fromkeys(text for text, _ in read_pairs(given.folder / way / "train.tsv.gz"))
        others = [text for pair in PAIRS for text, _ in read_pairs(given.folder / pair / "train.tsv.gz")]
        groups = {
            f"distilled/{way}": own,
            f"new/{way}": dict.fromkeys(text for text in others if text not in own),
        }
    for name, sources in groups.items():
        chosen = list(sources)[: given.limit]
        write_pairs(given.folder / name, zip(chosen, vote.translate(chosen, given.target), strict=True))
        print(name, len(chosen), f"{time.monotonic() - start:.0f} s", flush=True)  # noqa: T201


def read_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """The two columns of every line."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            first, second = line.rstrip("\n").split("\t")
            yield first, second


def write_pairs(folder: Path, pairs: Iterator[tuple[str, str]]) -> None:
    """The training split; without translations that are empty or far too long. And an empty dev."""
    folder.mkdir(parents=True, exist_ok=True)
    gzip.open(folder / "dev.tsv.gz", "w").close()
    with gzip.open(folder / "train.tsv.gz", "wt", encoding="utf-8", compresslevel=1) as file:
        for first, second in pairs:
            if second and len(second.encode()) < 3 * len(first.encode()) + 20:
                file.write(f"{first}\t{second}\n")


class Vote:
    """Translators that search together."""

    def __init__(self, names: Sequence[str], device: str, beams: int, dtype: torch.dtype) -> None:
        """Open them all; the tokenizer of the first is that of all."""
        models = [gf.load(name, device=device) for name in names]
        self.networks: list[Transformer] = [model.network.to(dtype).eval() for model in models]
        self.tokenizer: Tokenizer = models[0].require_tokenizer()
        self.device, self.beams = device, beams
        self.enough = 0.995 if beams > 1 else 1.0  # share of a batch whose search must end: a few never do

    def translate(self, texts: Sequence[str], language: str) -> list[str]:
        """The best translation of each text; longer texts than `LONGEST` tokens are cut."""
        config, (before, after) = self.networks[0].config, find_frame(self.tokenizer)
        tag, rows, found = (
            find_language(self.tokenizer, language),
            Encoder(self.tokenizer)(texts),
            [""] * len(texts),
        )
        order = sorted(range(len(texts)), key=lambda number: -len(rows[number]))
        while order:
            count = max(1, TOKENS // (len(rows[order[0]]) + 6))
            chosen, order = order[:count], order[count:]
            sources = [[tag, *before, *rows[number][:LONGEST].tolist(), *after] for number in chosen]
            longest = len(sources[0])
            ids = torch.tensor([source + [config.padding_id] * (longest - len(source)) for source in sources])
            real = torch.arange(longest) < torch.tensor([[len(source)] for source in sources])
            written = self.search(ids.to(self.device), real.to(self.device)).tolist()
            for number, tokens in zip(chosen, written, strict=True):
                found[number] = self.tokenizer.decode(
                    [each for each in tokens if each != config.padding_id]
                ).strip()
        return found

    @torch.inference_mode()
    def search(self, ids: Tensor, real: Tensor) -> Tensor:
        """Beam search: ids (text, token) of what has the highest mean log-probability of a token."""
        config, beams, count = self.networks[0].config, self.beams, len(ids)
        memories = [
            each.memories(
                each.encode(ids, real).repeat_interleave(beams, 0), real.repeat_interleave(beams, 0)
            )
            for each in self.networks
        ]
        limit = min(100, ids.shape[1] * 3 // 2 + 12)
        first = torch.arange(count, device=ids.device)[:, None] * beams
        rows = torch.full((count * beams, 1), config.start_id, device=ids.device)
        totals = torch.full((count, beams), NEVER, device=ids.device)
        totals[:, 0] = 0.0  # all beams are the same at first: only one of them counts
        best = torch.full((count,), NEVER, device=ids.device)
        found = torch.full((count, limit), config.padding_id, device=ids.device)
        for step in range(1, limit + 1):
            words = self._predict(rows, memories).view(count, beams, -1)
            words[..., config.padding_id] = NEVER
            value, index = (totals[..., None] + words).view(count, -1).topk(2 * beams, dim=1)
            beam, word = index // words.shape[-1], index % words.shape[-1]
            ends = word == config.end_id
            score, which = torch.where(ends, value / step, NEVER)[:, :beams].max(dim=1)
            whole = rows[(first + beam.gather(1, which[:, None]))[:, 0], 1:]
            better = (
                score > best if beams > 1 else (score > best) & (best <= NEVER)
            )  # greedy: the first end is the end
            found[:, : step - 1] = torch.where(better[:, None], whole, found[:, : step - 1])
            found[:, step - 1 :] = torch.where(better[:, None], config.padding_id, found[:, step - 1 :])
            best = torch.maximum(best, score)
            totals, going = value.masked_fill(ends, NEVER).topk(beams, dim=1)
            rows = torch.cat(
                (rows[(first + beam.gather(1, going)).flatten()], word.gather(1, going).view(-1, 1)), dim=1
            )
            ended = best > (totals[:, 0] / (step + 1) if beams > 1 else NEVER)
            if ended.float().mean() >= self.enough:
                break
        return found

    def _predict(self, rows: Tensor, memories: Sequence[Sequence[tuple[Tensor, ...]]]) -> Tensor:
        """Log-probabilities (row, word) of the next word."""
        positions = torch.arange(rows.shape[1], device=rows.device).expand(rows.shape)
        total = torch.zeros((), device=rows.device)
        for network, memory in zip(self.networks, memories, strict=True):
            assert network.decoder is not None
            hidden = network.decoder(network.embeddings(rows, positions), positions, None, memory)[:, -1:]
            total = total + network.logits(hidden)[:, 0].float().log_softmax(dim=-1)
        return total / len(self.networks)


if __name__ == "__main__":
    main()
