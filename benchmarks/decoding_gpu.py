"""Decoding on a GPU in bf16 beside transformers' generate: GPT-2 small and Marian size, greedy and beam 5.

python benchmarks/decoding_gpu.py [--new 128] [--repeats 15] [--rows 1] [--beams 1 5] [--static]

With `--static` transformers has a static cache, which it compiles for.
"""

import argparse
from functools import partial

import torch
from decoding import SOURCE, build_marian
from measure import compare, print_rows
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedModel

from glassformer.model.generate import GenerationSettings, generate
from glassformer.weights.checkpoint import adopt


def build_gpt2() -> GPT2LMHeadModel:
    """A random GPT-2 small."""
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config()).eval()
    model.generation_config.eos_token_id = model.generation_config.pad_token_id = 50256
    return model


def compare_decoding(title: str, reference: PreTrainedModel, chosen: argparse.Namespace) -> None:
    """First the same tokens in float32, then the time in bf16."""
    new, rows = chosen.new, chosen.rows
    length = {"max_new_tokens": new, "min_new_tokens": new}
    ours, reference = adopt(reference).cuda(), reference.cuda()
    ids = torch.randint(2, 31_000, (rows, SOURCE), device="cuda")
    seen = torch.ones_like(ids)
    theirs = reference.generate(ids, attention_mask=seen, do_sample=False, **length)[:, -new:].tolist()
    mine = [list(each.ids) for each in generate(ours, ids, settings=GenerationSettings(**length))]
    print(f"{title}: float32 greedy tokens {'agree' if theirs == mine else 'DIFFER'}")
    ours.bfloat16()
    reference.bfloat16()
    kept = {"cache_implementation": "static"} if chosen.static else {}
    for beams in chosen.beams:
        settings = GenerationSettings(beams=beams, **length)
        variants = {
            "transformers": partial(
                reference.generate,
                ids,
                attention_mask=seen,
                do_sample=False,
                num_beams=beams,
                **length,
                **kept,
            ),
            "glassformer": partial(generate, ours, ids, settings=settings),
        }
        timings = compare(variants, repeats=chosen.repeats, settle=torch.cuda.synchronize)
        kind = "greedy" if beams == 1 else f"beam {beams}"
        name = f"{title}, bf16, {kind}, batch {rows}, {new} new tokens"
        print_rows(name, timings, work=rows * new, unit="tokens", machine=torch.cuda.get_device_name())


def main() -> None:
    """Read the options and compare both models."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--new", type=int, default=128)
    options.add_argument("--repeats", type=int, default=15)
    options.add_argument("--rows", type=int, default=1)
    options.add_argument("--beams", type=int, nargs="+", default=[1, 5])
    options.add_argument("--static", action="store_true", help="transformers with a static cache, compiled")
    chosen = options.parse_args()
    compare_decoding("GPT-2 small", build_gpt2(), chosen)
    compare_decoding("Marian size", build_marian(), chosen)


if __name__ == "__main__":
    main()
