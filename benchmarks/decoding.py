"""Greedy and beam decoding at Marian size on a CPU, beside transformers and CTranslate2 (float32).

python benchmarks/decoding.py [--threads 2] [--repeats 15] [--new 64] [--int8] [--beams 1 5] [--rows 1 8]

Each library runs in a process of its own, one after another, in a new order each round. `--int8`: CTranslate2
and glassformer with weights of eight bits; transformers stays float32. As on a processor without AVX-512:
ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_ENABLE_INSTRUCTIONS=AVX2 CT2_FORCE_CPU_ISA=AVX2
"""

import argparse
import gc
import random
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection

import torch
from measure import print_rows, rate
from transformers import MarianConfig, MarianMTModel
from transformers import logging as transformers_logging

from glassformer.model.generate import GenerationSettings, generate
from glassformer.model.int8 import round_to_int8
from glassformer.weights.checkpoint import adopt

VOCABULARY = 32_000
SOURCE = 32
WARM_UP = 2  # rounds that are not counted

Run = Callable[[int, int], object]  # a search, by beams and rows


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


class Rival:
    """One library in a process of its own, so that its threads wait for no other's.

    In one process they disturb each other: compared with CTranslate2, ours was a quarter slower than in two.
    We believe that they share a pool of threads; that was not measured.
    """

    def __init__(self, name: str, chosen: argparse.Namespace) -> None:
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(name, chosen, other), daemon=True)
        self.process.start()

    def ask(self, search: tuple[int, int] | None) -> float:
        """Seconds of one search, by (beams, rows); None: of nothing, when it is ready."""
        self.pipe.send(search)
        return float(self.pipe.recv())


def serve(name: str, chosen: argparse.Namespace, pipe: Connection) -> None:
    """Build a rival on the same weights as all others, then run the searches that are asked for."""
    torch.set_num_threads(chosen.threads)
    run = BUILDERS[name](build_marian(), chosen)
    clock = time.process_time if chosen.cpu_time else time.perf_counter
    while True:
        try:
            search = pipe.recv()
        except EOFError:  # all were asked
            return
        gc.collect()
        start = clock()
        if search is not None:
            run(*search)
        pipe.send(clock() - start)


def open_transformers(reference: MarianMTModel, chosen: argparse.Namespace) -> Run:
    """`generate` of transformers."""
    length = {"max_new_tokens": chosen.new, "min_new_tokens": chosen.new}

    def run(beams: int, rows: int) -> object:
        ids = torch.arange(2, SOURCE + 2).repeat(rows, 1)
        mask = torch.ones_like(ids)
        return reference.generate(
            input_ids=ids, attention_mask=mask, do_sample=False, num_beams=beams, **length
        )

    return run


def open_glassformer(reference: MarianMTModel, chosen: argparse.Namespace) -> Run:
    """Our `generate`."""
    network = round_to_int8(adopt(reference)) if chosen.int8 else adopt(reference)

    def run(beams: int, rows: int) -> object:
        ids = torch.arange(2, SOURCE + 2).repeat(rows, 1)
        settings = GenerationSettings(beams=beams, max_new_tokens=chosen.new, min_new_tokens=chosen.new)
        return generate(network, ids, settings=settings)

    return run


def open_ctranslate2(reference: MarianMTModel, chosen: argparse.Namespace) -> Run:
    """`translate_batch` of CTranslate2."""
    import ctranslate2

    translator = ctranslate2.Translator(
        convert_to_ctranslate2(reference),
        compute_type="int8" if chosen.int8 else "float32",
        inter_threads=1,
        intra_threads=chosen.threads,
    )
    words = [f"t{index}" for index in range(2, SOURCE + 2)]

    def run(beams: int, rows: int) -> object:
        return translator.translate_batch(
            [words] * rows, beam_size=beams, max_decoding_length=chosen.new, min_decoding_length=chosen.new
        )

    return run


BUILDERS = {
    "transformers": open_transformers,
    "glassformer": open_glassformer,
    "ctranslate2": open_ctranslate2,
}


def compare_decoding(rivals: dict[str, Rival], beams: int, rows: int, chosen: argparse.Namespace) -> None:
    """Time one kind of search, every rival forced to the same number of new tokens."""
    seconds: dict[str, list[float]] = {name: [] for name in rivals}
    order = random.Random(0)
    for turn in range(WARM_UP + chosen.repeats):
        for name in order.sample(list(rivals), len(rivals)):
            taken = rivals[name].ask((beams, rows))
            if turn >= WARM_UP:
                seconds[name].append(taken)
    kind = "greedy" if beams == 1 else f"beam {beams}"
    kind += ", int8" * chosen.int8
    title = f"Marian size, {kind}, batch {rows}, {chosen.new} new tokens, {chosen.threads} threads"
    print_rows(title, rate(seconds), work=rows * chosen.new, unit="tokens")
    ours, theirs = seconds["glassformer"], seconds.get("ctranslate2")
    if theirs is not None:
        pair = rate({"ctranslate2": theirs, "glassformer": ours})[1].interval()
        print("\nglassformer × ctranslate2: {:.2f} ({:.2f}–{:.2f})".format(*pair), flush=True)


def main() -> None:
    """Read the options, start the three rivals, compare them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--repeats", type=int, default=15)
    options.add_argument("--new", type=int, default=64)
    options.add_argument("--int8", action="store_true")
    options.add_argument("--cpu-time", action="store_true", help="process CPU seconds, on a busy machine")
    options.add_argument("--beams", type=int, nargs="+", default=[1, 5])
    options.add_argument("--rows", type=int, nargs="+", default=[1, 8])
    chosen = options.parse_args()
    names = [name for name in BUILDERS if name != "ctranslate2" or find_spec(name)]
    rivals = {name: Rival(name, chosen) for name in names}
    for rival in rivals.values():
        rival.ask(None)
    for beams in chosen.beams:
        for rows in chosen.rows:
            compare_decoding(rivals, beams, rows, chosen)


if __name__ == "__main__":
    main()
