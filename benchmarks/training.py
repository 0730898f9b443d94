"""One training step (forward, backward, AdamW) beside nn.Transformer, transformers and x-transformers.

python benchmarks/training.py --model base|gpt2 [--device cpu|cuda] [--modes eager|default|reduce-overhead …]

`base` is the paper's encoder-decoder (6+6 layers, width 512); `gpt2` is GPT-2 small. Dropout is off
everywhere, the batch is the same, embeddings are tied. On a GPU: bf16 autocast, fused AdamW. Modes are those
of torch.compile.
"""

import argparse
import itertools
import time
from collections.abc import Callable

import torch
from measure import compare, print_rows
from torch import Tensor, nn
from torch.nn import functional as F

from glassformer.config import ModelConfig
from glassformer.model.transformer import Transformer

WIDTH, LAYERS, HEADS, INNER = 512, 6, 8, 2048


class OursTranslating(nn.Module):
    """Glassformer at base size."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        config = ModelConfig(
            vocabulary, activation="relu", dropout=0.0, max_length=512, positions="sinusoidal"
        )
        self.network = Transformer(config)

    def forward(self, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
        hidden = self.network.decode(target, memory=self.network.encode(source))
        return self.network.loss(hidden, labels)


class TorchTranslating(nn.Module):
    """nn.Transformer with tied embeddings and learned positions."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, WIDTH)
        nn.init.normal_(
            self.embedding.weight, 0, 0.02
        )  # the default N(0, 1), tied, makes denormal gradients: 3× slower
        self.positions = nn.Parameter(torch.randn(1, 512, WIDTH) * 0.02)
        self.network = nn.Transformer(WIDTH, HEADS, LAYERS, LAYERS, INNER, dropout=0.0, batch_first=True)

    def forward(self, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        hidden = self.network(
            self.embedding(source) + self.positions[:, : source.shape[1]],
            self.embedding(target) + self.positions[:, : target.shape[1]],
            tgt_mask=mask,
            tgt_is_causal=True,
        )
        logits = F.linear(hidden, self.embedding.weight)
        return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())


class HuggingFaceTranslating(nn.Module):
    """Marian or BART from transformers."""

    def __init__(self, vocabulary: int, kind: str) -> None:
        super().__init__()
        import transformers

        settings = {
            "vocab_size": vocabulary, "d_model": WIDTH, "encoder_layers": LAYERS, "decoder_layers": LAYERS,
            "encoder_ffn_dim": INNER, "decoder_ffn_dim": INNER, "encoder_attention_heads": HEADS,
            "decoder_attention_heads": HEADS, "max_position_embeddings": 512, "dropout": 0.0,
            "attention_dropout": 0.0,
            "activation_dropout": 0.0, "activation_function": "relu", "pad_token_id": 0, "bos_token_id": 1,
            "eos_token_id": 2, "decoder_start_token_id": 1, "forced_eos_token_id": None,
            "attn_implementation": "sdpa",
        }  # fmt: skip
        if kind == "marian":
            self.network = transformers.MarianMTModel(transformers.MarianConfig(**settings))
        else:
            self.network = transformers.BartForConditionalGeneration(transformers.BartConfig(**settings))

    def forward(self, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
        return self.network(input_ids=source, decoder_input_ids=target, labels=labels, use_cache=False).loss


class XTranslating(nn.Module):
    """XTransformer from x-transformers, with its flash attention."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        from x_transformers import XTransformer

        self.network = XTransformer(
            dim=WIDTH, enc_num_tokens=vocabulary, enc_depth=LAYERS, enc_heads=HEADS, enc_max_seq_len=512,
            enc_attn_flash=True, dec_num_tokens=vocabulary, dec_depth=LAYERS, dec_heads=HEADS,
            dec_max_seq_len=512,
            dec_attn_flash=True, tie_token_emb=True,
        )  # fmt: skip

    def forward(self, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
        return self.network(source, torch.cat((target, labels[:, -1:]), 1))


class OursContinuing(nn.Module):
    """GPT-2 small as a value of our configuration."""

    def __init__(self) -> None:
        super().__init__()
        config = ModelConfig(
            50257, shape="decoder", layers=12, width=768, heads=12, feed_forward=3072, max_length=1024,
            dropout=0.0,
            positions="learned", activation="gelu-tanh", norm_position="pre", scale_embeddings=False,
        )  # fmt: skip
        self.network = Transformer(config)

    def forward(self, ids: Tensor, labels: Tensor) -> Tensor:
        return self.network.loss(self.network.decode(ids), labels)


class HuggingFaceContinuing(nn.Module):
    """GPT-2 small from transformers."""

    def __init__(self) -> None:
        super().__init__()
        import transformers

        config = transformers.GPT2Config(
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, attn_implementation="sdpa"
        )
        self.network = transformers.GPT2LMHeadModel(config)

    def forward(self, ids: Tensor, labels: Tensor) -> Tensor:
        logits = self.network(ids, use_cache=False).logits
        return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())


def build_step(
    network: nn.Module, batch: tuple[Tensor, ...], *, device: str, mode: str
) -> Callable[[], object]:
    """One optimiser step on a fixed batch."""
    network.to(device).train()
    optimiser = torch.optim.AdamW(network.parameters(), 1e-4, fused=True)
    run = network if mode == "eager" else torch.compile(network, mode=mode)

    def step() -> None:
        torch.compiler.cudagraph_mark_step_begin()
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            loss = run(*batch)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return step


def read_options() -> argparse.Namespace:
    """What to build, where to run it, how often."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", choices=("base", "gpt2"), default="base")
    options.add_argument("--device", default="cpu")
    options.add_argument(
        "--modes", nargs="+", default=["eager"], choices=("eager", "default", "reduce-overhead")
    )
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--repeats", type=int, default=15)
    options.add_argument("--rows", type=int, default=16)
    options.add_argument("--length", type=int, default=64)
    options.add_argument("--vocabulary", type=int, default=8192)
    options.add_argument("--cpu-time", action="store_true", help="process CPU seconds, on a busy machine")
    options.add_argument("--only", nargs="*", default=None, help="names of variants, with their mode")
    return options.parse_args()


