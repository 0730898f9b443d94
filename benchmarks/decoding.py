"""Greedy and beam decoding at Marian size on a CPU, beside transformers and CTranslate2 (float32).

python benchmarks/decoding.py [--threads 2] [--repeats 15] [--new 64] [--int8]

`--int8`: CTranslate2 and glassformer with weights of eight bits; transformers stays float32.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from typing import Any

import torch
from measure import compare, print_rows
from transformers import MarianConfig, MarianMTModel
from transformers import logging as transformers_logging

from glassformer.model.decoding import GenerationNetwork
from glassformer.model.generate import GenerationSettings, generate
from glassformer.model.int8 import round_to_int8
from glassformer.weights.checkpoint import adopt

VOCABULARY = 32_000
SOURCE = 32


def build_marian() -> MarianMTModel:
    """A random Marian of the usual size; generation is forced to full length, so weights do not matter."""
    transformers_logging.set_verbosity_error()
    torch.manual_seed(0)
    pad = VOCABULARY - 1
    config = MarianConfig(
        vocab_size=VOCABULARY, d_model=512, encoder_layers=6, decoder_layers=6, encoder_ffn_dim=2048,
        decoder_ffn_dim=2048, encoder_attention_heads=8, decoder_attention_heads=8,
        max_position_embeddings=512,
        activation_function="swish", scale_embedding=True, pad_token_id=pad, eos_token_id=0, bos_token_id=1,
        forced_eos_token_id=None, decoder_start_token_id=pad,
    )  # fmt: skip
    model = MarianMTModel(config).eval()
    settings = model.generation_config
    settings.eos_token_id, settings.pad_token_id, settings.decoder_start_token_id = 0, pad, pad
    settings.bad_words_ids, settings.forced_eos_token_id, settings.max_length = None, None, 512
    return model


def convert_to_ctranslate2(model: MarianMTModel) -> str:
    """CTranslate2's own converter, on the weights in memory with a made-up vocabulary."""
    from ctranslate2.converters import transformers as converters

    class Names:
        bos_token, eos_token, unk_token, pad_token, unk_token_id = "<s>", "</s>", "<unk>", "<pad>", 1

        def get_vocab(self) -> dict[str, int]:
            words = {f"t{index}": index for index in range(2, VOCABULARY - 1)}
            return {"</s>": 0, "<unk>": 1, "<pad>": VOCABULARY - 1, **words}

    specification = converters._MODEL_LOADERS["MarianConfig"](model, Names())
    specification.validate()
    specification.optimize()
    folder = tempfile.mkdtemp()
    specification.save(folder)
    return folder


def compare_decoding(
    reference: MarianMTModel,
    ours: GenerationNetwork,
    translator: Any,
    beams: int,
    rows: int,
    chosen: argparse.Namespace,
) -> None:
    """Time one kind of search, every rival forced to the same number of new tokens."""
    ids = torch.arange(2, SOURCE + 2).repeat(rows, 1)
    words = [f"t{index}" for index in range(2, SOURCE + 2)]
    length = {"max_new_tokens": chosen.new, "min_new_tokens": chosen.new}
    settings = GenerationSettings(beams=beams, **length)
    variants: dict[str, Callable[[], object]] = {
        "transformers": lambda: reference.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, num_beams=beams, **length
        ),
        "glassformer": lambda: generate(ours, ids, settings=settings),
    }
    if translator is not None:
        variants["ctranslate2"] = lambda: translator.translate_batch(
            [words] * rows, beam_size=beams, max_decoding_length=chosen.new, min_decoding_length=chosen.new
        )
    clock = time.process_time if chosen.cpu_time else time.perf_counter
    timings = compare(variants, repeats=chosen.repeats, clock=clock)
    kind = "greedy" if beams == 1 else f"beam {beams}"
    kind += ", int8" * chosen.int8
    title = f"Marian size, {kind}, batch {rows}, {chosen.new} new tokens, {chosen.threads} threads"
    print_rows(title, timings, work=rows * chosen.new, unit="tokens")


def main() -> None:
    """Read the options, build the three rivals on the same weights, compare them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--repeats", type=int, default=15)
    options.add_argument("--new", type=int, default=64)
    options.add_argument("--int8", action="store_true")
    options.add_argument("--cpu-time", action="store_true", help="process CPU seconds, on a busy machine")
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)
    reference = build_marian()
    ours = round_to_int8(adopt(reference)) if chosen.int8 else adopt(reference)
    try:
        import ctranslate2

        translator = ctranslate2.Translator(
            convert_to_ctranslate2(reference),
            compute_type="int8" if chosen.int8 else "float32",
            inter_threads=1,
            intra_threads=chosen.threads,
        )
    except ImportError:
        translator = None
    for beams in (1, 5):
        for rows in (1, 8):
            compare_decoding(reference, ours, translator, beams, rows, chosen)


if __name__ == "__main__":
    main()
