"""Greedy decoding on a GPU in bf16, batch 1, beside transformers' generate: GPT-2 small and Marian size.

python benchmarks/decoding_gpu.py [--new 128] [--repeats 15]
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


def compare_decoding(title: str, reference: PreTrainedModel, new: int, repeats: int) -> None:
    """First the same tokens in float32, then the time in bf16."""
    length = {"max_new_tokens": new, "min_new_tokens": new}
    ours, reference = adopt(reference).cuda(), reference.cuda()
    ids = torch.randint(2, 31_000, (1, SOURCE), device="cuda")
    seen = torch.ones_like(ids)
    theirs = reference.generate(ids, attention_mask=seen, do_sample=False, **length)[0, -new:].tolist()
    mine = generate(ours, ids, settings=GenerationSettings(**length))[0].ids
    print(f"{title}: float32 greedy tokens {'agree' if theirs == list(mine) else 'DIFFER'}")
    ours.bfloat16()
    reference.bfloat16()
    for beams in (1, 5):
        settings = GenerationSettings(beams=beams, **length)
        variants = {
            "transformers": partial(
                reference.generate, ids, attention_mask=seen, do_sample=False, num_beams=beams, **length
            ),
            "glassformer": partial(generate, ours, ids, settings=settings),
        }
        timings = compare(variants, repeats=repeats, settle=torch.cuda.synchronize)
        kind = "greedy" if beams == 1 else f"beam {beams}"
        name = f"{title}, bf16, {kind}, batch 1, {new} new tokens"
        print_rows(name, timings, work=new, unit="tokens", machine=torch.cuda.get_device_name())


def main() -> None:
    """Read the options and compare both models."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--new", type=int, default=128)
    options.add_argument("--repeats", type=int, default=15)
    chosen = options.parse_args()
    compare_decoding("GPT-2 small", build_gpt2(), chosen.new, chosen.repeats)
    compare_decoding("Marian size", build_marian(), chosen.new, chosen.repeats)


if __name__ == "__main__":
    main()