def list_rivals(chosen: argparse.Namespace) -> tuple[dict[str, Callable[[], nn.Module]], tuple[Tensor, ...]]:
    """Who competes, and on which batch; the first is the reference."""
    size, device, words = (chosen.rows, chosen.length), chosen.device, chosen.vocabulary
    if chosen.model == "gpt2":
        ids = torch.randint(0, 50257, size, device=device)
        rivals = {"transformers GPT-2": HuggingFaceContinuing, "glassformer": OursContinuing}
        return rivals, (ids, ids.roll(-1, 1))
    source, target = (torch.randint(3, words, size, device=device) for _ in range(2))
    return {
        "nn.Transformer": lambda: TorchTranslating(words),
        "transformers Marian": lambda: HuggingFaceTranslating(words, "marian"),
        "transformers BART": lambda: HuggingFaceTranslating(words, "bart"),
        "x-transformers": lambda: XTranslating(words),
        "glassformer": lambda: OursTranslating(words),
    }, (source, target, target.roll(-1, 1))


def main() -> None:
    """Build every variant, let each take two steps, then time them in turn."""
    chosen = read_options()
    torch.set_num_threads(chosen.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(0)
    rivals, batch = list_rivals(chosen)
    steps = {}
    for mode, (name, build) in itertools.product(chosen.modes, rivals.items()):
        label = name if len(chosen.modes) == 1 else f"{name} ({mode})"
        if chosen.only and label not in chosen.only:
            continue
        try:
            steps[label] = build_step(build(), batch, device=chosen.device, mode=mode)
        except ImportError as error:
            print(f"{label}: left out ({error})")
    for step in steps.values():
        step()
        step()
    settle = torch.cuda.synchronize if chosen.device == "cuda" else lambda: None
    clock = time.process_time if chosen.cpu_time else time.perf_counter
    timings = compare(steps, repeats=chosen.repeats, clock=clock, settle=settle)
    kind = "encoder-decoder base" if chosen.model == "base" else "GPT-2 small"
    title = f"Training step, {kind}, {chosen.rows} × {chosen.length}, {chosen.device}"
    machine = torch.cuda.get_device_name() if chosen.device == "cuda" else f"{chosen.threads} threads"
    tokens = sum(part.numel() for part in batch[:-1])
    print_rows(title, timings, work=tokens, unit="tokens", machine=machine)


if __name__ == "__main__":
    main()
